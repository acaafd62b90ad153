//! Ledgers for tests: valid bodies whose runs have chosen ratios, with a little scatter that is the same every time.

use atb_core::canon::{Digest, canonical};
use atb_core::comparison::{arm_of, fastest_baseline};
use atb_core::entry::{
    ArmBody, BaselineBody, BlockBody, Body, CampaignBody, CandidateBody, CellBody, Chain, ChecksBody, CloseBody,
    FORMAT, FaultBody, FileBody, KeepBody, MachineBody, Phase, ProtocolBody, RefusalBody, Role, Row, Ruling,
    RulingBody, RunBody, RunCellBody, SessionBody, TaskBody, TriedBody,
};
use atb_core::gates;
use atb_core::protocol::Protocol;

use crate::report::LedgerRows;

const CERTIFIED: &str = include_str!("../../../../protocol/certified-1.toml");
/// The window time of an arm of ratio 1, in ns.
const WINDOW: f64 = 2e6;
/// Calls per window.
const CALLS: u64 = 8;
const START_MS: i64 = 1_790_000_000_000;

/// A ledger under construction, writing for one campaign at a time.
pub(crate) struct Ledger {
    pub(crate) rows: LedgerRows,
    protocol: Protocol,
    campaign: String,
    task: Digest,
    shapes: Vec<String>,
    /// Scatter of runs, as a share.
    pub(crate) scatter: f64,
    /// False for exploratory blocks.
    pub(crate) quiet: bool,
    noise: u64,
}

impl Ledger {
    /// A ledger with a registered campaign, its session and its naive and compiler baselines.
    pub(crate) fn new(id: &str, command: &str, task: &str, shapes: &[&str]) -> Self {
        let mut ledger = Self {
            rows: LedgerRows::default(),
            protocol: Protocol::parse("certified-1.toml", CERTIFIED).unwrap(),
            campaign: String::new(),
            task: Digest::GENESIS,
            shapes: Vec::new(),
            scatter: 0.004,
            quiet: true,
            noise: 1,
        };
        let protocol = &ledger.protocol;
        let (digest, name, json) = (protocol.digest(), protocol.id().to_owned(), protocol.to_json());
        ledger.append(&ProtocolBody { format: FORMAT, digest, id: name, protocol: json });
        ledger.begin(id, command, task, shapes);
        ledger
    }

    /// Registers another campaign and writes for it from here on.
    pub(crate) fn begin(&mut self, id: &str, command: &str, task: &str, shapes: &[&str]) {
        self.campaign = id.to_owned();
        self.task = Digest::of(task.as_bytes());
        self.shapes = shapes.iter().map(|&shape| shape.to_owned()).collect();
        let files = vec![FileBody { name: "task.toml".into(), digest: self.task }];
        self.append(&TaskBody {
            format: FORMAT,
            digest: self.task,
            id: task.to_owned(),
            unit: atb_core::task::Unit::Row,
            files,
        });
        self.append(&CampaignBody {
            format: FORMAT,
            id: id.to_owned(),
            command: command.to_owned(),
            registration: String::new(),
            task: self.task,
            task_id: task.to_owned(),
            protocol: self.protocol.digest(),
            proposer: "deterministic".into(),
            seed: 1,
            iterations: 6,
            shapes: self.shapes.clone(),
            hypothesis: "a candidate of the space is faster than the compiler baseline".into(),
            readout: "median window time per run; Hodges-Lehmann ratio over pairs of runs".into(),
            stop_rule: "after one generation".into(),
        });
        self.session();
        for (role, flags) in [(Role::Naive, "-O2"), (Role::Compiler, "-O3 -march=native")] {
            self.baseline(role, flags);
        }
    }

    fn session(&mut self) {
        let id = self.session_id();
        self.session_of(&id, 1_004_499);
    }

    /// A session in which the known delay of 1 ms reads so long.
    pub(crate) fn session_of(&mut self, id: &str, delay_ns: u64) {
        let machine = MachineBody {
            fingerprint: Digest::of(b"machine"),
            cpu: "Example(R) Processor 9000".into(),
            cpus: 2,
            memory_mib: 7951,
            kernel: "6.1.0".into(),
            governor: "none".into(),
            virtual_machine: true,
            boot: "38e79101-486e-4d7a-9e27-022c2bcfc49b".into(),
        };
        self.append(&SessionBody {
            format: FORMAT,
            id: id.to_owned(),
            campaign: self.campaign.clone(),
            machine,
            key_hash: Digest::of(b"key"),
            handoff_ns: 3270,
            delay_ns,
            isolation: "L1+uid0".into(),
            canary: "0".repeat(32),
            harness: Digest::of(b"harness"),
            compiler: "gcc (Debian 12.2.0-14+deb12u1) 12.2.0".into(),
        });
    }

    fn session_id(&self) -> String {
        format!("s{}", self.campaign)
    }

    /// The digest by which a baseline's source is known.
    pub(crate) fn source(&self, role: Role) -> Digest {
        Digest::of(format!("{} {role}", self.task).as_bytes())
    }

    pub(crate) fn baseline(&mut self, role: Role, flags: &str) {
        let tried = |flags: &str, picos: u64| TriedBody {
            flags: flags.to_owned(),
            outcome: "ok".into(),
            picos: vec![picos, picos + 3_000_000, picos + 8_000_000],
        };
        let tried = if role == Role::Compiler {
            vec![tried("-O2", 262_000_000), tried("-O3", 258_000_000), tried("-O3 -march=native", 249_000_000)]
        } else {
            Vec::new()
        };
        self.append(&BaselineBody {
            format: FORMAT,
            campaign: self.campaign.clone(),
            session: self.session_id(),
            role,
            source: self.source(role),
            artefact: Digest::of(b"artefact"),
            flags: flags.to_owned(),
            tried,
        });
    }

    /// Proposes a candidate and returns its digest.
    pub(crate) fn candidate(&mut self, iteration: u64, generation: u64, note: &str) -> Digest {
        let source = Digest::of(format!("{}/{iteration}", self.campaign).as_bytes());
        self.append(&CandidateBody {
            format: FORMAT,
            campaign: self.campaign.clone(),
            iteration,
            generation,
            source,
            parent: self.source(Role::Compiler),
            proposer: "deterministic".into(),
            note: note.to_owned(),
            cost: "0".into(),
        });
        source
    }

    pub(crate) fn fault(&mut self, candidate: Digest, outcome: &str, code: &str, detail: &str) {
        let (campaign, outcome, code) = (self.campaign.clone(), outcome.to_owned(), code.to_owned());
        self.append(&FaultBody { format: FORMAT, campaign, candidate, outcome, code, detail: detail.to_owned() });
    }

    /// An admitted block with its gate decisions; returns its place.
    pub(crate) fn block(&mut self, phase: Phase, index: u64, pairs: u64, arms: &[(Role, Digest, f64)]) -> i64 {
        let body = self.block_body(phase, index, pairs, arms);
        let seq = self.append(&body);
        let base = match phase {
            Phase::Screen | Phase::Confirm => arm_of(&body, Role::Parent),
            Phase::Report | Phase::Probe => fastest_baseline(&body).unwrap(),
            Phase::Compare | Phase::Same => Some(0),
        };
        for (arm, (role, ..)) in arms.iter().enumerate() {
            if matches!(role, Role::Candidate | Role::Head) {
                for decision in gates::of_samples(&body, base.unwrap(), arm, &self.protocol).unwrap() {
                    let gate = decision.body(u64::try_from(seq).unwrap(), &body).unwrap();
                    push(&mut self.rows.gates, Chain::Gate, "decision", &gate.key(), canonical(&gate).unwrap());
                }
            }
        }
        seq
    }

    /// A block of arms whose times are the window divided by their ratio.
    pub(crate) fn block_body(
        &mut self,
        phase: Phase,
        index: u64,
        pairs: u64,
        arms: &[(Role, Digest, f64)],
    ) -> BlockBody {
        let mut runs = Vec::new();
        for pair in 0..pairs {
            for (arm, (_, _, ratio)) in arms.iter().enumerate() {
                let cells =
                    (0..self.shapes.len()).map(|cell| self.run_cell(WINDOW / ratio * (1.0 + 0.1 * cell as f64)));
                let cells: Vec<RunCellBody> = cells.collect();
                let scanned = cells.iter().map(|cell| cell.warmup + cell.windows.len() as u64).sum();
                let checks =
                    ChecksBody { scanned, sampled: scanned * 64, full: cells.len() as u64, failed: 0, miss_ppm: 12 };
                runs.push(RunBody { pair, arm: arm as u64, cells, checks });
            }
        }
        let arm = |(role, source, _): &(Role, Digest, f64)| ArmBody {
            role: *role,
            source: *source,
            artefact: Digest::of(b"artefact"),
            flags: "-O3 -march=native".into(),
        };
        let cell = |shape: &String| CellBody { shape: shape.clone(), dims: vec![32, 4096] };
        BlockBody {
            format: FORMAT,
            campaign: self.campaign.clone(),
            session: self.session_id(),
            task: self.task,
            protocol: self.protocol.digest(),
            phase,
            index,
            attempt: 1,
            quiet: self.quiet,
            isolation: "L1+uid0".into(),
            canary: "0".repeat(32),
            judge: "same-uid".into(),
            arms: arms.iter().map(arm).collect(),
            cells: self.shapes.iter().map(cell).collect(),
            seeds: (0..pairs).map(|pair| format!("{pair:032x}")).collect(),
            runs,
        }
    }

    fn run_cell(&mut self, window: f64) -> RunCellBody {
        let run = 1.0 + self.scatter * self.draw();
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "some 2e6")]
        let windows: Vec<u64> = (0..100).map(|_| (window * run * (1.0 + 0.01 * self.draw())).round() as u64).collect();
        let mut sorted = windows.clone();
        sorted.sort_unstable();
        RunCellBody { k: CALLS, warmup: 30, value: sorted[49] + sorted[50], windows }
    }

    /// A number in -1..1, the same every time (SplitMix64).
    fn draw(&mut self) -> f64 {
        self.noise = self.noise.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.noise ^ (self.noise >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
    }

    pub(crate) fn keep(&mut self, candidate: Digest, block: i64) {
        let (campaign, parent) = (self.campaign.clone(), self.source(Role::Compiler));
        let block = u64::try_from(block).unwrap();
        self.append(&KeepBody { format: FORMAT, campaign, candidate, parent, block });
    }

    /// A row that the database refused.
    pub(crate) fn refuse<B: Body>(&mut self, code: &str, body: &B) {
        let refused = canonical(body).unwrap();
        let digest = Digest::of(refused.as_bytes());
        let (kind, key) = (B::KIND.to_owned(), body.key());
        let body = RefusalBody { format: FORMAT, code: code.to_owned(), kind, key, digest, refused };
        push(&mut self.rows.refusals, Chain::Refusal, "refused", &body.key(), canonical(&body).unwrap());
    }

    /// A ruling on a gate row, after the rulings on it so far.
    pub(crate) fn rule(&mut self, gate: u64, number: u64, decision: Ruling) {
        let (by, reason) = ("reviewer".to_owned(), "a table in place of tanhf".to_owned());
        let body = RulingBody { format: FORMAT, gate, number, decision, by, reason };
        push(&mut self.rows.gates, Chain::Gate, RulingBody::KIND, &body.key(), canonical(&body).unwrap());
    }

    pub(crate) fn close(&mut self) {
        self.append(&CloseBody {
            format: FORMAT,
            campaign: self.campaign.clone(),
            reason: "complete".into(),
            keys: Vec::new(),
            gates: self.rows.gates.len() as u64,
            gates_head: Digest::GENESIS.to_string(),
            refusals: self.rows.refusals.len() as u64,
            refusals_head: Digest::GENESIS.to_string(),
        });
    }

    pub(crate) fn append<B: Body>(&mut self, body: &B) -> i64 {
        push(&mut self.rows.entries, Chain::Entry, B::KIND, &body.key(), canonical(body).unwrap())
    }

    /// REPORT of a head of this ratio over a compiler baseline of ratio 1.
    pub(crate) fn report(&mut self, head: Digest, ratio: f64) -> i64 {
        let arms = [
            (Role::Head, head, ratio),
            (Role::HeadAgain, head, ratio),
            (Role::HeadSlow, head, ratio / 1.03),
            (Role::Compiler, self.source(Role::Compiler), 1.0),
            (Role::Naive, self.source(Role::Naive), 0.25),
        ];
        self.block(Phase::Report, 1, 12, &arms)
    }
}

fn push(rows: &mut Vec<Row>, chain: Chain, kind: &str, key: &str, body: String) -> i64 {
    let seq = i64::try_from(rows.len()).unwrap() + 1;
    let prev = rows.last().map_or_else(|| Digest::GENESIS.to_string(), |row| row.hash.clone());
    let at_ms = START_MS + 1000 * seq;
    let (kind, key) = (kind.to_owned(), key.to_owned());
    let mut row = Row { seq, prev, hash: String::new(), at_ms, kind, key, body };
    row.hash = row.compute_hash(chain).to_string();
    rows.push(row);
    seq
}

/// A demo's first campaign: six candidates, one with a fault, one kept, REPORT at the given ratio.
pub(crate) fn demo(ratio: f64) -> Ledger {
    let mut ledger = Ledger::new("c1", "demo", "gelu_tanh", &["prefill-32x4096"]);
    let root = ledger.source(Role::Compiler);
    let notes = ["VW=16 UNROLL=4 FORM=2 DEGREE=4", "VW=8 UNROLL=4 FORM=2 DEGREE=5", "VW=16 UNROLL=2 FORM=2 DEGREE=6"];
    let sources: Vec<Digest> =
        (1..=6).zip(notes.iter().cycle()).map(|(at, note)| ledger.candidate(at, 1, note)).collect();
    ledger.fault(sources[5], "incorrect", "ATB509", "element 17 of row 3 is 0.25, expected 0.75");
    let arms = [
        (Role::Parent, root, 1.0),
        (Role::Candidate, sources[0], ratio),
        (Role::Candidate, sources[1], 0.87),
        (Role::Candidate, sources[2], 1.0 + (ratio - 1.0) * 0.7),
        (Role::Candidate, sources[3], 0.93),
        (Role::Candidate, sources[4], 1.01),
    ];
    ledger.block(Phase::Screen, 1, 5, &arms);
    let confirm = [(Role::Parent, root, 1.0), (Role::Candidate, sources[0], ratio)];
    let confirm = ledger.block(Phase::Confirm, 1, 12, &confirm);
    ledger.keep(sources[0], confirm);
    ledger.report(sources[0], ratio);
    ledger.close();
    ledger
}

/// Adds the demo's second campaign: one CONFIRM of a candidate of this ratio, no keep.
pub(crate) fn add_null(ledger: &mut Ledger, ratio: f64) -> Digest {
    ledger.begin("c2", "demo", "fused_add_rmsnorm", &["prefill-256x4096"]);
    let candidate = ledger.candidate(1, 1, "VW=16 ACC=1 RELOAD=0 PREFETCH=0");
    let root = ledger.source(Role::Compiler);
    ledger.block(Phase::Confirm, 1, 12, &[(Role::Parent, root, 1.0), (Role::Candidate, candidate, ratio)]);
    ledger.close();
    candidate
}
