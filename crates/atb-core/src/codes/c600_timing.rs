//! 6xx: timing samples and their statistics.

super::codes! {
    WINDOW_COUNT = 601, "a cell does not have the protocol's number of windows";
        "More windows could hide the worst, fewer could show the best.";
        "The cell's samples.";
        "Measure with atb."
    WINDOW_TIME = 602, "a window time is not a positive integer of nanoseconds";
        "Raw samples are integers; zero, negative, fractional and text values are no times.";
        "The cell's samples.";
        "Measure with atb."
    WINDOW_FLOOR = 603, "windows are too short";
        "The median window is below the floor, so the hand-off would bias the ratio.";
        "The cell's median and the floor.";
        "A kernel below the floor at the largest number of calls is too short to measure: use a larger shape."
    MEDIAN = 604, "a stated value is not twice the median of its samples";
        "The value is recomputed from the samples in the row.";
        "The stated and the recomputed value.";
        "Measure with atb."
    CALLS = 605, "calls per window are outside the protocol's range, or differ within an arm";
        "K is chosen once per arm and cell.";
        "The cell's k.";
        "Measure with atb."
    WARMUP = 606, "warm-up windows are outside the protocol's range";
        "Their number is drawn per run, so that a candidate cannot know when the clock counts.";
        "The cell's warmup.";
        "Measure with atb."
    PAIR_COUNT = 607, "a block does not have the pairs that its phase needs";
        "Too few pairs cannot reach the confidence; more pairs than planned would be optional stopping.";
        "The phase, the pairs, and the protocol's number.";
        "Measure with atb."
    ARM_COVER = 608, "a pair does not run each arm exactly once";
        "No run may be dropped or repeated for its time.";
        "The block's runs.";
        "Measure with atb; a failed run voids the block."
    CV_CAP = 609, "the cross-run coefficient of variation is over the cap";
        "The runs of one arm scatter too much for a verdict. The block is measured again once as a whole, then the outcome is inconclusive(noise).";
        "The arm's values; the refused block is kept in the refusal table.";
        "Quiet the machine; never drop runs."
    ARMS = 610, "a block's arms do not fit its phase";
        "Roles must be distinct, and each phase compares certain roles.";
        "The block's arms.";
        "Measure with atb."
    SEED_COUNT = 611, "a block does not have one seed per pair";
        "Both arms of a pair draw from the same stream.";
        "The block's seeds.";
        "Measure with atb."
}
