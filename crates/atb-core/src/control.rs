//! The clock's own controls: readings whose right answer is known before anything is measured in a session.
//!
//! One arithmetic, in doubles, that the SQL rules, the Rust rules and the reports share: at the edge they must agree.

/// What the canary is refused while code runs at isolation level 2 and above, as the second half of a row's vector: everything.
pub const CANARY_RUNNING: &str = "3fffffffffffffff";

/// The delay that the clock is asked to read, in ns.
pub const DELAY_NS: u64 = 1_000_000;

/// True if a hand-off of so many ns is at most `share` of the shortest window, which is `floor_us` long.
pub fn handoff_holds(handoff_ns: f64, floor_us: f64, share: f64) -> bool {
    (0.0..=1000.0 * floor_us * share).contains(&handoff_ns)
}

/// True if the reading of the known delay is off by at most the share `tolerance`.
pub fn delay_holds(delay_ns: f64, tolerance: f64) -> bool {
    let (delay, off) = (DELAY_NS as f64, DELAY_NS as f64 * tolerance);
    (delay - off..=delay + off).contains(&delay_ns)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_edges_hold() {
        for (delay_ns, holds) in [(1_010_000.0, true), (990_000.0, true), (1_010_001.0, false), (989_999.0, false)] {
            assert_eq!(delay_holds(delay_ns, 0.01), holds, "{delay_ns}");
        }
        assert!(handoff_holds(9000.0, 1800.0, 0.005) && handoff_holds(0.0, 1800.0, 0.005));
        assert!(!handoff_holds(9001.0, 1800.0, 0.005) && !handoff_holds(-1.0, 1800.0, 0.005));
        assert!(!handoff_holds(f64::NAN, 1800.0, 0.005) && !delay_holds(f64::NAN, 0.01));
    }
}
