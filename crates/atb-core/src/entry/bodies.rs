//! Bodies of rows.

use serde::{Deserialize, Serialize};

use super::parts::{ArmBody, CellBody, FileBody, KeyBody, MachineBody, RegisteredArmBody, RunBody, TriedBody};
use super::{Decision, Phase, Role, Ruling};
use crate::canon::Digest;
use crate::task::Unit;

/// A body that is kept in a chain.
pub trait Body: Serialize + for<'de> Deserialize<'de> {
    /// The kind of row that holds it.
    const KIND: &'static str;

    /// The natural key, derived from the body.
    fn key(&self) -> String;
}

macro_rules! bodies {
    ($($(#[$doc:meta])* $name:ident $kind:literal key |$this:ident| $key:expr => {
        $($(#[$field_doc:meta])* $field:ident: $type:ty,)*
    })*) => {
        $(
            $(#[$doc])*
            #[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
            #[serde(deny_unknown_fields)]
            pub struct $name {
                $($(#[$field_doc])* pub $field: $type,)*
            }

            impl Body for $name {
                const KIND: &'static str = $kind;

                fn key(&self) -> String {
                    let $this = self;
                    $key
                }
            }
        )*

        /// The kinds of rows of the chain `entry`.
        pub const ENTRY_KINDS: &[&str] = &[$($kind),*];
    };
}

bodies! {
    /// A protocol with all values and citations; limits are read from this row.
    ProtocolBody "protocol" key |b| b.digest.to_string() => {
        /// Body format.
        format: u64,
        /// SHA-256 of the canonical JSON of `protocol`.
        digest: Digest,
        /// The id, repeated for queries.
        id: String,
        /// [`crate::protocol::Protocol::to_json`].
        protocol: serde_json::Value,
    }

    /// A task by the digest of its files.
    TaskBody "task" key |b| b.digest.to_string() => {
        /// Body format.
        format: u64,
        /// Digest over all files of the task.
        digest: Digest,
        /// The id.
        id: String,
        /// `element` or `row`: what the sampled check of a window draws.
        unit: Unit,
        /// File names and their digests, in name order.
        files: Vec<FileBody>,
    }

    /// A campaign, registered before its first run.
    CampaignBody "campaign" key |b| b.id.clone() => {
        /// Body format.
        format: u64,
        /// Random id.
        id: String,
        /// `tune`, `demo`, `measure`, `self` or `compare`.
        command: String,
        /// Id of the registration that a `compare` runs; empty for the others.
        registration: String,
        /// Task digest.
        task: Digest,
        /// Task id, repeated for people.
        task_id: String,
        /// Protocol digest.
        protocol: Digest,
        /// Proposer id.
        proposer: String,
        /// Seed of the proposer.
        seed: u64,
        /// Candidates that may be proposed.
        iterations: u64,
        /// Timed shapes by name.
        shapes: Vec<String>,
        /// What is compared with what, in words.
        hypothesis: String,
        /// The readout that decides.
        readout: String,
        /// When it ends, in words.
        stop_rule: String,
    }

    /// A comparison that is fixed before its first run. Changing one is another registration.
    RegistrationBody "registration" key |b| b.id.clone() => {
        /// Body format.
        format: u64,
        /// Random id.
        id: String,
        /// SHA-256 of the canonical form of the file, [`crate::registration::Registration::digest`].
        digest: Digest,
        /// What is claimed, in words.
        hypothesis: String,
        /// Why it is asked, in words.
        why: String,
        /// Task digest.
        task: Digest,
        /// Task id, repeated for people.
        task_id: String,
        /// Protocol digest.
        protocol: Digest,
        /// Timed shapes by name.
        shapes: Vec<String>,
        /// The control, then the treatment.
        arms: Vec<RegisteredArmBody>,
        /// Pairs, neither more nor fewer.
        pairs: u64,
        /// Fewer usable pairs decide nothing.
        min_pairs: u64,
        /// The readout that decides.
        readout: String,
        /// The ladder that turns pairs into a verdict.
        ladder: String,
        /// Smallest difference that matters, as the protocol writes it.
        delta: String,
        /// Confidence of `faster` and `slower`, as the protocol writes it.
        confidence: String,
        /// Confidence of `equivalent`, as the protocol writes it.
        confidence_equivalence: String,
        /// How it is known that the treatment arrived.
        delivery: String,
        /// When it ends.
        stop_rule: String,
        /// Fingerprint of the machine.
        machine: Digest,
        /// SHA-256 of the program that measures.
        harness: Digest,
        /// Sequence number of the A/A block that tells the machine's scatter.
        same: u64,
        /// Minimum detectable effect as a share, computed from that block, rounded up to six decimals.
        mde: String,
        /// `accept: ` and a reason, if that effect is larger than delta; else empty.
        underpowered: String,
    }

    /// The end of a registration without a result.
    AbandonBody "abandon" key |b| b.registration.clone() => {
        /// Body format.
        format: u64,
        /// Id of the registration.
        registration: String,
        /// Why, in words.
        reason: String,
    }

    /// A session: one machine, one boot, one protocol, one key.
    SessionBody "session" key |b| b.id.clone() => {
        /// Body format.
        format: u64,
        /// Random id.
        id: String,
        /// Campaign id.
        campaign: String,
        /// The machine.
        machine: MachineBody,
        /// SHA-256 of the session key, which stays secret until the campaign closes.
        key_hash: Digest,
        /// Median time of a window without calls, in ns: the cost of the hand-off.
        handoff_ns: u64,
        /// Median reading of a delay of exactly 1,000,000 ns.
        delay_ns: u64,
        /// Isolation of workers, such as `L1+uid0`.
        isolation: String,
        /// What the canary was refused in the workers' jail: 16 hexadecimal digits while loading, 16 while running.
        canary: String,
        /// SHA-256 of the program that measures.
        harness: Digest,
        /// First line of the compiler's version.
        compiler: String,
    }

    /// A baseline as built in a session.
    BaselineBody "baseline" key |b| format!("{}/{}", b.session, b.role.name()) => {
        /// Body format.
        format: u64,
        /// Campaign id.
        campaign: String,
        /// Session id.
        session: String,
        /// naive, compiler or vendor.
        role: Role,
        /// Digest of the source.
        source: Digest,
        /// Digest of the shared object.
        artefact: Digest,
        /// Flags chosen.
        flags: String,
        /// What was tried.
        tried: Vec<TriedBody>,
    }

    /// A proposed candidate.
    CandidateBody "candidate" key |b| format!("{}/{}", b.campaign, b.source) => {
        /// Body format.
        format: u64,
        /// Campaign id.
        campaign: String,
        /// Number of the proposal, from 1.
        iteration: u64,
        /// Generation that screens it, from 1.
        generation: u64,
        /// Digest of the candidate file.
        source: Digest,
        /// Digest of the parent's file.
        parent: Digest,
        /// Proposer id.
        proposer: String,
        /// The point of the search space, or what the proposer says of it.
        note: String,
        /// Cost in micro-dollars, `unknown` if it is not known.
        cost: String,
    }

    /// A candidate that ended before it was measured.
    FaultBody "fault" key |b| format!("{}/{}", b.campaign, b.candidate) => {
        /// Body format.
        format: u64,
        /// Campaign id.
        campaign: String,
        /// Digest of the candidate file.
        candidate: Digest,
        /// Outcome name.
        outcome: String,
        /// Code, such as `ATB503`.
        code: String,
        /// Bounded evidence, hostile text escaped.
        detail: String,
    }

    /// A block of paired runs with all raw samples.
    BlockBody "block" key |b| format!("{}/{}/{}", b.campaign, b.phase.name(), b.index) => {
        /// Body format.
        format: u64,
        /// Campaign id.
        campaign: String,
        /// Session id.
        session: String,
        /// Task digest.
        task: Digest,
        /// Protocol digest.
        protocol: Digest,
        /// Phase.
        phase: Phase,
        /// Number of the block within campaign and phase, from 1.
        index: u64,
        /// 1, or 2 if the block replaces one that was over the noise cap or had windows below the floor.
        attempt: u64,
        /// False if the machine was not quiet: the row is exploratory.
        quiet: bool,
        /// Isolation of workers.
        isolation: String,
        /// What the canary was refused in the workers' jail: 16 hexadecimal digits while loading, 16 while running.
        canary: String,
        /// Who judged: `same-uid` if the judge runs as the candidate's author could.
        judge: String,
        /// Compared code, by role.
        arms: Vec<ArmBody>,
        /// Timed shapes.
        cells: Vec<CellBody>,
        /// One public seed per pair; inputs derive from it and the session key.
        seeds: Vec<String>,
        /// All runs in the order in which they ran.
        runs: Vec<RunBody>,
    }

    /// A candidate that becomes the parent.
    KeepBody "keep" key |b| format!("{}/{}", b.campaign, b.candidate) => {
        /// Body format.
        format: u64,
        /// Campaign id.
        campaign: String,
        /// Digest of the candidate file.
        candidate: Digest,
        /// Digest of the parent that it replaces.
        parent: Digest,
        /// Sequence number of the CONFIRM block.
        block: u64,
    }

    /// The end of a campaign; reveals the keys.
    CloseBody "close" key |b| b.campaign.clone() => {
        /// Body format.
        format: u64,
        /// Campaign id.
        campaign: String,
        /// `complete`, `interrupted` or `abandoned`.
        reason: String,
        /// Session keys.
        keys: Vec<KeyBody>,
        /// Rows of the chain `gate` so far.
        gates: u64,
        /// Hash of the last gate row.
        gates_head: String,
        /// Rows of the chain `refusal` so far.
        refusals: u64,
        /// Hash of the last refusal row.
        refusals_head: String,
    }
}

/// A gate decision, in the chain `gate`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GateBody {
    /// Body format.
    pub format: u64,
    /// Sequence number of the block that was judged.
    pub block: u64,
    /// Gate id.
    pub gate: String,
    /// Role that was judged.
    pub role: Role,
    /// Digest of the judged source.
    pub candidate: Digest,
    /// What follows.
    pub decision: Decision,
    /// Code if it did not pass, else empty.
    pub code: String,
    /// Observed value as a decimal string.
    pub observed: String,
    /// Limit as a decimal string.
    pub limit: String,
    /// Source of the limit.
    pub source: String,
}

impl Body for GateBody {
    const KIND: &'static str = "decision";

    fn key(&self) -> String {
        format!("{}/{}/{}", self.block, self.gate, self.candidate)
    }
}

/// A person's ruling on a gate's decision, in the chain `gate`. The last one on a decision counts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RulingBody {
    /// Body format.
    pub format: u64,
    /// Sequence number of the gate's decision.
    pub gate: u64,
    /// Number of the ruling on this decision, from 1.
    pub number: u64,
    /// What follows.
    pub decision: Ruling,
    /// Who says so, as they call themselves.
    pub by: String,
    /// Why.
    pub reason: String,
}

impl Body for RulingBody {
    const KIND: &'static str = "ruling";

    fn key(&self) -> String {
        format!("{}/{}", self.gate, self.number)
    }
}

/// A refused row, in the chain `refusal`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RefusalBody {
    /// Body format.
    pub format: u64,
    /// Why.
    pub code: String,
    /// Kind of the refused row.
    pub kind: String,
    /// Key of the refused row.
    pub key: String,
    /// SHA-256 of the refused body.
    pub digest: Digest,
    /// The refused body's text.
    pub refused: String,
}

impl Body for RefusalBody {
    const KIND: &'static str = "refused";

    fn key(&self) -> String {
        format!("{}/{}", self.code, self.digest)
    }
}
