//! Registered comparisons from the outside: the worked examples of docs/registered-comparisons.md, kills, and what may not be run.

use std::path::Path;

use serde_json::Value;

use crate::support::{Ran, assert_no_worker, atb, command, complete, count, json, measuring, root};

/// `atb register fixtures/registrations/NAME.toml`, and the like, in the folder `out`.
fn arguments(words: &[&str]) -> Vec<String> {
    let tasks = root().join("fixtures/tasks").display().to_string();
    let mut arguments: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
    arguments.extend(["--tasks", &tasks, "--quiet", "--exploratory", "--out", "out", "--json"].map(str::to_owned));
    arguments
}

fn ran(home: &Path, words: &[&str]) -> Ran {
    let arguments = arguments(words);
    atb(home, &arguments.iter().map(String::as_str).collect::<Vec<_>>())
}

/// The path of an example in a copy of the fixtures, with the protocols of other deltas beside it.
fn example(home: &Path, name: &str) -> String {
    let (fixtures, folder) = (root().join("fixtures"), home.join("registrations"));
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::create_dir_all(home.join("protocol")).unwrap();
    for file in std::fs::read_dir(fixtures.join("registrations")).unwrap() {
        let file = file.unwrap();
        std::fs::copy(file.path(), folder.join(file.file_name())).unwrap();
    }
    let least = std::fs::read_to_string(fixtures.join("protocol/it-1.toml")).unwrap();
    std::fs::write(home.join("protocol/it-1.toml"), &least).unwrap();
    for (protocol, delta) in [("wide", "0.2"), ("fine", "0.002")] {
        let (delta_was, delta) = ("[statistics.delta]\nvalue = 0.01", format!("[statistics.delta]\nvalue = {delta}"));
        let text = least.replace("\"it-1\"", &format!("\"it-1-{protocol}\"")).replace(delta_was, &delta);
        assert!(text.contains(&delta));
        std::fs::write(folder.join(format!("{protocol}.toml")), text).unwrap();
    }
    folder.join(name).display().to_string()
}

/// Registers an example. None if the machine is so busy that its A/A block was refused, or no session counts.
fn register(home: &Path, name: &str) -> Option<Value> {
    let file = example(home, name);
    let ran = ran(home, &["register", &file]);
    if [16, 18].contains(&ran.code()) {
        return None;
    }
    ran.expect(0, &["checkpoint"]).json().into()
}

fn id(registered: &Value) -> String {
    registered["registration"].as_str().unwrap().to_owned()
}

/// Runs a registration; the outcome is one of these, or that the machine gave none: noise, or sessions that do not count.
fn compare(home: &Path, registered: &Value, wanted: &[&str]) -> Value {
    let ran = ran(home, &["compare", "--registration", &id(registered)]);
    let object = ran.json();
    let outcome = object["outcome"].as_str().unwrap();
    assert!(wanted.contains(&outcome) || ["inconclusive(noise)", "void"].contains(&outcome), "{}", ran.all());
    assert_eq!(object["registration"], registered["registration"]);
    object
}

fn verified(home: &Path) {
    assert_eq!(json(home, "verify out/atb.db")["ok"], true);
}

#[test]
fn a_true_gain_is_faster_and_a_registration_is_spent_once() {
    let _one = measuring();
    let home = tempfile::tempdir().unwrap();
    let Some(registered) = register(home.path(), "gain.toml") else { return };
    // The same question is open.
    let file = example(home.path(), "gain.toml");
    ran(home.path(), &["register", &file]).expect(10, &["ATB807"]);
    let compared = compare(home.path(), &registered, &["faster"]);
    assert_eq!((&compared["pairs"], &compared["delta"]), (&Value::Null, &registered["delta"]));
    assert!(compared["underpowered"].as_str().unwrap().starts_with("accept: "), "{compared}");
    if compared["outcome"] == "faster" {
        assert!(compared["ratio"].as_f64().unwrap() > 1.5 && compared["n"] == 6, "{compared}");
        assert_eq!(compared["baseline"], "control");
    }
    ran(home.path(), &["compare", "--registration", &id(&registered)]).expect(10, &["ATB804", "finished"]);
    ran(home.path(), &["register", "--abandon", &id(&registered), "--reason", "r"]).expect(10, &["ATB804"]);
    // The next one rests on the same A/A block, and every report lists both.
    let again = register(home.path(), "gain.toml").unwrap();
    assert_eq!(again["same"], registered["same"]);
    ran(home.path(), &["register", "--abandon", &id(&again), "--reason", "one answer is enough"]).expect(0, &[]);
    ran(home.path(), &["compare", "--registration", &id(&again)]).expect(10, &["ATB804", "abandoned"]);
    let listed = ran(home.path(), &["register", "--list"]).json();
    let standings: Vec<&Value> = listed["registrations"].as_array().unwrap().iter().map(|r| &r["standing"]).collect();
    assert_eq!(standings, ["finished", "abandoned"]);
    let page =
        atb(home.path(), &["report", "out"]).expect(0, &["2 registrations in this ledger", "one answer is enough"]);
    drop(page);
    let page = std::fs::read_to_string(home.path().join("out/report/index.html")).unwrap();
    assert!(page.contains("Registrations of this ledger") && page.contains("one answer is enough"));
    verified(home.path());
}

#[test]
fn a_true_null_is_equivalent_and_goes_on_after_a_kill() {
    let _one = measuring();
    let home = tempfile::tempdir().unwrap();
    let Some(registered) = register(home.path(), "null.toml") else { return };
    let arguments = arguments(&["compare", "--registration", &id(&registered)]);
    let mut killed = command(home.path(), &arguments.iter().map(String::as_str).collect::<Vec<_>>());
    killed.env("ATB_CRASH_AT", "campaign.after-run:5");
    let died = complete(killed);
    assert_no_worker();
    // On a busy machine no session may count, and then no run was begun.
    let begun = died.code() == 134;
    assert!(begun || died.code() == 18, "{}", died.all());
    if begun {
        let listed = ran(home.path(), &["register", "--list"]).json();
        assert_eq!(listed["registrations"][0]["standing"], "running");
        compare(home.path(), &registered, &["equivalent", "inconclusive(precision)"]);
        assert_eq!(count(&home.path().join("out/atb.db"), "close"), 2);
    }
    verified(home.path());
}

#[test]
fn a_treatment_that_is_switched_off_is_not_delivered() {
    let _one = measuring();
    let home = tempfile::tempdir().unwrap();
    let Some(registered) = register(home.path(), "switched_off.toml") else { return };
    let compared = compare(home.path(), &registered, &["not_delivered"]);
    if compared["outcome"] == "not_delivered" {
        assert_eq!((&compared["code"], &compared["ratio"]), (&"ATB808".into(), &Value::Null));
    }
    // Only the A/A block was timed.
    assert!(count(&home.path().join("out/atb.db"), "block") <= 1);
    verified(home.path());
}

#[test]
fn an_underpowered_design_is_refused_with_the_pairs_that_would_do() {
    let _one = measuring();
    let home = tempfile::tempdir().unwrap();
    let file = example(home.path(), "underpowered.toml");
    let ran = ran(home.path(), &["register", &file]);
    if ![16, 18].contains(&ran.code()) {
        ran.expect(10, &["ATB805", "delta is 0.002"]);
        let db = home.path().join("out/atb.db");
        assert_eq!((count(&db, "registration"), count(&db, "block")), (0, 1));
    }
    verified(home.path());
}

#[test]
fn the_example_is_a_registration() {
    let home = tempfile::tempdir().unwrap();
    let example = atb(home.path(), &["register", "--example"]).expect(0, &["[treatment]"]).stdout;
    let protocol = std::fs::read_to_string(root().join("protocol/small-1.toml")).unwrap();
    let protocol = atb_core::protocol::Protocol::parse("small-1.toml", &protocol).unwrap();
    let read = atb_core::registration::Registration::parse("example.toml", &example, &protocol).unwrap();
    assert_eq!((read.task.as_str(), read.pairs), ("gelu_tanh", 20));
}
