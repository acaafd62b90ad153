//! Killed at any point, a campaign goes on from its ledger and loses no admitted row.

use std::path::Path;
use std::time::Duration;

use atb_core::entry::{Chain, Row};
use atb_ledger::Ledger;

use crate::{alone, atb, json, orphaned_workers};

const TUNE: &str =
    "tune gelu_tanh --iterations 1 --protocol small-1 --exploratory --quiet --shape prefill-32x4096 --out out";

/// Points at which the process aborts, each with the occurrence that is hit.
const POINTS: &[&str] = &[
    "io.before-fsync.settings:1",
    "ledger.before-commit:3",
    "io.before-rename.key:1",
    "ledger.after-commit:6",
    "campaign.after-run:3",
    "campaign.after-block:1",
    "report.before-page:1",
];

fn rows(folder: &Path) -> Vec<Row> {
    let path = folder.join("out/atb.db");
    // A kill before the ledger's first commit leaves a file without tables.
    Ledger::open(&path).map_or_else(|_| Vec::new(), |ledger| ledger.rows(Chain::Entry).unwrap())
}

#[test]
fn a_kill_at_any_labelled_point_loses_nothing() {
    let _alone = alone();
    for point in POINTS {
        let home = tempfile::tempdir().unwrap();
        let killed = atb(home.path()).args(TUNE.split(' ')).env("ATB_CRASH_AT", point).output().unwrap();
        assert!(killed.status.code().is_none(), "{point} was not reached: {}", crate::text(&killed));
        let before = rows(home.path());
        if before.iter().any(|row| row.kind == "campaign") {
            if !before.iter().any(|row| row.kind == "close") {
                let resumed = atb(home.path()).args(["tune", "--resume", "out", "--quiet"]).output().unwrap();
                let exit = resumed.status.code().unwrap_or(-1);
                assert!([0, 11, 15, 16, 17].contains(&exit), "{point}: {exit}: {}", crate::text(&resumed));
            }
            let after = rows(home.path());
            assert_eq!(&after[..before.len()], &before[..], "{point}: an admitted row is gone");
            assert!(after.iter().any(|row| row.kind == "close"), "{point}: the campaign is not closed");
            assert_eq!(json(home.path(), "verify out/atb.db")["ok"], true, "{point}");
            assert_eq!(atb(home.path()).args(["report", "out"]).output().unwrap().status.code(), Some(0), "{point}");
        }
        assert_eq!(orphaned_workers(), Vec::<u32>::new(), "{point}");
    }
}

#[test]
fn ctrl_c_ends_cleanly_and_leaves_no_worker() {
    let _alone = alone();
    let home = tempfile::tempdir().unwrap();
    let mut child = atb(home.path()).args(TUNE.split(' ')).spawn().unwrap();
    std::thread::sleep(Duration::from_secs(4));
    let sent = std::process::Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(sent.success());
    let ended = child.wait().unwrap();
    // The campaign may have been faster than the signal.
    assert!([Some(18), Some(0), Some(15), Some(16)].contains(&ended.code()), "{ended:?}");
    assert_eq!(orphaned_workers(), Vec::<u32>::new());
    assert_eq!(json(home.path(), "verify out/atb.db")["ok"], true);
}

#[test]
fn a_killed_parent_takes_its_worker_along() {
    let _alone = alone();
    let home = tempfile::tempdir().unwrap();
    let mut child = atb(home.path()).args(TUNE.split(' ')).spawn().unwrap();
    std::thread::sleep(Duration::from_secs(4));
    child.kill().unwrap();
    child.wait().unwrap();
    std::thread::sleep(Duration::from_millis(300));
    assert_eq!(orphaned_workers(), Vec::<u32>::new());
    assert_eq!(json(home.path(), "verify out/atb.db")["ok"], true);
}
