//! The deterministic proposer: spread over the space first, then the neighbours of the leading point.

use atb_core::task::{Point, Space};

use crate::{History, Proposer};

/// Walks the space without chance and without cost.
#[derive(Debug, Clone, Copy, Default)]
pub struct Deterministic;

impl Proposer for Deterministic {
    fn id(&self) -> &'static str {
        "deterministic"
    }

    fn choose(&self, space: &Space, history: &History, count: usize) -> Vec<Point> {
        let mut chosen: Vec<Point> = Vec::new();
        let neighbours = history.lead.iter().flat_map(|lead| neighbours(space, lead));
        for point in neighbours.chain(spread(space)) {
            if chosen.len() >= count {
                break;
            }
            if !history.tried.contains(&point) && !chosen.contains(&point) {
                chosen.push(point);
            }
        }
        chosen
    }
}

/// All points in an order whose prefixes are spread evenly: steps of about the golden section of the size.
fn spread(space: &Space) -> impl Iterator<Item = Point> {
    let size = space.size();
    // 0.618 of the size, raised until it shares no factor with it, so that the walk visits every point.
    let mut step = (size * 618 / 1000).max(1);
    while gcd(step, size) != 1 {
        step += 1;
    }
    // Starts late: the first values of the axes are the conservative ones, closest to the baseline.
    (0..size).map(move |at| space.point((size - 1 + at * step) % size))
}

/// Points that differ from this one in one axis, the nearest values of each axis first.
fn neighbours(space: &Space, point: &Point) -> Vec<Point> {
    let mut found = Vec::new();
    for distance in 1..space.axes().iter().map(|axis| axis.values.len()).max().unwrap_or(1) {
        for (at, axis) in space.axes().iter().enumerate() {
            let here = point.0[at];
            for value in [here.checked_add(distance), here.checked_sub(distance)].into_iter().flatten() {
                if value < axis.values.len() {
                    let mut neighbour = point.clone();
                    neighbour.0[at] = value;
                    found.push(neighbour);
                }
            }
        }
    }
    found
}

fn gcd(a: usize, b: usize) -> usize {
    if b == 0 { a } else { gcd(b, a % b) }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use std::collections::BTreeSet;

    pub(crate) fn space() -> Space {
        let axis = |name: &str| format!("[[axis]]\nname = \"{name}\"\nvalues = [\"1\", \"2\", \"3\"]\ndoc = \"d\"\n");
        Space::parse("s.toml", &format!("format = 1\n{}{}{}", axis("A"), axis("B"), axis("C")), "").unwrap()
    }

    #[test]
    fn the_walk_visits_every_point_once() {
        let space = space();
        let points: BTreeSet<Point> = spread(&space).collect();
        assert_eq!(points.len(), space.size());
        let all = Deterministic.choose(&space, &History::default(), 1000);
        assert_eq!(all.len(), space.size());
    }

    #[test]
    fn neighbours_of_the_lead_come_first_and_nothing_twice() {
        let space = space();
        let lead = Point(vec![1, 1, 1]);
        let history = History { tried: [lead.clone(), Point(vec![2, 1, 1])].into(), lead: Some(lead) };
        let chosen = Deterministic.choose(&space, &history, 5);
        assert_eq!(
            chosen,
            [
                Point(vec![0, 1, 1]),
                Point(vec![1, 2, 1]),
                Point(vec![1, 0, 1]),
                Point(vec![1, 1, 2]),
                Point(vec![1, 1, 0]),
            ]
        );
    }
}
