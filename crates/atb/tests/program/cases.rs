//! Executed Markdown: every registered code has a case in `cases/`, and every case runs.
//!
//! Fences: `file NAME` writes a file; `console [busy|locked]` runs `$ atb ...` or shell lines and looks for the lines that follow, in
//! order, `? N` being the exit code; `sql KIND` runs statements against a fixture with `temp.next`; `edit` edits a finished ledger
//! behind the triggers' back and runs `atb verify`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};

use atb_core::canon::Digest;
use atb_core::codes;
use atb_core::entry::{Chain, Row};
use rusqlite::Connection;

use crate::fixture;
use crate::support::{PROGRAM, complete, measuring, prepare, root, run};

struct Block {
    info: String,
    body: String,
}

fn folder() -> PathBuf {
    root().join("cases")
}

fn blocks(markdown: &str) -> Vec<Block> {
    let mut found = Vec::new();
    let mut lines = markdown.lines();
    while let Some(line) = lines.next() {
        let Some(info) = line.strip_prefix("```") else { continue };
        let body: Vec<&str> = lines.by_ref().take_while(|line| !line.starts_with("```")).collect();
        found.push(Block { info: info.to_owned(), body: body.join("\n") + "\n" });
    }
    found
}

#[test]
fn every_code_has_a_case_and_every_case_holds() {
    let _one = measuring();
    let only = std::env::var("ATB_CASE").ok();
    let mut failures = Vec::new();
    for entry in codes::all() {
        let code = entry.code.to_string();
        if only.as_ref().is_some_and(|only| *only != code) {
            continue;
        }
        let Ok(markdown) = fs::read_to_string(folder().join(format!("{code}.md"))) else {
            failures.push(format!("{code}: no case"));
            continue;
        };
        assert!(markdown.starts_with(&format!("# {code}: {}\n", entry.title)), "{code}: the title differs");
        if let Err(failure) = execute(&code, &blocks(&markdown)) {
            failures.push(format!("{code}: {failure}"));
        }
    }
    assert!(failures.is_empty(), "{} failures\n{}", failures.len(), failures.join("\n"));
}

fn execute(code: &str, blocks: &[Block]) -> Result<(), String> {
    let home = tempfile::tempdir().unwrap();
    let mut ran = 0;
    for Block { info, body } in blocks {
        let words: Vec<&str> = info.split_whitespace().collect();
        match words.as_slice() {
            ["file", name] => {
                fs::write(home.path().join(name), body).unwrap();
                continue;
            }
            ["console", how @ ..] => console(home.path(), code, body, how)?,
            ["sql", kind] => sql(home.path(), code, kind, body)?,
            ["edit"] => edit(home.path(), code, body)?,
            _ => continue,
        }
        ran += 1;
    }
    if ran == 0 { Err("nothing was executed".into()) } else { Ok(()) }
}

/// Runs `$` lines. The output of each must hold the lines that follow it, in order, and end with its exit code.
fn console(home: &Path, code: &str, script: &str, how: &[&str]) -> Result<(), String> {
    let busy = how.contains(&"busy").then(Busy::start);
    let lock = how.contains(&"locked").then(|| {
        fs::create_dir_all(home.join("out")).unwrap();
        fixture::finished(&home.join("out/atb.db"));
        let connection = Connection::open(home.join("out/atb.db")).unwrap();
        connection.execute_batch("BEGIN EXCLUSIVE").unwrap();
        connection
    });
    let mut lines = script.lines().peekable();
    while let Some(line) = lines.next() {
        let Some(command) = line.strip_prefix("$ ") else { continue };
        let (actual, output) = match command.strip_prefix("atb ") {
            Some(arguments) => run(home, arguments),
            None => shell(home, command),
        };
        let (mut wanted, mut rest) = (0, output.as_str());
        while let Some(line) = lines.next_if(|line| !line.starts_with("$ ")) {
            if let Some(exit) = line.strip_prefix("? ") {
                wanted = exit.parse().unwrap();
            } else if let Some(at) = rest.find(line) {
                rest = &rest[at + line.len()..];
            } else {
                return Err(format!("`{command}` did not print `{line}`\n{output}"));
            }
        }
        if actual != wanted {
            return Err(format!("`{command}` ended with {actual}, not {wanted}\n{output}"));
        }
    }
    drop((busy, lock));
    if script.contains(code) { Ok(()) } else { Err("the console block does not expect the code".into()) }
}

/// A line of shell with the program, the small protocol and a finished ledger in its environment.
fn shell(home: &Path, line: &str) -> (i32, String) {
    let ledger = home.join("fixture.db");
    if !ledger.exists() {
        fixture::finished(&ledger);
    }
    let mut shell = Command::new("sh");
    shell.args(["-c", line]);
    prepare(&mut shell, home);
    shell.env("ATB", PROGRAM).env("ATB_PROTOCOL", root().join("protocol/small-1.toml")).env("ATB_LEDGER", ledger);
    shell.env("ATB_FIXTURES", root().join("fixtures"));
    let ran = complete(shell);
    (ran.code(), ran.all())
}

/// Keeps the processors busy until dropped.
struct Busy(Vec<Child>);

impl Busy {
    fn start() -> Self {
        let spin = || Command::new("sh").args(["-c", "while :; do :; done"]).spawn().unwrap();
        Self((0..4).map(|_| spin()).collect())
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        for child in &mut self.0 {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

fn counts(connection: &Connection) -> Vec<i64> {
    let count = |table| connection.query_row(&format!("SELECT count(*) FROM {table}"), [], |row| row.get(0)).unwrap();
    ["entry", "gate", "refusal", "seed"].into_iter().map(count).collect()
}

/// Statements on a fixture must be refused with the code, and change nothing.
fn sql(home: &Path, code: &str, kind: &str, script: &str) -> Result<(), String> {
    let path = home.join(format!("{kind}.db"));
    let _ = fs::remove_file(&path);
    let (table, next) = fixture::make(&path, kind);
    let connection = Connection::open(&path).unwrap();
    connection.execute_batch("CREATE TEMP TABLE next (seq, prev, hash, at_ms, kind, key, body)").unwrap();
    let Row { seq, prev, hash, at_ms, kind: row_kind, key, body } = next;
    connection
        .execute(
            "INSERT INTO temp.next VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
            (seq, prev, hash, at_ms, row_kind, key, body),
        )
        .unwrap();
    let before = counts(&connection);
    // The model row is admissible, unless it is what the case is about.
    connection.execute_batch("SAVEPOINT model").unwrap();
    let model = connection.execute_batch(&format!("INSERT INTO {table} SELECT * FROM temp.next"));
    connection.execute_batch("ROLLBACK TO model; RELEASE model").unwrap();
    if !["protocol", "closed", "seed"].contains(&kind) {
        model.map_err(|error| format!("the model row is refused: {error}"))?;
    }
    let done = connection.execute_batch(script);
    let message = done.err().map_or_else(|| "admitted".to_owned(), |error| error.to_string());
    if !message.contains(code) {
        return Err(format!("expected {code}, SQL said: {message}"));
    }
    if counts(&connection) == before { Ok(()) } else { Err("a table changed".into()) }
}

/// Edits a finished ledger with the triggers dropped and put back; `atb verify` must name the code.
fn edit(home: &Path, code: &str, script: &str) -> Result<(), String> {
    let path = home.join("finished.db");
    fixture::finished(&path);
    let connection = Connection::open(&path).unwrap();
    let triggers: Vec<(String, String)> = connection
        .prepare("SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'")
        .unwrap()
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))
        .unwrap()
        .map(Result::unwrap)
        .collect();
    for (name, _) in &triggers {
        connection.execute_batch(&format!("DROP TRIGGER {name}")).unwrap();
    }
    connection.execute_batch(script).unwrap();
    if script.starts_with("-- forge") {
        forge_hashes(&connection);
    }
    for (_, sql) in &triggers {
        connection.execute_batch(sql).unwrap();
    }
    drop(connection);
    let (exit, output) = run(home, "verify finished.db");
    if exit == 10 && output.contains(code) { Ok(()) } else { Err(format!("verify ended with {exit}: {output}")) }
}

/// Links and hashes the whole chain anew, as a careful forger would.
fn forge_hashes(connection: &Connection) {
    let rows: Vec<Row> = connection
        .prepare("SELECT seq, prev, hash, at_ms, kind, key, body FROM entry ORDER BY seq")
        .unwrap()
        .query_map([], |row| {
            let (seq, prev, hash, at_ms) = (row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?);
            Ok(Row { seq, prev, hash, at_ms, kind: row.get(4)?, key: row.get(5)?, body: row.get(6)? })
        })
        .unwrap()
        .map(Result::unwrap)
        .collect();
    let mut prev = Digest::GENESIS.to_string();
    for mut row in rows {
        row.prev = prev;
        row.hash = row.compute_hash(Chain::Entry).to_string();
        let link = "UPDATE entry SET prev = ?2, hash = ?3 WHERE seq = ?1";
        connection.execute(link, (row.seq, &row.prev, &row.hash)).unwrap();
        prev = row.hash;
    }
}
