//! The studies: what each rule makes of candidates whose true gain is known.

use std::num::NonZeroU32;

use atb_core::ladder::{LadderInput, MeasuredOutcome, Verdict, judge, kept};
use atb_core::outcome::Inconclusive;
use atb_core::protocol::Protocol;
use atb_core::quantity::{LogRatio, Probability};
use atb_core::stats::e_process::{Sequential, SequentialDesign};
use atb_core::stats::signed_rank::Walsh;
use atb_core::stats::spending;

use super::model::{Profile, Session};

/// Runs of each arm in a SCREEN.
const SCREEN: usize = 5;

/// A share of replicates, or a mean over them.
pub(crate) fn share(replicates: u64, mut holds: impl FnMut(u64) -> bool) -> f64 {
    (0..replicates).filter(|&replicate| holds(replicate)).count() as f64 / replicates as f64
}

/// The share of some results for which something holds.
pub(crate) fn share_of<T>(results: &[T], holds: impl Fn(&T) -> bool) -> f64 {
    results.iter().filter(|result| holds(result)).count() as f64 / results.len().max(1) as f64
}

/// A seed of its own for each study and replicate.
pub(crate) fn seed(study: u64, replicate: u64) -> u64 {
    study.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ replicate.wrapping_mul(0xd134_2543_de82_ef95) ^ 0x0135_2836
}

/// The verdict of a block by a protocol's levels.
pub(crate) fn verdict(pairs: &[LogRatio], protocol: &Protocol) -> Verdict {
    let input = LadderInput {
        pairs,
        cycle_pairs: None,
        delta: protocol.statistics_delta(),
        conf: protocol.statistics_confidence(),
        conf_equivalence: protocol.statistics_confidence_equivalence(),
        power: protocol.statistics_power(),
        min_pairs: usize::try_from(protocol.replication_min_usable_pairs()).unwrap_or(usize::MAX),
        noise: false,
    };
    judge(&input).unwrap_or_else(|error| unreachable!("six pairs and more have a verdict: {error}"))
}

/// The gain that a rule of single readings claims for the best of some candidates over the incumbent, and its true gain. Each reading is
/// the median of so many runs, one code after the other.
pub(crate) fn naive(session: &mut Session, gains: &[f64], runs: usize) -> (f64, f64) {
    let mut read = |gain: f64| median((0..runs).map(|_| session.run(gain, 0.0)).collect());
    let incumbent = read(0.0);
    let mut best = (f64::NEG_INFINITY, 0.0);
    for &gain in gains {
        let claimed = incumbent - read(gain);
        if claimed > best.0 {
            best = (claimed, gain);
        }
    }
    best
}

/// The candidate of the best SCREEN: its place, and its median log ratio over the parent.
pub(crate) fn screen(session: &mut Session, gains: &[f64]) -> (usize, f64) {
    let arms: Vec<f64> = std::iter::once(0.0).chain(gains.iter().copied()).collect();
    let rounds: Vec<Vec<f64>> = (0..SCREEN).map(|_| session.round(&arms)).collect();
    let of = |arm: usize| median(rounds.iter().map(|times| times[0] - times[arm]).collect());
    (1..arms.len())
        .map(|arm| (arm - 1, of(arm)))
        .fold((0, f64::NEG_INFINITY), |best, one| if one.1 > best.1 { one } else { best })
}

/// A generation as a search runs it: SCREEN, then CONFIRM of its best at the level of the j-th. The pick, and the verdict if it is kept.
pub(crate) struct Generation {
    pub(crate) pick: usize,
    pub(crate) screened: f64,
    pub(crate) confirmed: Option<Verdict>,
}

pub(crate) fn generation(
    session: &mut Session,
    gains: &[f64],
    pairs: usize,
    level: Probability,
    protocol: &Protocol,
) -> Generation {
    let (pick, screened) = screen(session, gains);
    let confirmed = verdict(&session.pairs(pairs, gains[pick]), protocol);
    Generation { pick, screened, confirmed: kept(&confirmed, level).then_some(confirmed) }
}

/// The level that the j-th CONFIRM of a campaign may spend.
pub(crate) fn level(protocol: &Protocol, j: u32) -> Probability {
    let j = NonZeroU32::new(j).unwrap_or(NonZeroU32::MIN);
    spending::level(protocol.statistics_alpha_campaign(), j)
        .unwrap_or_else(|error| unreachable!("alpha is a protocol's: {error}"))
}

/// The one-sided level of a rule that does not spend.
pub(crate) fn unspent() -> Probability {
    Probability::new(0.025).unwrap_or_else(|error| unreachable!("{error}"))
}

/// True if a search of ten generations over no-ops keeps any.
pub(crate) fn ratchet_errs(profile: Profile, seed: u64, spends: bool, protocol: &Protocol) -> bool {
    const GENERATIONS: u32 = 10;
    let schedule = |j: u32| match j {
        _ if !spends => 12,
        ..=1 => protocol.replication_pairs_confirm(),
        2..=4 => protocol.replication_pairs_confirm_2(),
        5..=9 => protocol.replication_pairs_confirm_5(),
        _ => protocol.replication_pairs_confirm_10(),
    };
    let pairs = |j| usize::try_from(schedule(j)).unwrap_or(0);
    let runs = (1..=GENERATIONS).map(|j| SCREEN * 6 + 2 * pairs(j)).sum();
    let mut session = Session::new(profile, seed, runs);
    (1..=GENERATIONS).any(|j| {
        let level = if spends { level(protocol, j) } else { unspent() };
        generation(&mut session, &[0.0; 5], pairs(j), level, protocol).confirmed.is_some()
    })
}

/// How a sequential comparison ended, and after how many pairs.
pub(crate) fn sequential(session: &mut Session, gain: f64, design: &SequentialDesign) -> (MeasuredOutcome, usize) {
    let mut pairs = Vec::new();
    loop {
        pairs.extend(session.pairs(1, gain));
        let run = Sequential::of(&pairs, design).unwrap_or_else(|error| unreachable!("log ratios are finite: {error}"));
        if let Some(stop) = run.stop(design) {
            return stop;
        }
    }
}

/// Hodges and Lehmann's estimate, the median, the mean, and the ratio of the fastest runs, of one block of 12 pairs.
pub(crate) fn estimates(session: &mut Session, gain: f64) -> [f64; 4] {
    let rounds: Vec<Vec<f64>> = (0..12).map(|_| session.round(&[0.0, gain])).collect();
    let ratios: Vec<f64> = rounds.iter().map(|times| times[0] - times[1]).collect();
    let logs: Vec<LogRatio> = ratios.iter().filter_map(|&ratio| LogRatio::new(ratio).ok()).collect();
    let walsh = Walsh::of(&logs).and_then(|walsh| walsh.estimate());
    let fastest = |arm: usize| rounds.iter().map(|times| times[arm]).fold(f64::INFINITY, f64::min);
    let mean = ratios.iter().sum::<f64>() / ratios.len() as f64;
    [walsh.map_or(f64::NAN, LogRatio::get), median(ratios), mean, fastest(0) - fastest(1)]
}

/// True for `inconclusive(precision)`: looked, and could not tell.
pub(crate) fn is_undecided(outcome: MeasuredOutcome) -> bool {
    outcome == MeasuredOutcome::Inconclusive(Inconclusive::Precision)
}

pub(crate) fn median(mut values: Vec<f64>) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    let middle = values.len() / 2;
    if values.len() % 2 == 1 { values[middle] } else { f64::midpoint(values[middle - 1], values[middle]) }
}
