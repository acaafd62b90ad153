//! A registration file: a comparison of two arms, fixed before its first run.
//!
//! What such a file may ask for is decided here, and again by the rules of the ledger: only what a run can answer. The minimum detectable
//! effect is computed here too, so that whoever registers and whoever verifies get the same digits.

use serde_json::{Value, json};

use crate::canon::Digest;
use crate::codes;
use crate::comparison::{ComparisonError, pair_ratios};
use crate::document::{Cause, Document, DocumentError, Item, Table};
use crate::entry::{BlockBody, Role};
use crate::protocol::Protocol;
use crate::quantity::{LogRatio, LogSpread, Relative};
use crate::stats::EPSILON;
use crate::stats::pairs::{PairsError, log_spread};
use crate::stats::planning::{Design, PlanningError, minimum_detectable_effect, pairs_needed};

/// The readout that every run produces: the median window, compared by the Hodges-Lehmann ratio over pairs.
pub const READOUT: &str = "median-window";
/// The ladder: [`crate::ladder`] over paired log ratios.
pub const LADDER: &str = "paired-interval";
/// The delivery probe: the machine code of the two arms differs.
pub const DELIVERY: &str = "artefacts-differ";
/// The stop rule: so many pairs, neither more nor fewer.
pub const STOP: &str = "fixed";
/// Most pairs of a registration.
pub const PAIRS_MAX: u64 = 200;
/// Greatest age of the A/A block that a registration rests on, in ms.
pub const SAME_MAX_MS: i64 = 7 * 24 * 3600 * 1000;
/// What a text must begin with to accept a design that cannot see delta; the reason follows.
pub const ACCEPT: &str = "accept: ";

/// Where the code of an arm comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ArmSource {
    /// A C file, relative to the registration file; built as candidates are.
    File(String),
    /// A baseline of the task, built as baselines are.
    Baseline(Role),
}

impl ArmSource {
    /// `file`, or the baseline's name.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::File(_) => "file",
            Self::Baseline(role) => role.name(),
        }
    }
}

/// A checked registration file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Registration {
    /// Task id.
    pub task: String,
    /// Name or file of the protocol.
    pub protocol: String,
    /// Timed shapes; all timed shapes of the task if empty.
    pub shapes: Vec<String>,
    /// What is claimed.
    pub hypothesis: String,
    /// Why it is asked.
    pub why: String,
    /// What is compared with.
    pub control: ArmSource,
    /// What is asked about.
    pub treatment: ArmSource,
    /// Pairs.
    pub pairs: u64,
    /// Fewer usable pairs decide nothing.
    pub min_pairs: u64,
    /// delta and the two confidences as the protocol writes them.
    pub levels: [String; 3],
    /// `accept: ` and a reason, or empty.
    pub underpowered: String,
}

/// The keys of the levels that a registration repeats, and the protocol's fields.
const LEVELS: [(&str, &str); 3] = [
    ("delta", "statistics.delta"),
    ("confidence", "statistics.confidence"),
    ("confidence_equivalence", "statistics.confidence_equivalence"),
];

/// Names of the task and the protocol in a file, to load them before the rest is read.
pub fn names(file: &str, text: &str) -> Result<(String, String), DocumentError> {
    let document = Document::parse(file, text)?;
    let root = document.root();
    let of = |key| Ok::<_, DocumentError>(root.require(key)?.text()?.to_owned());
    Ok((of("task")?, of("protocol")?))
}

impl Registration {
    /// Reads a file strictly and holds it against its protocol. Errors name line, column, field, cause and remedy.
    pub fn parse(file: &str, text: &str, protocol: &Protocol) -> Result<Self, DocumentError> {
        let document = Document::parse(file, text)?;
        let root = document.root();
        let format = root.require("format")?;
        if format.integer()? != 1 {
            return Err(format.rule(codes::OUT_OF_RANGE, "this program reads format 1"));
        }
        let (pairs, min_pairs) = pairs(&root, protocol)?;
        exactly(&root, "readout", READOUT, "runs produce no other readout")?;
        exactly(&root, "delivery", DELIVERY, "there is no other delivery probe")?;
        exactly(&root, "stop", STOP, "there is no other stop rule")?;
        let (control, treatment) = (arm(&root, "control")?, arm(&root, "treatment")?);
        if control == treatment {
            let again = root.require("treatment")?;
            return Err(again.rule(codes::REGISTRATION, "the treatment is the control: nothing would be compared"));
        }
        let registration = Self {
            task: words(&root.require("task")?)?,
            protocol: words(&root.require("protocol")?)?,
            shapes: root.get("shapes").map(|item| item.texts()).transpose()?.unwrap_or_default(),
            hypothesis: words(&root.require("hypothesis")?)?,
            why: words(&root.require("why")?)?,
            control,
            treatment,
            pairs,
            min_pairs,
            levels: levels(&root.require("ladder")?.table()?, protocol, min_pairs)?,
            underpowered: underpowered(&root)?,
        };
        root.finish()?;
        Ok(registration)
    }

    /// SHA-256 of the canonical form: the checked fields, whatever their order and spelling in the file.
    pub fn digest(&self) -> Digest {
        let arm = |source: &ArmSource| match source {
            ArmSource::File(path) => json!({ "file": path }),
            ArmSource::Baseline(role) => json!({ "baseline": role.name() }),
        };
        let [delta, confidence, confidence_equivalence] = &self.levels;
        let form: Value = json!({
            "format": 1, "task": self.task, "protocol": self.protocol, "shapes": self.shapes,
            "hypothesis": self.hypothesis, "why": self.why, "pairs": self.pairs, "min_pairs": self.min_pairs,
            "control": arm(&self.control), "treatment": arm(&self.treatment), "readout": READOUT, "delivery": DELIVERY,
            "stop": STOP, "underpowered": self.underpowered,
            "ladder": { "kind": LADDER, "delta": delta, "confidence": confidence, "confidence_equivalence": confidence_equivalence },
        });
        // Keys are sorted, and there are no floats, so the text is canonical.
        Digest::of(form.to_string().as_bytes())
    }
}

/// A text that says something.
fn words(item: &Item<'_>) -> Result<String, DocumentError> {
    let text = item.text()?.trim();
    if text.is_empty() || text.contains('\0') {
        return Err(item.rule(codes::REGISTRATION, "the text is empty, or holds a NUL"));
    }
    Ok(text.to_owned())
}

fn exactly(root: &Table<'_>, key: &'static str, known: &str, why: &str) -> Result<(), DocumentError> {
    let item = root.require(key)?;
    let found = item.text()?;
    if found == known {
        return Ok(());
    }
    Err(item.rule(codes::REGISTRATION, &format!("`{found}` is not `{known}`, and {why}")))
}

/// `pairs` and `min_pairs`, in order and in range.
fn pairs(root: &Table<'_>, protocol: &Protocol) -> Result<(u64, u64), DocumentError> {
    let (pairs, least) = (root.require("pairs")?, root.require("min_pairs")?);
    let (n, min) = (pairs.integer()?, least.integer()?);
    let floor = protocol.replication_min_usable_pairs();
    let outside = |item: &Item<'_>, found: u64, from: u64, to: u64| {
        item.error(codes::REGISTRATION, Cause::Range { found: found.to_string(), range: format!("{from}..={to}") })
    };
    if !(floor..=PAIRS_MAX).contains(&n) {
        return Err(outside(&pairs, n, floor, PAIRS_MAX));
    }
    if !(floor..=n).contains(&min) {
        return Err(outside(&least, min, floor, n));
    }
    Ok((n, min))
}

fn arm(root: &Table<'_>, key: &'static str) -> Result<ArmSource, DocumentError> {
    let table = root.require(key)?.table()?;
    let source = match (table.get("file"), table.get("baseline")) {
        (Some(file), None) => ArmSource::File(words(&file)?),
        (None, Some(baseline)) => {
            let known = [Role::Naive, Role::Compiler, Role::Vendor];
            let name = baseline.text()?;
            let role = known.into_iter().find(|role| role.name() == name);
            let unknown = || baseline.rule(codes::REGISTRATION, "a baseline is naive, compiler or vendor");
            ArmSource::Baseline(role.ok_or_else(unknown)?)
        }
        _ => {
            let cause = Cause::Rule("an arm is either a `file` or a `baseline`".to_owned());
            return Err(table.error(codes::REGISTRATION, cause));
        }
    };
    table.finish()?;
    Ok(source)
}

/// The levels of the ladder, which are the protocol's, and which so many pairs can reach.
fn levels(ladder: &Table<'_>, protocol: &Protocol, min_pairs: u64) -> Result<[String; 3], DocumentError> {
    exactly(ladder, "kind", LADDER, "there is no other ladder")?;
    let mut levels = [const { String::new() }; 3];
    for (level, (key, field)) in levels.iter_mut().zip(LEVELS) {
        let item = ladder.require(key)?;
        let (found, set) = (item.decimal()?, written(protocol, field));
        if crate::document::Decimal::parse(&set).is_none_or(|set| (set.value() - found.value()).abs() > EPSILON) {
            let cause = format!("{} is not the protocol's {field}, {set}", found.written());
            return Err(item.rule(codes::REGISTRATION, &cause));
        }
        *level = set;
    }
    if !reachable(min_pairs, protocol.statistics_confidence().get()) {
        let item = ladder.require("confidence")?;
        let cause =
            format!("{min_pairs} pairs cannot reach this confidence: even if all agree, the ladder is impossible");
        return Err(item.rule(codes::REGISTRATION, &cause));
    }
    ladder.finish()?;
    Ok(levels)
}

/// True if so many pairs that all agree give a two-sided interval of this confidence: 2 / 2^n <= 1 - confidence.
pub fn reachable(pairs: u64, confidence: f64) -> bool {
    let ways = 1_i64 << (pairs.clamp(1, 40) - 1);
    ways as f64 * (1.0 - confidence) >= 1.0
}

/// A real value of the protocol as its file writes it.
fn written(protocol: &Protocol, key: &str) -> String {
    let cited = protocol.cited().into_iter().find(|(field, _)| field.key == key);
    cited.map_or_else(String::new, |(_, cited)| cited.value().to_string())
}

fn underpowered(root: &Table<'_>) -> Result<String, DocumentError> {
    let Some(item) = root.get("underpowered") else { return Ok(String::new()) };
    let text = words(&item)?;
    match text.strip_prefix(ACCEPT) {
        Some(reason) if !reason.trim().is_empty() => Ok(text),
        _ => Err(item.rule(codes::REGISTRATION, "write `accept: ` and the reason, or leave the key out")),
    }
}

/// What a design can see on a machine.
#[derive(Debug, Clone, PartialEq)]
pub struct Power {
    /// Standard deviation of the log ratios of the same code against itself.
    pub spread: LogSpread,
    /// The smallest true difference that the pairs show with the protocol's power.
    pub detectable: Relative,
    /// The same as rows hold it: a share, rounded up to six decimals.
    pub written: String,
    /// Pairs that would show delta; none if no practical number does.
    pub needed: Option<usize>,
}

/// Why the power of a design is unknown.
#[derive(Debug, Clone, thiserror::Error)]
pub enum PowerError {
    /// The block does not compare.
    #[error("failed to read the A/A block")]
    Comparison(#[from] ComparisonError),
    /// Too few pairs.
    #[error("failed to compute the scatter of the A/A block")]
    Pairs(#[from] PairsError),
    /// The levels of the protocol plan nothing.
    #[error("failed to plan")]
    Planning(#[from] PlanningError),
}

/// The power of `pairs` pairs, from a block with the same code in both arms. Statistics: [`crate::stats::planning`].
pub fn power(same: &BlockBody, pairs: u64, protocol: &Protocol) -> Result<Power, PowerError> {
    let spread = log_spread(&pair_ratios(same, 0, 1)?)?;
    let design = Design::new(protocol.statistics_confidence(), protocol.statistics_power())?;
    let n = usize::try_from(pairs).unwrap_or(usize::MAX);
    let log: LogRatio = minimum_detectable_effect(spread, n, design)?;
    let share = log.get().exp_m1();
    let floor = usize::try_from(protocol.replication_min_usable_pairs()).unwrap_or(usize::MAX);
    Ok(Power {
        spread,
        detectable: Relative::saturating(share),
        written: format!("{:.6}", (share * 1e6).ceil() / 1e6),
        needed: pairs_needed(spread, protocol.statistics_delta(), design, floor).ok(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const PROTOCOL: &str = include_str!("../../../fixtures/protocol/it-1.toml");
    const FILE: &str = "format = 1\ntask = \"t\"\nprotocol = \"p\"\nhypothesis = \"h\"\nwhy = \"w\"\npairs = 8\nmin_pairs = 6\n\
        readout = \"median-window\"\ndelivery = \"artefacts-differ\"\nstop = \"fixed\"\n[control]\nbaseline = \"compiler\"\n\
        [treatment]\nfile = \"a.c\"\n[ladder]\nkind = \"paired-interval\"\ndelta = 0.01\nconfidence = 0.95\n\
        confidence_equivalence = 0.9\n";

    fn parse(text: &str) -> Result<Registration, DocumentError> {
        Registration::parse("r.toml", text, &Protocol::parse("it-1.toml", PROTOCOL).unwrap())
    }

    #[test]
    fn a_file_is_read_and_its_digest_is_that_of_its_meaning() {
        let registration = parse(FILE).unwrap();
        assert_eq!(registration.levels, ["0.01", "0.95", "0.90"]);
        let spaced = FILE.replace("pairs = 8\n", "pairs   =  8 # so many\n");
        assert_eq!(parse(&spaced).unwrap().digest(), registration.digest());
        let other = FILE.replace("min_pairs = 6", "min_pairs = 7");
        assert_ne!(parse(&other).unwrap().digest(), registration.digest());
        assert_eq!(names("r.toml", FILE).unwrap(), ("t".to_owned(), "p".to_owned()));
    }

    #[test]
    fn what_no_run_can_answer_is_refused_at_its_place() {
        for (from, to, line) in [
            ("pairs = 8", "pairs = 5", 6),
            ("min_pairs = 6", "min_pairs = 9", 7),
            ("median-window", "p99", 8),
            ("artefacts-differ", "trust-me", 9),
            ("fixed", "until significant", 10),
            ("baseline = \"compiler\"", "file = \"a.c\"", 13),
            ("baseline = \"compiler\"", "baseline = \"fastest\"", 12),
            ("delta = 0.01", "delta = 0.02", 17),
            ("why = \"w\"", "why = \" \"", 5),
            ("stop = \"fixed\"", "stop = \"fixed\"\nunderpowered = \"accept: \"", 11),
        ] {
            let error = parse(&FILE.replace(from, to)).unwrap_err();
            assert_eq!((error.code, error.line), (codes::REGISTRATION, line), "{to}: {error}");
        }
        assert_eq!(parse(&FILE.replace("stop =", "stopp =")).unwrap_err().code, codes::MISSING_KEY);
        assert_eq!(parse(&FILE.replace("[ladder]", "[ladder]\nx = 1")).unwrap_err().code, codes::UNKNOWN_KEY);
    }

    #[test]
    fn a_ladder_is_impossible_below_its_number_of_pairs() {
        assert!(reachable(6, 0.95) && !reachable(5, 0.95));
        assert!(reachable(11, 0.999) && !reachable(10, 0.999));
        let strict = PROTOCOL.replacen("value = 0.95", "value = 0.999", 1);
        let protocol = Protocol::parse("p.toml", &strict).unwrap();
        let error = Registration::parse("r.toml", &FILE.replace("0.95", "0.999"), &protocol).unwrap_err();
        assert_eq!((error.code, error.field.as_str()), (codes::REGISTRATION, "ladder.confidence"), "{error}");
    }
}
