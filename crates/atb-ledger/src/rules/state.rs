//! What the rows so far have established.

use std::collections::{BTreeMap, BTreeSet};

use atb_core::canon::Digest;
use atb_core::codes;
use atb_core::entry::{Chain, Row};
use serde_json::Value;

use super::{list, text};

/// The end of a chain.
#[derive(Debug, Clone)]
pub(super) struct Head {
    pub(super) seq: i64,
    pub(super) hash: String,
    pub(super) at_ms: i64,
    /// Hashes of all rows, for the heads that a close row states.
    pub(super) hashes: Vec<String>,
    keys: BTreeSet<(String, String)>,
}

impl Default for Head {
    fn default() -> Self {
        let hash = Digest::GENESIS.to_string();
        Self { seq: 0, hash, at_ms: 0, hashes: Vec::new(), keys: BTreeSet::new() }
    }
}

/// A campaign, as its row and its followers state it.
#[derive(Debug, Clone, Default)]
pub(super) struct Campaign {
    pub(super) task: String,
    pub(super) protocol: String,
    pub(super) command: String,
    /// Id of the registration; empty unless the command is `compare`.
    pub(super) registration: String,
    /// The shapes, as JSON.
    pub(super) shapes: Value,
    pub(super) closed: bool,
    /// Source of the first compiler baseline.
    pub(super) root: Option<String>,
    /// Candidate of the last keep.
    pub(super) kept: Option<String>,
}

impl Campaign {
    /// The current parent.
    pub(super) fn parent(&self) -> Option<&str> {
        self.kept.as_deref().or(self.root.as_deref())
    }
}

/// A session's facts that its blocks depend on.
#[derive(Debug, Clone)]
pub(super) struct Session {
    pub(super) campaign: String,
    pub(super) fingerprint: String,
    pub(super) at_ms: i64,
    pub(super) handoff_ns: i64,
    pub(super) delay_ns: i64,
    pub(super) isolation: String,
    pub(super) canary: String,
}

/// A block's facts that later rows depend on.
#[derive(Debug, Clone)]
pub(super) struct Block {
    pub(super) campaign: String,
    pub(super) session: String,
    pub(super) at_ms: i64,
    pub(super) phase: String,
    pub(super) number: i64,
    /// Role and source of each arm.
    pub(super) arms: Vec<(String, String)>,
}

/// A gate's decision, and how often someone has ruled on it.
#[derive(Debug, Clone)]
pub(super) struct Decided {
    pub(super) decision: String,
    pub(super) code: String,
    pub(super) rulings: i64,
}

/// The block that a refusal for noise names, after which that block is measured again.
pub(super) fn noisy_block(refusal: &Value) -> Option<&str> {
    let noise = [codes::WINDOW_FLOOR, codes::CV_CAP].iter().any(|known| known.to_string() == text(refusal, "code"));
    (noise && text(refusal, "kind") == "block").then(|| text(refusal, "key"))
}

/// What the rows so far have established.
#[derive(Debug, Clone, Default)]
pub struct State {
    chains: BTreeMap<Chain, Head>,
    empty: Head,
    pub(super) protocols: BTreeMap<String, Value>,
    pub(super) protocol_ids: BTreeSet<String>,
    /// Task digest to the unit of its checks.
    pub(super) units: BTreeMap<String, String>,
    pub(super) campaigns: BTreeMap<String, Campaign>,
    pub(super) sessions: BTreeMap<String, Session>,
    /// Session and role to source.
    pub(super) baselines: BTreeMap<String, String>,
    /// Bodies of registrations.
    pub(super) registrations: BTreeMap<String, Value>,
    pub(super) blocks: BTreeMap<i64, Block>,
    pub(super) seeds: BTreeSet<String>,
    /// By position in the chain of gates.
    pub(super) decisions: BTreeMap<i64, Decided>,
    /// How often the block of a key was refused for its scatter or for windows below the floor; after once it is measured again.
    pub(super) noisy: BTreeMap<String, i64>,
    /// True when a whole ledger is replayed: gates and refusals are known to their end, so a close row states a prefix of them.
    pub(super) replay: bool,
}

impl State {
    /// The state of an empty ledger.
    pub fn new() -> Self {
        Self::default()
    }

    /// For checking a finished ledger: gates and refusals are admitted first, then the entries.
    pub fn for_replay() -> Self {
        Self { replay: true, ..Self::default() }
    }

    pub(super) fn head(&self, chain: Chain) -> &Head {
        self.chains.get(&chain).unwrap_or(&self.empty)
    }

    pub(super) fn has(&self, chain: Chain, kind: &str, key: &str) -> bool {
        self.head(chain).keys.contains(&(kind.to_owned(), key.to_owned()))
    }

    /// Takes note of a row that has passed [`State::check`].
    pub fn admit(&mut self, chain: Chain, row: &Row) {
        let head = self.chains.entry(chain).or_default();
        head.seq = row.seq;
        head.hash.clone_from(&row.hash);
        head.at_ms = row.at_ms;
        head.hashes.push(row.hash.clone());
        head.keys.insert((row.kind.clone(), row.key.clone()));
        let Ok(body) = serde_json::from_str::<Value>(&row.body) else { return };
        match chain {
            Chain::Entry => self.admit_entry(row, &body),
            Chain::Refusal => {
                if let Some(key) = noisy_block(&body) {
                    *self.noisy.entry(key.to_owned()).or_default() += 1;
                }
            }
            Chain::Gate if row.kind == "decision" => {
                let decided = |name: &str| text(&body, name).to_owned();
                let decided = Decided { decision: decided("decision"), code: decided("code"), rulings: 0 };
                self.decisions.insert(row.seq, decided);
            }
            Chain::Gate => {
                if let Some(decided) = body["gate"].as_i64().and_then(|gate| self.decisions.get_mut(&gate)) {
                    decided.rulings += 1;
                }
            }
        }
    }

    fn admit_entry(&mut self, row: &Row, body: &Value) {
        let owned = |name: &str| text(body, name).to_owned();
        let campaign = owned("campaign");
        match row.kind.as_str() {
            "protocol" => {
                self.protocols.insert(row.key.clone(), body["protocol"].clone());
                self.protocol_ids.insert(owned("id"));
            }
            "registration" => drop(self.registrations.insert(row.key.clone(), body.clone())),
            "task" => drop(self.units.insert(row.key.clone(), owned("unit"))),
            "campaign" => {
                let (task, protocol, command) = (owned("task"), owned("protocol"), owned("command"));
                let (registration, shapes) = (owned("registration"), body["shapes"].clone());
                let new = Campaign { task, protocol, command, registration, shapes, ..Campaign::default() };
                self.campaigns.insert(row.key.clone(), new);
            }
            "session" => {
                let number = |name: &str| body[name].as_i64().unwrap_or(i64::MAX);
                let (handoff_ns, delay_ns) = (number("handoff_ns"), number("delay_ns"));
                let at_ms = row.at_ms;
                let (isolation, canary) = (owned("isolation"), owned("canary"));
                let fingerprint = text(&body["machine"], "fingerprint").to_owned();
                let session = Session { campaign, fingerprint, at_ms, handoff_ns, delay_ns, isolation, canary };
                self.sessions.insert(row.key.clone(), session);
            }
            "baseline" => {
                self.baselines.insert(row.key.clone(), owned("source"));
                let entry = self.campaigns.entry(campaign).or_default();
                if text(body, "role") == "compiler" && entry.root.is_none() {
                    entry.root = Some(owned("source"));
                }
            }
            "keep" => self.campaigns.entry(campaign).or_default().kept = Some(owned("candidate")),
            "close" => self.campaigns.entry(campaign).or_default().closed = true,
            "block" => self.admit_block(row, body),
            _ => {}
        }
    }

    fn admit_block(&mut self, row: &Row, body: &Value) {
        let arms = list(body, "arms").iter().map(|arm| (text(arm, "role").to_owned(), text(arm, "source").to_owned()));
        let block = Block {
            campaign: text(body, "campaign").to_owned(),
            session: text(body, "session").to_owned(),
            at_ms: row.at_ms,
            phase: text(body, "phase").to_owned(),
            number: body["index"].as_i64().unwrap_or(0),
            arms: arms.collect(),
        };
        self.blocks.insert(row.seq, block);
        self.seeds.extend(list(body, "seeds").iter().filter_map(|seed| seed.as_str().map(str::to_owned)));
    }

    /// A limit of a protocol as a number; decimals are kept as texts.
    pub(super) fn limit(&self, protocol: &str, field: &str) -> Option<f64> {
        match &self.protocols.get(protocol)?["fields"][field]["value"] {
            Value::Number(number) => number.as_f64(),
            Value::String(text) => text.parse().ok(),
            _ => None,
        }
    }
}
