//! The report against what the samples say directly.

use atb_core::codes;
use atb_core::comparison::{arm_of, compare, fastest_baseline, screen_ranking};
use atb_core::entry::{BlockBody, Decision, Phase, Role, Ruling};
use atb_core::outcome::{Inconclusive, Outcome};
use serde_json::Value;

use super::fixture::{self, Ledger};
use super::number::Rounded;
use super::{CampaignReport, CandidateReport, Fate, LedgerRows, ReportError, Standing, derive, json, terminal};

fn blocks(rows: &LedgerRows, phase: Phase) -> Vec<BlockBody> {
    let blocks = rows.entries.iter().filter(|row| row.kind == "block");
    let blocks = blocks.map(|row| serde_json::from_str::<BlockBody>(&row.body).unwrap());
    blocks.filter(|block| block.phase == phase).collect()
}

fn report(ledger: &Ledger) -> CampaignReport {
    derive(&ledger.rows, "c1").unwrap()
}

fn assert_finite(value: &Value) {
    match value {
        Value::Number(number) => assert!(number.as_f64().unwrap().is_finite()),
        Value::Array(values) => values.iter().for_each(assert_finite),
        Value::Object(fields) => fields.values().for_each(assert_finite),
        Value::Null | Value::Bool(_) | Value::String(_) => {}
    }
}

#[test]
fn the_headline_is_the_direct_comparison_with_the_fastest_baseline() {
    let ledger = fixture::demo(1.21);
    let report = report(&ledger);
    let block = &blocks(&ledger.rows, Phase::Report)[0];
    let fastest = fastest_baseline(block).unwrap().unwrap();
    let head = arm_of(block, Role::Head).unwrap();
    let direct = compare(block, fastest, head, &report.protocol).unwrap();
    let headline = report.conclusion.headline.as_ref().unwrap();
    assert_eq!((headline.verdict, headline.base, report.outcome()), (direct, Role::Compiler, Outcome::Faster));
    let naive = compare(block, arm_of(block, Role::Naive).unwrap(), head, &report.protocol).unwrap();
    assert_eq!(report.conclusion.naive.as_ref().unwrap().verdict, naive);
    assert_eq!(report.conclusion.root.as_ref().unwrap().verdict, direct);
    assert_eq!(report.conclusion.pairs(), Some(12));
    assert_eq!(report.conclusion.standing(), Standing::Holds);
    assert_eq!(report.kept, [report.candidates[0].body.source]);
    assert_eq!((report.effort.runs, report.effort.windows), (30 + 24 + 60, 11_400));
}

#[test]
fn the_search_path_says_what_became_of_each_candidate() {
    let ledger = fixture::demo(1.21);
    let report = report(&ledger);
    let ranking = screen_ranking(&blocks(&ledger.rows, Phase::Screen)[0]).unwrap();
    for (arm, log) in ranking {
        assert_eq!(report.candidates[arm - 1].screen, Some(log.ratio().unwrap()));
    }
    let fates: Vec<String> = report.candidates.iter().map(|candidate| candidate.fate.words()).collect();
    assert_eq!(fates, ["kept", "screened out", "screened out", "screened out", "screened out", "incorrect"]);
    assert!(report.candidates[0].confirm.as_ref().unwrap().keeps);
    assert_eq!(report.gates.len(), 14);
    assert!(report.gates.iter().all(|gate| gate.repeats == Some(true)));
}

#[test]
fn a_screen_stands_beside_what_it_is_worth() {
    let report = derive(&fixture::demo(1.21).rows, "c1").unwrap();
    let read = |of: &CandidateReport| (of.screen.unwrap().get(), of.shrunk.unwrap().get());
    let (best, worst) = (read(&report.candidates[0]), read(&report.candidates[1]));
    // True differences of 20 % and runs that scatter by some 0.4 %: hardly shrunk, and towards the middle.
    assert!(best.1 < best.0 && best.0 - best.1 < 0.01, "{best:?}");
    assert!(worst.1 > worst.0 && worst.1 - worst.0 < 0.01, "{worst:?}");
    assert_eq!(report.candidates[5].shrunk, None, "it failed before its screen");
    // No-ops: the best of them is worth what all of them are.
    let mut ledger = Ledger::new("c1", "tune", "gelu_tanh", &["a"]);
    let root = ledger.source(Role::Compiler);
    let mut arms = vec![(Role::Parent, root, 1.0)];
    arms.extend((1..=6).map(|at| (Role::Candidate, ledger.candidate(at, 1, "x"), 1.0)));
    ledger.block(Phase::Screen, 1, 5, &arms);
    let report = derive(&ledger.rows, "c1").unwrap();
    let lead = |of: fn(&CandidateReport) -> f64| report.candidates.iter().map(of).fold(0.0, f64::max);
    let (screen, shrunk) = (lead(|of| of.screen.unwrap().get()), lead(|of| of.shrunk.unwrap().get()));
    assert!(shrunk < screen && (shrunk - 1.0).abs() < 0.003, "{screen} {shrunk}");
}

#[test]
fn without_a_keep_there_is_no_ratio() {
    let mut ledger = fixture::demo(1.21);
    fixture::add_null(&mut ledger, 1.001);
    let report = derive(&ledger.rows, "c2").unwrap();
    assert_eq!(report.outcome(), Outcome::Equivalent);
    let json = json::campaign(&report, "/db");
    for field in ["ratio", "lo", "hi", "naive_ratio", "root_ratio"] {
        assert!(json[field].is_null(), "{field}");
    }
    assert_eq!((&json["baseline"], &json["n"], &json["kept"]), (&"compiler".into(), &12.into(), &0.into()));
    assert_eq!(report.candidates[0].fate, Fate::NotKept(Outcome::Equivalent));
}

#[test]
fn faster_is_never_the_outcome_without_a_keep() {
    let mut ledger = fixture::demo(1.21);
    fixture::add_null(&mut ledger, 1.2);
    let report = derive(&ledger.rows, "c2").unwrap();
    assert_eq!(report.outcome(), Outcome::Inconclusive(Inconclusive::N));
    assert!(json::campaign(&report, "/db")["ratio"].is_null());
}

#[test]
fn a_search_that_a_void_session_ended_decides_nothing() {
    let mut ledger = Ledger::new("c1", "tune", "gelu_tanh", &["a"]);
    let candidate = ledger.candidate(1, 1, "x");
    let root = ledger.source(Role::Compiler);
    ledger.block(Phase::Confirm, 1, 12, &[(Role::Parent, root, 1.0), (Role::Candidate, candidate, 1.001)]);
    assert_eq!(report(&ledger).outcome(), Outcome::Equivalent);
    ledger.session_of("s2", 1_500_000);
    let void = report(&ledger);
    assert_eq!(void.outcome(), Outcome::Void(codes::CONTROL), "{}", void.conclusion.reason);
    assert!(void.notices.iter().any(|notice| notice.starts_with("1 of 2 sessions void")), "{:?}", void.notices);
    // A later one that counts: the search may go on.
    ledger.session_of("s3", 1_000_000);
    assert_eq!(report(&ledger).outcome(), Outcome::Equivalent);
    // A REPORT stands, whatever session came after it.
    let mut ledger = fixture::demo(1.21);
    let outcome = report(&ledger).outcome();
    ledger.session_of("s2", 1_500_000);
    assert_eq!(report(&ledger).outcome(), outcome);
}

#[test]
fn nothing_confirmed_is_inconclusive_and_says_so() {
    let mut ledger = Ledger::new("c1", "tune", "gelu_tanh", &["a"]);
    let candidate = ledger.candidate(1, 1, "x");
    let root = ledger.source(Role::Compiler);
    ledger.block(Phase::Screen, 1, 5, &[(Role::Parent, root, 1.0), (Role::Candidate, candidate, 0.9)]);
    let report = report(&ledger);
    assert_eq!(report.outcome(), Outcome::Inconclusive(Inconclusive::N));
    assert_eq!(report.conclusion.reason, "no candidate was confirmed");
    assert_eq!(report.candidates[0].fate, Fate::ScreenedOut);
    assert!(report.notices.iter().any(|notice| notice.contains("not closed")));
}

#[test]
fn a_refused_block_is_shown_and_makes_the_outcome_noise() {
    let mut ledger = Ledger::new("c1", "tune", "gelu_tanh", &["a"]);
    let candidate = ledger.candidate(1, 1, "x");
    let root = ledger.source(Role::Compiler);
    let arms = [(Role::Parent, root, 1.0), (Role::Candidate, candidate, 1.3)];
    ledger.block(Phase::Screen, 1, 5, &arms);
    for _ in 0..2 {
        let body = ledger.block_body(Phase::Confirm, 1, 12, &arms);
        ledger.refuse("ATB609", &body);
    }
    let report = report(&ledger);
    assert_eq!(report.outcome(), Outcome::Inconclusive(Inconclusive::Noise));
    assert_eq!(report.candidates[0].fate, Fate::NotKept(Outcome::Inconclusive(Inconclusive::Noise)));
    assert_eq!((report.refusals.len(), report.effort.refused_runs), (2, 48));
    assert!(terminal::campaign(&report, 80).contains("ATB609 block: the cross-run coefficient"));
    fixture::add_null(&mut ledger, 1.0);
    assert!(derive(&ledger.rows, "c2").unwrap().refusals.is_empty(), "a refusal belongs to its campaign");
}

#[test]
fn windows_that_were_too_short_twice_are_noise_too() {
    let mut ledger = Ledger::new("c1", "measure", "gelu_tanh", &["a"]);
    let candidate = ledger.candidate(1, 1, "x");
    let arms = [
        (Role::Candidate, candidate, 1.3),
        (Role::Compiler, ledger.source(Role::Compiler), 1.0),
        (Role::Naive, ledger.source(Role::Naive), 0.1),
    ];
    for _ in 0..2 {
        let body = ledger.block_body(Phase::Probe, 1, 12, &arms);
        ledger.refuse("ATB603", &body);
    }
    assert_eq!(report(&ledger).outcome(), Outcome::Inconclusive(Inconclusive::Noise));
}

#[test]
fn a_factor_beyond_the_limit_is_quarantined() {
    let report = report(&fixture::demo(11.0));
    assert_eq!(report.outcome(), Outcome::Quarantined(atb_core::codes::QUARANTINE));
    assert_eq!(report.outcome().exit_code(), 12);
    assert_eq!(report.quarantined.len(), 1);
    assert!(report.kept.is_empty());
    assert_eq!(report.candidates[0].fate.words(), "quarantined(ATB701)");
}

#[test]
fn what_was_released_counts_with_its_reason_and_what_was_rejected_does_not() {
    let mut ledger = fixture::demo(11.0);
    let stopped: Vec<u64> = report(&ledger)
        .gates
        .iter()
        .filter(|gate| gate.ruled.body.decision == Decision::Quarantine)
        .map(|gate| u64::try_from(gate.ruled.seq).unwrap())
        .collect();
    assert!(stopped.len() >= 3, "screen, confirm and report: {stopped:?}");
    for row in &stopped {
        ledger.rule(*row, 1, Ruling::Release);
    }
    let released = report(&ledger);
    assert_eq!((released.outcome(), released.quarantined.len()), (Outcome::Faster, 0));
    assert_eq!(released.candidates[0].fate, Fate::Kept);
    let reason = "released by reviewer on 2026-09-21: a table in place of tanhf";
    assert!(released.notices.iter().any(|notice| notice.contains(reason)), "{:?}", released.notices);
    assert!(terminal::campaign(&released, 500).contains(reason));
    assert!(
        released.gates.iter().any(|gate| gate.ruled.body.decision == Decision::Quarantine),
        "rows stay as they were"
    );
    // One rejection, even of the SCREEN's row, is about the source.
    ledger.rule(stopped[0], 2, Ruling::Reject);
    let rejected = report(&ledger);
    assert_eq!(rejected.outcome(), Outcome::Rejected(atb_core::codes::QUARANTINE));
    assert_eq!((rejected.outcome().exit_code(), rejected.kept.len()), (11, 0));
    assert_eq!(rejected.candidates[0].fate.words(), "rejected(ATB701)");
}

#[test]
fn a_keep_that_the_report_contradicts_is_demoted() {
    let mut ledger = Ledger::new("c1", "tune", "gelu_tanh", &["a"]);
    let candidate = ledger.candidate(1, 1, "x");
    let root = ledger.source(Role::Compiler);
    let confirm = [(Role::Parent, root, 1.0), (Role::Candidate, candidate, 1.05)];
    let confirm = ledger.block(Phase::Confirm, 1, 12, &confirm);
    ledger.keep(candidate, confirm);
    ledger.report(candidate, 1.0);
    let report = report(&ledger);
    assert_eq!((report.outcome(), report.candidates[0].fate), (Outcome::Equivalent, Fate::Demoted));
    assert!(report.kept.is_empty());
}

#[test]
fn a_control_that_cannot_be_makes_the_result_void() {
    let mut ledger = Ledger::new("c1", "tune", "gelu_tanh", &["a"]);
    let head = ledger.candidate(1, 1, "x");
    let confirm = [(Role::Parent, ledger.source(Role::Compiler), 1.0), (Role::Candidate, head, 1.2)];
    let confirm = ledger.block(Phase::Confirm, 1, 12, &confirm);
    ledger.keep(head, confirm);
    let arms = [
        (Role::Head, head, 1.2),
        (Role::HeadAgain, head, 1.3),
        (Role::HeadSlow, head, 1.2),
        (Role::Compiler, ledger.source(Role::Compiler), 1.0),
        (Role::Naive, ledger.source(Role::Naive), 0.5),
    ];
    ledger.block(Phase::Report, 1, 12, &arms);
    let report = report(&ledger);
    let standings: Vec<_> = report.conclusion.controls.iter().map(|control| control.standing).collect();
    assert_eq!(standings, [Standing::Holds, Standing::Holds, Standing::Failed, Standing::Failed]);
    assert_eq!(report.outcome(), Outcome::Void(codes::CONTROL));
    assert!(report.conclusion.reason.contains("void"), "{}", report.conclusion.reason);
}

#[test]
fn the_naive_baseline_is_the_headlines_if_it_is_the_fastest() {
    let mut ledger = Ledger::new("c1", "measure", "gelu_tanh", &["a", "b"]);
    let candidate = ledger.candidate(1, 1, "a file");
    let arms = [
        (Role::Candidate, candidate, 0.9),
        (Role::Compiler, ledger.source(Role::Compiler), 0.8),
        (Role::Naive, ledger.source(Role::Naive), 1.0),
    ];
    ledger.block(Phase::Probe, 1, 12, &arms);
    let report = report(&ledger);
    assert!(report.is_probe());
    let json = json::probe(&report);
    assert_eq!((&json["outcome"], &json["baseline"], &json["code"]), (&"slower".into(), &"naive".into(), &Value::Null));
    assert_eq!(json["ratio"], json["naive_ratio"]);
    assert!(json["checks"].as_array().unwrap().iter().all(|check| check["passed"] == true));
    let cells = &report.conclusion.headline.as_ref().unwrap().cells;
    assert_eq!(cells.iter().map(|cell| cell.shape.as_str()).collect::<Vec<_>>(), ["a", "b"]);
}

#[test]
fn a_scattering_naive_baseline_counts_only_where_it_is_the_fastest() {
    for (naive, outcome) in [(0.5, Outcome::Faster), (1.0, Outcome::Inconclusive(Inconclusive::Noise))] {
        let mut ledger = Ledger::new("c1", "measure", "gelu_tanh", &["a"]);
        let candidate = ledger.candidate(1, 1, "a file");
        let (compiler, root) = (ledger.source(Role::Compiler), ledger.source(Role::Naive));
        let arms = [(Role::Candidate, candidate, 1.2), (Role::Compiler, compiler, 0.9), (Role::Naive, root, naive)];
        let mut body = ledger.block_body(Phase::Probe, 1, 12, &arms);
        for run in body.runs.iter_mut().filter(|run| run.arm == 2) {
            for cell in &mut run.cells {
                cell.windows.iter_mut().for_each(|window| *window = *window * (10 + run.pair % 2 * 2) / 10);
                cell.value = cell.value * (10 + run.pair % 2 * 2) / 10;
            }
        }
        ledger.append(&body);
        assert_eq!(report(&ledger).outcome(), outcome, "{naive}");
    }
}

#[test]
fn a_probe_that_failed_has_its_code_and_no_ratio() {
    let mut ledger = Ledger::new("c1", "measure", "gelu_tanh", &["a"]);
    let candidate = ledger.candidate(1, 1, "a file");
    ledger.fault(candidate, "build_error", "ATB503", "kernel.c:1: error: expected ';'");
    let report = report(&ledger);
    let json = json::probe(&report);
    assert_eq!((&json["outcome"], &json["code"]), (&"build_error".into(), &"ATB503".into()));
    assert!(json["ratio"].is_null() && json["n"].is_null());
    assert_eq!(report.outcome().exit_code(), 11);
    ledger.fault(candidate, "splendid", "", "");
    assert!(matches!(derive(&ledger.rows, "c1"), Err(ReportError::UnknownOutcome { .. })));
}

#[test]
fn a_changed_sample_changes_the_report_whatever_the_row_states() {
    let mut ledger = fixture::demo(1.21);
    let before = json::campaign(&report(&ledger), "/db");
    let row = ledger.rows.entries.iter_mut().rfind(|row| row.kind == "block").unwrap();
    let mut body: BlockBody = serde_json::from_str(&row.body).unwrap();
    for window in &mut body.runs[0].cells[0].windows {
        *window = *window / 100 * 103;
    }
    row.body = atb_core::canon::canonical(&body).unwrap();
    let edited = report(&ledger);
    assert_ne!(json::campaign(&edited, "/db"), before);
    assert!(edited.notices.iter().any(|notice| notice.contains("ATB604")), "{:?}", edited.notices);
}

#[test]
fn json_holds_finite_numbers_and_outward_bounds() {
    for ratio in [1.0, 1.21, 11.0] {
        let report = report(&fixture::demo(ratio));
        let json = json::campaign(&report, "/db");
        assert_finite(&json);
        let verdict = &report.conclusion.headline.as_ref().unwrap().verdict;
        let of = |field: &str| json[field].as_f64().unwrap();
        assert!(of("lo") <= verdict.lo95.ratio_bound() && verdict.hi95.ratio_bound() <= of("hi"));
        assert!(of("hi") - of("lo") < verdict.hi95.ratio_bound() - verdict.lo95.ratio_bound() + 2e-4);
        assert_eq!(json["ratio"], Rounded::nearest(verdict.estimate).unwrap().json());
    }
}

#[test]
fn terminal_lines_fit_and_name_what_the_headline_rests_on() {
    let mut ledger = fixture::demo(1.21);
    let hostile = format!("\u{1b}[31m<script>{}", "z".repeat(500));
    ledger.candidate(7, 2, &hostile);
    fixture::add_null(&mut ledger, 1.02);
    for id in ["c1", "c2"] {
        let report = derive(&ledger.rows, id).unwrap();
        for width in [40, 80, 120] {
            let text = terminal::campaign(&report, width);
            assert!(text.lines().all(|line| line.chars().count() <= width), "{text}");
            assert!(!text.contains('\u{1b}'));
        }
    }
    let text = terminal::campaign(&report(&ledger), 80);
    for part in
        ["faster", "compiler baseline", "12 pairs", "Example(R)", "naive ratio", "A/A", "holds", "same-uid", "C0"]
    {
        assert!(text.contains(part), "{part}\n{text}");
    }
}

#[test]
fn a_checkpoint_lifts_the_anchor_class_only_if_it_covers_the_campaign_and_another_user_judged() {
    use atb_core::anchor_class::{Class, Evidence};
    let ledger = fixture::demo(1.21);
    let entries = ledger.rows.entries.len() as u64;
    let same = ledger.rows;
    let mut other = same.clone();
    for row in &mut other.entries {
        row.body = row.body.replace("\"judge\":\"same-uid\"", "\"judge\":\"other-uid\"");
    }
    let class = |rows: &LedgerRows, size| {
        let mut report = derive(rows, "c1").unwrap();
        report.anchor_by(rows, size, Evidence::Signed);
        assert!(terminal::campaign(&report, 300).contains(&report.anchor.to_string()));
        assert_eq!(json::campaign(&report, "")["anchor"]["class"], report.anchor.class.to_string());
        report.anchor
    };
    assert_eq!(class(&other, entries).class, Class::C2);
    assert_eq!(class(&other, entries - 1).to_string(), "C0: chained, unsigned");
    let capped = class(&same, entries);
    assert_eq!(capped.class, Class::C0);
    assert!(capped.reason.contains("would be C2, but judge=same-uid"), "{capped}");
}

#[test]
fn an_unknown_campaign_is_an_error() {
    let ledger = fixture::demo(1.2);
    assert!(matches!(derive(&ledger.rows, "c9"), Err(ReportError::UnknownCampaign { .. })));
}

#[test]
fn exploratory_blocks_label_the_report() {
    let mut ledger = Ledger::new("c1", "tune", "gelu_tanh", &["a"]);
    ledger.quiet = false;
    one_confirm(&mut ledger);
    let report = report(&ledger);
    assert!(report.exploratory);
    assert!(report.notices[0].contains("no headline"));
    assert_eq!(json::campaign(&report, "/db")["exploratory"], true);
}

fn one_confirm(ledger: &mut Ledger) {
    let candidate = ledger.candidate(1, 1, "x");
    let root = ledger.source(Role::Compiler);
    ledger.block(Phase::Confirm, 1, 12, &[(Role::Parent, root, 1.0), (Role::Candidate, candidate, 1.0)]);
}
