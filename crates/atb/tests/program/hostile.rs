//! Bad input: a typed outcome, no block row, no process left behind.

use crate::{alone, json, orphaned_workers, run};

const MEASURE: &str = "--protocol small-1 --exploratory --quiet --shape prefill-32x4096 --out out";

/// A candidate of gelu_tanh with this body.
fn candidate(body: &str) -> String {
    format!(
        "#include <stdlib.h>\n#include <string.h>\n#include \"kernel.h\"\n\
         void gelu_tanh(const float *restrict x, float *restrict y, const int64_t *dims, void *ws)\n{{\n    (void)x; (void)y; (void)dims; \
         (void)ws;\n{body}\n}}\n"
    )
}

#[test]
fn hostile_candidates_get_their_outcome_and_no_row() {
    let _alone = alone();
    let home = tempfile::tempdir().unwrap();
    let cases = [
        ("empty", String::new(), "refused(surface)", "ATB501"),
        ("too large", format!("/* {} */\n", "x".repeat(10 << 20)), "refused(surface)", "ATB501"),
        ("garbage", "\u{1}\u{2}\u{3} not C".to_owned(), "build_error", "ATB503"),
        ("writes nothing", candidate(""), "incorrect", "ATB511"),
        ("zeros", candidate("    memset(y, 0, 4 * dims[0] * dims[1]);"), "incorrect", "ATB509"),
        ("copies its input", candidate("    memcpy(y, x, 4 * dims[0] * dims[1]);"), "incorrect", "ATB509"),
        (
            "infinity",
            candidate("    for (int64_t i = 0; i < dims[0] * dims[1]; i++) y[i] = 1e38f * 1e38f;"),
            "incorrect",
            "ATB510",
        ),
        ("writes to its input", candidate("    ((float *)x)[0] = 1;"), "crashed", "ATB512"),
        ("exits", candidate("    exit(0);"), "crashed", "ATB512"),
        ("aborts", candidate("    abort();"), "crashed", "ATB512"),
    ];
    for (what, text, outcome, code) in cases {
        std::fs::write(home.path().join("c.c"), text).unwrap();
        let found = json(home.path(), &format!("measure gelu_tanh c.c {MEASURE}"));
        assert_eq!((found["outcome"].as_str(), found["code"].as_str()), (Some(outcome), Some(code)), "{what}: {found}");
        assert!(found["ratio"].is_null(), "{what}: a failure has no ratio: {found}");
    }
    let ledger = atb_ledger::Ledger::open(&home.path().join("out/atb.db")).unwrap();
    assert!(ledger.bodies::<atb_core::entry::BlockBody>().unwrap().is_empty());
    drop(ledger);
    assert_eq!(json(home.path(), "verify out/atb.db")["ok"], true);
    assert_eq!(orphaned_workers(), Vec::<u32>::new());
}

#[test]
fn a_hanging_candidate_is_killed_at_the_limit() {
    let _alone = alone();
    let home = tempfile::tempdir().unwrap();
    std::fs::write(home.path().join("c.c"), candidate("    for (volatile int i = 0;; i++) ;")).unwrap();
    let found = json(home.path(), &format!("measure gelu_tanh c.c {MEASURE}"));
    assert_eq!(
        (found["outcome"].as_str(), found["code"].as_str()),
        (Some("candidate_timeout"), Some("ATB513")),
        "{found}"
    );
    assert_eq!(orphaned_workers(), Vec::<u32>::new());
}

#[test]
fn bad_arguments_are_usage_errors_with_a_remedy() {
    let home = tempfile::tempdir().unwrap();
    std::fs::write(home.path().join("c.c"), candidate("")).unwrap();
    let cases = [
        ("measure no_such_task c.c", "ATB113"),
        ("measure gelu_tanh missing.c", "ATB116"),
        ("measure gelu_tanh .", "directory"),
        ("measure gelu_tanh c.c --shape nowhere", "nowhere"),
        ("measure gelu_tanh c.c --protocol nowhere.toml", "ATB116"),
        ("tune --resume .", "atb.db"),
        ("explain ATB000", "ATB609"),
        ("report nowhere", "atb.db"),
    ];
    for (arguments, expected) in cases {
        let (exit, output) = run(home.path(), arguments);
        assert_eq!(exit, 2, "{arguments}: {output}");
        assert!(
            output.contains(expected) && (output.contains("remedy") || output.contains("see `atb explain")),
            "{arguments}: {output}"
        );
    }
}
