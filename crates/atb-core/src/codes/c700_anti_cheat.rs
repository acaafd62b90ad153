//! 7xx: results that are too good, or got in a way that does not count.

super::codes! {
    QUARANTINE = 701, "the ratio to the fastest baseline is over the quarantine limit";
        "In SCREEN and CONFIRM the ratio is to the parent. A factor this large, in either direction, is far more often a defect or a cheat than a speedup. It is recorded, and is neither kept nor a parent.";
        "The gate row with the observed ratio and the limit.";
        "Find the mechanism first."
}
