//! Reference cases of several comparisons at once.

use std::num::NonZeroU32;

use super::{Case, Expect, float, floats, probability};
use crate::quantity::{EValue, Probability};
use crate::stats::multiplicity::{self, holm, is_win};
use crate::stats::spending::{e_threshold, level, min_pairs};

pub(super) fn alpha_spending(cases: &[Case]) {
    for (input, expect) in cases {
        let j = u32::try_from(input["j"].as_u64().unwrap()).unwrap();
        let level = level(probability(float(&input["alpha"])), NonZeroU32::new(j).unwrap()).unwrap();
        let mut e = Expect::of(expect);
        e.number("alpha_j", level.get());
        e.number("threshold", e_threshold(level).unwrap().get());
        e.count("min_pairs", min_pairs(level).unwrap() as usize);
        e.finish();
    }
}

pub(super) fn multiple_testing(cases: &[Case]) {
    for (input, expect) in cases {
        let p: Vec<Probability> = floats(&input["p"]).into_iter().map(probability).collect();
        let alpha = probability(float(&input["alpha"]));
        let adjusted = holm(&p).unwrap();
        let mut e = Expect::of(expect);
        e.numbers("holm", &adjusted.iter().map(|p| p.get()).collect::<Vec<_>>());
        e.flags("holm_reject", &adjusted.iter().map(|p| is_win(*p, alpha)).collect::<Vec<_>>());
        // Benjamini & Hochberg's procedure is e-BH on 1/p, and its adjusted p the least level at which that rejects.
        let inverse: Vec<EValue> = p.iter().map(|p| EValue::new(1.0 / p.get()).unwrap()).collect();
        e.flags("bh_reject", &multiplicity::e_bh(&inverse, alpha));
        for (index, least) in floats(&e.take("bh")).into_iter().enumerate() {
            let rejected = |level: f64| multiplicity::e_bh(&inverse, probability(level))[index];
            assert!(rejected(least * (1.0 + 1e-9)) && !rejected(least * (1.0 - 1e-9)), "{index}");
        }
        e.finish();
    }
}

pub(super) fn e_bh(cases: &[Case]) {
    for (input, expect) in cases {
        let values: Vec<EValue> = floats(&input["e"]).into_iter().map(|e| EValue::new(e).unwrap()).collect();
        let won = multiplicity::e_bh(&values, probability(float(&input["alpha"])));
        let mut e = Expect::of(expect);
        e.count("k", won.iter().filter(|won| **won).count());
        e.flags("reject", &won);
        e.finish();
    }
}
