//! What a raw `sqlite3` shell manages to write: nothing.

#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout, reason = "tests may stop and speak")]

mod support;

use std::path::Path;
use std::process::{Command, Stdio};

use atb_core::entry::Chain;
use support::*;

/// Attempts on a ledger with a keep: (what, SQL, code). `NEXT` stands for an admissible block row in `temp.next`.
const ATTEMPTS: &[(&str, &str, &str)] = &[
    ("update a row", "UPDATE entry SET body = '{}' WHERE seq = 9;", "ATB301"),
    ("update or ignore", "UPDATE OR IGNORE entry SET at_ms = 1;", "ATB301"),
    ("delete the last row", "DELETE FROM entry WHERE seq = (SELECT max(seq) FROM entry);", "ATB302"),
    ("delete all gates", "DELETE FROM gate;", "ATB302"),
    ("delete a refusal", "DELETE FROM refusal;", "ATB302"),
    ("free a seed", "DELETE FROM seed;", "ATB302"),
    ("update a gate", "UPDATE gate SET body = replace(body, 'pass', 'reject');", "ATB301"),
    ("update a refusal", "UPDATE refusal SET key = 'x';", "ATB301"),
    ("update a seed", "UPDATE seed SET entry = 1;", "ATB301"),
    (
        "replace a row",
        "INSERT OR REPLACE INTO entry SELECT seq, prev, hash, at_ms, kind, key, replace(body, '10', '11') FROM entry WHERE seq = 9;",
        "ATB201",
    ),
    ("ignore the refusal", "INSERT OR IGNORE INTO entry SELECT * FROM entry WHERE seq = 9;", "ATB201"),
    (
        "upsert",
        "INSERT INTO entry SELECT * FROM entry WHERE seq = 9 ON CONFLICT (seq) DO UPDATE SET body = '{}';",
        "ATB201",
    ),
    (
        "copy an entry",
        "INSERT INTO entry SELECT (SELECT max(seq) FROM entry) + 1, (SELECT hash FROM entry ORDER BY seq DESC LIMIT 1), hash, (SELECT max(at_ms) FROM entry), kind, key, body FROM entry WHERE seq = 9;",
        "ATB303",
    ),
    (
        "copy a gate",
        "INSERT INTO gate SELECT 2, (SELECT hash FROM gate ORDER BY seq DESC LIMIT 1), hash, at_ms, kind, key, body FROM gate WHERE seq = 1;",
        "ATB303",
    ),
    (
        "copy a refusal",
        "INSERT INTO refusal SELECT 2, hash, hash, at_ms, kind, key, body FROM refusal WHERE seq = 1;",
        "ATB303",
    ),
    (
        "release what passed",
        "INSERT INTO gate SELECT 2, hash, hash, at_ms, 'ruling', '1/1', '{\"by\":\"me\",\"decision\":\"release\",\"format\":1,\"gate\":1,\"number\":1,\"reason\":\"mine\"}' FROM gate WHERE seq = 1;",
        "ATB215",
    ),
    (
        "release nothing",
        "INSERT INTO gate SELECT 2, hash, hash, at_ms, 'ruling', '7/1', '{\"by\":\"me\",\"decision\":\"release\",\"format\":1,\"gate\":7,\"number\":1,\"reason\":\"mine\"}' FROM gate WHERE seq = 1;",
        "ATB206",
    ),
    ("copy a seed", "INSERT INTO seed SELECT * FROM seed LIMIT 1;", "ATB207"),
    ("replace a seed", "INSERT OR REPLACE INTO seed SELECT seed, 1 FROM seed LIMIT 1;", "ATB207"),
    (
        "invent a seed",
        "INSERT INTO seed VALUES ('0123456789abcdef0123456789abcdef', (SELECT max(seq) FROM entry));",
        "ATB206",
    ),
    (
        "unknown protocol",
        "UPDATE temp.next SET body = json_set(body, '$.protocol', 'x'); INSERT INTO entry SELECT * FROM temp.next;",
        "ATB111",
    ),
    (
        "NaN for a time",
        "UPDATE temp.next SET body = replace(body, '\"windows\":[', '\"windows\":[NaN,'); INSERT INTO entry SELECT * FROM temp.next;",
        "ATB205",
    ),
    (
        "infinity for a time",
        "UPDATE temp.next SET body = json_set(body, '$.runs[0].cells[0].windows[0]', json('1e999')); INSERT INTO entry SELECT * FROM temp.next;",
        "ATB602",
    ),
    (
        "true for the shortest time",
        "UPDATE temp.next SET body = json_set(body, '$.runs[0].cells[0].windows[0]', json('true')); INSERT INTO entry SELECT * FROM temp.next;",
        "ATB602",
    ),
    (
        "text for a time",
        "UPDATE temp.next SET body = json_set(body, '$.runs[0].cells[0].windows[0]', '1'); INSERT INTO entry SELECT * FROM temp.next;",
        "ATB602",
    ),
    (
        "99 windows",
        "UPDATE temp.next SET body = json_remove(body, '$.runs[0].cells[0].windows[0]'); INSERT INTO entry SELECT * FROM temp.next;",
        "ATB601",
    ),
    (
        "101 windows",
        "UPDATE temp.next SET body = json_insert(body, '$.runs[0].cells[0].windows[#]', 2000000); INSERT INTO entry SELECT * FROM temp.next;",
        "ATB601",
    ),
    (
        "a halved median",
        "UPDATE temp.next SET body = json_set(body, '$.runs[0].cells[0].value', json_extract(body, '$.runs[0].cells[0].value') / 2); INSERT INTO entry SELECT * FROM temp.next;",
        "ATB604",
    ),
    (
        "an over-cap scatter",
        "UPDATE temp.next SET body = json_set(body, '$.runs[0].cells[0].windows', (SELECT json_group_array(value * 2) FROM (SELECT value FROM json_each(body, '$.runs[0].cells[0].windows') ORDER BY key)), '$.runs[0].cells[0].value', json_extract(body, '$.runs[0].cells[0].value') * 2); INSERT INTO entry SELECT * FROM temp.next;",
        "ATB609",
    ),
    (
        "windows below the floor",
        "UPDATE temp.next SET body = json_set(body, '$.runs[0].cells[0].windows', (SELECT json_group_array(value / 2) FROM (SELECT value / 2 * 2 AS value FROM json_each(body, '$.runs[0].cells[0].windows') ORDER BY key)), '$.runs[0].cells[0].value', (SELECT sum(value) FROM (SELECT value / 2 AS value FROM json_each(body, '$.runs[0].cells[0].windows') ORDER BY value LIMIT 2 OFFSET 49))); INSERT INTO entry SELECT * FROM temp.next;",
        "ATB603",
    ),
    (
        "a truth for the shortest time",
        "UPDATE temp.next SET body = json_set(body, (SELECT '$.runs[0].cells[0].windows[' || key || ']' FROM json_each(body, '$.runs[0].cells[0].windows') ORDER BY value LIMIT 1), json('true')); INSERT INTO entry SELECT * FROM temp.next;",
        "ATB602",
    ),
    (
        "a list of texts for the runs",
        "UPDATE temp.next SET body = json_set(body, '$.runs', json('[\"x\"]')); INSERT INTO entry SELECT * FROM temp.next;",
        "ATB205",
    ),
    (
        "a key written twice",
        "UPDATE temp.next SET body = replace(body, '\"quiet\":true', '\"quiet\":true,\"quiet\":true'); INSERT INTO entry SELECT * FROM temp.next;",
        "ATB205",
    ),
    (
        "an escape that JSON does not need",
        "UPDATE temp.next SET body = replace(body, '\"L1\"', '\"\\u004c1\"'); INSERT INTO entry SELECT * FROM temp.next;",
        "ATB205",
    ),
    (
        "a minus zero",
        "UPDATE temp.next SET body = replace(body, '\"failed\":0', '\"failed\":-0'); INSERT INTO entry SELECT * FROM temp.next;",
        "ATB205",
    ),
    (
        "a failed check",
        "UPDATE temp.next SET body = json_set(body, '$.runs[0].checks.failed', 1); INSERT INTO entry SELECT * FROM temp.next;",
        "ATB514",
    ),
    (
        "one run less",
        "UPDATE temp.next SET body = json_remove(body, '$.runs[3]'); INSERT INTO entry SELECT * FROM temp.next;",
        "ATB608",
    ),
    (
        "checks switched off",
        "PRAGMA ignore_check_constraints = ON; PRAGMA foreign_keys = OFF; PRAGMA recursive_triggers = OFF; INSERT OR REPLACE INTO entry SELECT seq, prev, hash, at_ms, kind, key, '{}' FROM entry WHERE seq = 9;",
        "ATB201",
    ),
    ("a NULL body", "INSERT INTO entry SELECT seq, prev, hash, at_ms, kind, key, NULL FROM temp.next;", "ATB205"),
    (
        "a keep without its block",
        "UPDATE temp.next SET kind = 'keep', key = 'c/k', body = '{\"block\":99,\"campaign\":\"c\",\"candidate\":\"k\",\"format\":1,\"parent\":\"p\"}'; INSERT INTO entry SELECT * FROM temp.next;",
        "ATB206",
    ),
];

#[test]
#[expect(clippy::disallowed_methods, reason = "the test drives another program")]
fn a_raw_shell_writes_nothing() {
    let installed = Command::new("sqlite3").arg("--version").output();
    if !installed.is_ok_and(|output| output.status.success()) {
        println!("skipped (sqlite3 is not installed)");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("atb.db");
    let (ledger, _) = begin_with_keep(&path);
    let next = next_row(&ledger, Chain::Entry, &confirm(2, digest("candidate 1"), 2), START_MS + 900);
    let before = counts(&ledger);
    drop(ledger);
    let stage = format!(
        "CREATE TEMP TABLE next AS SELECT {} AS seq, '{}' AS prev, '{}' AS hash, {} AS at_ms, '{}' AS kind, '{}' AS key, '{}' AS body;\n",
        next.seq, next.prev, next.hash, next.at_ms, next.kind, next.key, next.body
    );
    for (what, attempt, code) in ATTEMPTS {
        let output = shell(&path, &format!("{stage}{attempt}"));
        println!("{what}: {}", output.lines().last().unwrap_or("(nothing)"));
        assert!(output.contains(code), "{what}: expected {code}, the shell said: {output}");
        let ledger = atb_ledger::Ledger::open(&path).unwrap();
        assert_eq!(counts(&ledger), before, "{what} changed a table");
    }
    assert_eq!(
        shell(&path, &format!("{stage}BEGIN; INSERT INTO entry SELECT * FROM temp.next; ROLLBACK;")),
        "",
        "the model row is admissible"
    );
}

fn counts(ledger: &atb_ledger::Ledger) -> Vec<(u64, String)> {
    Chain::ALL.iter().map(|chain| ledger.head(*chain).unwrap()).collect()
}

#[expect(clippy::disallowed_methods, reason = "the test drives another program")]
fn shell(path: &Path, script: &str) -> String {
    use std::io::Write as _;
    let mut child = Command::new("sqlite3")
        .arg(path)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(script.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}
