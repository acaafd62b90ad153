//! `atb anchor`: list, show, run, report.

use std::fmt::Write as _;
use std::path::Path;

use atb_core::anchor::{Anchor, Figure, RunsOn, Stated, band};
use atb_core::codes;
use atb_core::stats::parity::{Parity, ParityOutcome, parity};
use serde_json::{Value, json};

use super::{Context, ledger_rows};
use crate::anchors;
use crate::cli::AnchorCommand;
use crate::error::{Error, Result, exit};
use crate::report::{self, number};

pub(super) fn run(context: &Context, command: &AnchorCommand) -> Result<u8> {
    match command {
        AnchorCommand::List => list(context),
        AnchorCommand::Show { id } => show(context, &anchors::find(id)?),
        AnchorCommand::Run { id } => measure(context, &anchors::find(id)?),
        AnchorCommand::Report { id, figure, db, campaign } => {
            compare(context, &anchors::find(id)?, figure, db, campaign.as_deref())
        }
    }
}

fn list(context: &Context) -> Result<u8> {
    let mut text = String::new();
    let mut list = Vec::new();
    for anchor in anchors::all()? {
        let _ = writeln!(
            text,
            "{:20} {:3}  {:2} figures  {}",
            anchor.id,
            runs_on(&anchor),
            anchor.figures.len(),
            anchor.title.chars().take(46).collect::<String>()
        );
        list.push(json!({
            "id": anchor.id, "runs_on": runs_on(&anchor), "figures": anchor.figures.len(), "title": anchor.title,
            "hardware": anchor.hardware,
        }));
    }
    context.output.result(&text, &json!({ "anchors": list }))
}

fn runs_on(anchor: &Anchor) -> &'static str {
    match anchor.runs_on {
        RunsOn::Cpu => "cpu",
        RunsOn::Gpu => "gpu",
    }
}

fn show(context: &Context, anchor: &Anchor) -> Result<u8> {
    let Anchor { id, title, source, location, hardware, dtype, artefact, protocol, .. } = anchor;
    let mut text = format!(
        "{id}: {title}\n  source    {source}\n            {location}\n  hardware  {hardware}\n  dtype     {dtype}\n  artefact  {artefact}\n  \
         protocol  {protocol}\n\n  {:30} {:>10} {:>10} {:>8}  printed ratio\n",
        "figure", "base", "optimised", "unit"
    );
    for figure in &anchor.figures {
        let _ = writeln!(text, "  {}", line(figure));
    }
    let figures: Vec<Value> = anchor.figures.iter().map(object).collect();
    let json = json!({
        "id": id, "title": title, "source": source, "location": location, "hardware": hardware, "dtype": dtype,
        "artefact": artefact, "protocol": protocol, "runs_on": runs_on(anchor), "figures": figures,
    });
    context.output.result(&text, &json)
}

fn line(figure: &Figure) -> String {
    let name: String = figure.name.chars().take(30).collect();
    match &figure.stated {
        Stated::Value { value, reduction } => {
            format!("{name:30} {:>10} {:>10} {:>8}  over {reduction} elements", value.written(), "", "")
        }
        Stated::Pair { base, optimised, ratio } => {
            let check = figure.arithmetic().map_or_else(String::new, |of| {
                let range = format!("{:.4} to {:.4}", of.least, of.most);
                match (ratio, of.agrees) {
                    (Some(ratio), Some(true)) => format!("{}, as the times allow: {range}", ratio.written()),
                    (Some(ratio), _) => format!("{}, but the times allow {range}", ratio.written()),
                    (None, _) => format!("none; the times allow {range}"),
                }
            });
            format!("{name:30} {:>10} {:>10} {:>8}  {check}", base.written(), optimised.written(), figure.unit)
        }
    }
}

fn object(figure: &Figure) -> Value {
    let arithmetic = figure.arithmetic();
    let stated = match &figure.stated {
        Stated::Pair { base, optimised, ratio } => json!({
            "base": base.value(), "optimised": optimised.value(), "ratio": ratio.as_ref().map(atb_core::document::Decimal::value),
        }),
        Stated::Value { value, reduction } => json!({ "value": value.value(), "reduction": reduction }),
    };
    json!({
        "name": figure.name, "task": figure.task, "unit": figure.unit, "stated": stated,
        "possible": arithmetic.map(|of| json!([of.least, of.most])),
        "agrees": arithmetic.and_then(|of| of.agrees),
    })
}

/// Measures what needs no machine of its own.
fn measure(context: &Context, anchor: &Anchor) -> Result<u8> {
    if anchor.runs_on == RunsOn::Gpu {
        let message =
            format!("anchor {} was published for {}: nothing of it runs on a processor", anchor.id, anchor.hardware);
        let remedy = "measure a campaign of the same computation there, then `atb anchor report`".to_owned();
        return Err(Error::Usage { message, remedy });
    }
    let (mut text, mut list, mut met) = (String::new(), Vec::new(), true);
    for figure in &anchor.figures {
        let Stated::Value { value, .. } = &figure.stated else { continue };
        let Some(here) = anchors::of_zeros(figure) else { continue };
        let ratio = here / value.value();
        let within = (ratio - 1.0).abs() <= band().get();
        met &= within;
        let verdict = if within { "parity" } else { "mismatch" };
        let _ = writeln!(
            text,
            "{:20} published {:>8}, here {here:.3e}, ratio {ratio:.3}: {verdict}",
            figure.name,
            value.written()
        );
        list.push(json!({ "name": figure.name, "published": value.value(), "here": here, "ratio": ratio, "outcome": verdict }));
    }
    context.output.result(&text, &json!({ "id": anchor.id, "ok": met, "figures": list }))?;
    Ok(if met { 0 } else { exit::REFUSED })
}

/// Our ratio of a campaign over a published one.
fn compare(context: &Context, anchor: &Anchor, name: &str, db: &Path, campaign: Option<&str>) -> Result<u8> {
    let usage = |message: String, remedy: String| Error::Usage { message, remedy };
    let figure = anchor.figures.iter().find(|figure| figure.name == name).ok_or_else(|| {
        let known = anchor.figures.iter().map(|figure| figure.name.as_str()).collect::<Vec<_>>().join(", ");
        usage(format!("anchor {} has no figure `{name}`", anchor.id), format!("its figures are {known}"))
    })?;
    let published = figure.ratio().map_err(report::ReportError::from)?.ok_or_else(|| {
        usage(format!("the figure `{name}` is no ratio"), format!("try `atb anchor run {}`", anchor.id))
    })?;
    let verified = atb_ledger::verify(db)?;
    if let Some(bad) = verified.first_bad {
        return Err(usage(
            format!("{} does not verify: row {}: {}", db.display(), bad.seq, bad.reason),
            "restore the ledger".to_owned(),
        ));
    }
    let rows = ledger_rows(&atb_ledger::Ledger::open_read_only(db)?)?;
    let mut campaigns = rows.entries.iter().filter(|row| row.kind == "campaign").map(|row| row.key.clone());
    let id = campaign.map(str::to_owned).or_else(|| campaigns.next_back()).unwrap_or_default();
    let derived = report::derive(&rows, &id)?;
    let task = &derived.registered.body.task_id;
    if figure.task.as_ref().is_some_and(|wanted| wanted != task) {
        let wanted = figure.task.clone().unwrap_or_default();
        return Err(usage(
            format!("campaign {id} is of task {task}, the figure of {wanted}"),
            "name another campaign".into(),
        ));
    }
    let headline = derived.conclusion.headline.as_ref().ok_or_else(|| {
        usage(
            format!("campaign {id} has no ratio: {}", derived.conclusion.reason),
            "anchor a campaign with a REPORT or PROBE".into(),
        )
    })?;
    let confidence = derived.protocol.statistics_confidence_equivalence();
    let found = parity(&headline.pairs, published, band(), confidence)
        .map_err(|error| usage(error.to_string(), "report this".into()))?;
    print_parity(context, anchor, figure, &derived, headline, &found)
}

fn print_parity(
    context: &Context,
    anchor: &Anchor,
    figure: &Figure,
    derived: &report::CampaignReport,
    headline: &report::Comparison,
    found: &Parity,
) -> Result<u8> {
    let mechanism = anchor.mechanisms.iter().find(|mechanism| mechanism.figure == figure.name);
    let (outcome, code) = match found.outcome {
        ParityOutcome::Parity => ("parity", None),
        ParityOutcome::Inconclusive => ("inconclusive", None),
        ParityOutcome::Mismatch if mechanism.is_some() => ("mismatch, explained", None),
        ParityOutcome::Mismatch => ("mismatch", Some(codes::ANCHOR_MISMATCH)),
    };
    let (ours, over) = (number::shown(headline.ratio()), number::interval(found.lo, found.hi));
    let mut text = format!(
        "{} {}: {outcome}\n  ours        {ours}x {}, {} on {}\n  published   {} on {}\n  ours / published {}x {over}, within 0.9 to 1.1 is parity\n",
        anchor.id,
        figure.name,
        headline.interval(),
        headline.name(),
        derived.machine_line(),
        line(figure).trim_start_matches(figure.name.as_str()).trim(),
        anchor.hardware,
        number::shown(number::Rounded::nearest(found.ratio)),
    );
    match (mechanism, code) {
        (Some(mechanism), _) => {
            let _ = writeln!(text, "  mechanism   {}: {}", mechanism.cause, mechanism.evidence);
        }
        (None, Some(code)) => {
            let _ = writeln!(text, "  {code}: {}", code.entry().map_or("", |entry| entry.remedy));
        }
        (None, None) => {}
    }
    let json = json!({
        "id": anchor.id,
        "figure": figure.name,
        "outcome": outcome,
        "code": code.map(|code| code.to_string()),
        "ratio": number::json_or_null(number::Rounded::nearest(found.ratio)),
        "lo": number::json_or_null(number::Rounded::down(found.lo)),
        "hi": number::json_or_null(number::Rounded::up(found.hi)),
        "ours": number::json_or_null(headline.ratio()),
        "machine": derived.machine_line(),
        "hardware": anchor.hardware,
        "mechanism": mechanism.map(|mechanism| json!({ "cause": mechanism.cause, "evidence": mechanism.evidence })),
    });
    context.output.result(&text, &json)?;
    Ok(if code.is_some() { exit::REFUSED } else { 0 })
}
