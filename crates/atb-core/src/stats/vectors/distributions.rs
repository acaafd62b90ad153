//! Reference cases of the laws that the other statistics are built from.

use super::{Case, float};
use crate::stats::distributions::{
    beta_regularised, chi_square_quantile, chi_square_tail, noncentral_t_tail, normal_quantile, student_quantile,
    student_tail,
};

pub(super) fn special_functions(cases: &[Case]) {
    for (input, expect) in cases {
        let of = |key: &str| float(&input[key]);
        let got = match input["f"].as_str().unwrap() {
            "t.ppf" => student_quantile(of("p"), of("df")),
            "t.sf" => student_tail(of("x"), of("df")),
            "chi2.ppf" => chi_square_quantile(of("p"), of("df")),
            "chi2.sf" => chi_square_tail(of("x"), of("df")),
            "norm.ppf" => Some(normal_quantile(of("p"))),
            "nct.sf" => noncentral_t_tail(of("x"), of("df"), of("nc")),
            "betainc" => beta_regularised(of("a"), of("b"), of("x")),
            other => panic!("nobody computes {other}"),
        };
        // No value is zero, so all are held to the relative tolerance, far tails too.
        let (got, want) = (got.unwrap(), float(expect));
        assert!((got / want - 1.0).abs() < 1e-9, "{input}: got {got}, want {want}");
    }
}
