//! What the paper's rules say of the deciding block, beside our verdict, and why the two differ.

use atb_core::comparison::arm_of;
use atb_core::entry::{BlockBody, Role};
use atb_core::outcome::{Inconclusive, Outcome};
use atb_core::quantity::Ratio;
use atb_core::readout::{PAPER, Readout, Rules, Said};

use super::{ReportError, number};

/// The paper's readout of a block.
#[derive(Debug, Clone, PartialEq)]
pub struct PaperReadout {
    /// Id of the rules, such as `paper-1-draft.1`.
    pub rules: String,
    /// What they say of the comparison that the headline makes.
    pub readout: Readout,
    /// The baseline of that comparison.
    pub base: Role,
    /// The ratio over the naive baseline, as the paper's first headline has it.
    pub naive: Option<Ratio>,
    /// Why that is not what we say, or that it is.
    pub differs: String,
}

impl PaperReadout {
    /// Reads an arm of a block over a base, and over the naive baseline.
    pub(super) fn of(block: &BlockBody, base: usize, judged: usize, ours: Outcome) -> Result<Self, ReportError> {
        let rules = Rules::parse("built-in/paper-1.toml", PAPER)?;
        let readout = rules.read(block, base, judged)?;
        let naive = arm_of(block, Role::Naive).map(|naive| rules.read(block, naive, judged)).transpose()?;
        Ok(Self {
            rules: rules.id().to_owned(),
            differs: differs(&readout, ours, block.seeds.len(), &rules),
            base: block.arms.get(base).map_or(Role::Compiler, |arm| arm.role),
            naive: naive.map(|readout| readout.ratio),
            readout,
        })
    }

    /// `faster, 1.2680x over compiler and 45.2000x over naive`.
    pub fn words(&self) -> String {
        let shown = |ratio: Ratio| number::shown(number::Rounded::nearest(ratio));
        let naive = match self.naive {
            Some(naive) if self.base != Role::Naive => format!(" and {}x over naive", shown(naive)),
            _ => String::new(),
        };
        format!(
            "{}, {}x over {}{naive}, {} pairs",
            self.readout.said.name(),
            shown(self.readout.ratio),
            self.base,
            self.readout.pairs
        )
    }
}

/// Why the paper's rules and ours say different things of the same samples.
fn differs(readout: &Readout, ours: Outcome, pairs: usize, rules: &Rules) -> String {
    let few = readout.pairs;
    match (readout.said, ours) {
        (Said::Faster, Outcome::Faster)
        | (Said::NotFaster, Outcome::Slower)
        | (Said::Quarantined, Outcome::Quarantined(_)) => "as we say".to_owned(),
        (Said::NotFaster, Outcome::Equivalent | Outcome::Inconclusive(Inconclusive::Precision)) => {
            "kept by neither; its rules have no interval, so they cannot tell a null from a loss".to_owned()
        }
        (_, Outcome::Void(_)) => "its rules have no controls, and a control that failed makes ours void".to_owned(),
        (Said::Unstable, _) => format!(
            "two runs of an arm scatter by {} there, over its cap of {}; we judge all {pairs} pairs",
            number::percent(readout.cv),
            number::size(rules.cv_cap())
        ),
        (Said::Quarantined, _) => format!("its first {few} pairs alone are over its breaker"),
        (_, Outcome::Quarantined(_)) => "all pairs together are over our breaker, in either direction".to_owned(),
        (Said::Faster, _) => format!("its rules keep any ratio above 1, from {few} pairs and without an interval"),
        (Said::NotFaster, Outcome::Faster) => format!("{few} pairs do not show what {pairs} do"),
        (Said::NotFaster, _) => format!("its rules look at {few} pairs alone"),
    }
}

#[cfg(test)]
mod tests {
    use atb_core::entry::Phase;
    use serde_json::json;

    use super::*;
    use crate::report::fixture::{self, Ledger};
    use crate::report::{CampaignReport, derive, json, terminal};

    fn probe(ratio: f64, scatter: f64) -> CampaignReport {
        let mut ledger = Ledger::new("c1", "measure", "gelu_tanh", &["a", "b"]);
        ledger.scatter = scatter;
        let candidate = ledger.candidate(1, 1, "a file");
        let arms = [
            (Role::Candidate, candidate, ratio),
            (Role::Compiler, ledger.source(Role::Compiler), 1.0),
            (Role::Naive, ledger.source(Role::Naive), 0.25),
        ];
        ledger.block(Phase::Probe, 1, 12, &arms);
        derive(&ledger.rows, "c1").unwrap()
    }

    fn read(report: &CampaignReport) -> (Said, &str) {
        let paper = report.conclusion.paper.as_ref().unwrap();
        (paper.readout.said, &paper.differs)
    }

    #[test]
    fn a_gain_is_one_by_both_and_a_trace_of_one_by_the_paper_alone() {
        let gain = probe(1.2, 0.001);
        assert_eq!((gain.outcome(), read(&gain)), (Outcome::Faster, (Said::Faster, "as we say")));
        let paper = &json::probe(&gain)["paper"];
        assert_eq!((&paper["outcome"], &paper["pairs"]), (&json!("faster"), &json!(2)));
        assert!((4.7..4.9).contains(&paper["naive_ratio"].as_f64().unwrap()), "{paper}");
        let trace = probe(1.003, 0.001);
        assert_eq!(trace.outcome(), Outcome::Equivalent);
        let why = "its rules keep any ratio above 1, from 2 pairs and without an interval";
        assert_eq!(read(&trace), (Said::Faster, why));
        assert!(terminal::campaign(&trace, 80).contains("paper-1"), "{}", terminal::campaign(&trace, 80));
    }

    #[test]
    fn a_null_a_loss_and_scatter_are_told_apart_by_us_alone() {
        let loss = probe(0.8, 0.001);
        assert_eq!((loss.outcome(), read(&loss)), (Outcome::Slower, (Said::NotFaster, "as we say")));
        let null = probe(0.998, 0.0005);
        assert_eq!((null.outcome(), read(&null).0), (Outcome::Equivalent, Said::NotFaster));
        // Uniform scatter: two runs can lie 12 % apart where all twelve stay below 5 %.
        let unstable =
            (1..40).map(|at| probe(1.2, 0.002 * f64::from(at))).find(|report| read(report).0 == Said::Unstable);
        let unstable = unstable.unwrap();
        assert!(read(&unstable).1.contains("over its cap of 5 %"), "{}", read(&unstable).1);
        let huge = probe(11.0, 0.001);
        assert_eq!(read(&huge), (Said::Quarantined, "as we say"));
    }

    #[test]
    fn without_a_block_there_is_nothing_to_read() {
        let ledger = Ledger::new("c1", "measure", "gelu_tanh", &["a"]);
        let report = derive(&ledger.rows, "c1").unwrap();
        assert_eq!(report.conclusion.paper, None);
        assert!(json::probe(&report)["paper"].is_null());
        let confirmed = derive(
            &{
                let mut ledger = fixture::demo(1.21);
                fixture::add_null(&mut ledger, 1.001);
                ledger.rows
            },
            "c2",
        )
        .unwrap();
        assert_eq!(confirmed.conclusion.paper.as_ref().map(|paper| paper.base), Some(Role::Parent));
    }
}
