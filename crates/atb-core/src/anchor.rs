//! External anchors: figures that others have published, to be met here or explained.
//!
//! A figure is kept as it was printed, with its digits. Times say nothing on another machine; only ratios are compared.

use crate::codes;
use crate::document::{Decimal, Document, DocumentError, Table};
use crate::protocol::{check_format, name};
use crate::quantity::{QuantityError, Ratio, Relative};

/// Our ratio over the published one may lie within 1 +- this. Source: arXiv:2609.18123v1, external anchors: parity within 10 %.
pub const BAND: f64 = 0.10;

/// Where an anchor can be measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunsOn {
    /// Arithmetic, or a processor: everywhere.
    Cpu,
    /// A graphics processor.
    Gpu,
}

/// What one publication states.
#[derive(Debug, Clone, PartialEq)]
pub struct Anchor {
    /// Its id.
    pub id: String,
    /// One line for people.
    pub title: String,
    /// Who published it, and where in the publication.
    pub source: String,
    /// Address of the publication.
    pub location: String,
    /// What it was measured on.
    pub hardware: String,
    /// Number formats.
    pub dtype: String,
    /// What was compared with what, and what of it can be had.
    pub artefact: String,
    /// How it was measured.
    pub protocol: String,
    /// Where it can be measured again.
    pub runs_on: RunsOn,
    /// Its figures, at least one.
    pub figures: Vec<Figure>,
    /// Why figures are not met here.
    pub mechanisms: Vec<Mechanism>,
}

/// One published figure.
#[derive(Debug, Clone, PartialEq)]
pub struct Figure {
    /// Its name within the anchor.
    pub name: String,
    /// Our task of the same computation, if there is one.
    pub task: Option<String>,
    /// Unit of the values.
    pub unit: String,
    /// The numbers.
    pub stated: Stated,
}

/// The numbers of a figure, as printed.
#[derive(Debug, Clone, PartialEq)]
pub enum Stated {
    /// Two times, and the ratio if it was printed.
    Pair {
        /// Time of the baseline.
        base: Decimal,
        /// Time of the optimised code.
        optimised: Decimal,
        /// Their ratio as printed.
        ratio: Option<Decimal>,
    },
    /// One value, of a reduction over so many elements.
    Value {
        /// The value.
        value: Decimal,
        /// Elements that the reduction runs over.
        reduction: u64,
    },
}

/// Why a figure is not met here, with the measurement that tells this cause from others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mechanism {
    /// Name of the figure.
    pub figure: String,
    /// The cause: one of [`CAUSES`].
    pub cause: String,
    /// The discriminating measurement.
    pub evidence: String,
}

/// What may explain a mismatch.
pub const CAUSES: &[&str] = &[
    "bandwidth",
    "already-optimised-baseline",
    "launch-overhead",
    "clock-floor",
    "cache-state",
    "precision",
    "replica",
];

/// What a pair's printed digits allow its ratio to be.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Arithmetic {
    /// Least ratio that the printed times allow.
    pub least: f64,
    /// Greatest ratio that the printed times allow.
    pub most: f64,
    /// True if the printed ratio is possible; none where no ratio was printed.
    pub agrees: Option<bool>,
}

impl Anchor {
    /// Parses an anchor file. `file` is used in messages only.
    pub fn parse(file: &str, text: &str) -> Result<Self, DocumentError> {
        let document = Document::parse(file, text)?;
        let root = document.root();
        check_format(&root)?;
        let id = root.require("id")?;
        let of = |key: &'static str| Ok::<_, DocumentError>(root.require(key)?.text()?.to_owned());
        let runs_on = root.require("runs_on")?;
        let mut anchor = Self {
            id: name(&id, id.text()?)?,
            title: of("title")?,
            source: of("source")?,
            location: of("location")?,
            hardware: of("hardware")?,
            dtype: of("dtype")?,
            artefact: of("artefact")?,
            protocol: of("protocol")?,
            runs_on: match runs_on.text()? {
                "cpu" => RunsOn::Cpu,
                "gpu" => RunsOn::Gpu,
                _ => return Err(runs_on.rule(codes::OUT_OF_RANGE, "an anchor runs on `cpu` or `gpu`")),
            },
            figures: Vec::new(),
            mechanisms: Vec::new(),
        };
        for table in root.require("figure")?.tables()? {
            let figure = Figure::read(&table)?;
            if anchor.figures.iter().any(|other| other.name == figure.name) {
                return Err(table.require("name")?.rule(codes::DUPLICATE, "an earlier figure has this name"));
            }
            anchor.figures.push(figure);
        }
        if let Some(item) = root.get("mechanism") {
            for table in item.tables()? {
                anchor.mechanisms.push(anchor.mechanism(&table)?);
            }
        }
        root.finish()?;
        Ok(anchor)
    }

    fn mechanism(&self, table: &Table<'_>) -> Result<Mechanism, DocumentError> {
        let (figure, cause) = (table.require("figure")?, table.require("cause")?);
        if !self.figures.iter().any(|known| Ok(known.name.as_str()) == figure.text().map_err(|_| ())) {
            return Err(figure.rule(codes::OUT_OF_RANGE, "the anchor has no figure of this name"));
        }
        if !CAUSES.contains(&cause.text()?) {
            return Err(cause.rule(codes::OUT_OF_RANGE, &format!("a cause is one of {}", CAUSES.join(", "))));
        }
        let mechanism = Mechanism {
            figure: figure.text()?.to_owned(),
            cause: cause.text()?.to_owned(),
            evidence: table.require("evidence")?.text()?.to_owned(),
        };
        table.finish()?;
        Ok(mechanism)
    }
}

impl Figure {
    fn read(table: &Table<'_>) -> Result<Self, DocumentError> {
        let positive = |key: &'static str| {
            let item = table.require(key)?;
            let number = item.decimal()?;
            if number.value() > 0.0 { Ok(number) } else { Err(item.rule(codes::OUT_OF_RANGE, "a figure is above 0")) }
        };
        let stated = if table.get("value").is_some() {
            Stated::Value { value: positive("value")?, reduction: table.require("reduction")?.integer()? }
        } else {
            let ratio = if table.get("ratio").is_some() { Some(positive("ratio")?) } else { None };
            Stated::Pair { base: positive("base")?, optimised: positive("optimised")?, ratio }
        };
        let figure = Self {
            name: table.require("name")?.text()?.to_owned(),
            task: table.get("task").map(|item| item.text().map(str::to_owned)).transpose()?,
            unit: table.require("unit")?.text()?.to_owned(),
            stated,
        };
        table.finish()?;
        Ok(figure)
    }

    /// The published ratio: as printed, or of the printed times. None for a single value.
    pub fn ratio(&self) -> Result<Option<Ratio>, QuantityError> {
        match &self.stated {
            Stated::Pair { ratio: Some(ratio), .. } => Ratio::new(ratio.value()).map(Some),
            Stated::Pair { base, optimised, ratio: None } => Ratio::new(base.value() / optimised.value()).map(Some),
            Stated::Value { .. } => Ok(None),
        }
    }

    /// Whether the printed ratio can be that of the printed times. None for a single value.
    pub fn arithmetic(&self) -> Option<Arithmetic> {
        let Stated::Pair { base, optimised, ratio } = &self.stated else { return None };
        let (base, optimised) = (rounded_from(base), rounded_from(optimised));
        let (least, most) = (base.0 / optimised.1, base.1 / optimised.0);
        let agrees = ratio.as_ref().map(rounded_from).map(|(lo, hi)| lo <= most && hi >= least);
        Some(Arithmetic { least, most, agrees })
    }
}

/// The values that are printed as this decimal: half a unit of its last digit either way.
fn rounded_from(decimal: &Decimal) -> (f64, f64) {
    let (digits, exponent) = decimal.written().split_once('e').unwrap_or((decimal.written(), "0"));
    let decimals = digits.split_once('.').map_or(0, |(_, decimals)| decimals.len());
    let scale = exponent.parse::<i32>().unwrap_or(0) - i32::try_from(decimals).unwrap_or(0);
    let half = 0.5 * 10_f64.powi(scale);
    (decimal.value() - half, decimal.value() + half)
}

/// The band as a quantity.
pub fn band() -> Relative {
    Relative::saturating(BAND)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONE: &str = "format = 1\nid = \"a\"\ntitle = \"t\"\nsource = \"s\"\nlocation = \"l\"\nhardware = \"h\"\ndtype = \"f32\"\n\
                       artefact = \"x\"\nprotocol = \"p\"\nruns_on = \"gpu\"\n[[figure]]\nname = \"n\"\nbase = 31.4\noptimised = 24.9\n\
                       unit = \"us\"\nratio = 1.26\n";

    fn with(old: &str, new: &str) -> Result<Anchor, DocumentError> {
        assert!(ONE.contains(old), "{old}");
        Anchor::parse("a.toml", &ONE.replacen(old, new, 1))
    }

    #[test]
    fn a_printed_ratio_is_checked_against_the_printed_times() {
        let agrees = |ratio: &str| with("1.26", ratio).unwrap().figures[0].arithmetic().unwrap().agrees;
        // 31.35 / 24.95 = 1.2565 and 31.45 / 24.85 = 1.2656.
        for (ratio, holds) in
            [("1.26", true), ("1.27", true), ("1.28", false), ("1.25", false), ("1.3", true), ("1.250", false)]
        {
            assert_eq!(agrees(ratio), Some(holds), "{ratio}");
        }
        assert_eq!(with("ratio = 1.26\n", "").unwrap().figures[0].arithmetic().unwrap().agrees, None);
        let decimal = |text: &str| rounded_from(&Decimal::parse(text).unwrap());
        assert_eq!(decimal("20"), (19.5, 20.5));
        let (lo, hi) = decimal("4.02e-6");
        assert!((lo - 4.015e-6).abs() < 1e-15 && (hi - 4.025e-6).abs() < 1e-15);
    }

    #[test]
    fn bad_anchors_are_refused() {
        let code = |old: &str, new: &str| with(old, new).unwrap_err().code;
        assert_eq!(code("base = 31.4", "base = 0.0"), codes::OUT_OF_RANGE);
        assert_eq!(code("base = 31.4\n", ""), codes::MISSING_KEY);
        assert_eq!(code("runs_on = \"gpu\"", "runs_on = \"tpu\""), codes::OUT_OF_RANGE);
        assert_eq!(code("unit = \"us\"", "unit = \"us\"\nwhen = \"now\""), codes::UNKNOWN_KEY);
        let mechanism = "ratio = 1.26\n[[mechanism]]\nfigure = \"n\"\ncause = \"bandwidth\"\nevidence = \"e\"\n";
        assert_eq!(with("ratio = 1.26\n", mechanism).unwrap().mechanisms.len(), 1);
        assert_eq!(code("ratio = 1.26\n", &mechanism.replace("bandwidth", "luck")), codes::OUT_OF_RANGE);
        assert_eq!(code("ratio = 1.26\n", &mechanism.replace("figure = \"n\"", "figure = \"m\"")), codes::OUT_OF_RANGE);
        let no_figures = ONE.split("[[figure]]").next().unwrap();
        assert_eq!(Anchor::parse("a.toml", no_figures).unwrap_err().code, codes::MISSING_KEY);
    }
}
