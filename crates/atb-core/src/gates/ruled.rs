//! What is left of recorded decisions once people have ruled on them.
//!
//! A ruling is a row of its own that cites the decision; the decision stays as it was made. The last ruling counts.

use crate::entry::{Body as _, Decision, GateBody, Row, Ruling, RulingBody};

/// A recorded decision with the rulings on it, in order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ruled {
    /// Position in the chain of gates.
    pub seq: i64,
    /// The decision as the gate made it.
    pub body: GateBody,
    /// Position, wall time in milliseconds, and ruling.
    pub rulings: Vec<(i64, i64, RulingBody)>,
}

impl Ruled {
    /// The decisions of the chain of gates in order. The error is the sequence number of a row that does not parse.
    pub fn read(rows: &[Row]) -> Result<Vec<Self>, (i64, serde_json::Error)> {
        let mut decisions: Vec<Self> = Vec::new();
        for row in rows {
            let bad = |error| (row.seq, error);
            if row.kind == RulingBody::KIND {
                let body: RulingBody = serde_json::from_str(&row.body).map_err(bad)?;
                let cited = decisions.iter_mut().find(|decision| u64::try_from(decision.seq) == Ok(body.gate));
                // A ruling on nothing is what `atb verify` finds.
                if let Some(cited) = cited {
                    cited.rulings.push((row.seq, row.at_ms, body));
                }
            } else {
                let body: GateBody = serde_json::from_str(&row.body).map_err(bad)?;
                decisions.push(Self { seq: row.seq, body, rulings: Vec::new() });
            }
        }
        Ok(decisions)
    }

    /// What counts now.
    pub fn standing(&self) -> Decision {
        match self.rulings.last().map(|(_, _, ruling)| ruling.decision) {
            Some(Ruling::Release) => Decision::Pass,
            Some(Ruling::Reject) => Decision::Reject,
            None => self.body.decision,
        }
    }

    /// True if a gate did not pass it, and nobody has ruled on it.
    pub fn is_open(&self) -> bool {
        self.body.decision != Decision::Pass && self.rulings.is_empty()
    }

    /// True if it did not count at this time, in milliseconds: the gate stopped it, and nobody had released it.
    pub fn stopped_at(&self, at_ms: i64) -> bool {
        let before = self.rulings.iter().take_while(|(_, ruled, _)| *ruled <= at_ms);
        match before.last().map(|(_, _, ruling)| ruling.decision) {
            Some(Ruling::Release) => false,
            Some(Ruling::Reject) => true,
            None => self.body.decision.stops(),
        }
    }
}
