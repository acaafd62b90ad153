//! The model of a machine: what a run reads when the true speed is known.
//!
//! On the scale of logarithms a run is the true time, an effect of its process, the median of a hundred iterations, now and then an
//! outlier of the whole run, a drift over the session, and an effect of its place in the round.

use atb_core::quantity::{LogRatio, Seed};
use atb_core::stats::splitmix::SplitMix64;

/// Iterations whose median is a run's value.
const ITERATIONS: usize = 100;
/// The last run of a round is slower than its first by so much.
const ORDER_EFFECT: f64 = 0.01;

/// How noisy a machine is. Spreads are of logarithms.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Profile {
    pub(crate) name: &'static str,
    /// Spread of iterations.
    pub(crate) iteration: f64,
    /// Chance that an iteration takes 1.5 to 3 times as long.
    pub(crate) iteration_outlier: f64,
    /// Spread of runs.
    pub(crate) run: f64,
    /// Chance that a whole run takes 1.05 to 1.3 times as long.
    pub(crate) run_outlier: f64,
    /// Change over a session.
    pub(crate) drift: f64,
}

/// The profiles of the design study: chosen, not fitted.
pub(crate) const PROFILES: [Profile; 3] = [
    Profile { name: "quiet", iteration: 0.02, iteration_outlier: 0.02, run: 0.003, run_outlier: 0.02, drift: 0.01 },
    Profile { name: "cloud", iteration: 0.03, iteration_outlier: 0.02, run: 0.010, run_outlier: 0.05, drift: 0.03 },
    Profile { name: "noisy", iteration: 0.05, iteration_outlier: 0.03, run: 0.025, run_outlier: 0.10, drift: 0.05 },
];

/// A session of so many runs on a machine.
#[derive(Debug)]
pub(crate) struct Session {
    profile: Profile,
    random: SplitMix64,
    /// Log change from the session's first run to its last.
    drift: f64,
    runs: f64,
    done: f64,
}

impl Session {
    /// A session whose drift goes either way.
    pub(crate) fn new(profile: Profile, seed: u64, runs: usize) -> Self {
        let mut random = SplitMix64::new(Seed::new(seed));
        let drift = if random.coin() { profile.drift } else { -profile.drift };
        Self { profile, random, drift, runs: runs as f64, done: 0.0 }
    }

    /// The same with this drift; negative where the machine gets faster.
    pub(crate) fn drifting(mut self, drift: f64) -> Self {
        self.drift = drift;
        self
    }

    fn uniform(&mut self) -> f64 {
        (self.random.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
    }

    fn chance(&mut self, probability: f64) -> bool {
        self.uniform() < probability
    }

    /// A standard normal number (Box & Muller 1958).
    pub(crate) fn normal(&mut self) -> f64 {
        let radius = (-2.0 * (1.0 - self.uniform()).ln()).sqrt();
        radius * (std::f64::consts::TAU * self.uniform()).cos()
    }

    /// Log time of one run of code that is faster by `gain` (log), at a place of its round between 0 and 1.
    pub(crate) fn run(&mut self, gain: f64, place: f64) -> f64 {
        let Profile { iteration, iteration_outlier, run, run_outlier, .. } = self.profile;
        let mut iterations = [0.0; ITERATIONS];
        for time in &mut iterations {
            *time = iteration * self.normal();
            if self.chance(iteration_outlier) {
                *time += (1.5 + 1.5 * self.uniform()).ln();
            }
        }
        iterations.sort_unstable_by(f64::total_cmp);
        let median = f64::midpoint(iterations[ITERATIONS / 2 - 1], iterations[ITERATIONS / 2]);
        let outlier = if self.chance(run_outlier) { (1.05 + 0.25 * self.uniform()).ln() } else { 0.0 };
        let drift = self.drift * self.done / self.runs;
        self.done += 1.0;
        median + run * self.normal() + outlier + drift + ORDER_EFFECT * place - gain
    }

    /// One round: every arm once, in random order. Log times in the order of the gains.
    pub(crate) fn round(&mut self, gains: &[f64]) -> Vec<f64> {
        let order = self.random.permutation(gains.len());
        let last = (gains.len() - 1).max(1) as f64;
        let mut times = vec![0.0; gains.len()];
        for (place, arm) in order.into_iter().enumerate() {
            times[arm] = self.run(gains[arm], place as f64 / last);
        }
        times
    }

    /// Log ratios of so many pairs: positive where the candidate is faster than the base.
    pub(crate) fn pairs(&mut self, count: usize, gain: f64) -> Vec<LogRatio> {
        (0..count)
            .map(|_| {
                let times = self.round(&[0.0, gain]);
                LogRatio::new(times[0] - times[1]).unwrap_or_else(|_| unreachable!("log times are finite"))
            })
            .collect()
    }
}
