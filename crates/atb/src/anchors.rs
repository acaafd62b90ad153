//! Anchors that ship, and those of them that are measured by arithmetic alone.

use atb_core::anchor::{Anchor, Figure, Stated};
use atb_core::quantity::Seed;
use atb_core::stats::splitmix::SplitMix64;
use include_dir::{Dir, include_dir};

use crate::error::{Error, Result};

static ANCHORS: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/../../corpora/anchors");

/// All anchors, by id.
pub fn all() -> Result<Vec<Anchor>> {
    let mut anchors = Vec::new();
    for file in ANCHORS.files() {
        let name = format!("built-in/{}", file.path().display());
        anchors.push(Anchor::parse(&name, file.contents_utf8().unwrap_or_default())?);
    }
    anchors.sort_by(|a, b| a.id.cmp(&b.id));
    Ok(anchors)
}

/// One anchor.
pub fn find(id: &str) -> Result<Anchor> {
    let anchors = all()?;
    let known = anchors.iter().map(|anchor| anchor.id.as_str()).collect::<Vec<_>>().join(", ");
    anchors.into_iter().find(|anchor| anchor.id == id).ok_or_else(|| Error::Usage {
        message: format!("there is no anchor `{id}`"),
        remedy: format!("the anchors are {known}"),
    })
}

/// Minima that problem 53 takes: a batch of 128, each with 4095 columns.
const MINIMA: u64 = 128 * 4095;
/// Elements that are drawn where a reduction has more: its norm is then scaled up, which is off by less than 1 in 1000.
const ELEMENTS: u64 = 1 << 22;

/// The largest absolute error of an output of zeros, for a figure of the anchor `kernelbench-zeros`; none for any other.
///
/// Inputs are uniform in 0..1. The largest element of a softmax is `exp(max) / sum(exp)`, of a normalised tensor `max / norm`, and of a
/// minimum over a dimension the largest of the rows' minima.
pub fn of_zeros(figure: &Figure) -> Option<f64> {
    let Stated::Value { reduction, .. } = figure.stated else { return None };
    let mut random = SplitMix64::new(Seed::new(23));
    let mut draw = || (random.next_u64() >> 11) as f64 / (1_u64 << 53) as f64;
    let drawn = reduction.min(ELEMENTS);
    let scale = reduction as f64 / drawn as f64;
    match figure.name.split(' ').next()? {
        "23" => {
            let sums: (f64, f64) =
                (0..drawn).map(|_| draw().exp()).fold((0.0, 0.0), |(sum, max), x| (sum + x, x.max(max)));
            Some(sums.1 / (sums.0 * scale))
        }
        "37" | "39" => {
            let sums: (f64, f64) =
                (0..drawn).map(|_| draw()).fold((0.0, 0.0), |(sum, max), x| (sum + x * x, x.max(max)));
            Some(sums.1 / (sums.0 * scale).sqrt())
        }
        "53" => {
            // The minimum of n uniform numbers, by its distribution.
            let minimum = |draw: &mut dyn FnMut() -> f64| 1.0 - (1.0 - draw()).powf(1.0 / drawn as f64);
            Some((0..MINIMA).map(|_| minimum(&mut draw)).fold(0.0, f64::max))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_shipped_anchor_parses_and_its_printed_ratios_are_possible() {
        let anchors = all().unwrap();
        assert!(anchors.len() >= 5);
        for figure in anchors.iter().flat_map(|anchor| &anchor.figures) {
            let arithmetic = figure.arithmetic();
            assert!(arithmetic.is_none_or(|of| of.agrees != Some(false)), "{}", figure.name);
        }
    }

    #[test]
    fn zeros_are_as_far_off_as_was_published() {
        for figure in &find("kernelbench-zeros").unwrap().figures {
            let Stated::Value { value, .. } = &figure.stated else { panic!("{} has a value", figure.name) };
            let ratio = of_zeros(figure).unwrap() / value.value();
            assert!((0.9..=1.1).contains(&ratio), "{}: {ratio}", figure.name);
        }
    }
}
