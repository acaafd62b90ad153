//! Commands that do not measure, and the form of their output.

use rusqlite::Connection;

use crate::fixture;
use crate::support::{PROGRAM, atb, command, complete, json, measuring, prepare, run};

#[test]
fn documents_are_shown_checked_and_compared() {
    let home = tempfile::tempdir().unwrap();
    let (exit, shown) = run(home.path(), "protocol show small-1");
    assert_eq!(exit, 0);
    assert!(shown.contains("[noise]") && shown.contains("cv_cap = 0.20"), "{shown}");
    let differences = json(home.path(), "protocol diff certified-1 small-1");
    assert!(differences["differences"].as_array().unwrap().len() > 5);
    let digest = json(home.path(), "protocol digest");
    assert_eq!(digest["digest"], differences["a"]);
    let tasks = json(home.path(), "task list");
    assert_eq!(tasks["tasks"].as_array().unwrap().len(), 12);
    for task in tasks["tasks"].as_array().unwrap() {
        let python = task["id"].as_str().unwrap().ends_with("_py");
        assert!(python || task["points"].as_u64().unwrap() >= 24, "{task}");
    }
    assert_eq!(json(home.path(), "explain ATB609")["code"], "ATB609");
    let (exit, completions) = run(home.path(), "completions bash");
    assert!(exit == 0 && completions.contains("_atb"));
    let (exit, manual) = run(home.path(), "man");
    assert!(exit == 0 && manual.contains(".TH atb"));
}

#[test]
fn an_edited_ledger_is_not_pooled() {
    let home = tempfile::tempdir().unwrap();
    let db = home.path().join("edited.db");
    fixture::finished(&db);
    let whole = atb(home.path(), &["transfer", "edited.db", "--json"]).expect(16, &[]).json();
    assert_eq!((&whole["verdict"], &whole["pooled"]), (&"per_box_only".into(), &serde_json::Value::Null));
    let connection = Connection::open(&db).unwrap();
    let guard: String = connection
        .query_row("SELECT sql FROM sqlite_schema WHERE name = 'entry_update'", [], |row| row.get(0))
        .unwrap();
    connection
        .execute_batch(&format!("DROP TRIGGER entry_update; UPDATE entry SET at_ms = at_ms + 1 WHERE seq = 5; {guard}"))
        .unwrap();
    drop(connection);
    atb(home.path(), &["transfer", "edited.db"])
        .expect(10, &["ATB203", "edited.db, entry row 5", "remedy: ask its owner"]);
}

#[test]
fn a_reader_that_leaves_is_no_error() {
    let home = tempfile::tempdir().unwrap();
    let mut bash = std::process::Command::new("bash");
    bash.args(["-c", &format!("{PROGRAM} explain --json | head -c 10; exit ${{PIPESTATUS[0]}}")]);
    prepare(&mut bash, home.path());
    complete(bash).expect(0, &[]);
}

#[test]
fn the_doctor_measures_the_hand_off() {
    let _one = measuring();
    let home = tempfile::tempdir().unwrap();
    let doctor = json(home.path(), "doctor");
    let handoff = doctor["handoff_ns"].as_u64().unwrap();
    assert!((100..1_000_000).contains(&handoff), "{doctor}");
    assert!(doctor["delay_1ms_ns"].as_u64().unwrap() >= 1_000_000, "{doctor}");
}

#[test]
fn a_new_task_measures_at_once() {
    let _one = measuring();
    let home = tempfile::tempdir().unwrap();
    assert_eq!(run(home.path(), "task new tasks/my_op").0, 0);
    let shown = run(home.path(), "--tasks tasks task show my_op --file kernel.c");
    assert!(shown.0 == 0 && shown.1.contains("my_op("), "{}", shown.1);
    let shapes = json(home.path(), "--tasks tasks task show my_op");
    let timed = shapes["shapes"].as_array().unwrap().iter().find(|shape| shape["timed"] == true).unwrap();
    let name = timed["name"].as_str().unwrap();
    let arguments = format!(
        "--tasks tasks measure my_op tasks/my_op/kernel.c --protocol small-1 --exploratory --quiet --out out --shape {name}"
    );
    let found = json(home.path(), &arguments);
    // The starting point is the compiler baseline's own code, so the true ratio is 1. How often a busy machine reads it otherwise is a
    // rate, which `cargo xtask full` counts over many comparisons; one comparison can only be far off by a defect.
    let outcome = found["outcome"].as_str().unwrap();
    let measured = ["equivalent", "faster", "slower"].contains(&outcome) || outcome.starts_with("inconclusive");
    let ratio = found["ratio"].as_f64();
    assert!(measured && ratio.is_none_or(|ratio| (0.8..1.25).contains(&ratio)), "{outcome}: {found}");
    assert_eq!(json(home.path(), "verify out/atb.db")["ok"], true);
    assert_eq!(run(home.path(), "task new tasks/my_op").0, 2);
}

#[test]
fn help_has_examples_and_fits_a_terminal() {
    let home = tempfile::tempdir().unwrap();
    for arguments in [&["--help"][..], &["tune", "--help"], &["measure", "--help"], &["demo", "--help"]] {
        let mut help = command(home.path(), arguments);
        help.env("COLUMNS", "80");
        complete(help).expect(0, &["Example"]);
    }
}

#[test]
fn the_zoo_catches_cheats_and_admits_honest_code() {
    let _one = measuring();
    let home = tempfile::tempdir().unwrap();
    let run = json(home.path(), "zoo --only A02,B02,C05,simd --quiet --out zoo");
    let standing = |id: &str| {
        run["rows"].as_array().unwrap().iter().find(|row| row["id"] == id).unwrap()["standing"]
            .as_str()
            .unwrap()
            .to_owned()
    };
    for id in ["A02", "A02@1.3", "B02", "B02@1.3", "C05", "C05@1.3"] {
        assert_eq!(standing(id), "caught", "{run}");
    }
    assert_eq!(standing("simd"), "admitted", "{run}");
    let none = serde_json::json!([]);
    assert_eq!((&run["entries"], &run["missed"], &run["honest_rejected"]), (&7.into(), &none, &none), "{run}");
    // A harness in one process believes NaN, since it is not farther off than anything.
    assert!(run["rows"][4]["naive"].as_str().unwrap().ends_with('x'), "{run}");
    assert_eq!(json(home.path(), "verify zoo/gelu_tanh/atb.db")["ok"], true);
    let (code, text) = crate::support::run(home.path(), "zoo --only A99");
    assert!(code == 2 && text.contains("no entry `A99`"), "{text}");
}

#[test]
fn python_candidates_are_jailed_checked_and_named() {
    let _one = measuring();
    let home = tempfile::tempdir().unwrap();
    let cheats = "A03,A08,B11,C12,D03,D16,F05";
    let run = json(home.path(), &format!("zoo --only {cheats} --quick --quiet --out zoo"));
    let none = serde_json::json!([]);
    assert_eq!((&run["caught"], &run["missed"], &run["skipped"]), (&7.into(), &none, &none), "{run}");
    assert_eq!(json(home.path(), "verify zoo/gelu_tanh_py/atb.db")["ok"], true);
    // The starting point is the baseline's own code; what fails, fails with words of its own where the shape is public.
    let file = |name: &str, text: &str| std::fs::write(home.path().join(name), text).unwrap();
    file("raises.py", "def gelu_tanh(x, y, dims, ws):\n    raise ValueError('here')\n");
    file("broken.py", "def gelu_tanh(:\n");
    file("imports.py", "import no_such_module\n");
    file("kernel.c", "void gelu_tanh(void) {}\n");
    let measure = |name: &str, code: i32, says: &[&str]| {
        let arguments =
            ["measure", "gelu_tanh_py", name, "--protocol", "small-1", "--exploratory", "--json", "--out", "out"];
        complete(command(home.path(), &arguments)).expect(code, says);
    };
    for (name, says) in [
        ("raises.py", &["ATB512", "kernel.py:2: ValueError: here"][..]),
        ("broken.py", &["ATB503", "SyntaxError"]),
        ("imports.py", &["ATB506", "kernel.py:1: ModuleNotFoundError"]),
    ] {
        measure(name, 11, says);
    }
    measure("kernel.c", 2, &["candidates of gelu_tanh_py are in Python"]);
}

#[test]
fn a_task_is_admitted_by_its_probes() {
    let _one = measuring();
    let home = tempfile::tempdir().unwrap();
    let admitted = json(home.path(), "task admit silu_and_mul --protocol small-1");
    assert_eq!(admitted["admitted"], true, "{admitted}");
    assert!(admitted["probes"].as_array().unwrap().iter().all(|probe| probe["fails"] == true), "{admitted}");
    assert!(admitted["honest"].as_array().unwrap().len() >= 4, "{admitted}");
}
