//! Quantiles and tails of the continuous laws that the other modules use, in one place.
//!
//! Normal, Student's t and chi-square come from statrs; the noncentral t is written here because statrs has none. A
//! function returns none where its law does not exist (degrees of freedom not above zero).

use statrs::distribution::{ChiSquared, ContinuousCDF, Normal, StudentsT};
use statrs::function::beta::checked_beta_reg;
use statrs::function::gamma::ln_gamma;

/// P(Z <= z), Z standard normal.
pub(crate) fn normal_cdf(z: f64) -> f64 {
    Normal::standard().cdf(z)
}

/// P(Z > z), Z standard normal; accurate far into the tail.
pub(crate) fn normal_tail(z: f64) -> f64 {
    Normal::standard().sf(z)
}

/// The z with P(Z <= z) = p.
pub(crate) fn normal_quantile(p: f64) -> f64 {
    Normal::standard().inverse_cdf(p)
}

/// The z of a two-sided confidence level, such as 1.96 for 0.95.
pub(crate) fn two_sided_z(conf: f64) -> f64 {
    -normal_quantile((1.0 - conf) / 2.0)
}

/// P(T > t), T Student's t. For cross-checks of the signed ranks; no result rests on a t test.
#[cfg(test)]
pub(crate) fn student_tail(t: f64, df: f64) -> Option<f64> {
    Some(StudentsT::new(0.0, 1.0, df).ok()?.sf(t))
}

/// The t with P(T <= t) = p.
pub(crate) fn student_quantile(p: f64, df: f64) -> Option<f64> {
    Some(StudentsT::new(0.0, 1.0, df).ok()?.inverse_cdf(p))
}

/// P(X > x), X chi-square.
pub(crate) fn chi_square_tail(x: f64, df: f64) -> Option<f64> {
    Some(ChiSquared::new(df).ok()?.sf(x))
}

/// The x with P(X <= x) = p.
pub(crate) fn chi_square_quantile(p: f64, df: f64) -> Option<f64> {
    Some(ChiSquared::new(df).ok()?.inverse_cdf(p))
}

/// The regularised incomplete beta function I_x(a, b).
pub(crate) fn beta_regularised(a: f64, b: f64, x: f64) -> Option<f64> {
    checked_beta_reg(a, b, x).ok()
}

/// Natural logarithm of the gamma function, for positive arguments.
pub(crate) fn log_gamma(x: f64) -> f64 {
    ln_gamma(x)
}

/// P(T > t), T noncentral t with df degrees of freedom and noncentrality ncp of either sign, for t > 0.
///
/// Poisson mixture of incomplete beta functions (Lenth 1989, AS 243). Absolute error about 1e-14.
pub(crate) fn noncentral_t_tail(t: f64, df: f64, ncp: f64) -> Option<f64> {
    let x = t * t / (df + t * t);
    let half = ncp * ncp / 2.0;
    let last = half + 12.0 * half.sqrt() + 40.0; // the weights beyond sum to less than 1e-16
    let mut below = normal_cdf(-ncp);
    let mut j = 0.0;
    while j <= last {
        let ln_power = if half > 0.0 {
            j * half.ln()
        } else if j > 0.0 {
            f64::NEG_INFINITY
        } else {
            0.0
        };
        let even = (ln_power - half - log_gamma(j + 1.0)).exp();
        let odd = ncp / std::f64::consts::SQRT_2 * (ln_power - half - log_gamma(j + 1.5)).exp();
        below += 0.5 * even * beta_regularised(j + 0.5, df / 2.0, x)?;
        below += 0.5 * odd * beta_regularised(j + 1.0, df / 2.0, x)?;
        j += 1.0;
    }
    Some((1.0 - below).clamp(0.0, 1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_noncentral_tail_at_zero_is_students() {
        for (t, df) in [(0.5, 1.0), (2.2, 11.0), (3.0, 300.0)] {
            let student = student_tail(t, df).unwrap();
            assert!((noncentral_t_tail(t, df, 0.0).unwrap() / student - 1.0).abs() < 1e-9);
        }
    }

    #[test]
    fn the_noncentral_tail_rises_with_the_noncentrality() {
        let tails: Vec<f64> = (-40..=40).map(|d| noncentral_t_tail(2.0, 9.0, f64::from(d) / 10.0).unwrap()).collect();
        assert!(tails.windows(2).all(|w| w[0] < w[1]) && tails[0] < 1e-7);
    }

    #[test]
    fn no_degrees_of_freedom_have_no_law() {
        assert_eq!((student_tail(1.0, 0.0), chi_square_tail(1.0, 0.0)), (None, None));
        assert_eq!((student_quantile(0.5, 0.0), chi_square_quantile(0.5, -1.0)), (None, None));
    }
}
