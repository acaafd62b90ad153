//! A killed campaign loses no admitted row and goes on.
//!
//! `ATB_CRASH_AT=LABEL[:COUNT]` aborts the program at a labelled point. One campaign is killed at each label in turn, and resumed
//! into the next kill, so that every kind of unfinished work is met while the whole costs little more than one campaign.

use std::path::Path;
use std::time::{Duration, Instant};

use atb_core::entry::{BaselineBody, CampaignBody, Chain, FORMAT, MachineBody, Row, SessionBody, key_commitment};
use atb_ledger::Ledger;

use crate::support::{
    Ran, assert_no_worker, atb, borrowed, command, complete, count, finish, measuring, signal, tune, workers,
};

/// Exit status of an aborted program.
const ABORTED: i32 = 128 + 6;

/// Label by label, in the order in which a campaign meets them.
const KILLS: &[&str] = &[
    "io.before-fsync.key",
    "io.before-rename.key",
    "io.after-rename.key",
    "ledger.before-commit",
    "ledger.after-commit:2",
    "io.before-fsync.candidate",
    "io.before-rename.candidate",
    "io.after-rename.candidate",
    // The first three commits of a resumed campaign are its session and the baselines. Here: the first candidate.
    "ledger.after-commit:4",
    // Screen, three gates for each of its candidates.
    "campaign.after-run:3",
    "ledger.before-commit:4",
    "campaign.after-block",
    "ledger.after-commit:5",
    // Confirm, its three gates, the keep.
    "campaign.after-run:5",
    "ledger.before-commit:4",
    "campaign.after-block",
    "ledger.after-commit:4",
    "ledger.before-commit:5",
    "ledger.after-commit:4",
    // Report, its three gates, the close.
    "campaign.after-run:7",
    "campaign.after-block",
    "ledger.after-commit:4",
    "ledger.before-commit:5",
    "report.before-page",
];

/// Before the campaign is registered.
const EARLY_KILLS: &[&str] = &[
    "io.before-fsync.settings",
    "io.before-rename.settings",
    "io.after-rename.settings",
    "ledger.created",
    "ledger.before-commit",
    "ledger.after-commit",
    "ledger.before-commit:3",
];

fn aborted(directory: &Path, arguments: &[&str], label: &str) -> Ran {
    let mut command = command(directory, arguments);
    command.env("ATB_CRASH_AT", label);
    complete(command)
}

fn rows(db: &Path) -> Vec<Vec<Row>> {
    let ledger = Ledger::open_read_only(db).unwrap();
    Chain::ALL.iter().map(|&chain| ledger.rows(chain).unwrap()).collect()
}

/// Asserts that the ledger verifies and still begins with these rows.
#[track_caller]
fn assert_kept(db: &Path, before: &[Vec<Row>], at: &str) -> Vec<Vec<Row>> {
    let verified = atb_ledger::verify(db).unwrap();
    assert_eq!(verified.first_bad, None, "{at}");
    let now = rows(db);
    for (before, now) in before.iter().zip(&now) {
        assert!(now.starts_with(before), "{at}: a row was lost");
    }
    now
}

#[test]
fn every_crash_point_of_the_program_is_killed_here() {
    let sources = crate::support::root().join("crates");
    let mut labels = Vec::new();
    for file in [
        "atb/src/io.rs",
        "atb/src/campaign/block.rs",
        "atb/src/commands/tune.rs",
        "atb-ledger/src/append.rs",
        "atb-ledger/src/open.rs",
    ] {
        let text = std::fs::read_to_string(sources.join(file)).unwrap();
        for part in text.split("crash_point(").skip(1) {
            labels.extend(
                part.trim_start_matches("&format!(")
                    .strip_prefix('"')
                    .and_then(|rest| rest.split('"').next())
                    .map(str::to_owned),
            );
        }
    }
    assert_eq!(labels.len(), 9, "{labels:?}");
    for label in labels {
        let start = label.split("{label}").next().unwrap();
        assert!(KILLS.iter().chain(EARLY_KILLS).any(|kill| kill.starts_with(start)), "{label}");
    }
}

#[test]
fn a_campaign_that_is_killed_at_every_label_completes_and_loses_no_row() {
    let _one = measuring();
    let directory = tempfile::tempdir().unwrap();
    let (here, db) = (directory.path(), directory.path().join("out/atb.db"));
    let start = tune("out");
    let mut arguments = borrowed(&start);
    let mut before: Vec<Vec<Row>> = vec![Vec::new(); 3];
    let mut reached = Vec::new();
    for label in KILLS {
        let ran = aborted(here, &arguments, label);
        assert_eq!(ran.code(), ABORTED, "{label} (after {reached:?}): {}", ran.all());
        before = assert_kept(&db, &before, label);
        reached.push(*label);
        arguments = vec!["tune", "--resume", "out", "--quiet"];
    }
    assert_no_worker();
    // The last kill came after the close: what is left is to write the page.
    assert_eq!(count(&db, "close"), 1);
    atb(here, &arguments).expect(2, &["no open campaign", "atb report"]);
    for label in ["io.before-fsync.page", "io.before-rename.page", "io.after-rename.page"] {
        assert_eq!(aborted(here, &["report", "out"], label).code(), ABORTED, "{label}");
    }
    let report = atb(here, &["report", "out", "--json"]).expect(0, &[]);
    assert_eq!(report.json()["kept"], 1, "{}", report.all());
    assert!(here.join("out/report/index.html").is_file());
    assert_kept(&db, &before, "the end");
    atb(here, &["verify", "out/atb.db"]).expect(0, &["ok: "]);
    // Each phase once, the keep once, and the gates of every block that a verdict rests on.
    assert_eq!((count(&db, "block"), count(&db, "keep"), count(&db, "candidate")), (3, 1, 2));
    // Three gates for each of two screened candidates, for the confirmed one, and for the head.
    assert_eq!(rows(&db)[1].len(), 12);
}

#[test]
fn a_kill_before_the_registration_leaves_a_folder_that_can_be_used() {
    let _one = measuring();
    for label in EARLY_KILLS {
        let directory = tempfile::tempdir().unwrap();
        let here = directory.path();
        let start = tune("out");
        assert_eq!(aborted(here, &borrowed(&start), label).code(), ABORTED, "{label}");
        let db = here.join("out/atb.db");
        let before = if db.exists() { assert_kept(&db, &[], label) } else { vec![Vec::new(); 3] };
        // Before the settings are there, the folder counts as empty; from then on the campaign goes on.
        let begun = here.join("out/campaign.toml").exists();
        assert_eq!(begun, !label.starts_with("io.before"), "{label}");
        let again = if begun { vec!["tune", "--resume", "out", "--quiet"] } else { borrowed(&start) };
        assert_eq!(aborted(here, &again, "io.before-fsync.key").code(), ABORTED, "{label}: then at the first key");
        assert_kept(&db, &before, label);
        assert_eq!(count(&db, "campaign"), 1, "{label}");
    }
}

#[test]
fn ctrl_c_ends_cleanly_and_the_campaign_goes_on() {
    let _one = measuring();
    let directory = tempfile::tempdir().unwrap();
    let (here, db) = (directory.path(), directory.path().join("out/atb.db"));
    let start = tune("out");
    let child = command(here, &borrowed(&start)).spawn().unwrap();
    wait_for(&db, "candidate");
    std::thread::sleep(Duration::from_millis(1200));
    signal(child.id(), "INT");
    let asked = Instant::now();
    let ran = finish(child, "an interrupted tune").expect(18, &["cancelled"]);
    assert!(!ran.all().contains("atb doctor"), "{}", ran.all());
    assert!(asked.elapsed() < Duration::from_secs(5), "{}", ran.all());
    assert_no_worker();
    let before = assert_kept(&db, &[], "SIGINT");
    assert_eq!(count(&db, "close"), 0);
    // Then a kill -9 of the parent in the middle of the windows.
    let mut resumed = command(here, &["tune", "--resume", "out", "--quiet"]).spawn().unwrap();
    let begun = Instant::now();
    while workers().len() < 2 {
        assert!(begun.elapsed() < Duration::from_mins(1), "no worker was started");
        std::thread::sleep(Duration::from_millis(5));
    }
    resumed.kill().unwrap();
    resumed.wait().unwrap();
    assert_no_worker();
    let before = assert_kept(&db, &before, "SIGKILL");
    let ran = atb(here, &["tune", "--resume", "out", "--quiet", "--json"]);
    ran.expect_end();
    assert_kept(&db, &before, "the end");
    assert_eq!(count(&db, "close"), 1);
}

#[test]
fn a_measurement_that_is_interrupted_is_closed_and_reveals_its_key() {
    let _one = measuring();
    let directory = tempfile::tempdir().unwrap();
    let (here, db) = (directory.path(), directory.path().join("out/atb.db"));
    let file = crate::support::root().join("fixtures/tasks/it_chain/kernel.c").display().to_string();
    let mut arguments = ["measure", "it_chain", &file, "--out", "out"].map(str::to_owned).to_vec();
    arguments.extend(crate::support::quick());
    let child = command(here, &borrowed(&arguments)).spawn().unwrap();
    wait_for(&db, "candidate");
    assert_eq!(atb_ledger::verify(&db).unwrap().open, 1);
    signal(child.id(), "INT");
    finish(child, "an interrupted measure").expect(18, &["cancelled"]);
    assert_no_worker();
    let close =
        Ledger::open_read_only(&db).unwrap().bodies::<atb_core::entry::CloseBody>().unwrap().pop().unwrap().body;
    assert_eq!((close.reason.as_str(), close.keys.len()), ("interrupted", 1));
    let verified = atb_ledger::verify(&db).unwrap();
    assert_eq!((verified.first_bad, verified.open), (None, 0));
}

/// Waits until a ledger holds a row of a kind.
fn wait_for(db: &Path, kind: &str) {
    let begun = Instant::now();
    loop {
        assert!(begun.elapsed() < Duration::from_mins(1), "no {kind} was recorded");
        let reads = || {
            let connection = rusqlite::Connection::open_with_flags(db, rusqlite::OpenFlags::SQLITE_OPEN_READ_ONLY)?;
            connection.query_row("SELECT count(*) FROM entry WHERE kind = ?1", [kind], |row| row.get::<_, i64>(0))
        };
        if reads().is_ok_and(|rows| rows > 0) {
            return;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Copies the tests' task and protocol into a directory, with edits of the space's code and of the protocol, and returns the
/// arguments of a campaign there.
fn edited(here: &Path, code: (&str, &str), cap: &str) -> Vec<String> {
    let fixtures = crate::support::root().join("fixtures");
    let copy = |from: &Path, to: &Path| {
        std::fs::create_dir_all(to).unwrap();
        for entry in std::fs::read_dir(from).unwrap().map(Result::unwrap).filter(|entry| entry.path().is_file()) {
            std::fs::copy(entry.path(), to.join(entry.file_name())).unwrap();
        }
    };
    let task = here.join("tasks/it_chain");
    copy(&fixtures.join("tasks/it_chain"), &task);
    copy(&fixtures.join("tasks/it_chain/baselines"), &task.join("baselines"));
    let replace = |from: &Path, to: &Path, old: &str, new: &str| {
        let text = std::fs::read_to_string(from).unwrap();
        assert!(text.contains(old), "{} is not in {}", old, from.display());
        std::fs::write(to, text.replacen(old, new, 1)).unwrap();
    };
    replace(&task.join("space.c"), &task.join("space.c"), code.0, code.1);
    replace(
        &fixtures.join("protocol/it-1.toml"),
        &here.join("it.toml"),
        "[noise.cv_cap]\nvalue = 0.25",
        &format!("[noise.cv_cap]\nvalue = {cap}"),
    );
    let tune = "tune it_chain --iterations 2 --out out --tasks tasks --protocol it.toml --exploratory --quiet";
    tune.split(' ').map(str::to_owned).collect()
}

#[test]
fn a_candidate_that_fails_after_its_keep_is_the_campaigns_outcome() {
    let _one = measuring();
    let directory = tempfile::tempdir().unwrap();
    let (here, db) = (directory.path(), directory.path().join("out/atb.db"));
    let flag = here.join("flag");
    let broken = format!("y[i] = access(\"{}\", 0) == 0 ? 0.25f : sum", flag.display());
    let start = edited(here, ("y[i] = sum", &broken), "0.25");
    let space = here.join("tasks/it_chain/space.c");
    let text = std::fs::read_to_string(&space).unwrap();
    std::fs::write(&space, format!("#include <unistd.h>\n{text}")).unwrap();
    // The keep follows the second admitted block.
    // In its jail the code could not look at the flag.
    let outside = |arguments: &[&str]| {
        let mut command = command(here, arguments);
        command.env("ATB_WITHOUT", "identity,landlock,filter");
        command
    };
    let mut first = outside(&borrowed(&start));
    first.env("ATB_CRASH_AT", "campaign.after-block:2");
    assert_eq!(complete(first).code(), ABORTED);
    std::fs::write(&flag, "").unwrap();
    let ran = complete(outside(&["tune", "--resume", "out", "--quiet", "--json"])).expect(11, &[]);
    assert_eq!((&ran.json()["outcome"], &ran.json()["kept"]), (&"incorrect".into(), &0.into()), "{}", ran.all());
    assert_eq!((count(&db, "keep"), count(&db, "fault"), count(&db, "close")), (1, 1, 1));
    assert_kept(&db, &[], "the end");
}

#[test]
fn a_kill_between_two_attempts_earns_no_third() {
    let _one = measuring();
    let directory = tempfile::tempdir().unwrap();
    let (here, db) = (directory.path(), directory.path().join("out/atb.db"));
    // Ahead of its parent, and never twice at the same speed.
    let noisy = "sum += chain(x[i]); for (int extra = getpid() % 4 * 50; extra > 0; extra--) __asm__ volatile(\"\" : \"+g\"(sum))";
    let start = edited(here, ("sum += chain(x[i])", noisy), "0.005");
    let space = here.join("tasks/it_chain/space.c");
    let text = std::fs::read_to_string(&space).unwrap();
    std::fs::write(&space, format!("#include <unistd.h>\n{text}")).unwrap();
    let attempts = || -> Vec<(String, u64, u64)> {
        let ledger = Ledger::open_read_only(&db).unwrap();
        let refused = ledger.rows(Chain::Refusal).unwrap().into_iter().map(|row| {
            let body: serde_json::Value = serde_json::from_str(&row.body).unwrap();
            let block: serde_json::Value = serde_json::from_str(body["refused"].as_str().unwrap()).unwrap();
            let number = |key: &str| block[key].as_u64().unwrap();
            (block["phase"].as_str().unwrap().to_owned(), number("index"), number("attempt"))
        });
        refused.collect()
    };
    let mut arguments = borrowed(&start);
    // Killed at each new commit until the first refusal is on record; a resumed campaign first commits a session and two baselines.
    for commit in std::iter::once(12).chain(std::iter::repeat_n(4, 20)) {
        let ran = aborted(here, &arguments, &format!("ledger.after-commit:{commit}"));
        assert_eq!(ran.code(), ABORTED, "{}", ran.all());
        arguments = vec!["tune", "--resume", "out", "--quiet"];
        if !attempts().is_empty() {
            break;
        }
    }
    assert_eq!(attempts(), [("confirm".to_owned(), 1, 1)]);
    atb(here, &arguments).expect(16, &["inconclusive(noise)"]);
    assert_eq!(attempts(), [("confirm".to_owned(), 1, 1), ("confirm".to_owned(), 1, 2)]);
    assert_kept(&db, &[], "the end");
}

/// A session whose clock reads off, as the registered campaign of a folder would have recorded it.
fn record_void_session(out: &Path) {
    let mut ledger = Ledger::open(&out.join("atb.db")).unwrap();
    let campaign = ledger.bodies::<CampaignBody>().unwrap().pop().unwrap().body.id;
    let (id, key) = ("00000000000000f1".to_owned(), [9; 32]);
    std::fs::write(out.join("keys").join(&id), atb_core::canon::Digest::from_bytes(key).to_string()).unwrap();
    let machine = MachineBody {
        fingerprint: atb_core::canon::Digest::of(b"machine"),
        cpu: "cpu".into(),
        cpus: 2,
        memory_mib: 1000,
        kernel: "6".into(),
        governor: "none".into(),
        virtual_machine: true,
        boot: "boot".into(),
    };
    let session = SessionBody {
        format: FORMAT,
        id,
        campaign,
        machine,
        key_hash: key_commitment(&key),
        handoff_ns: 5000,
        delay_ns: 1_500_000,
        isolation: "L1".into(),
        canary: "0".repeat(32),
        harness: atb_core::canon::Digest::of(b"harness"),
        compiler: "cc".into(),
    };
    ledger.append(&session, atb_measure::sys::clock::wall_ms()).unwrap();
}

#[test]
fn a_void_session_is_replaced_and_stays_on_record() {
    let _one = measuring();
    let directory = tempfile::tempdir().unwrap();
    let (here, out) = (directory.path(), directory.path().join("out"));
    let db = out.join("atb.db");
    // Protocol, task, campaign.
    assert_eq!(aborted(here, &borrowed(&tune("out")), "ledger.after-commit:3").code(), ABORTED);
    record_void_session(&out);
    let ran = atb(here, &["report", "out", "--json"]).expect(0, &["1 of 1 session void", "known delay"]);
    assert_eq!((&ran.json()["outcome"], &ran.json()["code"]), (&"void".into(), &"ATB405".into()));
    assert_eq!(aborted(here, &["tune", "--resume", "out", "--quiet"], "io.before-fsync.candidate").code(), ABORTED);
    assert_eq!((count(&db, "session"), count(&db, "baseline")), (2, 2));
    let ran = atb(here, &["report", "out", "--json"]).expect(0, &["1 of 2 sessions void"]);
    assert_eq!(ran.json()["outcome"], "inconclusive(n)");
    let baselines = Ledger::open_read_only(&db).unwrap().bodies::<BaselineBody>().unwrap();
    assert!(baselines.iter().all(|stored| stored.body.session != "00000000000000f1"));
    assert_kept(&db, &[], "the end");
}

#[test]
fn three_void_sessions_end_the_campaign_also_across_kills() {
    let _one = measuring();
    let directory = tempfile::tempdir().unwrap();
    let (here, db) = (directory.path(), directory.path().join("out/atb.db"));
    // No hand-off between two processes takes less than 0.001 of the shortest window.
    let start = edited(here, ("y[i] = sum", "y[i] = sum"), "0.25");
    let protocol = std::fs::read_to_string(here.join("it.toml")).unwrap();
    let (head, tail) = protocol.split_once("[session.handoff_max]\nvalue = ").unwrap();
    let tail = tail.split_once('\n').unwrap().1;
    std::fs::write(here.join("it.toml"), format!("{head}[session.handoff_max]\nvalue = 0.001\n{tail}")).unwrap();
    assert_eq!(aborted(here, &borrowed(&start), "ledger.after-commit:4").code(), ABORTED);
    assert_eq!(aborted(here, &["tune", "--resume", "out", "--quiet"], "ledger.after-commit").code(), ABORTED);
    assert_eq!(count(&db, "session"), 2);
    let ran = atb(here, &["tune", "--resume", "out", "--quiet", "--json"]).expect(18, &["3 of 3 sessions void"]);
    assert_eq!((&ran.json()["outcome"], &ran.json()["code"]), (&"void".into(), &"ATB405".into()));
    assert_eq!((count(&db, "session"), count(&db, "baseline"), count(&db, "close")), (3, 0, 1));
    assert_kept(&db, &[], "the end");
    atb(here, &["tune", "--resume", "out"]).expect(2, &["no open campaign"]);
}

#[test]
fn a_resumed_campaign_is_the_registered_one() {
    let _one = measuring();
    let directory = tempfile::tempdir().unwrap();
    let here = directory.path();
    assert_eq!(aborted(here, &borrowed(&tune("out")), "ledger.after-commit:3").code(), ABORTED);
    let settings = here.join("out/campaign.toml");
    let text = std::fs::read_to_string(&settings).unwrap();
    for (from, to) in [
        ("seed = \"1\"", "seed = \"2\""),
        ("iterations = 2", "iterations = 3"),
        ("proposer = \"deterministic\"", "proposer = \"random\""),
        ("shapes = []", "shapes = [\"one-1x1\"]"),
    ] {
        assert!(text.contains(from), "{from} is not in {text}");
        std::fs::write(&settings, text.replacen(from, to, 1)).unwrap();
        let ran = atb(here, &["tune", "--resume", "out", "--quiet"]);
        ran.expect(2, &["campaign.toml"]);
    }
    std::fs::write(&settings, &text).unwrap();
    let ran = aborted(here, &["tune", "--resume", "out", "--quiet"], "io.before-fsync.key");
    assert_eq!(ran.code(), ABORTED, "{}", ran.all());
}
