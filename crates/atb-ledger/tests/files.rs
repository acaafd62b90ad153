//! Files that are no ledger, are damaged, locked, full, or were edited behind the triggers.

#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout, reason = "tests may stop and speak")]
#![allow(clippy::disallowed_methods, reason = "tests time a lock and mount a small disk")]

mod support;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use atb_core::codes::{self, Code};
use atb_core::entry::Chain;
use atb_core::quantity::Seed;
use atb_core::stats::splitmix::SplitMix64;
use atb_ledger::{IngestError, Ledger, verify};
use rusqlite::Connection;
use support::*;

/// A ledger with a keep, and its folder.
fn kept() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("atb.db");
    drop(begin_with_keep(&path));
    (folder, path)
}

/// Codes of opening to append, opening to read, and verifying; all three must agree.
fn refusal(path: &Path) -> Code {
    let codes = [
        Ledger::open(path).err().map(|error| error.code),
        Ledger::open_read_only(path).err().map(|error| error.code),
        verify(path).err().map(|error| error.code),
    ];
    assert!(codes[0] == codes[1] && codes[1] == codes[2], "{codes:?}");
    codes[0].unwrap_or_else(|| panic!("{} was opened", path.display()))
}

fn sql(path: &Path, statements: &str) {
    Connection::open(path).unwrap().execute_batch(statements).unwrap();
}

#[test]
fn what_is_no_ledger_is_not_opened() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    assert_eq!(refusal(&at("missing")), codes::NOT_A_LEDGER);
    assert_eq!(refusal(folder.path()), codes::NOT_A_LEDGER);
    for (name, content) in [("empty", &b""[..]), ("text", b"seq,prev\n1,2\n"), ("zeros", &[0; 8192])] {
        fs::write(at(name), content).unwrap();
        assert_eq!(refusal(&at(name)), codes::NOT_A_LEDGER, "{name}");
    }
    sql(&at("other"), "CREATE TABLE entry (seq); PRAGMA application_id = 5;");
    assert_eq!(refusal(&at("other")), codes::NOT_A_LEDGER);
    assert_eq!(refusal(Path::new("/dev/full")), codes::NOT_A_LEDGER);
}

#[test]
fn links_and_existing_files_are_refused() {
    let (folder, path) = kept();
    let link = folder.path().join("link.db");
    std::os::unix::fs::symlink(&path, &link).unwrap();
    assert_eq!(refusal(&link), codes::NOT_A_LEDGER);
    let through = folder.path().join("through");
    std::os::unix::fs::symlink(folder.path(), &through).unwrap();
    assert!(Ledger::open(&through.join("atb.db")).is_ok(), "a folder may be reached through a link");
    assert_eq!(Ledger::create(&path).unwrap_err().code, codes::CANNOT_WRITE);
    let dangling = folder.path().join("dangling.db");
    std::os::unix::fs::symlink(folder.path().join("nowhere.db"), &dangling).unwrap();
    assert_eq!(Ledger::create(&dangling).unwrap_err().code, codes::CANNOT_WRITE);
    assert!(!folder.path().join("nowhere.db").exists());
}

#[test]
fn another_version_or_schema_is_not_opened() {
    let foreign = [
        ("PRAGMA user_version = 2;", codes::OTHER_VERSION, "format 2"),
        ("CREATE TABLE extra (a);", codes::FOREIGN_SCHEMA, "extra"),
        ("CREATE VIEW extra AS SELECT 1;", codes::FOREIGN_SCHEMA, "extra"),
        ("CREATE INDEX extra ON entry (at_ms);", codes::FOREIGN_SCHEMA, "extra"),
        ("CREATE TRIGGER extra AFTER INSERT ON entry BEGIN SELECT 1; END;", codes::FOREIGN_SCHEMA, "extra"),
        ("DROP TRIGGER entry_append;", codes::FOREIGN_SCHEMA, "entry_append"),
        ("DROP TRIGGER seed_update;", codes::FOREIGN_SCHEMA, "seed_update"),
        ("DROP VIEW run_cell;", codes::FOREIGN_SCHEMA, "run_cell"),
        ("ALTER TABLE gate ADD COLUMN note TEXT;", codes::FOREIGN_SCHEMA, "gate"),
        (
            "DROP TRIGGER entry_delete; CREATE TRIGGER entry_delete BEFORE DELETE ON entry BEGIN SELECT 1; END;",
            codes::FOREIGN_SCHEMA,
            "entry_delete",
        ),
        (
            "PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql = replace(sql, 'ATB301', 'ATB999') WHERE name = 'gate_update';",
            codes::FOREIGN_SCHEMA,
            "gate_update",
        ),
        ("PRAGMA application_id = 7;", codes::NOT_A_LEDGER, "application"),
    ];
    for (statements, code, names) in foreign {
        let (_folder, path) = kept();
        sql(&path, statements);
        assert_eq!(refusal(&path), code, "{statements}");
        let cause = Ledger::open(&path).unwrap_err().cause;
        assert!(cause.contains(names), "{statements}: {cause}");
    }
}

#[test]
fn a_second_writer_waits_and_gives_up_with_a_code() {
    let (_folder, path) = kept();
    let mut second = Ledger::open(&path).unwrap();
    let holder = Connection::open(&path).unwrap();
    holder.execute_batch("BEGIN IMMEDIATE").unwrap();
    let head = second.head(Chain::Entry).unwrap();
    let start = Instant::now();
    let refused = second.append(&candidate_body(7, digest("candidate 1")), START_MS + 2000);
    let waited = start.elapsed();
    assert!(matches!(refused, Err(IngestError::Sql { code: codes::LOCKED, .. })), "{refused:?}");
    assert!((Duration::from_secs(4)..Duration::from_secs(12)).contains(&waited), "{waited:?}");
    assert!(Ledger::open_read_only(&path).is_ok(), "readers are not shut out by a writer");
    assert_eq!(second.head(Chain::Entry).unwrap(), head);
    holder.execute_batch("ROLLBACK").unwrap();
    second.append(&candidate_body(7, digest("candidate 1")), START_MS + 2000).unwrap();
    holder.execute_batch("BEGIN EXCLUSIVE").unwrap();
    assert_eq!(Ledger::open(&path).unwrap_err().code, codes::LOCKED);
}

#[test]
fn a_ledger_opened_for_reading_takes_no_row() {
    let (_folder, path) = kept();
    let before = fs::read(&path).unwrap();
    let mut reader = Ledger::open_read_only(&path).unwrap();
    let refused = reader.append(&candidate_body(7, digest("candidate 1")), START_MS + 2000);
    assert!(matches!(refused, Err(IngestError::Sql { code: codes::CANNOT_WRITE, .. })), "{refused:?}");
    drop(reader);
    assert_eq!(fs::read(&path).unwrap(), before);
    let missing = path.parent().unwrap().join("no folder/atb.db");
    assert_eq!(Ledger::create(&missing).unwrap_err().code, codes::CANNOT_WRITE);
}

/// A mounted small disk; unmounted when dropped.
struct Disk(tempfile::TempDir);

impl Disk {
    fn mount(kib: u32) -> Option<Self> {
        let folder = tempfile::tempdir().unwrap();
        let size = format!("size={kib}k");
        let mounted = Command::new("mount").args(["-t", "tmpfs", "-o", &size, "tmpfs"]).arg(folder.path()).output();
        mounted.is_ok_and(|output| output.status.success()).then_some(Self(folder))
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(self.0.path()).output();
    }
}

#[test]
fn a_full_disk_refuses_with_a_code_and_keeps_what_was_committed() {
    let Some(disk) = Disk::mount(512) else {
        println!("skipped (no small disk can be mounted here)");
        return;
    };
    let path = disk.0.path().join("atb.db");
    let (mut ledger, _) = begin_with_keep(&path);
    let mut rows = ledger.head(Chain::Entry).unwrap();
    let full = (2..60).find_map(|index| match ledger.append(&screen_after_keep(index), START_MS + 1000) {
        Ok(_) => {
            rows = ledger.head(Chain::Entry).unwrap();
            None
        }
        Err(error) => Some(error),
    });
    assert!(matches!(full, Some(IngestError::Sql { code: codes::CANNOT_WRITE, .. })), "{full:?}");
    drop(ledger);
    let report = verify(&path).unwrap();
    assert_eq!((report.entries, report.first_bad), (rows.0, None));
}

fn screen_after_keep(index: u64) -> atb_core::entry::BlockBody {
    let mut block = screen(index);
    block.arms[0].source = digest("candidate 1");
    block.arms.truncate(3);
    block
}

#[test]
fn damaged_files_are_refused_without_a_panic() {
    let (_folder, path) = kept();
    let good = fs::read(&path).unwrap();
    let broken = path.with_file_name("broken.db");
    let damaged = [codes::CORRUPT, codes::NOT_A_LEDGER];
    for length in [1, 16, 99, 100, 512, 4095, 4096, 4097, good.len() / 2, good.len() - 4096, good.len() - 1] {
        fs::write(&broken, &good[..length]).unwrap();
        match verify(&broken) {
            Err(error) => assert!(damaged.contains(&error.code), "cut to {length}: {error}"),
            // Less than a page is missing, and SQLite reads zeros there, as there were.
            Ok(report) => assert_eq!((report.first_bad, length / 4096), (None, good.len() / 4096 - 1)),
        }
    }
    for page in 0..good.len() / 4096 {
        for fill in [0x00, 0xff, b'a'] {
            let mut bytes = good.clone();
            bytes[page * 4096..(page + 1) * 4096].fill(fill);
            fs::write(&broken, &bytes).unwrap();
            match verify(&broken) {
                Err(error) => assert!(damaged.contains(&error.code), "page {page}: {error}"),
                Ok(report) => assert!(report.first_bad.is_some(), "page {page} of {fill:#x} went unseen"),
            }
        }
    }
}

#[test]
fn a_flipped_bit_is_found_or_changes_no_row() {
    let (_folder, path) = kept();
    let rows = |path: &Path| {
        let ledger = Ledger::open_read_only(path).unwrap();
        Chain::ALL.map(|chain| ledger.rows(chain).unwrap())
    };
    let (good, original) = (fs::read(&path).unwrap(), rows(&path));
    let broken = path.with_file_name("broken.db");
    let mut random = SplitMix64::new(Seed::new(3));
    let mut below = |n: usize| usize::try_from(random.below((n as u64).try_into().unwrap())).unwrap();
    let (mut refused, mut found, mut harmless) = (0, 0, 0);
    for _ in 0..400 {
        let mut bytes = good.clone();
        bytes[below(good.len())] ^= 1 << below(8);
        fs::write(&broken, &bytes).unwrap();
        match verify(&broken) {
            Err(_) => refused += 1,
            Ok(report) if report.first_bad.is_some() => found += 1,
            Ok(_) => {
                assert_eq!(rows(&broken), original);
                harmless += 1;
            }
        }
    }
    println!("400 flipped bits: {refused} not opened, {found} bad rows, {harmless} outside of any row");
    assert!(refused > 60 && found > 60, "{refused} {found}");
}

#[test]
fn a_journal_that_a_kill_left_is_rolled_back_for_readers_too() {
    let (folder, path) = kept();
    let rows = Ledger::open(&path).unwrap().rows(Chain::Entry).unwrap();
    // A writer in the middle of its commit: some pages are written, and the journal holds what they were.
    let writer = Connection::open(&path).unwrap();
    writer.execute_batch("PRAGMA cache_size = 1; BEGIN; DROP TRIGGER entry_update;").unwrap();
    writer.execute_batch("UPDATE entry SET body = body || 'x'").unwrap();
    let killed = folder.path().join("killed.db");
    fs::copy(&path, &killed).unwrap();
    fs::copy(folder.path().join("atb.db-journal"), folder.path().join("killed.db-journal")).unwrap();
    let plain = Connection::open_with_flags(&killed, rusqlite::OpenFlags::SQLITE_OPEN_READ_ONLY).unwrap();
    let read = plain.query_row("SELECT count(*) FROM entry", [], |row| row.get::<_, i64>(0));
    assert!(read.is_err(), "the journal is not hot");
    drop(plain);
    assert_eq!(Ledger::open_read_only(&killed).unwrap().rows(Chain::Entry).unwrap(), rows);
    assert_eq!(verify(&killed).unwrap().first_bad, None);
}
