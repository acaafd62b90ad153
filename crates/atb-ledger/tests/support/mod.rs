//! A small valid campaign under `fixtures/protocol/ledger-1.toml`, built through the public API from synthetic samples.

#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout, reason = "tests may stop and speak")]
#![allow(dead_code, reason = "each test binary uses a part of this")]
#![allow(missing_docs, unreachable_pub, reason = "test support")]

use std::path::Path;

use atb_core::canon::{Digest, canonical};
use atb_core::entry::*;
use atb_core::protocol::Protocol;
use atb_core::quantity::Seed;
use atb_core::stats::splitmix::SplitMix64;
use atb_core::task::Unit;
use atb_ledger::{Admitted, Ledger};

pub const PROTOCOL: &str = include_str!("../../../../fixtures/protocol/ledger-1.toml");
pub const KEY: [u8; 32] = [7; 32];
pub const START_MS: i64 = 1_800_000_000_000;
pub const CAMPAIGN: &str = "00000000000000c1";
pub const SESSION: &str = "00000000000000e1";

pub fn protocol() -> Protocol {
    Protocol::parse("ledger-1.toml", PROTOCOL).unwrap()
}

pub fn digest(text: &str) -> Digest {
    Digest::of(text.as_bytes())
}

pub fn protocol_body() -> ProtocolBody {
    let protocol = protocol();
    ProtocolBody {
        format: FORMAT,
        digest: protocol.digest(),
        id: protocol.id().to_owned(),
        protocol: protocol.to_json(),
    }
}

pub fn campaign_body(id: &str) -> CampaignBody {
    CampaignBody {
        format: FORMAT,
        id: id.to_owned(),
        command: "tune".into(),
        registration: String::new(),
        task: digest("task"),
        task_id: "t".into(),
        protocol: protocol().digest(),
        proposer: "deterministic".into(),
        seed: 1,
        iterations: 6,
        shapes: vec!["s".into()],
        hypothesis: "h".into(),
        readout: "r".into(),
        stop_rule: "s".into(),
    }
}

pub fn session_body(id: &str, campaign: &str) -> SessionBody {
    let machine = MachineBody {
        fingerprint: digest("machine"),
        cpu: "cpu".into(),
        cpus: 2,
        memory_mib: 1000,
        kernel: "6".into(),
        governor: "none".into(),
        virtual_machine: true,
        boot: "boot".into(),
    };
    SessionBody {
        format: FORMAT,
        id: id.to_owned(),
        campaign: campaign.to_owned(),
        machine,
        key_hash: key_commitment(&KEY),
        handoff_ns: 5000,
        delay_ns: 1_005_000,
        isolation: "L1".into(),
        canary: "0".repeat(32),
        harness: digest("harness"),
        compiler: "cc".into(),
    }
}

pub fn baseline_body(role: Role) -> BaselineBody {
    BaselineBody {
        format: FORMAT,
        campaign: CAMPAIGN.into(),
        session: SESSION.into(),
        role,
        source: digest(role.name()),
        artefact: digest("so"),
        flags: "-O2".into(),
        tried: Vec::new(),
    }
}

pub fn candidate_body(iteration: u64, parent: Digest) -> CandidateBody {
    CandidateBody {
        format: FORMAT,
        campaign: CAMPAIGN.into(),
        iteration,
        generation: 1,
        source: digest(&format!("candidate {iteration}")),
        parent,
        proposer: "deterministic".into(),
        note: "n".into(),
        cost: "0".into(),
    }
}

/// One run whose windows scatter by about 1 % around `window_ns`.
fn run(random: &mut SplitMix64, pair: u64, arm: u64, k: u64, window_ns: u64, windows: u64) -> RunBody {
    let mut below = |n: u64| random.below(std::num::NonZeroU64::new(n).unwrap());
    let base = window_ns + below(window_ns / 200);
    let windows: Vec<u64> = (0..windows).map(|_| base + below(window_ns / 50)).collect();
    let mut sorted = windows.clone();
    sorted.sort_unstable();
    let value = sorted[sorted.len() / 2 - 1] + sorted[sorted.len() / 2];
    let warmup = 25 + below(26);
    let scanned = windows.len() as u64 + warmup;
    let checks = ChecksBody { scanned, sampled: scanned * 64, full: 1, failed: 0, miss_ppm: 900_000 };
    RunBody { pair, arm, cells: vec![RunCellBody { k, warmup, value, windows }], checks }
}

/// A block of these arms; `speeds` are window times per arm in ns at the same K.
pub fn block_body(phase: Phase, index: u64, pairs: u64, arms: &[(Role, Digest)], speeds: &[u64]) -> BlockBody {
    let mut random = SplitMix64::new(Seed::new(index * 31 + pairs));
    let mut runs = Vec::new();
    for pair in 0..pairs {
        for arm in random.permutation(arms.len()) {
            runs.push(run(&mut random, pair, arm as u64, 10, speeds[arm], 100));
        }
    }
    BlockBody {
        format: FORMAT,
        campaign: CAMPAIGN.into(),
        session: SESSION.into(),
        task: digest("task"),
        protocol: protocol().digest(),
        phase,
        index,
        attempt: 1,
        quiet: true,
        isolation: "L1".into(),
        canary: "0".repeat(32),
        judge: "same-uid".into(),
        arms: arms
            .iter()
            .map(|(role, source)| ArmBody { role: *role, source: *source, artefact: digest("so"), flags: "-O2".into() })
            .collect(),
        cells: vec![CellBody { shape: "s".into(), dims: vec![1, 2] }],
        seeds: (0..pairs).map(|pair| pair_seed(&KEY, CAMPAIGN, phase, index, 1, pair)).collect(),
        runs,
    }
}

pub fn root() -> Digest {
    digest("compiler")
}

pub fn screen(index: u64) -> BlockBody {
    let arms =
        [(Role::Parent, root()), (Role::Candidate, digest("candidate 1")), (Role::Candidate, digest("candidate 2"))];
    block_body(Phase::Screen, index, 3, &arms, &[2_000_000, 1_900_000, 2_100_000])
}

pub fn confirm(index: u64, parent: Digest, candidate: u64) -> BlockBody {
    let arms = [(Role::Parent, parent), (Role::Candidate, digest(&format!("candidate {candidate}")))];
    let pairs = if index == 1 { 6 } else { 8 };
    block_body(Phase::Confirm, index, pairs, &arms, &[2_400_000, 2_000_000])
}

/// The second attempt at the CONFIRM that [`begin`] saw refused.
pub fn confirm_again() -> BlockBody {
    let mut block = confirm(1, root(), 1);
    block.attempt = 2;
    block.seeds = (0..6).map(|pair| pair_seed(&KEY, CAMPAIGN, Phase::Confirm, 1, 2, pair)).collect();
    block
}

pub fn report(head: Digest) -> BlockBody {
    let arms = [
        (Role::Head, head),
        (Role::HeadAgain, head),
        (Role::HeadSlow, head),
        (Role::Compiler, root()),
        (Role::Naive, digest("naive")),
    ];
    block_body(Phase::Report, 1, 6, &arms, &[2_000_000, 2_000_000, 2_060_000, 2_400_000, 9_000_000])
}

pub fn probe(index: u64) -> BlockBody {
    let arms = [(Role::Candidate, digest("candidate 2")), (Role::Compiler, root()), (Role::Naive, digest("naive"))];
    block_body(Phase::Probe, index, 6, &arms, &[2_000_000, 2_400_000, 9_000_000])
}

pub fn gate_body(block: u64) -> GateBody {
    GateBody {
        format: FORMAT,
        block,
        gate: "quarantine".into(),
        role: Role::Candidate,
        candidate: digest("candidate 1"),
        decision: Decision::Pass,
        code: String::new(),
        observed: "1.1".into(),
        limit: "10".into(),
        source: "s".into(),
    }
}

/// A decision that flagged the first candidate's SCREEN, and a ruling on the gate row of this number.
pub fn flag_body(block: u64) -> GateBody {
    GateBody { gate: "similarity.naive".into(), decision: Decision::Flag, code: "ATB707".into(), ..gate_body(block) }
}

pub fn ruling_body(gate: u64, number: u64) -> RulingBody {
    let (by, reason) = ("reviewer".into(), "the unrolled tail differs".into());
    RulingBody { format: FORMAT, gate, number, decision: Ruling::Release, by, reason }
}

pub fn refusal_body(text: &str) -> RefusalBody {
    RefusalBody {
        format: FORMAT,
        code: "ATB609".into(),
        kind: "block".into(),
        key: format!("{CAMPAIGN}/confirm/2"),
        digest: digest(text),
        refused: text.into(),
    }
}

pub fn close_body(ledger: &Ledger) -> CloseBody {
    let (gates, gates_head) = ledger.head(Chain::Gate).unwrap();
    let (refusals, refusals_head) = ledger.head(Chain::Refusal).unwrap();
    let keys = vec![KeyBody { session: SESSION.into(), key: Digest::from_bytes(KEY).to_string() }];
    CloseBody {
        format: FORMAT,
        campaign: CAMPAIGN.into(),
        reason: "complete".into(),
        keys,
        gates,
        gates_head,
        refusals,
        refusals_head,
    }
}

/// A ledger up to and including a SCREEN with its gates, and a refused noisy CONFIRM.
pub fn begin(path: &Path) -> Ledger {
    begin_with(path, Unit::Row)
}

/// The same for a task that is checked by this unit.
pub fn begin_with(path: &Path, unit: Unit) -> Ledger {
    let mut ledger = Ledger::create(path).unwrap();
    let mut at = START_MS;
    let mut put = |ledger: &mut Ledger, append: &dyn Fn(&mut Ledger, i64)| {
        at += 10;
        append(ledger, at);
    };
    put(&mut ledger, &|l, at| drop(l.append(&protocol_body(), at).unwrap()));
    let task = TaskBody { format: FORMAT, digest: digest("task"), id: "t".into(), unit, files: Vec::new() };
    put(&mut ledger, &|l, at| drop(l.append(&task, at).unwrap()));
    put(&mut ledger, &|l, at| drop(l.append(&campaign_body(CAMPAIGN), at).unwrap()));
    put(&mut ledger, &|l, at| drop(l.append(&session_body(SESSION, CAMPAIGN), at).unwrap()));
    put(&mut ledger, &|l, at| drop(l.append(&baseline_body(Role::Naive), at).unwrap()));
    put(&mut ledger, &|l, at| drop(l.append(&baseline_body(Role::Compiler), at).unwrap()));
    for iteration in 1..=2 {
        put(&mut ledger, &|l, at| drop(l.append(&candidate_body(iteration, root()), at).unwrap()));
    }
    put(&mut ledger, &|l, at| drop(l.append(&screen(1), at).unwrap()));
    let block = u64::try_from(ledger.bodies::<BlockBody>().unwrap()[0].seq).unwrap();
    put(&mut ledger, &|l, at| drop(l.record_gate(&gate_body(block), at).unwrap()));
    let mut noisy = confirm(1, root(), 1);
    for run in &mut noisy.runs {
        let cell = &mut run.cells[0];
        let stretch = 100 + 20 * (run.pair % 3);
        cell.windows.iter_mut().for_each(|window| *window = *window * stretch / 100);
        let mut sorted = cell.windows.clone();
        sorted.sort_unstable();
        cell.value = sorted[49] + sorted[50];
    }
    put(&mut ledger, &|l, at| assert!(l.append(&noisy, at).is_err()));
    ledger
}

/// The same ledger with a confirmed keep.
pub fn begin_with_keep(path: &Path) -> (Ledger, Admitted) {
    let mut ledger = begin(path);
    let row = ledger.append(&confirm_again(), START_MS + 500).unwrap();
    let decision = ledger.ratchet(&row, START_MS + 510).unwrap();
    assert!(matches!(decision, atb_ledger::RatchetDecision::Kept(_)));
    (ledger, row)
}

/// The campaign of the A/A block, and the one of the comparison.
pub const SELF: &str = "00000000000000a1";
pub const COMPARE: &str = "00000000000000b1";
/// A registration whose comparison has begun, and one that nothing has run yet.
pub const REGISTERED: &str = "00000000000000f1";
pub const WAITING: &str = "00000000000000f2";

/// A block with the same code in both arms, of the campaign that is for it.
pub fn same() -> BlockBody {
    let arms = [(Role::Control, root()), (Role::ControlAgain, root())];
    let mut block = block_body(Phase::Same, 1, 6, &arms, &[2_000_000, 2_000_000]);
    (block.campaign, block.session) = (SELF.into(), "00000000000000ea".into());
    block.seeds = (0..6).map(|pair| pair_seed(&KEY, SELF, Phase::Same, 1, 1, pair)).collect();
    block
}

/// A comparison of two candidates, as [`registration_body`] registers it.
pub fn compared() -> BlockBody {
    let arms = [(Role::Control, digest("candidate 1")), (Role::Treatment, digest("candidate 2"))];
    let mut block = block_body(Phase::Compare, 1, 7, &arms, &[2_400_000, 2_000_000]);
    (block.campaign, block.session) = (COMPARE.into(), "00000000000000eb".into());
    block.arms[1].artefact = digest("other so");
    block.seeds = (0..7).map(|pair| pair_seed(&KEY, COMPARE, Phase::Compare, 1, 1, pair)).collect();
    block
}

/// A registration that rests on the A/A block at a position.
pub fn registration_body(id: &str, same_at: u64, treatment: &str) -> RegistrationBody {
    let protocol = protocol();
    let power = atb_core::registration::power(&same(), 7, &protocol).unwrap();
    let arm = |role, source: &str| RegisteredArmBody { role, kind: "file".into(), source: digest(source) };
    let level = |key: &str| {
        let cited = protocol.cited().into_iter().find(|(field, _)| field.key == key).unwrap();
        cited.1.value().to_string()
    };
    RegistrationBody {
        format: FORMAT,
        id: id.to_owned(),
        digest: digest("file"),
        hypothesis: "h".into(),
        why: "w".into(),
        task: digest("task"),
        task_id: "t".into(),
        protocol: protocol.digest(),
        shapes: vec!["s".into()],
        arms: vec![arm(Role::Control, "candidate 1"), arm(Role::Treatment, treatment)],
        pairs: 7,
        min_pairs: 6,
        readout: "median-window".into(),
        ladder: "paired-interval".into(),
        delta: level("statistics.delta"),
        confidence: level("statistics.confidence"),
        confidence_equivalence: level("statistics.confidence_equivalence"),
        delivery: "artefacts-differ".into(),
        stop_rule: "fixed".into(),
        machine: digest("machine"),
        harness: digest("harness"),
        same: same_at,
        mde: power.written,
        underpowered: String::new(),
    }
}

pub fn compare_campaign(id: &str, registration: &str) -> CampaignBody {
    let registration = registration.to_owned();
    CampaignBody { command: "compare".into(), registration, iterations: 7, ..campaign_body(id) }
}

/// A ledger with an A/A block, two registrations that rest on it, and a comparison of the first that has begun.
/// Returns the position of the A/A block.
pub fn begin_registered(path: &Path) -> (Ledger, u64) {
    let mut ledger = begin(path);
    let mut at = START_MS + 100;
    let mut tick = || {
        at += 1;
        at
    };
    let of = |campaign: &str, session: &str| {
        let candidate = move |number| CandidateBody { campaign: campaign.to_owned(), ..candidate_body(number, root()) };
        let baseline = move |role| BaselineBody {
            campaign: campaign.to_owned(),
            session: session.to_owned(),
            ..baseline_body(role)
        };
        (baseline(Role::Compiler), [candidate(1), candidate(2)])
    };
    let campaign = CampaignBody { command: "self".into(), ..campaign_body(SELF) };
    ledger.append(&campaign, tick()).unwrap();
    ledger.append(&session_body("00000000000000ea", SELF), tick()).unwrap();
    let (baseline, [candidate, _]) = of(SELF, "00000000000000ea");
    ledger.append(&baseline, tick()).unwrap();
    ledger.append(&CandidateBody { source: root(), ..candidate }, tick()).unwrap();
    let same = ledger.append(&same(), tick()).unwrap();
    let same = u64::try_from(same.seq()).unwrap();
    ledger.append(&registration_body(REGISTERED, same, "candidate 2"), tick()).unwrap();
    ledger.append(&registration_body(WAITING, same, "candidate 3"), tick()).unwrap();
    ledger.append(&compare_campaign(COMPARE, REGISTERED), tick()).unwrap();
    ledger.append(&session_body("00000000000000eb", COMPARE), tick()).unwrap();
    let (baseline, candidates) = of(COMPARE, "00000000000000eb");
    ledger.append(&baseline, tick()).unwrap();
    for candidate in candidates {
        ledger.append(&candidate, tick()).unwrap();
    }
    (ledger, same)
}

/// The row that a body would become next.
pub fn next_row<B: Body>(ledger: &Ledger, chain: Chain, body: &B, at_ms: i64) -> Row {
    let (seq, prev) = ledger.head(chain).unwrap();
    let mut row = Row {
        seq: i64::try_from(seq).unwrap() + 1,
        prev,
        hash: String::new(),
        at_ms,
        kind: B::KIND.to_owned(),
        key: body.key(),
        body: canonical(body).unwrap(),
    };
    row.hash = row.compute_hash(chain).to_string();
    row
}
