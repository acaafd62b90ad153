//! `verify`: every row of a ledger again, with the second implementation of the rules, hashes, digests, seeds and keeps.

use std::collections::BTreeMap;
use std::path::Path;

use atb_core::canon::Digest;
use atb_core::codes::{self, Code};
use atb_core::entry::{
    AbandonBody, BaselineBody, BlockBody, Body as _, CampaignBody, CandidateBody, Chain, CloseBody, FaultBody,
    GateBody, KeepBody, ProtocolBody, RefusalBody, RegistrationBody, Row, RulingBody, SessionBody, TaskBody,
    key_commitment, pair_seed,
};
use atb_core::gates::Ruled;
use atb_core::protocol::Protocol;
use atb_core::registration;

use crate::chains::Chains;
use crate::error::OpenError;
use crate::open::Ledger;
use crate::ratchet::supports_keep;
use crate::rules::State;

/// What a verification found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VerifyReport {
    /// Rows of the chain `entry`.
    pub entries: u64,
    /// Rows of the chain `gate`.
    pub gates: u64,
    /// Rows of the chain `refusal`.
    pub refusals: u64,
    /// Campaigns that are not closed: their keys are not revealed, so that their seeds cannot be derived again yet.
    pub open: u64,
    /// The first bad row, if any.
    pub first_bad: Option<Bad>,
}

/// A bad row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bad {
    /// Its chain.
    pub chain: Chain,
    /// Its sequence number.
    pub seq: i64,
    /// The rule that it breaks.
    pub code: Code,
    /// The rule's title.
    pub reason: String,
}

fn bad(chain: Chain, seq: i64, code: Code) -> Bad {
    Bad { chain, seq, code, reason: code.entry().map_or_else(String::new, |entry| entry.title.to_owned()) }
}

/// Verifies a ledger. The error says why it could not be read at all.
pub fn verify(path: &Path) -> Result<VerifyReport, OpenError> {
    Ok(verify_ledger(path)?.0)
}

/// The same, with the rows that were verified.
pub fn verify_ledger(path: &Path) -> Result<(VerifyReport, Chains), OpenError> {
    let ledger = Ledger::open_read_only(path)?;
    let chains = Chains::of(&ledger)?;
    let mut report = verify_chains(&chains);
    report.first_bad = report.first_bad.or_else(|| wrong_seeds(&ledger, &chains.entries));
    Ok((report, chains))
}

/// Verifies rows that were read from anywhere. The table of used seeds, which is in the database only, follows from them.
pub fn verify_chains(chains: &Chains) -> VerifyReport {
    let Chains { entries, gates, refusals } = chains;
    let first_bad = first_bad(entries, gates, refusals);
    let count = |rows: &[Row]| rows.len() as u64;
    let of_kind = |kind: &str| entries.iter().filter(|row| row.kind == kind).count() as u64;
    let open = of_kind(CampaignBody::KIND).saturating_sub(of_kind(CloseBody::KIND));
    VerifyReport { entries: count(entries), gates: count(gates), refusals: count(refusals), open, first_bad }
}

fn first_bad(entries: &[Row], gates: &[Row], refusals: &[Row]) -> Option<Bad> {
    let mut state = State::for_replay();
    for (chain, rows) in [(Chain::Refusal, refusals), (Chain::Gate, gates), (Chain::Entry, entries)] {
        for row in rows {
            if let Err(code) = state.check(chain, row, true) {
                return Some(bad(chain, row.seq, code));
            }
            if let Err(code) = deeper(chain, row, entries) {
                return Some(bad(chain, row.seq, code));
            }
            state.admit(chain, row);
        }
    }
    // What gates cite comes last, so that an edited entry is named before a gate that no longer fits it.
    let uncited =
        gates.iter().find_map(|row| gate_cites(row, entries).err().map(|code| bad(Chain::Gate, row.seq, code)));
    uncited.or_else(|| stopped_keep(entries, gates).map(|seq| bad(Chain::Entry, seq, codes::RATCHET)))
}

/// The first keep of a block that a gate had stopped and nobody had released; the ratchet writes none.
fn stopped_keep(entries: &[Row], gates: &[Row]) -> Option<i64> {
    let decisions = Ruled::read(gates).unwrap_or_default();
    let stopped = |block: u64, at_ms| decisions.iter().any(|gate| gate.body.block == block && gate.stopped_at(at_ms));
    let mut keeps = entries.iter().filter(|row| row.kind == KeepBody::KIND);
    keeps.find(|row| parse::<KeepBody>(row).is_ok_and(|keep| stopped(keep.block, row.at_ms))).map(|row| row.seq)
}

fn gate_cites(row: &Row, entries: &[Row]) -> Result<(), Code> {
    if row.kind == RulingBody::KIND {
        return Ok(());
    }
    let gate: GateBody = parse(row)?;
    let block = entries.iter().find(|entry| u64::try_from(entry.seq) == Ok(gate.block) && entry.kind == "block");
    let block: BlockBody = parse(block.ok_or(codes::CITATION)?)?;
    let cited = block.arms.iter().any(|arm| arm.role == gate.role && arm.source == gate.candidate);
    if cited { Ok(()) } else { Err(codes::CITATION) }
}

/// What SQL cannot check: typed bodies, digests, verdicts and keys.
fn deeper(chain: Chain, row: &Row, entries: &[Row]) -> Result<(), Code> {
    match (chain, row.kind.as_str()) {
        (Chain::Gate, RulingBody::KIND) => parse::<RulingBody>(row).map(drop),
        (Chain::Gate, _) => parse::<GateBody>(row).map(drop),
        (Chain::Refusal, _) => parse::<RefusalBody>(row).map(drop),
        (Chain::Entry, ProtocolBody::KIND) => {
            let body: ProtocolBody = parse(row)?;
            let text = body.protocol.to_string();
            let protocol = Protocol::from_json("ledger", &body.protocol).map_err(|error| error.code)?;
            let same = body.digest == Digest::of(text.as_bytes()) && protocol.digest() == body.digest;
            if same && protocol.id() == body.id { Ok(()) } else { Err(codes::PROTOCOL_DIGEST) }
        }
        (Chain::Entry, TaskBody::KIND) => parse::<TaskBody>(row).map(drop),
        (Chain::Entry, CampaignBody::KIND) => parse::<CampaignBody>(row).map(drop),
        (Chain::Entry, AbandonBody::KIND) => parse::<AbandonBody>(row).map(drop),
        (Chain::Entry, RegistrationBody::KIND) => power_is_computed(row, entries),
        (Chain::Entry, SessionBody::KIND) => parse::<SessionBody>(row).map(drop),
        (Chain::Entry, BaselineBody::KIND) => parse::<BaselineBody>(row).map(drop),
        (Chain::Entry, CandidateBody::KIND) => parse::<CandidateBody>(row).map(drop),
        (Chain::Entry, FaultBody::KIND) => parse::<FaultBody>(row).map(drop),
        (Chain::Entry, BlockBody::KIND) => parse::<BlockBody>(row).map(drop),
        (Chain::Entry, KeepBody::KIND) => keep_is_supported(row, entries),
        (Chain::Entry, CloseBody::KIND) => keys_fit(row, entries),
        (Chain::Entry, _) => Err(codes::KIND),
    }
}

fn parse<B: serde::de::DeserializeOwned>(row: &Row) -> Result<B, Code> {
    serde_json::from_str(&row.body).map_err(|_| codes::SHAPE)
}

/// The block at a position, and the protocol that it cites.
fn block_at(seq: u64, entries: &[Row]) -> Result<(BlockBody, Protocol), Code> {
    let block = entries.iter().find(|entry| u64::try_from(entry.seq) == Ok(seq)).ok_or(codes::CITATION)?;
    let block: BlockBody = parse(block)?;
    let digest = block.protocol.to_string();
    let protocol = entries.iter().find(|entry| entry.kind == ProtocolBody::KIND && entry.key == digest);
    let protocol: ProtocolBody = parse(protocol.ok_or(codes::UNKNOWN_PROTOCOL)?)?;
    Ok((block, Protocol::from_json("ledger", &protocol.protocol).map_err(|error| error.code)?))
}

/// The minimum detectable effect that a registration states is that of its A/A block.
fn power_is_computed(row: &Row, entries: &[Row]) -> Result<(), Code> {
    let registration: RegistrationBody = parse(row)?;
    let (same, protocol) = block_at(registration.same, entries)?;
    let power = registration::power(&same, registration.pairs, &protocol);
    if power.is_ok_and(|power| power.written == registration.mde) { Ok(()) } else { Err(codes::SAME_BLOCK) }
}

fn keep_is_supported(row: &Row, entries: &[Row]) -> Result<(), Code> {
    let keep: KeepBody = parse(row)?;
    let (block, protocol) = block_at(keep.block, entries)?;
    if supports_keep(&block, &protocol).unwrap_or(false) { Ok(()) } else { Err(codes::RATCHET) }
}

/// Revealed keys must match their commitments and derive every seed of their sessions.
fn keys_fit(row: &Row, entries: &[Row]) -> Result<(), Code> {
    let close: CloseBody = parse(row)?;
    let mut keys = BTreeMap::new();
    for revealed in &close.keys {
        let key = *Digest::parse(&revealed.key).ok_or(codes::SEED_DERIVATION)?.bytes();
        keys.insert(revealed.session.as_str(), key);
    }
    for entry in entries.iter().take_while(|entry| entry.seq < row.seq) {
        if entry.kind == SessionBody::KIND {
            let session: SessionBody = parse(entry)?;
            if session.campaign == close.campaign {
                let key = keys.get(session.id.as_str()).ok_or(codes::SEED_DERIVATION)?;
                if key_commitment(key) != session.key_hash {
                    return Err(codes::SEED_DERIVATION);
                }
            }
        }
        if entry.kind == BlockBody::KIND {
            let block: BlockBody = parse(entry)?;
            if block.campaign == close.campaign {
                let key = keys.get(block.session.as_str()).ok_or(codes::SEED_DERIVATION)?;
                let derived = |pair| pair_seed(key, &block.campaign, block.phase, block.index, block.attempt, pair);
                if (0_u64..).zip(&block.seeds).any(|(pair, seed)| derived(pair) != *seed) {
                    return Err(codes::SEED_DERIVATION);
                }
            }
        }
    }
    Ok(())
}

/// The table of used seeds must be exactly the seeds of the blocks.
fn wrong_seeds(ledger: &Ledger, entries: &[Row]) -> Option<Bad> {
    let mut expected = BTreeMap::new();
    for row in entries.iter().filter(|row| row.kind == BlockBody::KIND) {
        let block: BlockBody = parse(row).ok()?;
        expected.extend(block.seeds.into_iter().map(|seed| (seed, row.seq)));
    }
    let read = || -> rusqlite::Result<BTreeMap<String, i64>> {
        let mut statement = ledger.connection.prepare("SELECT seed, entry FROM seed")?;
        let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
        rows.collect()
    };
    let Ok(found) = read() else { return Some(bad(Chain::Entry, 0, codes::CORRUPT)) };
    let differs = expected.iter().find(|(seed, entry)| found.get(*seed) != Some(entry)).map(|(_, entry)| *entry);
    let foreign = || found.iter().find(|(seed, _)| !expected.contains_key(*seed)).map(|(_, entry)| *entry);
    differs.or_else(foreign).map(|seq| bad(Chain::Entry, seq, codes::SEED_REUSED))
}
