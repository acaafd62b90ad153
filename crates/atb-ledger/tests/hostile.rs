//! Rows that tell the two implementations of the rules apart if one is laxer than the other: text that JSON readers treat differently,
//! numbers at the edges, and keys, roles and ids that pass for others when texts are joined.

#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout, reason = "tests may stop and speak")]

mod support;

use atb_core::canon::canonical;
use atb_core::codes::{self, Code};
use atb_core::entry::{
    BlockBody, Body as _, CellBody, Chain, FileBody, GateBody, Phase, Role, Row, TaskBody, TriedBody,
};
use atb_core::task::Unit;
use atb_ledger::rules::State;
use rusqlite::Connection;
use serde_json::{Value, json};
use support::*;

/// A ledger, its state, and the admissible rows of each kind that may come next.
struct Stage {
    connection: Connection,
    state: State,
    rows: Vec<(Chain, Row)>,
    _folder: tempfile::TempDir,
}

fn stage() -> Stage {
    stage_with(Unit::Row)
}

/// A ledger for a task that is checked by this unit.
fn stage_with(unit: Unit) -> Stage {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("atb.db");
    let ledger = begin_with(&path, unit);
    let at = START_MS + 1000;
    let mut protocol = protocol_body();
    (protocol.digest, protocol.id) = (digest("second protocol"), "second".into());
    let files = vec![FileBody { name: "a".into(), digest: digest("a") }];
    let task = TaskBody { format: 1, digest: digest("second task"), id: "t".into(), unit: Unit::Element, files };
    let mut baseline = baseline_body(Role::Vendor);
    baseline.tried = vec![TriedBody { flags: "-O2".into(), outcome: "ok".into(), picos: vec![1, 2] }];
    let gate = GateBody { gate: "g".into(), ..gate_body(9) };
    let rows = vec![
        (Chain::Entry, next_row(&ledger, Chain::Entry, &protocol, at)),
        (Chain::Entry, next_row(&ledger, Chain::Entry, &task, at)),
        (Chain::Entry, next_row(&ledger, Chain::Entry, &campaign_body("00000000000000c2"), at)),
        (Chain::Entry, next_row(&ledger, Chain::Entry, &session_body("00000000000000e2", CAMPAIGN), at)),
        (Chain::Entry, next_row(&ledger, Chain::Entry, &baseline, at)),
        (Chain::Entry, next_row(&ledger, Chain::Entry, &candidate_body(3, root()), at)),
        (Chain::Entry, next_row(&ledger, Chain::Entry, &confirm_again(), at)),
        (Chain::Entry, next_row(&ledger, Chain::Entry, &close_body(&ledger), at)),
        (Chain::Gate, next_row(&ledger, Chain::Gate, &gate, at)),
        (Chain::Refusal, next_row(&ledger, Chain::Refusal, &refusal_body("x"), at)),
    ];
    let mut state = State::new();
    for chain in [Chain::Refusal, Chain::Entry, Chain::Gate] {
        for row in ledger.rows(chain).unwrap() {
            state.check(chain, &row, true).unwrap();
            state.admit(chain, &row);
        }
    }
    drop(ledger);
    Stage { connection: Connection::open(&path).unwrap(), state, rows, _folder: folder }
}

impl Stage {
    fn row(&self, kind: &str) -> (Chain, Row) {
        self.rows.iter().find(|(_, row)| row.kind == kind).unwrap().clone()
    }

    fn insert(&self, chain: Chain, row: &Row) -> rusqlite::Result<usize> {
        let insert = format!("INSERT INTO {} VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)", chain.table());
        let Row { seq, prev, hash, at_ms, kind, key, body } = row;
        self.connection.execute(&insert, (seq, prev, hash, at_ms, kind, key, body))
    }

    /// The code that both implementations give; panics if they differ.
    fn judge(&self, what: &str, chain: Chain, row: &Row) -> Option<Code> {
        self.connection.execute_batch("SAVEPOINT attempt").unwrap();
        let done = self.insert(chain, row);
        self.connection.execute_batch("ROLLBACK TO attempt; RELEASE attempt").unwrap();
        let sql = done.err().map(|error| {
            Code::find_in(&error.to_string()).unwrap_or_else(|| panic!("{what}: an error without a code: {error}"))
        });
        let rust = self.state.check(chain, row, false).err();
        assert_eq!(sql, rust, "{what}: SQL and Rust");
        rust
    }

    fn admit(&mut self, chain: Chain, row: &Row) {
        self.insert(chain, row).unwrap();
        self.state.check(chain, row, false).unwrap();
        self.state.admit(chain, row);
        for (_, other) in self.rows.iter_mut().filter(|(of, _)| *of == chain) {
            other.seq = row.seq + 1;
            other.prev.clone_from(&row.hash);
        }
    }
}

#[test]
fn rows_without_an_edit_are_admitted() {
    let stage = stage();
    for (chain, row) in &stage.rows {
        assert_eq!(stage.judge(&row.kind, *chain, row), None, "{}", row.kind);
    }
}

#[test]
fn the_number_of_checks_follows_the_unit_of_the_task() {
    for (unit, enough) in [(Unit::Row, 2), (Unit::Element, 64)] {
        let stage = stage_with(unit);
        for (per_window, code) in [(enough, None), (enough - 1, Some(codes::CHECKS_SHORT))] {
            let mut block = confirm_again();
            block.runs.iter_mut().for_each(|run| run.checks.sampled = run.checks.scanned * per_window);
            let (chain, mut row) = stage.row("block");
            row.body = canonical(&block).unwrap();
            assert_eq!(stage.judge("sampled", chain, &row), code, "{unit:?} {per_window}");
        }
    }
}

const SHAPE: Option<Code> = Some(codes::SHAPE);

/// (kind, text, its replacement, code): edits of the body's text, as no serialiser would make them.
const TEXTS: &[(&str, &str, &str, Option<Code>)] = &[
    ("candidate", r#""note":"n""#, r#""note":"\u006e""#, SHAPE),
    ("candidate", r#""note":"n""#, r#""note":"\/""#, SHAPE),
    ("candidate", r#""note":"n""#, r#""note":"\u0000""#, SHAPE),
    ("candidate", r#""note":"n""#, r#""note":"\u000a""#, SHAPE),
    ("candidate", r#""note":"n""#, r#""note":"\u001F""#, SHAPE),
    ("candidate", r#""note":"n""#, r#""note":"\ud83d\ude00""#, SHAPE),
    ("candidate", r#""note":"n""#, r#""note":"\ud83d""#, SHAPE),
    ("candidate", r#""note":"n""#, "\"note\":\"\t\"", SHAPE),
    ("candidate", r#""note":"n""#, r#""note": "n""#, SHAPE),
    ("candidate", r#""note":"n""#, r#""note":'n'"#, SHAPE),
    ("candidate", r#""note":"n""#, r#""\u006eote":"n""#, SHAPE),
    ("candidate", r#""note":"n""#, r#""note":"m","note":"n""#, SHAPE),
    ("candidate", r#""note":"n","parent""#, r#""note:text parent""#, SHAPE),
    ("candidate", r#""format":1"#, r#""format":1.0"#, SHAPE),
    ("candidate", r#""format":1"#, r#""format":1e0"#, SHAPE),
    ("candidate", r#""format":1"#, r#""format":01"#, SHAPE),
    ("candidate", r#""format":1"#, r#""format":+1"#, SHAPE),
    ("candidate", r#""format":1"#, r#""format":0x1"#, SHAPE),
    ("candidate", r#""format":1"#, r#""format":2"#, SHAPE),
    ("candidate", r#""format":1"#, r#""format":true"#, SHAPE),
    ("decision", r#""format":1"#, r#""format":2"#, SHAPE),
    ("refused", r#""format":1"#, r#""format":2"#, SHAPE),
    ("candidate", r#""generation":1"#, r#""generation":-0"#, SHAPE),
    ("candidate", r#""generation":1"#, r#""generation":9223372036854775808"#, SHAPE),
    ("candidate", r#""generation":1"#, r#""generation":1e999"#, SHAPE),
    ("candidate", r#""generation":1"#, r#""generation":NaN"#, SHAPE),
    ("candidate", r#""generation":1"#, r#""generation":Infinity"#, SHAPE),
    ("candidate", r#""cost":"0","format":1"#, r#""format":1,"cost":"0""#, SHAPE),
    ("candidate", "{", "{/**/", SHAPE),
    ("candidate", "}", ",}", SHAPE),
    ("candidate", "}", "}\0", SHAPE),
    ("candidate", "}", "} ", SHAPE),
    ("protocol", r#""kernel.windows":{"#, r#""kernel.windows":{"a":[[[[1]]]],"#, SHAPE),
    ("protocol", r#""value":100}"#, r#""value":"100"}"#, SHAPE),
    ("protocol", r#""value":100}"#, r#""value":0}"#, SHAPE),
    ("protocol", r#""value":100}"#, r#""value":null}"#, SHAPE),
    ("protocol", r#""value":["-O2"]"#, r#""value":[2]"#, SHAPE),
    ("protocol", r#""value":["-O2"]"#, r#""value":[[["-O2"]]]"#, SHAPE),
    ("task", r#""name":"a""#, r#""name":1"#, SHAPE),
    ("task", r#""unit":"element""#, r#""unit":"rows""#, SHAPE),
    ("task", r#""unit":"element""#, r#""unit":1"#, SHAPE),
    ("task", r"[{", r#"["x",{"#, SHAPE),
    ("task", r"[{", r"[5,{", SHAPE),
    ("task", r"[{", r"[{},{", SHAPE),
    ("campaign", r#""shapes":["s"]"#, r#""shapes":[1]"#, SHAPE),
    ("campaign", r#""shapes":["s"]"#, r#""shapes":[]"#, None),
    ("session", r#""cpus":2"#, r#""cpus":"2""#, SHAPE),
    ("session", r#""virtual_machine":true"#, r#""virtual_machine":1"#, SHAPE),
    ("session", r#""virtual_machine":true"#, r#""virtual_machine":false"#, None),
    ("baseline", r#""picos":[1,2]"#, r#""picos":[1,"2"]"#, SHAPE),
    ("baseline", r#""picos":[1,2]"#, r#""picos":[]"#, None),
    ("close", r#""keys":[{"#, r#""keys":["x",{"#, SHAPE),
    ("close", r#""keys":[{"#, r#""keys":[{"key":"x","session":"y"},{"#, Some(codes::CITATION)),
    ("block", r#""arms":[{"#, r#""arms":["x",{"#, SHAPE),
    ("block", r#""arms":[{"#, r#""arms":[{"role:text artefact:text flags":"x"},{"#, SHAPE),
    ("block", r#""runs":[{"#, r#""runs":["x",{"#, SHAPE),
    ("block", r#""runs":[{"#, r#""runs":[[],{"#, SHAPE),
    ("block", r#""checks":{"#, r#""checks":{"a":1,"#, SHAPE),
    ("block", r#""failed":0"#, r#""failed":-0"#, SHAPE),
    ("block", r#""failed":0"#, r#""failed":0.0"#, SHAPE),
    ("block", r#""failed":0"#, r#""failed":-1"#, Some(codes::CHECKS_SHORT)),
    ("block", r#""dims":[1,"#, r#""dims":[-0,"#, SHAPE),
    ("block", r#""dims":[1,"#, r#""dims":[[1],"#, SHAPE),
    ("block", r#""k":10"#, r#""k":18446744073709551615"#, SHAPE),
    ("block", r#""k":10"#, r#""k":9223372036854775807"#, Some(codes::CALLS)),
    ("block", r#""pair":0"#, r#""pair":9223372036854775807"#, Some(codes::ARM_COVER)),
    ("block", r#""windows":["#, r#""windows":[[1],"#, SHAPE),
    ("block", r#""windows":["#, r#""windows":[{},"#, SHAPE),
    ("block", r#""windows":["#, r#""windows":[NaN,"#, SHAPE),
    ("block", r#""windows":["#, r#""windows":["\u0041","#, SHAPE),
];

/// Window times that are none; each takes the place of the first one.
const TIMES: &[(&str, Code)] = &[
    ("-0", codes::WINDOW_TIME),
    ("0", codes::WINDOW_TIME),
    ("-1", codes::WINDOW_TIME),
    ("1e999", codes::WINDOW_TIME),
    ("-1e-999", codes::WINDOW_TIME),
    ("2000000.5", codes::WINDOW_TIME),
    ("2000000.0", codes::WINDOW_TIME),
    ("2.00E6", codes::WINDOW_TIME),
    ("123456789012345678901234567890", codes::WINDOW_TIME),
    ("9223372036854775808", codes::WINDOW_TIME),
    ("1000000000001", codes::WINDOW_TIME),
    ("\"2000000\"", codes::WINDOW_TIME),
    ("\"1e5\"", codes::WINDOW_TIME),
    ("null", codes::WINDOW_TIME),
    ("true", codes::WINDOW_TIME),
    ("02000000", codes::SHAPE),
    ("2000000.", codes::SHAPE),
    (".5", codes::SHAPE),
    ("", codes::SHAPE),
];

#[test]
fn both_read_hostile_text_alike() {
    let stage = stage();
    for (kind, from, to, code) in TEXTS {
        let (chain, mut row) = stage.row(kind);
        assert!(row.body.contains(from), "{kind} has no {from}");
        row.body = match *from {
            "}" => format!("{}{to}", &row.body[..row.body.len() - 1]),
            _ => row.body.replacen(from, to, 1),
        };
        assert_eq!(stage.judge(&format!("{kind}: {to}"), chain, &row), *code, "{kind}: {to}");
    }
}

#[test]
fn both_take_the_same_window_times_for_none() {
    let stage = stage();
    for (time, code) in TIMES {
        let (chain, mut row) = stage.row("block");
        let start = row.body.find("\"windows\":[").unwrap() + "\"windows\":[".len();
        let end = start + row.body[start..].find(',').unwrap();
        row.body.replace_range(start..end, time);
        assert_eq!(stage.judge(time, chain, &row), Some(*code), "{time}");
    }
    // A truth is 1 to SQLite; in the place of the shortest window it would leave the median as it is.
    let (chain, row) = edited(&stage, "block", |body| {
        let windows = body["runs"][0]["cells"][0]["windows"].as_array_mut().unwrap();
        *windows.iter_mut().min_by_key(|time| time.as_u64()).unwrap() = json!(true);
    });
    assert_eq!(stage.judge("a truth", chain, &row), Some(codes::WINDOW_TIME));
}

#[test]
fn a_noise_cap_is_a_plain_decimal() {
    let stage = stage();
    for (cap, code) in [
        ("0.05", None),
        ("0.1", None),
        ("inf", SHAPE),
        ("0.05x", SHAPE),
        ("0.0.5", SHAPE),
        ("0.", SHAPE),
        ("5e-2", SHAPE),
        ("1", SHAPE),
    ] {
        let (chain, row) = edited(&stage, "protocol", |body| {
            body["protocol"]["fields"]["noise.cv_cap"]["value"] = json!(cap);
        });
        assert_eq!(stage.judge(cap, chain, &row), code, "{cap}");
    }
}

#[test]
fn escapes_that_canonical_json_asks_for_are_admitted() {
    let stage = stage();
    for note in ["\u{1}\u{1f}\u{7f}", "\n\r\t\u{8}\u{c}\u{b}", "\\\"/\\\\/\\u0041", "\\\\u0041\\", "ä€😀\u{2028}", ""]
    {
        let (chain, row) = edited(&stage, "candidate", |body| body["note"] = json!(note));
        assert_eq!(stage.judge(note, chain, &row), None, "{}", row.body);
    }
}

#[test]
fn nesting_deeper_than_any_form_is_refused_alike() {
    let stage = stage();
    for depth in [10, 126, 127, 128, 129, 500, 3000] {
        let nested = format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        for (kind, from) in [
            ("protocol", r#"["-O2"]"#),
            ("task", r#""a""#),
            ("campaign", r#"["s"]"#),
            ("session", "true"),
            ("close", r#""complete""#),
            ("block", "[1,2]"),
            ("decision", r#""pass""#),
            ("refused", r#""x""#),
        ] {
            let (chain, mut row) = stage.row(kind);
            row.body = row.body.replacen(from, &nested, 1);
            assert_eq!(stage.judge(&format!("{kind} {depth} deep"), chain, &row), SHAPE);
        }
    }
}

#[test]
fn frames_with_hidden_characters_are_refused_alike() {
    let stage = stage();
    for (chain, row) in &stage.rows {
        let with = |change: &dyn Fn(&mut Row)| {
            let mut row = row.clone();
            change(&mut row);
            stage.judge(&row.kind, *chain, &row)
        };
        assert_eq!(with(&|row| row.hash.push('\0')), Some(codes::HASH));
        assert_eq!(with(&|row| row.hash.make_ascii_uppercase()), Some(codes::HASH));
        assert_eq!(with(&|row| row.prev.push('\0')), Some(codes::CHAIN));
        assert_eq!(with(&|row| row.kind.push('\0')), Some(codes::KIND));
        assert_eq!(with(&|row| row.key.push('\0')), Some(codes::KEY));
        assert_eq!(with(&|row| row.seq = i64::MAX), Some(codes::SEQUENCE));
        assert_eq!(with(&|row| row.seq = i64::MIN), Some(codes::SEQUENCE));
        assert_eq!(with(&|row| row.at_ms = i64::MIN), Some(codes::CLOCK_BACK));
        assert_eq!(with(&|row| row.at_ms = 0), Some(codes::CLOCK_BACK));
        let late = if row.kind == "block" { Some(codes::SESSION_EXPIRED) } else { None };
        assert_eq!(with(&|row| row.at_ms = i64::MAX), late);
    }
}

/// An edit of the body of a kind's row; the key stays.
fn edited(stage: &Stage, kind: &str, edit: impl FnOnce(&mut Value)) -> (Chain, Row) {
    let (chain, mut row) = stage.row(kind);
    let mut body: Value = serde_json::from_str(&row.body).unwrap();
    edit(&mut body);
    row.body = body.to_string();
    (chain, row)
}

/// A PROBE block in which every second run of an arm takes 1.4 times as long; `naive_ns` is the naive window at 10 calls.
fn scattered(arm: u64, naive_ns: u64) -> BlockBody {
    let arms = [(Role::Candidate, digest("candidate 2")), (Role::Compiler, root()), (Role::Naive, digest("naive"))];
    let mut block = block_body(Phase::Probe, 1, 6, &arms, &[2_000_000, 2_400_000, naive_ns]);
    for run in block.runs.iter_mut().filter(|run| run.arm == arm) {
        let cell = &mut run.cells[0];
        cell.windows.iter_mut().for_each(|window| *window = *window * (10 + run.pair % 2 * 4) / 10);
        let mut sorted = cell.windows.clone();
        sorted.sort_unstable();
        cell.value = sorted[49] + sorted[50];
    }
    block
}

/// (arm that scatters, naive window in ns, its K, code).
const SCATTERED: &[(u64, u64, u64, Option<Code>)] = &[
    (0, 9_000_000, 10, Some(codes::CV_CAP)),
    (1, 9_000_000, 10, Some(codes::CV_CAP)),
    (2, 9_000_000, 10, None),
    // Near the compiler baseline or ahead of it, it may be the fastest one: the cap holds it.
    (2, 2_500_000, 10, None),
    (2, 2_300_000, 10, Some(codes::CV_CAP)),
    (2, 1_900_000, 10, Some(codes::CV_CAP)),
    // By the call, not by the window.
    (2, 9_000_000, 50, Some(codes::CV_CAP)),
    (2, 2_300_000, 1, None),
];

#[test]
fn the_scatter_of_a_naive_baseline_is_no_reason_to_refuse_where_it_is_behind() {
    for (arm, naive_ns, calls, code) in SCATTERED {
        let stage = stage();
        let mut block = scattered(*arm, *naive_ns);
        for run in block.runs.iter_mut().filter(|run| run.arm == 2) {
            run.cells[0].k = *calls;
        }
        let (chain, mut row) = stage.row("block");
        (row.key, row.body) = (block.key(), canonical(&block).unwrap());
        assert_eq!(stage.judge("scatter", chain, &row), *code, "arm {arm}, naive {naive_ns} ns, {calls} calls");
    }
}

/// A second cell in which the naive baseline is ahead, or behind there too.
#[test]
fn a_naive_baseline_is_behind_only_if_it_is_in_every_cell() {
    for (calls, code) in [(10, None), (50, Some(codes::CV_CAP))] {
        let stage = stage();
        let mut block = scattered(2, 9_000_000);
        block.cells.push(CellBody { shape: "s2".into(), dims: vec![1, 3] });
        for run in &mut block.runs {
            let mut second = run.cells[0].clone();
            second.k = if run.arm == 2 { calls } else { second.k };
            run.checks.scanned += 100 + second.warmup;
            run.checks.sampled = run.checks.scanned * 64;
            run.checks.full = 2;
            run.cells.push(second);
        }
        let (chain, mut row) = stage.row("block");
        (row.key, row.body) = (block.key(), canonical(&block).unwrap());
        assert_eq!(stage.judge("two cells", chain, &row), code, "{calls} calls");
    }
}

/// The code of a block in a session of its own. Both are edited.
fn in_session(session: impl Fn(&mut Value), block: impl Fn(&mut Value), what: &str) -> Option<Code> {
    let mut stage = stage();
    let other = "00000000000000e2";
    let (chain, mut row) = edited(&stage, "session", session);
    row.key = other.into();
    stage.admit(chain, &row);
    for role in ["naive", "compiler"] {
        let (chain, mut row) = edited(&stage, "baseline", |body| {
            (body["session"], body["role"]) = (json!(other), json!(role));
        });
        row.key = format!("{other}/{role}");
        row.hash = digest(role).to_string();
        stage.admit(chain, &row);
    }
    let (chain, row) = edited(&stage, "block", |body| {
        body["session"] = json!(other);
        block(body);
    });
    stage.judge(what, chain, &row)
}

#[test]
fn blocks_of_a_session_whose_clock_is_off_are_refused() {
    let void = Some(codes::CONTROL);
    for (handoff_ns, delay_ns, code) in [
        (5000, 1_005_000, None),
        (5000, 1_020_000, None),
        (5000, 980_000, None),
        (5000, 1_020_001, void),
        (5000, 979_999, void),
        (1_000_000, 1_005_000, void),
        (-1, 1_005_000, void),
    ] {
        let session = |body: &mut Value| {
            (body["handoff_ns"], body["delay_ns"]) = (json!(handoff_ns), json!(delay_ns));
        };
        let what = format!("{handoff_ns} {delay_ns}");
        assert_eq!(in_session(session, |_| {}, &what), code, "{what}");
    }
}

/// Isolation and canary of the session, those of the block, whether it is quiet, and the code.
type Jailed = (&'static str, &'static str, &'static str, &'static str, bool, Option<Code>);

const SEEN: &str = "00000000000000003fffffffffffffff";
const OTHER: &str = "00000000000000013fffffffffffffff";
const LESS: &str = "00000000000000003ffffffffffffffe";
const BELOW: Option<Code> = Some(codes::ISOLATION);

const JAILS: &[Jailed] = &[
    ("L2", SEEN, "L2", SEEN, true, None),
    ("L1+uid0", SEEN, "L1+uid0", SEEN, true, None),
    // Below the protocol's level 1 a row is exploratory.
    ("L0", SEEN, "L0", SEEN, true, BELOW),
    ("L0", SEEN, "L0", SEEN, false, None),
    // Not what the session's canary saw.
    ("L1", SEEN, "L2", SEEN, true, BELOW),
    ("L2", SEEN, "L2", OTHER, true, BELOW),
    ("L1+uid0", SEEN, "L1", SEEN, false, BELOW),
    // A level that was not earned: the canary got something.
    ("L2", LESS, "L2", LESS, true, BELOW),
    ("L2", LESS, "L2", LESS, false, BELOW),
    ("L1", LESS, "L1", LESS, true, None),
    // Layers that were left out make a row exploratory.
    ("L1+unfrozen", SEEN, "L1+unfrozen", SEEN, true, BELOW),
    ("L1+no-filter+no-gap-audit", SEEN, "L1+no-filter+no-gap-audit", SEEN, true, BELOW),
    ("L1+unfrozen", SEEN, "L1+unfrozen", SEEN, false, None),
    // No level, and no vector.
    ("L6", SEEN, "L6", SEEN, true, BELOW),
    ("L10", SEEN, "L10", SEEN, true, BELOW),
    ("L1uid0", SEEN, "L1uid0", SEEN, true, BELOW),
    ("l2", SEEN, "l2", SEEN, false, BELOW),
    ("", SEEN, "", SEEN, false, BELOW),
    ("L2", "", "L2", "", true, BELOW),
    ("L2", "000000000000000000000000000000FF", "L2", "000000000000000000000000000000FF", true, BELOW),
    ("L2", "00000000000000000000000000000ff\u{e9}", "L2", "00000000000000000000000000000ff\u{e9}", true, BELOW),
];

#[test]
fn blocks_below_the_protocols_isolation_are_exploratory_or_refused() {
    for (of_session, seen, of_block, stated, quiet, code) in JAILS {
        let session = |body: &mut Value| {
            (body["isolation"], body["canary"]) = (json!(of_session), json!(seen));
        };
        let block = |body: &mut Value| {
            (body["isolation"], body["canary"], body["quiet"]) = (json!(of_block), json!(stated), json!(quiet));
        };
        let what = format!("{of_session:?} {seen:?}, block {of_block:?} {stated:?}, quiet {quiet}");
        assert_eq!(in_session(session, block, &what), *code, "{what}");
    }
}

#[test]
fn a_role_cannot_pass_for_two_arms() {
    let stage = stage();
    for role in ["parent candidate", "candidate ", " candidate", "parent\tcandidate", ""] {
        let (chain, row) = edited(&stage, "block", |body| {
            body["arms"].as_array_mut().unwrap().truncate(1);
            body["arms"][0]["role"] = json!(role);
            body["runs"].as_array_mut().unwrap().retain(|run| run["arm"] == 0);
        });
        assert_eq!(stage.judge(role, chain, &row), Some(codes::ARMS), "{role:?}");
    }
}

#[test]
fn ids_with_spaces_do_not_pass_for_two_sessions() {
    let mut stage = stage();
    let (chain, mut row) = edited(&stage, "session", |body| body["id"] = json!("f f"));
    row.key = "f f".into();
    stage.admit(chain, &row);
    let reveal = |ids: &[&str]| {
        let keys: Vec<Value> = ids.iter().map(|id| json!({"session": id, "key": "00"})).collect();
        let (chain, row) = edited(&stage, "close", |body| body["keys"] = json!(keys));
        stage.judge(&ids.join(","), chain, &row)
    };
    assert_eq!(reveal(&[SESSION, "f f"]), None);
    assert_eq!(reveal(&["f f", SESSION]), None);
    for wrong in [&[SESSION, "f", "f"][..], &[SESSION, "f f", "f f"], &[SESSION], &[]] {
        assert_eq!(reveal(wrong), Some(codes::CITATION), "{wrong:?}");
    }
}

#[test]
fn a_protocol_is_known_by_the_id_of_its_row() {
    let mut stage = stage();
    let named = |stage: &Stage, outer: &str, inner: &str, of: &str| {
        let (chain, mut row) = edited(stage, "protocol", |body| {
            body["id"] = json!(outer);
            body["protocol"]["id"] = json!(inner);
            body["digest"] = json!(digest(of));
        });
        row.key = digest(of).to_string();
        (chain, row)
    };
    let (chain, row) = named(&stage, "outer", "inner", "third");
    stage.admit(chain, &row);
    let (chain, row) = named(&stage, "inner", "outer", "fourth");
    assert_eq!(stage.judge("the inner id is free", chain, &row), None);
    let (chain, row) = named(&stage, "outer", "other", "fourth");
    assert_eq!(stage.judge("the outer id is not", chain, &row), Some(codes::FROZEN_PROTOCOL));
}

#[test]
fn an_attempt_that_was_refused_for_noise_cannot_be_made_again() {
    let mut stage = stage();
    let with_attempt = |stage: &Stage, index: u64, attempt: u64| {
        let (chain, mut row) = edited(stage, "block", |body| {
            body["index"] = json!(index);
            body["attempt"] = json!(attempt);
        });
        row.key = format!("{CAMPAIGN}/confirm/{index}");
        stage.judge(&format!("block {index}, attempt {attempt}"), chain, &row)
    };
    // Block 1 was refused once.
    assert_eq!(with_attempt(&stage, 1, 1), Some(codes::BLOCK_ORDER));
    assert_eq!(with_attempt(&stage, 1, 2), None);
    assert_eq!(with_attempt(&stage, 1, 3), Some(codes::BLOCK_ORDER));
    let refuse = |stage: &Stage, key: &str, text: &str| {
        let (chain, mut row) = stage.row("refused");
        let mut body: Value = serde_json::from_str(&row.body).unwrap();
        (body["key"], body["digest"]) = (json!(key), json!(digest(text)));
        (row.body, row.key) = (body.to_string(), format!("ATB609/{}", digest(text)));
        (chain, row)
    };
    let key = format!("{CAMPAIGN}/confirm/1");
    let (chain, row) = refuse(&stage, &key, "the second attempt");
    assert_eq!(stage.judge("a second refusal", chain, &row), None);
    let admitted = stage.row("block");
    stage.admit(admitted.0, &admitted.1);
    assert_eq!(stage.judge("a refusal after the block", chain, &row), Some(codes::BLOCK_ORDER));
    let (chain, row) = refuse(&stage, &format!("{CAMPAIGN}/confirm/2"), "another block");
    assert_eq!(stage.judge("a refusal of another block", chain, &row), None);
}

#[test]
fn a_block_refused_twice_is_not_measured_a_third_time() {
    let mut stage = stage();
    let (chain, mut row) = stage.row("refused");
    let mut body: Value = serde_json::from_str(&row.body).unwrap();
    body["key"] = json!(format!("{CAMPAIGN}/confirm/1"));
    row.body = body.to_string();
    stage.admit(chain, &row);
    for attempt in 1..=3 {
        let (chain, row) = edited(&stage, "block", |body| body["attempt"] = json!(attempt));
        assert_eq!(stage.judge(&format!("attempt {attempt}"), chain, &row), Some(codes::BLOCK_ORDER));
    }
}
