//! The random proposer: the bar that a cleverer one has to beat.

use atb_core::quantity::Seed;
use atb_core::stats::splitmix::SplitMix64;
use atb_core::task::{Point, Space};

use crate::{History, Proposer};

/// Draws untried points in an order fixed by a seed.
#[derive(Debug, Clone, Copy)]
pub struct Random {
    seed: Seed,
}

impl Random {
    /// A proposer for this seed.
    pub fn new(seed: Seed) -> Self {
        Self { seed }
    }
}

impl Proposer for Random {
    fn id(&self) -> &'static str {
        "random"
    }

    fn choose(&self, space: &Space, history: &History, count: usize) -> Vec<Point> {
        SplitMix64::new(self.seed)
            .permutation(space.size())
            .into_iter()
            .map(|number| space.point(number))
            .filter(|point| !history.tried.contains(point))
            .take(count)
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::deterministic::tests::space;

    #[test]
    fn draws_do_not_repeat_and_survive_a_restart() {
        let (space, proposer) = (space(), Random::new(Seed::new(7)));
        let first = proposer.choose(&space, &History::default(), 6);
        let history = History { tried: first.iter().cloned().collect(), lead: None };
        let second = proposer.choose(&space, &history, 6);
        let whole = proposer.choose(&space, &History::default(), 12);
        assert_eq!([first, second].concat(), whole);
        assert_ne!(whole, Random::new(Seed::new(8)).choose(&space, &History::default(), 12));
    }
}
