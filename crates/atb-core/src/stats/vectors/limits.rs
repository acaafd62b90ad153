//! Reference cases of bounds and saturation. Times are given in milliseconds, rates in units of 1e12 per second.

use super::{Case, Expect, float, ratio, readings, relative, share};
use crate::quantity::{Bytes, BytesPerSecond, Flops, FlopsPerSecond, Reading, Seconds};
use crate::stats::roofline::{self, Roofline};
use crate::stats::saturation::saturation;

pub(super) fn roofline(cases: &[Case]) {
    for (input, expect) in cases {
        let of = |key: &str| float(&input[key]);
        let bandwidth = BytesPerSecond::new(of("peak_tb_s") * 1e12).unwrap();
        let rate = FlopsPerSecond::new(of("peak_tflops") * 1e12).unwrap();
        let (bytes, flops) = (Bytes::new(of("bytes")).unwrap(), Flops::new(of("flops")).unwrap());
        let roof = Roofline::of(bytes, flops, bandwidth, rate).unwrap();
        let time = Seconds::new(of("t_ms") / 1e3).unwrap();
        let standing = roof.standing(time, relative(of("tol")), ratio(of("sat_headroom"))).unwrap();
        let mut e = Expect::of(expect);
        e.number("t_mem_ms", roof.memory.get() * 1e3);
        e.number("t_flop_ms", roof.arithmetic.get() * 1e3);
        e.number("t_sol_ms", roof.bound.get() * 1e3);
        e.number("headroom", standing.headroom.get());
        e.number("utilisation", standing.utilisation.get());
        e.flag("impossible", standing.impossible);
        e.flag("at_wall", standing.at_wall);
        e.finish();
    }
}

pub(super) fn sol_score(cases: &[Case]) {
    for (input, expect) in cases {
        let of = |key: &str| Seconds::new(float(&input[key])).unwrap();
        let mut e = Expect::of(expect);
        e.number("score", roofline::sol_score(of("t_k"), of("t_b"), of("t_sol")).unwrap().get());
        e.finish();
    }
}

pub(super) fn saturation_two_arms(cases: &[Case]) {
    for (input, expect) in cases {
        let of = |key: &str| float(&input[key]);
        let (a, b) = (readings(&input["best_a_ms"]), readings(&input["best_b_ms"]));
        let wall = Reading::new(of("wall_ms")).unwrap();
        let got = saturation(&a, &b, wall, relative(of("delta_sat")), share(of("min_fraction"))).unwrap();
        let mut e = Expect::of(expect);
        e.number("frac_a", got.share_a.get());
        e.number("frac_b", got.share_b.get());
        e.flag("saturated", got.saturated);
        e.finish();
    }
}
