//! Bad input: a typed error with code and remedy, the right exit code, no block row, no process left behind.

use std::path::Path;
use std::time::{Duration, Instant};

use atb_core::note::{Algorithm, Note, NoteSigner};

use crate::support::{
    Ran, assert_no_worker, atb, borrowed, command, complete, count, json, measuring, processes, quick, root, tune,
};

/// Parts of candidates for the tests' task.
const CHAIN: &str =
    "static float chain(float x) { float t = x; for (int i = 0; i < 1000; i++) t = t * 0.5f + x * 0.25f; return t; }\n";
const CORRECT: &str = "for (int64_t i = 0; i < dims[0] * dims[1]; i++) y[i] = chain(x[i]);";
const HEAD: &str = "void it_chain(const float *x, float *y, const int64_t *dims, void *ws)";

/// A folder with a good candidate of the tests' task.
fn folder() -> tempfile::TempDir {
    let directory = tempfile::tempdir().unwrap();
    std::fs::copy(root().join("fixtures/tasks/it_chain/kernel.c"), directory.path().join("good.c")).unwrap();
    directory
}

/// `atb measure it_chain FILE ... --out out`.
fn measuring_arguments(file: &str) -> Vec<String> {
    let mut arguments = ["measure", "it_chain", file, "--out", "out"].map(str::to_owned).to_vec();
    arguments.extend(quick());
    arguments
}

fn measure(directory: &Path, file: &str) -> Ran {
    atb(directory, &borrowed(&measuring_arguments(file)))
}

/// Asserts that a ledger, if there is one, holds no block and verifies, and that no worker is left.
#[track_caller]
fn assert_clean(directory: &Path) {
    let db = directory.join("out/atb.db");
    if db.exists() {
        assert_eq!(count(&db, "block"), 0);
        assert_eq!(atb_ledger::verify(&db).unwrap().first_bad, None);
    }
    assert_no_worker();
}

#[test]
fn a_file_that_cannot_be_a_candidate_is_refused_before_anything_is_made() {
    let directory = folder();
    let here = directory.path();
    std::fs::create_dir(here.join("folder")).unwrap();
    std::fs::write(here.join("huge.c"), vec![b' '; 17 << 20]).unwrap();
    std::fs::write(here.join("latin.c"), b"/* caf\xe9 */").unwrap();
    let made = std::process::Command::new("mkfifo").arg(here.join("pipe.c")).status();
    for (file, reason) in [
        ("missing.c", "No such file"),
        ("folder", "it is a directory"),
        ("huge.c", "more than"),
        ("latin.c", "UTF-8"),
        ("pipe.c", "it is not a plain file"),
    ] {
        if file == "pipe.c" && !made.as_ref().is_ok_and(std::process::ExitStatus::success) {
            println!("skipped (mkfifo is not installed)");
            continue;
        }
        measure(here, file).expect(2, &["ATB116", reason, "remedy: ", "see `atb explain ATB116`"]);
        assert!(!here.join("out").exists(), "{file} left a folder");
    }
    atb(here, &["measure", "no_such_task", "good.c", "--out", "out"])
        .expect(2, &["ATB113", "gelu_tanh", "remedy: run `atb task list`"]);
    atb(here, &["tune", "gelu_tanh", "--shape", "square", "--out", "out"])
        .expect(2, &["has no shape `square`", "narrow-33x67"]);
    atb(here, &["tune", "gelu_tanh", "--protocol", "certified-2", "--out", "out"]).expect(2, &["ATB116"]);
    assert!(!here.join("out").exists());
}

#[test]
fn a_candidate_at_fault_leaves_its_fault_and_no_block() {
    let _one = measuring();
    let directory = folder();
    let here = directory.path();
    let mut cases = vec![
        ("empty.c", String::new(), "ATB501"),
        ("ten_mb.c", " ".repeat(10 << 20) + ";", "ATB501"),
        ("nul.c", format!("{HEAD} {{}} \0"), "ATB502"),
        ("garbage.c", "\u{1}\u{2}\u{fffd}%&$ \u{1b}[2J".to_owned(), "ATB503"),
        ("error.c", format!("{HEAD} {{ y[0] = ; }}"), "ATB503"),
        ("include.c", "#include \"/etc/no_such_file\"".to_owned(), "ATB503"),
        ("undefined.c", format!("void nowhere(void); {HEAD} {{ nowhere(); }}"), "ATB503"),
        ("nothing.c", "int other;".to_owned(), "ATB507"),
        ("prototype.c", "int it_chain(double x) { return x > 0; }".to_owned(), "ATB508"),
        (
            "wrong.c",
            format!("{HEAD} {{ for (int64_t i = 0; i < dims[0] * dims[1]; i++) y[i] = 0.25f + x[i]; }}"),
            "ATB509",
        ),
        (
            "nan.c",
            format!("{HEAD} {{ for (int64_t i = 0; i < dims[0] * dims[1]; i++) y[i] = 0.0f / 0.0f; }}"),
            "ATB510",
        ),
        (
            "infinity.c",
            format!("{HEAD} {{ for (int64_t i = 0; i < dims[0] * dims[1]; i++) y[i] = 1e38f * 1e38f; }}"),
            "ATB510",
        ),
        ("zeros.c", format!("{HEAD} {{ for (int64_t i = 0; i < dims[0] * dims[1]; i++) y[i] = 0; }}"), "ATB509"),
        ("input.c", format!("{HEAD} {{ ((float *)x)[0] = 1; }}"), "ATB512"),
        (
            "flood.c",
            format!(
                "#include <unistd.h>\n{CHAIN}{HEAD} {{ {CORRECT} static int n; uint64_t v = ~1ull; if (n++ == 1) (void)!write(7, &v, 8); }}"
            ),
            "ATB704",
        ),
        (
            "unblock.c",
            format!(
                "#include <fcntl.h>\n#include <unistd.h>\n{CHAIN}{HEAD} {{ {CORRECT} fcntl(7, F_SETFL, O_NONBLOCK); \
                 uint64_t v = ~1ull; (void)!write(7, &v, 8); }}"
            ),
            "ATB704",
        ),
        (
            "twice.c",
            format!(
                "#include <unistd.h>\n{CHAIN}{HEAD} {{ {CORRECT} static int n; uint64_t v = 1; if (n++ % 3 == 1) (void)!write(8, &v, 8); }}"
            ),
            // Seen at once, the last call is not written yet (ATB511); seen late, it has signalled twice (ATB512).
            "ATB51",
        ),
        ("lazy.c", format!("{HEAD} {{}}"), "ATB511"),
        ("crash.c", format!("{HEAD} {{ __builtin_trap(); }}"), "ATB512"),
        ("abort.c", format!("#include <stdlib.h>\n{HEAD} {{ abort(); }}"), "ATB512"),
        ("leave.c", format!("#include <stdlib.h>\n{HEAD} {{ _Exit(0); }}"), "ATB512"),
        ("smash.c", format!("{HEAD} {{ for (long i = 0; i < 1L << 40; i++) y[i] = 1; }}"), "ATB512"),
        ("hang.c", format!("{HEAD} {{ for (volatile int forever = 1; forever;) {{}} }}"), "ATB513"),
    ];
    for (file, text, code) in cases.drain(..) {
        std::fs::write(here.join(file), text).unwrap();
        let ran = measure(here, file);
        assert_eq!(ran.code(), 11, "{file}: {}", ran.all());
        assert!(ran.all().contains(code), "{file}: {code} is not in\n{}", ran.all());
        assert!(!ran.all().contains('\u{1b}'), "{file}: the candidate's bytes reach the terminal: {:?}", ran.all());
        assert_clean(here);
    }
    assert_eq!(count(&here.join("out/atb.db"), "fault"), 23);
}

/// Where the filter is missing, what a candidate does to the hand-off's descriptors is still its fault, and blocks nobody.
#[test]
fn tampering_with_the_hand_off_is_seen_without_the_filter_too() {
    let _one = measuring();
    let home = tempfile::tempdir().unwrap();
    let here = home.path();
    let flood = "static int n; uint64_t v = ~1ull; if (n++ == 1) (void)!write(7, &v, 8);";
    let unblock = "fcntl(7, F_SETFL, O_NONBLOCK); uint64_t v = ~1ull; (void)!write(7, &v, 8);";
    for (at, tampers) in [flood, unblock].into_iter().enumerate() {
        let file = format!("tampers-{at}.c");
        let text = format!("#include <fcntl.h>\n#include <unistd.h>\n{CHAIN}{HEAD} {{ {CORRECT} {tampers} }}");
        std::fs::write(here.join(&file), text).unwrap();
        let arguments = measuring_arguments(&file);
        let mut unfiltered = command(here, &borrowed(&arguments));
        unfiltered.env("ATB_WITHOUT", "filter");
        complete(unfiltered).expect(11, &["ATB512", "no-filter"]);
        assert_clean(here);
    }
}

#[test]
fn a_compiler_that_is_missing_broken_or_endless_is_not_the_candidates_fault() {
    use std::os::unix::fs::PermissionsExt as _;
    let _one = measuring();
    let directory = folder();
    let here = directory.path();
    let with = |compiler: &str| {
        let mut arguments = ["measure", "it_chain", "good.c", "--out", "out", "--json"].map(str::to_owned).to_vec();
        arguments.extend(quick());
        let mut command = command(here, &borrowed(&arguments));
        command.env("ATB_CC", compiler);
        complete(command)
    };
    with("/nonexistent").expect(1, &["ATB403", "/nonexistent", "remedy: install gcc"]);
    with("/etc/passwd").expect(1, &["ATB403"]);
    assert_clean(here);
    let script = |name: &str, text: &str| {
        let path = here.join(name);
        std::fs::write(&path, format!("#!/bin/sh\n[ \"$1\" = --version ] && exec gcc --version\n{text}\n")).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        path.display().to_string()
    };
    // It forks, so that the whole group has to go.
    let slow = script("slow-cc", "sleep 611 & sleep 611");
    let start = Instant::now();
    with(&slow).expect(1, &["ATB504", "killed after 5 s", "remedy: "]);
    assert!(start.elapsed() < Duration::from_secs(30));
    assert_eq!(processes(&["sleep", "611"]), Vec::<i32>::new());
    assert_clean(here);
    // A path relative to where the user is, not to where compilers run; good.c is the compiler baseline's own code.
    script("good-cc", "exec gcc \"$@\"");
    with("./good-cc").expect_end();
    std::fs::remove_dir_all(here.join("out")).unwrap();
    with(&script("silent-cc", "exit 0")).expect(1, &["ATB505", "remedy: "]);
    with(&script("broken-cc", "echo internal compiler error >&2; exit 4"))
        .expect(1, &["ATB503", "internal compiler error"]);
    assert_clean(here);
}

#[test]
fn what_cannot_be_written_says_so() {
    let _one = measuring();
    let directory = folder();
    let here = directory.path();
    std::fs::write(here.join("file"), "x").unwrap();
    for out in ["/proc/atb", "file", "file/below"] {
        let mut arguments = ["measure", "it_chain", "good.c", "--out", out].map(str::to_owned).to_vec();
        arguments.extend(quick());
        atb(here, &borrowed(&arguments)).expect(1, &["ATB308", "remedy: "]);
    }
    // A full disk: the ledger may not grow over 32 KiB.
    let mut shell = std::process::Command::new("sh");
    shell.args(["-c", "trap '' XFSZ; ulimit -f 64; exec \"$0\" \"$@\"", crate::support::PROGRAM]);
    shell.args(["measure", "it_chain", "good.c", "--out", "out"]).args(quick());
    crate::support::prepare(&mut shell, here);
    complete(shell).expect(10, &["ATB308", "remedy: "]);
    assert_no_worker();
}

#[test]
fn a_folder_that_is_no_campaign_is_not_resumed_and_one_in_use_is_not_overwritten() {
    let directory = folder();
    let here = directory.path();
    std::fs::create_dir(here.join("empty")).unwrap();
    atb(here, &["tune", "--resume", "empty"]).expect(2, &["holds no atb.db", "remedy: "]);
    atb(here, &["report", "empty"]).expect(2, &["holds no atb.db"]);
    atb(here, &["tune", "--resume", "missing"]).expect(2, &["holds no atb.db"]);
    assert!(!here.join("missing").exists() && std::fs::read_dir(here.join("empty")).unwrap().next().is_none());
    let arguments = tune(".");
    let refused = atb(here, &borrowed(&arguments)).expect(2, &["is not empty", "--out"]);
    assert!(!refused.all().contains("--resume"), "{}", refused.all());
    std::fs::create_dir(here.join("begun")).unwrap();
    std::fs::write(here.join("begun/campaign.toml"), "format = 1\n").unwrap();
    atb(here, &borrowed(&tune("begun"))).expect(2, &["is not empty", "--resume"]);
    std::fs::create_dir(here.join("campaign")).unwrap();
    std::fs::write(here.join("campaign/atb.db"), "notes").unwrap();
    atb(here, &["tune", "--resume", "campaign"]).expect(2, &["ATB116", "campaign.toml"]);
    atb(here, &["report", "campaign"]).expect(10, &["ATB309"]);
}

#[test]
fn a_wrong_command_line_exits_with_2() {
    let directory = tempfile::tempdir().unwrap();
    for arguments in [
        &["tune"][..],
        &["tune", "gelu_tanh", "--iterations", "0"],
        &["tune", "gelu_tanh", "--iterations", "-1"],
        &["measure", "gelu_tanh"],
        &["frobnicate"],
        &["explain", "ATB999"],
        &["explain", "609"],
        &["task", "new", "Bad-Name"],
    ] {
        let ran = atb(directory.path(), arguments).expect(2, &[]);
        assert!(ran.stdout.is_empty() && !ran.stderr.is_empty(), "{arguments:?}");
    }
}

/// A mount of its own, which only root or a user with namespaces can make.
#[test]
fn a_full_scratch_disk_is_not_the_candidates_fault() {
    use std::os::unix::fs::PermissionsExt as _;
    let _one = measuring();
    let home = tempfile::tempdir().unwrap();
    let here = home.path();
    // Compilers run as another user if root starts them.
    std::fs::set_permissions(here, std::fs::Permissions::from_mode(0o755)).unwrap();
    std::fs::create_dir(here.join("disk")).unwrap();
    std::fs::write(here.join("good.c"), format!("{CHAIN}{HEAD} {{ {CORRECT} }}")).unwrap();
    let arguments = measuring_arguments("good.c").join(" ");
    let script = format!(
        "mount -t tmpfs -o size=64k,mode=1777 none disk || exit 99\nhead -c 60000 /dev/zero > disk/filler\n\
         TMPDIR=$PWD/disk exec {} {arguments}",
        crate::support::PROGRAM
    );
    let mut shell = std::process::Command::new("unshare");
    shell.args(["-m", "sh", "-c", &script]);
    crate::support::prepare(&mut shell, here);
    let ran = complete(shell);
    if ran.code() == 99 || ran.all().contains("unshare failed") {
        println!("skipped (no mount namespace here: {})", ran.all().trim());
        return;
    }
    let ran = ran.expect(1, &["ATB404", "No space left"]);
    assert!(!ran.all().contains("ATB503"), "{}", ran.all());
    assert_clean(here);
}

#[test]
fn an_export_to_a_full_disk_leaves_what_was_there() {
    let home = tempfile::tempdir().unwrap();
    let here = home.path();
    std::fs::create_dir(here.join("disk")).unwrap();
    crate::fixture::finished(&here.join("atb.db"));
    let script = format!(
        "mount -t tmpfs -o size=64k none disk || exit 99\necho old > disk/ledger.jsonl; echo old > disk/proof.json\n\
         {0} key new --name example.org/ledger --out k > vkey || exit 98\nhead -c 60000 /dev/zero > disk/filler\n\
         {0} export atb.db --bundle disk/ledger.jsonl; echo bundle $?\n{0} export atb.db --format csv --out disk/proof.json; echo csv $?\n\
         head -c 100000 /dev/zero >> disk/filler\n{0} key new --out disk/key; echo key $?\ncat disk/ledger.jsonl disk/proof.json; ls -A disk",
        crate::support::PROGRAM
    );
    let mut shell = std::process::Command::new("unshare");
    shell.args(["-m", "sh", "-c", &script]);
    crate::support::prepare(&mut shell, here);
    let ran = complete(shell);
    if ran.code() == 99 || ran.all().contains("unshare failed") {
        println!("skipped (no mount namespace here: {})", ran.all().trim());
        return;
    }
    let ran = ran.expect(0, &["ATB308", "No space left", "bundle 1", "csv 1", "key 1", "old\nold\n"]);
    let left: Vec<&str> = ran.stdout.lines().rev().take(3).collect();
    assert_eq!(left, ["proof.json", "ledger.jsonl", "filler"], "something half-written is left");
}

#[test]
fn a_reviewer_checks_a_published_ledger_with_and_without_the_database() {
    let home = tempfile::tempdir().unwrap();
    let here = home.path();
    crate::fixture::finished(&here.join("atb.db"));
    let run = |arguments: &str| atb(here, &arguments.split_whitespace().collect::<Vec<_>>());
    let vkey = run("key new --name example.org/ledger --out k").expect(0, &["example.org/ledger+"]).stdout;
    let vkey = vkey.trim();
    run("checkpoint atb.db --key k").expect(0, &[vkey, "written to checkpoint"]);
    // A witness signs what it saw.
    let witness = NoteSigner::new("witness.example.org", Algorithm::Cosignature, &[9; 32]).unwrap();
    let mut note = Note::parse(&std::fs::read_to_string(here.join("checkpoint")).unwrap()).unwrap();
    witness.sign(&mut note, 1_800_000_000);
    std::fs::write(here.join("cosigned"), note.to_string()).unwrap();
    let wkey = witness.verifier().to_string();
    let capped = "C4, but judge=same-uid";
    for path in ["atb.db --checkpoint cosigned", "all.jsonl", "all.jsonl --checkpoint cosigned"] {
        run("export atb.db --bundle all.jsonl --checkpoint cosigned").expect(0, &[]);
        let ran = run(&format!("verify {path} --vkey {vkey} --witness {wkey}"));
        ran.expect(0, &["every rule", "signed by the named key and 1 witness", "anchor C0", capped]);
    }
    run(&format!("verify atb.db --checkpoint checkpoint --vkey {vkey} --witness {wkey}")).expect(10, &["ATB218"]);
    let object = json(here, &format!("verify atb.db --checkpoint cosigned --vkey {vkey}"));
    assert_eq!((&object["ok"], &object["signed"]), (&true.into(), &object["entries"]), "{object}");
    assert_eq!(object["anchor"]["class"], "C0");
    run("prove atb.db 2 --checkpoint cosigned --out p").expect(0, &[]);
    run(&format!("verify p --vkey {vkey} --witness {wkey}")).expect(0, &["entry 2", "1 witness"]);
    run("prove atb.db --from checkpoint --checkpoint cosigned --out p").expect(0, &[]);
    run(&format!("verify p --vkey {vkey}")).expect(0, &["is the beginning of"]);
    let rows = run("export atb.db --format csv").expect(0, &["seq,prev,hash,at_ms,kind,key,body"]).stdout;
    assert_eq!(rows.lines().count() as u64, object["entries"].as_u64().unwrap() + 1);
    let statement = run("export atb.db --in-toto").expect(0, &["https://in-toto.io/Statement/v1"]).json();
    assert_eq!(statement["predicate"]["anchor"]["class"], "C0");
    assert!(statement["subject"][0]["name"].as_str().unwrap().starts_with("candidates/"), "{statement}");
}
