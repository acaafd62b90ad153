//! The page against the model: the same numbers, nothing that runs, nothing that others wrote unescaped.

use atb_core::entry::{BlockBody, Phase, Role};

use super::render;
use crate::report::fixture::{self, Ledger};
use crate::report::{CampaignReport, derive, json};

const LIMIT: usize = 300 * 1024;

fn reports(ledger: &Ledger, ids: &[&str]) -> Vec<CampaignReport> {
    ids.iter().map(|id| derive(&ledger.rows, id).unwrap()).collect()
}

fn page(reports: &[CampaignReport]) -> String {
    render(&reports[0], &reports[1..]).unwrap()
}

/// The value of a field in the article of a task.
fn field<'a>(page: &'a str, task: &str, name: &str) -> &'a str {
    let article = page.split("<article ").find(|article| article.contains(&format!("data-task=\"{task}\""))).unwrap();
    let marker = format!("data-field=\"{name}\" data-value=\"");
    let mut hits = article.split(marker.as_str()).skip(1);
    let value = hits.next().unwrap_or_else(|| panic!("no field {name} in {task}"));
    assert!(hits.next().is_none(), "field {name} stands twice");
    value.split('"').next().unwrap()
}

#[test]
fn fields_of_the_page_are_those_of_the_json() {
    let mut ledger = fixture::demo(1.21);
    fixture::add_null(&mut ledger, 1.001);
    let reports = reports(&ledger, &["c1", "c2"]);
    let page = page(&reports);
    for report in &reports {
        let json = json::campaign(report, "/db");
        let task = json["task"].as_str().unwrap();
        for name in ["ratio", "lo", "hi", "naive_ratio", "root_ratio", "n"] {
            let shown = field(&page, task, name).parse::<f64>().ok();
            assert_eq!(shown, json[name].as_f64(), "{task} {name}");
        }
        for name in ["outcome", "baseline", "machine"] {
            assert_eq!(field(&page, task, name), json[name].as_str().unwrap(), "{task} {name}");
        }
        assert_eq!(field(&page, task, "exploratory"), json["exploratory"].to_string());
    }
}

#[test]
fn nothing_on_the_page_runs_or_loads() {
    let page = page(&reports(&fixture::demo(1.21), &["c1"]));
    assert!(page.contains("default-src 'none'; style-src 'unsafe-inline'; img-src data:"));
    for forbidden in ["<script", "http://", "https://", "url(", "@import", "onload", "<img", "<link", "NaN", "inf%"] {
        assert!(!page.contains(forbidden), "{forbidden}");
    }
    assert!(page.len() < LIMIT);
}

#[test]
fn hostile_text_is_escaped_and_bounded() {
    let mut ledger = Ledger::new("c1", "tune", "<b>task</b>", &["\"><svg onload=x>"]);
    let hostile = format!("<script>alert(1)</script>\u{202e}\" onclick=\"x{}", "y".repeat(100_000));
    let candidate = ledger.candidate(1, 1, &hostile);
    ledger.fault(candidate, "build_error", "ATB503", &hostile);
    let other = ledger.candidate(2, 1, "&amp;{{ 7 * 7 }}");
    let root = ledger.source(Role::Compiler);
    ledger.block(Phase::Confirm, 1, 12, &[(Role::Parent, root, 1.0), (Role::Candidate, other, 1.0)]);
    let page = page(&reports(&ledger, &["c1"]));
    for forbidden in ["<script", "<b>task", "<svg onload", "onclick=\"x", "\u{202e}", "yyyyyyyyyy".repeat(30).as_str()]
    {
        assert!(!page.contains(forbidden), "{forbidden}");
    }
    assert!(page.contains("&#60;script&#62;alert(1)") && page.contains("&#38;amp;{{ 7 * 7 }}"));
    assert!(page.len() < LIMIT);
}

#[test]
fn a_changed_sample_changes_the_page() {
    let mut ledger = fixture::demo(1.21);
    let before = page(&reports(&ledger, &["c1"]));
    assert_eq!(before, page(&reports(&ledger, &["c1"])), "the same ledger gives the same bytes");
    let row = ledger.rows.entries.iter_mut().rfind(|row| row.kind == "block").unwrap();
    let mut body: BlockBody = serde_json::from_str(&row.body).unwrap();
    body.runs[0].cells[0].windows[99] += 1;
    row.body = atb_core::canon::canonical(&body).unwrap();
    assert_ne!(before, page(&reports(&ledger, &["c1"])));
}

#[test]
fn every_outcome_has_a_page() {
    let mut ledger = Ledger::new("c1", "measure", "gelu_tanh", &["a", "b"]);
    assert!(page(&reports(&ledger, &["c1"])).contains("No candidate was proposed"));
    let candidate = ledger.candidate(1, 1, "a file");
    let arms = [
        (Role::Candidate, candidate, 12.0),
        (Role::Compiler, ledger.source(Role::Compiler), 1.0),
        (Role::Naive, ledger.source(Role::Naive), 0.5),
    ];
    ledger.block(Phase::Probe, 1, 12, &arms);
    let html = page(&reports(&ledger, &["c1"]));
    assert_eq!(field(&html, "gelu_tanh", "outcome"), "quarantined");
    assert!(html.contains("only a") && html.contains("only b"));
}

#[test]
fn a_long_search_and_many_campaigns_stay_within_the_limit() {
    let mut ledger = Ledger::new("c1", "tune", "gelu_tanh", &["a"]);
    let root = ledger.source(Role::Compiler);
    for generation in 1..=60 {
        let mut arms = vec![(Role::Parent, root, 1.0)];
        for at in 0..6 {
            let candidate = ledger.candidate((generation - 1) * 6 + at + 1, generation, &"point ".repeat(40));
            arms.push((Role::Candidate, candidate, 0.9));
        }
        ledger.block(Phase::Screen, generation, 5, &arms);
    }
    let long = page(&reports(&ledger, &["c1"]));
    assert!(long.len() < LIMIT, "{}", long.len());
    assert!(long.contains("240 of 360 candidates are listed") && long.contains("200 of 720 gate decisions are listed"));
    let one = reports(&fixture::demo(1.2), &["c1"]);
    let many: Vec<CampaignReport> = std::iter::repeat_n(one[0].clone(), 30).collect();
    let page = page(&many);
    assert!(page.len() < LIMIT, "{}", page.len());
    assert!(page.contains("not shown in full on this page"));
}
