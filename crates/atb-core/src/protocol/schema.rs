//! The schema: each protocol field once, with key, type, unit, range and meaning.
//!
//! The macro makes the table of fields and the typed reader of each, so a field cannot exist in one and not in the other.
//! `cargo xtask check` fails if no code calls a reader.

use std::fmt;

use super::Cited;
use crate::document::Decimal;
use crate::quantity::{Probability, Relative};

/// What a field may hold.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum FieldKind {
    /// An integer in a range.
    Count {
        /// Least allowed.
        min: u64,
        /// Greatest allowed.
        max: u64,
    },
    /// A finite real number in a range.
    Real {
        /// Least allowed.
        min: f64,
        /// Greatest allowed.
        max: f64,
    },
    /// A list of texts whose words are from an allow-list.
    Texts {
        /// Every word that may occur.
        allowed: &'static [&'static str],
    },
}

/// One field of the schema.
#[derive(Debug, Clone, Copy)]
pub struct Field {
    /// `group.name`.
    pub key: &'static str,
    /// The unit that the file must repeat.
    pub unit: &'static str,
    /// Type and range.
    pub kind: FieldKind,
    /// What the field means and protects against.
    pub meaning: &'static str,
}

impl Field {
    /// The group and the name.
    pub fn split(&self) -> (&'static str, &'static str) {
        self.key.split_once('.').unwrap_or(("", self.key))
    }
}

/// A value as read from a file.
#[derive(Debug, Clone, PartialEq)]
pub enum FieldValue {
    /// An integer.
    Count(u64),
    /// A real number as written.
    Real(Decimal),
    /// A list of texts.
    Texts(Vec<String>),
}

impl fmt::Display for FieldValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Count(count) => write!(f, "{count}"),
            Self::Real(decimal) => f.write_str(decimal.written()),
            Self::Texts(texts) => write!(f, "[{}]", texts.join(" | ")),
        }
    }
}

/// A checked protocol. Made by [`Protocol::parse`] only.
#[derive(Debug, Clone, PartialEq)]
pub struct Protocol {
    id: String,
    title: String,
    values: Vec<Cited<FieldValue>>,
}

impl Protocol {
    /// The id, such as `certified-1-draft.1`.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// One line for people.
    pub fn title(&self) -> &str {
        &self.title
    }

    /// All fields with their cited values, in the schema's order.
    pub fn cited(&self) -> Vec<(&'static Field, Cited<FieldValue>)> {
        FIELDS.iter().zip(self.values.iter().cloned()).collect()
    }

    /// Pairs the values with the schema; None if their number or types disagree with it.
    pub(super) fn from_values(id: String, title: String, values: Vec<Cited<FieldValue>>) -> Option<Self> {
        let fits = |(field, cited): (&Field, &Cited<FieldValue>)| {
            matches!(
                (field.kind, cited.value()),
                (FieldKind::Count { .. }, FieldValue::Count(_))
                    | (FieldKind::Real { .. }, FieldValue::Real(_))
                    | (FieldKind::Texts { .. }, FieldValue::Texts(_))
            )
        };
        let fitting = values.len() == FIELDS.len() && FIELDS.iter().zip(&values).all(fits);
        fitting.then_some(Self { id, title, values })
    }

    fn value(&self, key: &str) -> Option<&FieldValue> {
        let at = FIELDS.iter().position(|field| field.key == key)?;
        self.values.get(at).map(Cited::value)
    }

    fn count(&self, key: &str) -> u64 {
        match self.value(key) {
            Some(FieldValue::Count(count)) => *count,
            _ => 0,
        }
    }

    fn real(&self, key: &str) -> f64 {
        match self.value(key) {
            Some(FieldValue::Real(decimal)) => decimal.value(),
            _ => 0.0,
        }
    }

    fn texts(&self, key: &str) -> &[String] {
        match self.value(key) {
            Some(FieldValue::Texts(texts)) => texts,
            _ => &[],
        }
    }
}

/// Flags that a protocol may name. Linking never gets -ffast-math: it would set flush-to-zero for the whole process.
const FLAGS: &[&str] = &["-O1", "-O2", "-O3", "-march=native", "-ffast-math"];

macro_rules! schema {
    ($($key:literal $reader:ident: $kind:ident [$($arg:expr),*] $unit:literal, $meaning:literal;)*) => {
        /// Every field, grouped, in the order in which files list them.
        pub const FIELDS: &[Field] = &[$(Field { key: $key, unit: $unit, kind: schema!(@kind $kind $($arg),*), meaning: $meaning }),*];

        impl Protocol {
            $(schema!(@reader $kind $key $reader $meaning);)*
        }
    };
    (@kind Count $min:expr, $max:expr) => { FieldKind::Count { min: $min, max: $max } };
    (@kind Relative $min:expr, $max:expr) => { FieldKind::Real { min: $min, max: $max } };
    (@kind Probability $min:expr, $max:expr) => { FieldKind::Real { min: $min, max: $max } };
    (@kind Texts $allowed:expr) => { FieldKind::Texts { allowed: $allowed } };
    (@reader Count $key:literal $reader:ident $meaning:literal) => {
        #[doc = $meaning]
        pub fn $reader(&self) -> u64 { self.count($key) }
    };
    (@reader Relative $key:literal $reader:ident $meaning:literal) => {
        #[doc = $meaning]
        pub fn $reader(&self) -> Relative { Relative::saturating(self.real($key)) }
    };
    (@reader Probability $key:literal $reader:ident $meaning:literal) => {
        #[doc = $meaning]
        pub fn $reader(&self) -> Probability { Probability::saturating(self.real($key)) }
    };
    (@reader Texts $key:literal $reader:ident $meaning:literal) => {
        #[doc = $meaning]
        pub fn $reader(&self) -> &[String] { self.texts($key) }
    };
}

schema! {
    "kernel.warmup_min" kernel_warmup_min: Count [25, 1000] "count",
        "Least number of warm-up windows per cell; the number is drawn per run so that a candidate cannot know when samples count.";
    "kernel.warmup_max" kernel_warmup_max: Count [25, 1000] "count",
        "Greatest number of warm-up windows per cell.";
    "kernel.windows" kernel_windows: Count [100, 100_000] "count",
        "Timed windows per cell and run, exactly.";
    "kernel.window_target_us" kernel_window_target_us: Count [700, 1_000_000] "us",
        "Time that a window should last; K is the number of calls that fills it.";
    "kernel.window_floor_us" kernel_window_floor_us: Count [500, 1_000_000] "us",
        "Least median window; below it the hand-off would bias ratios.";
    "kernel.calls_max" kernel_calls_max: Count [1, 256] "count",
        "Greatest number of calls per window.";
    "kernel.run_timeout_s" kernel_run_timeout_s: Count [5, 1800] "s",
        "Time limit of each wait for a worker: its start, or one window.";
    "build.naive_flags" build_naive_flags: Texts [FLAGS] "flags",
        "Compiler flags of the naive baseline.";
    "build.compiler_flags" build_compiler_flags: Texts [FLAGS] "flags",
        "Flag sets tried for the compiler baseline; the fastest that passes correctness is used for it and for candidates.";
    "build.select_rounds" build_select_rounds: Count [3, 15] "count",
        "Runs of each flag set when the compiler baseline's flags are chosen; the least median is taken.";
    "build.timeout_s" build_timeout_s: Count [5, 1800] "s",
        "Time limit of one compilation.";
    "build.memory_mib" build_memory_mib: Count [256, 65_536] "MiB",
        "Address space limit of one compilation.";
    "build.output_max_kib" build_output_max_kib: Count [64, 65_536] "KiB",
        "Greatest size of the artefact.";
    "build.source_max_kib" build_source_max_kib: Count [16, 4096] "KiB",
        "Greatest size of the candidate file.";
    "correctness.shapes_min" correctness_shapes_min: Count [5, 50] "count",
        "Least number of public shapes of a task.";
    "correctness.hidden_shapes" correctness_hidden_shapes: Count [1, 50] "count",
        "Shapes drawn from the task's hidden ranges after the candidate's bytes are hashed.";
    "correctness.seeds_per_shape" correctness_seeds_per_shape: Count [1, 20] "count",
        "Windows of three calls, one of each scale, with fresh inputs per shape in the correctness step.";
    "correctness.compat_rtol" correctness_compat_rtol: Relative [0.0, 0.01] "ratio",
        "Relative tolerance that every candidate must meet, for comparability with published harnesses.";
    "correctness.compat_atol" correctness_compat_atol: Relative [0.0, 0.01] "ratio of row rms",
        "Absolute tolerance in units of the reference row's root mean square that every candidate must meet.";
    "correctness.elementwise_rtol" correctness_elementwise_rtol: Relative [0.0, 0.01] "ratio",
        "Relative tolerance of the class `elementwise`.";
    "correctness.elementwise_atol" correctness_elementwise_atol: Relative [0.0, 0.01] "ratio of row rms",
        "Absolute tolerance of the class `elementwise`, in units of the reference row's root mean square.";
    "correctness.reduction_rtol" correctness_reduction_rtol: Relative [0.0, 0.01] "ratio",
        "Relative tolerance of the class `reduction`.";
    "correctness.reduction_atol" correctness_reduction_atol: Relative [0.0, 0.01] "ratio of row rms",
        "Absolute tolerance of the class `reduction`, in units of the reference row's root mean square.";
    "correctness.sampled_elements" correctness_sampled_elements: Count [64, 65_536] "count",
        "Output elements per window compared with the reference, for tasks whose unit is the element; drawn after the window ends.";
    "correctness.sampled_rows" correctness_sampled_rows: Count [2, 1024] "count",
        "Rows per window compared with the reference, for tasks whose unit is the row; drawn after the window ends.";
    "replication.generation" replication_generation: Count [1, 32] "count",
        "Candidates proposed and screened together.";
    "replication.pairs_screen" replication_pairs_screen: Count [3, 10] "pairs",
        "Blocks of a SCREEN: each runs the parent and every candidate once.";
    "replication.pairs_confirm" replication_pairs_confirm: Count [6, 60] "pairs",
        "Pairs of the first CONFIRM of a campaign.";
    "replication.pairs_confirm_2" replication_pairs_confirm_2: Count [6, 60] "pairs",
        "Pairs of the 2nd to 4th CONFIRM: spent alpha needs more pairs for the same power.";
    "replication.pairs_confirm_5" replication_pairs_confirm_5: Count [6, 60] "pairs",
        "Pairs of the 5th to 9th CONFIRM.";
    "replication.pairs_confirm_10" replication_pairs_confirm_10: Count [6, 60] "pairs",
        "Pairs of the 10th and later CONFIRM.";
    "replication.pairs_report" replication_pairs_report: Count [6, 60] "pairs",
        "Pairs of the REPORT: each runs every arm of the report once.";
    "replication.pairs_probe" replication_pairs_probe: Count [6, 60] "pairs",
        "Pairs of a PROBE (`atb measure`).";
    "replication.min_usable_pairs" replication_min_usable_pairs: Count [6, 60] "pairs",
        "Fewer pairs are inconclusive(n).";
    "statistics.confidence" statistics_confidence: Probability [0.95, 0.999] "probability",
        "Confidence of the interval that `faster` and `slower` need.";
    "statistics.confidence_equivalence" statistics_confidence_equivalence: Probability [0.90, 0.99] "probability",
        "Confidence of the interval that `equivalent` needs: two one-sided tests.";
    "statistics.delta" statistics_delta: Relative [0.002, 0.2] "ratio",
        "Smallest effect of interest: `equivalent` means inside 1 +- delta, `faster` means at least 1 + delta.";
    "statistics.power" statistics_power: Probability [0.6, 0.99] "probability",
        "Power for which the pairs needed after inconclusive(precision) are computed.";
    "statistics.alpha_campaign" statistics_alpha_campaign: Probability [0.01, 0.05] "probability",
        "Probability of any false keep in a campaign, spent as alpha / (j (j + 1)) on the j-th CONFIRM.";
    "noise.cv_cap" noise_cv_cap: Relative [0.005, 0.25] "ratio",
        "Cap on the small-sample corrected cross-run coefficient of variation of each arm that a verdict rests on.";
    "noise.remeasures" noise_remeasures: Count [1, 1] "count",
        "How often a whole block over the cap is measured again before it is inconclusive(noise).";
    "gates.quarantine_ratio" gates_quarantine_ratio: Relative [5.0, 10.0] "ratio",
        "Ratio to the parent, or in REPORT and PROBE to the fastest baseline, in either direction, above which a result is quarantined.";
    "gates.review_ratio" gates_review_ratio: Relative [1.5, 3.0] "ratio",
        "Ratio to the vendor's code above which a result is flagged for review.";
    "gates.roofline_tolerance" gates_roofline_tolerance: Relative [0.0, 0.05] "ratio",
        "Share by which a time may lie below the least time that the machine's measured peaks allow; below that it is quarantined.";
    "gates.similarity" gates_similarity: Relative [0.5, 1.0] "ratio",
        "Share of source marks in common with a reference, baseline or earlier candidate from which on a candidate is flagged as a copy.";
    "isolation.level_min" isolation_level_min: Count [0, 5] "level",
        "Least isolation of workers; below it rows are exploratory.";
    "isolation.gap_max" isolation_gap_max: Relative [0.0001, 0.5] "ratio",
        "Greatest median processor time of a worker between the windows of a cell, as a share of the median window.";
    "machine.busy_max" machine_busy_max: Relative [0.01, 0.5] "ratio",
        "Greatest share of processor time that other work may use before a block starts.";
    "machine.quiet_wait_s" machine_quiet_wait_s: Count [1, 600] "s",
        "How long to wait for a quiet machine.";
    "session.minutes_max" session_minutes_max: Count [5, 60] "min",
        "Greatest age of a session: one machine, one boot, one protocol, one set of controls.";
    "session.handoff_max" session_handoff_max: Relative [0.001, 0.02] "ratio",
        "Greatest share of a window that the hand-off between parent and worker may cost.";
    "session.delay_tolerance" session_delay_tolerance: Relative [0.001, 0.05] "ratio",
        "How far a known delay of 1 ms may read off.";
    "session.slowdown" session_slowdown: Relative [0.01, 0.1] "ratio",
        "Injected slowdown of the control arm that a REPORT must read as slower.";
}
