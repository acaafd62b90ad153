//! Reference cases of what decides: ladder, equivalence tests, sequential evidence, parity.

use super::{Case, Expect, count, float, floats, log_ratios, probability, ratio, relative};
use crate::ladder::{LadderInput, MeasuredOutcome, judge};
use crate::quantity::LogRatio;
use crate::stats::distributions::student_tail;
use crate::stats::e_process::{Evidence, Sequential, SequentialDesign};
use crate::stats::equivalence::Equivalence;
use crate::stats::mean;
use crate::stats::pairs::log_spread;
use crate::stats::parity::{self, ParityOutcome};
use crate::stats::spending::Threshold;

pub(super) fn verdict_ladder(cases: &[Case]) {
    for (input, expect) in cases {
        let pairs = log_ratios(&floats(&input["d"]));
        let delta = relative(float(&input["delta"]));
        let verdict = judge(&LadderInput {
            pairs: &pairs,
            cycle_pairs: None,
            delta,
            conf: probability(float(&input["conf"])),
            conf_equivalence: probability(0.90),
            power: probability(0.8),
            min_pairs: count(&input["min_pairs"]),
            noise: false,
        })
        .unwrap();
        let mut e = Expect::of(expect);
        e.number("hl", verdict.estimate_log.get());
        e.number("lo95", verdict.lo95.get());
        e.number("hi95", verdict.hi95.get());
        e.number("lo90", verdict.lo90.get());
        e.number("hi90", verdict.hi90.get());
        e.number("margin_log", delta.log_margin().unwrap().get());
        let name = match verdict.outcome {
            MeasuredOutcome::Faster => "faster",
            MeasuredOutcome::Slower => "slower",
            MeasuredOutcome::Equivalent => "equivalent",
            MeasuredOutcome::Inconclusive(_) => "inconclusive",
        };
        e.name("verdict", name);
        e.finish();
    }
}

pub(super) fn tost(cases: &[Case]) {
    for (input, expect) in cases {
        let d = floats(&input["d"]);
        let delta = relative(float(&input["delta"]));
        let test = Equivalence::of(&log_ratios(&d), delta).unwrap();
        let mut e = Expect::of(expect);
        e.number("sr_p_lower", test.p_lower.get());
        e.number("sr_p_upper", test.p_upper.get());
        e.number("sr_p_tost", test.p.get());
        // The cross-check by Student's t, which no verdict uses.
        let n = d.len() as f64;
        let se = log_spread(&log_ratios(&d)).unwrap().get() / n.sqrt();
        let margin = delta.log_margin().unwrap().get();
        let tail = |t: f64| student_tail(t, n - 1.0).unwrap();
        let (lower, upper) = (tail((mean(&d) + margin) / se), tail((margin - mean(&d)) / se));
        e.number("t_p_lower", lower);
        e.number("t_p_upper", upper);
        e.number("t_p_tost", lower.max(upper));
        e.finish();
    }
}

pub(super) fn e_process(cases: &[Case]) {
    for (input, expect) in cases {
        let pairs = log_ratios(&floats(&input["d"]));
        assert_eq!(floats(&input["lambdas"]), [12.5, 25.0, 50.0, 100.0, 200.0, 400.0]);
        let threshold = |alpha: &str| Threshold::new(1.0 / float(&input[alpha])).unwrap();
        let design = SequentialDesign {
            decisive: threshold("alpha_faster"),
            equivalence: threshold("alpha_equiv"),
            delta: relative(float(&input["delta"])),
            min_pairs: 6,
            max_pairs: 30,
        };
        let run = Sequential::of(&pairs, &design).unwrap();
        let side = |of: fn(&Evidence) -> f64| run.evidence.iter().map(of).collect::<Vec<f64>>();
        let mut e = Expect::of(expect);
        e.numbers("logE_faster", &side(|v| v.faster.get()));
        e.numbers("logE_slower", &side(|v| v.slower.get()));
        e.numbers("logE_above_minus_margin", &side(|v| v.above.get()));
        e.numbers("logE_below_plus_margin", &side(|v| v.below.get()));
        e.optional("first_faster", run.first_faster);
        e.optional("first_slower", run.first_slower);
        e.optional("first_equivalent", run.first_equivalent);
        e.finish();
    }
}

pub(super) fn parity(cases: &[Case]) {
    for (input, expect) in cases {
        let ours: Vec<LogRatio> =
            log_ratios(&floats(&input["our_speedups"]).iter().map(|v| v.ln()).collect::<Vec<_>>());
        let published = ratio(float(&input["published"]));
        let got = parity::parity(&ours, published, relative(float(&input["band"])), probability(0.90)).unwrap();
        let mut e = Expect::of(expect);
        e.number("parity_ratio", got.ratio.get());
        e.numbers("ci90", &[got.lo.ratio_bound(), got.hi.ratio_bound()]);
        let name = match got.outcome {
            ParityOutcome::Parity => "parity",
            ParityOutcome::Mismatch => "mismatch",
            ParityOutcome::Inconclusive => "inconclusive",
        };
        e.name("verdict", name);
        e.finish();
    }
}
