//! What the paper's rules say of samples that were measured by another protocol.
//!
//! AutoTuneBench runs each arm twice, on paired seeds, takes the median of a run's iterations, refuses arms whose two runs scatter beyond
//! 5 %, quarantines what is over 10x, and keeps what is ahead. It has no interval and no smallest effect. The same samples, read both
//! ways, show what those are worth. Source: arXiv:2609.18123v1, protocol.

use crate::comparison::{ComparisonError, times};
use crate::document::{Document, DocumentError};
use crate::entry::BlockBody;
use crate::protocol::schema::{Field, FieldKind, FieldValue};
use crate::protocol::{Cited, check_format, name, read_field};
use crate::quantity::{Cv, Ratio, Relative};
use crate::stats::{mean, variance};

/// The file that ships, parsed as any other.
pub const PAPER: &str = include_str!("../../../protocol/paper-1.toml");

/// The fields of a readout.
pub const FIELDS: &[Field] = &[
    Field {
        key: "readout.pairs",
        unit: "pairs",
        kind: FieldKind::Count { min: 2, max: 60 },
        meaning: "Pairs that the readout looks at: the first ones of a block.",
    },
    Field {
        key: "readout.cv_cap",
        unit: "ratio",
        kind: FieldKind::Real { min: 0.005, max: 0.25 },
        meaning: "Cap on the coefficient of variation of each arm's runs, without a correction for their number.",
    },
    Field {
        key: "readout.breaker_ratio",
        unit: "ratio",
        kind: FieldKind::Real { min: 5.0, max: 10.0 },
        meaning: "Ratio to the baseline above which a result is quarantined.",
    },
];

/// A readout's rules, with their provenance. Made by [`Rules::parse`] only.
#[derive(Debug, Clone, PartialEq)]
pub struct Rules {
    id: String,
    title: String,
    cited: Vec<Cited<FieldValue>>,
}

/// What the rules say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Said {
    /// Ahead, by however little: kept.
    Faster,
    /// Not ahead: not kept.
    NotFaster,
    /// An arm's runs scatter beyond the cap: not admitted.
    Unstable,
    /// Over the breaker: quarantined.
    Quarantined,
}

impl Said {
    /// Its name, as printed.
    pub fn name(self) -> &'static str {
        match self {
            Self::Faster => "faster",
            Self::NotFaster => "not faster",
            Self::Unstable => "unstable",
            Self::Quarantined => "quarantined",
        }
    }
}

/// A readout of one arm over another.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Readout {
    /// What the rules say.
    pub said: Said,
    /// Time of the base over time of the judged arm; above 1 the judged arm is faster. Geometric mean over cells.
    pub ratio: Ratio,
    /// The greatest coefficient of variation of an arm in a cell, divisor n-1, uncorrected.
    pub cv: Cv,
    /// Pairs that were looked at.
    pub pairs: usize,
}

impl Rules {
    /// Parses a readout file. `file` is used in messages only.
    pub fn parse(file: &str, text: &str) -> Result<Self, DocumentError> {
        let document = Document::parse(file, text)?;
        let root = document.root();
        check_format(&root)?;
        let id = root.require("id")?;
        let id = name(&id, id.text()?)?;
        let title = root.require("title")?.text()?.to_owned();
        let table = root.require("readout")?.table()?;
        let cited = FIELDS.iter().map(|field| read_field(&table, field)).collect::<Result<Vec<_>, _>>()?;
        table.finish()?;
        root.finish()?;
        Ok(Self { id, title, cited })
    }

    /// The id, such as `paper-1-draft.1`.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// One line for people.
    pub fn title(&self) -> &str {
        &self.title
    }

    /// The fields with their cited values.
    pub fn cited(&self) -> impl Iterator<Item = (&'static Field, &Cited<FieldValue>)> {
        FIELDS.iter().zip(&self.cited)
    }

    fn value(&self, key: &str) -> Option<&FieldValue> {
        self.cited().find(|(field, _)| field.key == key).map(|(_, cited)| cited.value())
    }

    fn real(&self, key: &str) -> Relative {
        match self.value(key) {
            Some(FieldValue::Real(decimal)) => Relative::saturating(decimal.value()),
            _ => Relative::saturating(0.0),
        }
    }

    /// Pairs that the readout looks at.
    pub fn pairs(&self) -> usize {
        match self.value("readout.pairs") {
            Some(FieldValue::Count(count)) => usize::try_from(*count).unwrap_or(usize::MAX),
            _ => 0,
        }
    }

    /// Cap on each arm's coefficient of variation.
    pub fn cv_cap(&self) -> Relative {
        self.real("readout.cv_cap")
    }

    /// Ratio above which a result is quarantined.
    pub fn breaker_ratio(&self) -> Relative {
        self.real("readout.breaker_ratio")
    }

    /// Reads `judged` over `base` in the first pairs of a block.
    pub fn read(&self, block: &BlockBody, base: usize, judged: usize) -> Result<Readout, ComparisonError> {
        let (base, judged) = (self.figures(block, base)?, self.figures(block, judged)?);
        let logs: Vec<f64> = base.iter().zip(&judged).map(|(base, judged)| (base.0 / judged.0).ln()).collect();
        let ratio = Ratio::new(mean(&logs).exp())?;
        let cv = base.iter().chain(&judged).map(|figure| figure.1).fold(0.0, f64::max);
        let said = if cv > self.cv_cap().get() {
            Said::Unstable
        } else if ratio.get() > self.breaker_ratio().get() {
            Said::Quarantined
        } else if ratio.get() > 1.0 {
            Said::Faster
        } else {
            Said::NotFaster
        };
        Ok(Readout { said, ratio, cv: Cv::new(cv)?, pairs: self.pairs() })
    }

    /// Per cell: an arm's time per call over its first runs, in ns, and their coefficient of variation.
    fn figures(&self, block: &BlockBody, arm: usize) -> Result<Vec<(f64, f64)>, ComparisonError> {
        let runs = times(block, arm)?;
        let runs = runs.get(..self.pairs()).ok_or(ComparisonError::Arm { arm })?;
        let of_cell = |cell: usize| {
            let of_run = |run: &Vec<_>| run.get(cell).map(per_call).ok_or(ComparisonError::Arm { arm });
            let values = runs.iter().map(of_run).collect::<Result<Vec<f64>, _>>()?;
            let mean = mean(&values);
            Ok((mean, variance(&values).sqrt() / mean))
        };
        (0..block.cells.len()).map(of_cell).collect()
    }
}

fn per_call(cell: &crate::stats::pairs::CellTime) -> f64 {
    cell.twice_median.get() as f64 / 2.0 / cell.calls.get() as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codes;
    use crate::protocol::Sources;

    #[test]
    fn the_shipped_readout_parses_and_cites_sources_that_exist() {
        let rules = Rules::parse("paper-1.toml", PAPER).unwrap();
        assert_eq!((rules.pairs(), rules.cv_cap().get(), rules.breaker_ratio().get()), (2, 0.05, 10.0));
        let sources = include_str!("../../../protocol/sources.toml");
        let sources = Sources::parse("sources.toml", sources).unwrap();
        assert!(rules.cited().all(|(_, cited)| sources.get(cited.source()).is_some()));
    }

    #[test]
    fn a_readout_without_a_source_or_outside_its_range_is_refused() {
        let code = |old: &str, new: &str| {
            assert!(PAPER.contains(old));
            Rules::parse("p.toml", &PAPER.replacen(old, new, 1)).unwrap_err().code
        };
        assert_eq!(code("value = 2\n", "value = 1\n"), codes::OUT_OF_RANGE);
        assert_eq!(code("source = ", "# source = "), codes::NO_SOURCE);
        assert_eq!(code("[readout.pairs]", "[readout.fast]"), codes::MISSING_KEY);
        assert_eq!(code("unit = \"ratio\"", "unit = \"%\""), codes::WRONG_UNIT);
    }
}
