//! What an append and a verification cost; run it with `cargo test --release -p atb-ledger --test cost -- --ignored --nocapture`.

#![allow(clippy::disallowed_methods, reason = "the test takes times")]

mod support;

use std::time::Instant;

use atb_core::entry::{BlockBody, CellBody, Chain, Phase, Role, TaskBody, pair_seed};
use atb_core::protocol::Protocol;
use atb_ledger::{Ledger, verify};
use support::*;

const CERTIFIED: &str = include_str!("../../../protocol/certified-1.toml");

/// A block of the certified protocol: every run in each of so many cells.
fn certified(
    protocol: &Protocol,
    phase: Phase,
    index: u64,
    arms: &[(Role, atb_core::canon::Digest)],
    cells: usize,
) -> BlockBody {
    let pairs = match (phase, index) {
        (Phase::Confirm, 2..=4) => protocol.replication_pairs_confirm_2(),
        (Phase::Confirm, 5..=9) => protocol.replication_pairs_confirm_5(),
        (Phase::Confirm, 10..) => protocol.replication_pairs_confirm_10(),
        (Phase::Confirm, _) => protocol.replication_pairs_confirm(),
        _ => protocol.replication_pairs_probe(),
    };
    let mut block = block_body(phase, index, pairs, arms, &vec![2_000_000; arms.len()]);
    block.protocol = protocol.digest();
    block.cells = (0..cells).map(|cell| CellBody { shape: format!("s{cell}"), dims: vec![1, 2] }).collect();
    block.seeds = (0..pairs).map(|pair| pair_seed(&KEY, CAMPAIGN, phase, index, 1, pair)).collect();
    for run in &mut block.runs {
        run.cells[0].warmup = protocol.kernel_warmup_min();
        run.cells = vec![run.cells[0].clone(); cells];
        run.checks.scanned = run.cells.iter().map(|cell| cell.warmup + 100).sum();
        run.checks.sampled = run.checks.scanned * 64;
        run.checks.full = cells as u64;
    }
    block
}

#[test]
#[ignore = "prints times"]
fn cost_of_appends_and_of_verification() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("atb.db");
    let protocol = Protocol::parse("certified-1.toml", CERTIFIED).unwrap();
    let mut ledger = Ledger::create(&path).unwrap();
    let mut body = protocol_body();
    (body.digest, body.id, body.protocol) = (protocol.digest(), protocol.id().to_owned(), protocol.to_json());
    ledger.append(&body, START_MS).unwrap();
    let task = TaskBody { format: 1, digest: digest("task"), id: "t".into(), files: Vec::new() };
    ledger.append(&task, START_MS).unwrap();
    let mut campaign = campaign_body(CAMPAIGN);
    campaign.protocol = protocol.digest();
    ledger.append(&campaign, START_MS).unwrap();
    ledger.append(&session_body(SESSION, CAMPAIGN), START_MS).unwrap();
    for role in [Role::Compiler, Role::Naive, Role::Vendor] {
        ledger.append(&baseline_body(role), START_MS).unwrap();
    }
    ledger.append(&candidate_body(1, root()), START_MS).unwrap();
    let mut index = 0;
    for cells in [1, 6] {
        let (mut times, mut probes) = (Vec::new(), Vec::new());
        let (mut bytes, mut runs) = (0, 0);
        for _ in 0..10 {
            index += 1;
            let arms = [(Role::Parent, root()), (Role::Candidate, digest("candidate 1"))];
            let mut append = |phase, index, arms: &[_], times: &mut Vec<f64>| {
                let block = certified(&protocol, phase, index, arms, cells);
                let start = Instant::now();
                ledger.append(&block, START_MS + 10).unwrap();
                times.push(start.elapsed().as_secs_f64() * 1000.0);
                runs = runs.max(block.runs.len());
                bytes = bytes.max(atb_core::canon::canonical(&block).unwrap().len());
            };
            append(Phase::Confirm, index, &arms, &mut times);
            let five = [
                (Role::Candidate, digest("candidate 1")),
                (Role::Compiler, root()),
                (Role::Naive, digest("naive")),
                (Role::Vendor, digest("vendor")),
            ];
            append(Phase::Probe, index, &five, &mut probes);
        }
        for (what, times) in [("confirm", &mut times), ("probe of 4 arms", &mut probes)] {
            times.sort_by(f64::total_cmp);
            println!(
                "{cells} cells, {what}: median {:.1} ms, worst {:.1} ms",
                times[times.len() / 2],
                times[times.len() - 1]
            );
        }
        println!("largest: {runs} runs, {bytes} bytes");
    }
    let rows = ledger.head(Chain::Entry).unwrap().0;
    drop(ledger);
    let start = Instant::now();
    let report = verify(&path).unwrap();
    let seconds = start.elapsed().as_secs_f64();
    assert_eq!((report.entries, report.first_bad), (rows, None));
    let mib = std::fs::metadata(&path).unwrap().len() as f64 / (1 << 20) as f64;
    println!("verify: {rows} rows, {mib:.1} MiB in {:.0} ms: {:.0} rows/s", seconds * 1000.0, rows as f64 / seconds);
}
