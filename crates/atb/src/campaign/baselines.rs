//! Baselines and candidates as built and checked code.

use atb_core::canon::Digest;
use atb_core::entry::{BaselineBody, FORMAT, Role, TriedBody};
use atb_measure::correctness::Checked;
use atb_measure::fault::Fault;

use super::{Campaign, usage};
use crate::error::{Error, Result};

/// The baselines of a session.
#[derive(Debug)]
pub struct Arms {
    /// As a careless author writes it.
    pub naive: Checked,
    /// As the compiler optimises it: the root of the campaign.
    pub compiler: Checked,
    /// The library's, where it is installed.
    pub vendor: Option<Checked>,
    /// Flags of the compiler baseline, which candidates get too.
    pub flags: String,
    /// Environment of vendor workers.
    pub vendor_env: Vec<(String, String)>,
}

impl Arms {
    /// Digest of the root's source.
    pub fn root(&self) -> Digest {
        self.compiler.built().source()
    }
}

impl Campaign {
    /// Builds, checks and records the baselines. Flags chosen by an earlier session of the campaign are kept.
    pub fn baselines(&mut self) -> Result<Arms> {
        self.ensure_session()?;
        let earlier = self.mine(|baseline: &BaselineBody| baseline.campaign.as_str())?;
        let earlier =
            earlier.into_iter().find(|baseline| baseline.role == Role::Compiler).map(|baseline| baseline.flags);
        let task = self.plan.task.clone();
        let naive_flags = self.plan.protocol.build_naive_flags().first().cloned().unwrap_or_default();
        self.console.line("building and checking baselines");
        let naive = self
            .build_and_check(task.file("baselines/naive.c"), &naive_flags, &[], &[])?
            .map_err(|fault| baseline_fault("naive", fault))?;
        self.record_baseline(Role::Naive, &naive, Vec::new())?;
        let (compiler, tried) = self.choose_compiler(task.file("baselines/compiler.c"), earlier)?;
        let flags = compiler.built().flags().to_owned();
        self.record_baseline(Role::Compiler, &compiler, tried)?;
        self.console.line(&format!("  compiler baseline: {flags}"));
        let mut arms = Arms { naive, compiler, vendor: None, flags, vendor_env: Vec::new() };
        if let Some(vendor) = &task.spec.vendor {
            match self.build_and_check(task.file("baselines/vendor.c"), "-O2", &vendor.link, &vendor.env)? {
                Ok(checked) => {
                    self.record_baseline(Role::Vendor, &checked, Vec::new())?;
                    arms.vendor = Some(checked);
                    arms.vendor_env.clone_from(&vendor.env);
                }
                Err(_) => self.console.line(&format!(
                    "  vendor baseline: {} is not installed or not usable (Debian: apt install {})",
                    vendor.name, vendor.package
                )),
            }
        }
        Ok(arms)
    }

    /// Builds and checks one source. The inner error is the candidate's fault.
    pub fn build_and_check(
        &mut self,
        text: &str,
        flags: &str,
        link: &[String],
        env: &[(String, String)],
    ) -> Result<std::result::Result<Checked, Fault>> {
        let lab = self.lab()?;
        let checked = lab.build(text, flags, link).and_then(|built| lab.check(built, env));
        match checked {
            Err(fault) if fault.is_harness() => {
                Err(Error::Fault { context: "failed to check a candidate".into(), fault })
            }
            other => Ok(other),
        }
    }

    /// Tries the protocol's flag sets and takes the fastest that passes correctness.
    fn choose_compiler(&mut self, text: &str, earlier: Option<String>) -> Result<(Checked, Vec<TriedBody>)> {
        let sets = match earlier {
            Some(flags) => vec![flags],
            None => self.plan.protocol.build_compiler_flags().to_vec(),
        };
        let mut passing = Vec::new();
        let mut tried = Vec::new();
        let mut last_fault = None;
        for flags in sets {
            match self.build_and_check(text, &flags, &[], &[])? {
                Ok(checked) => {
                    tried.push(TriedBody { flags, outcome: "ok".to_owned(), picos: Vec::new() });
                    passing.push((tried.len() - 1, checked));
                }
                Err(fault) => {
                    tried.push(TriedBody { flags, outcome: fault.outcome.name().to_owned(), picos: Vec::new() });
                    last_fault = Some(fault);
                }
            }
        }
        let rounds = self.plan.protocol.build_select_rounds();
        if passing.len() > 1 {
            let codes: Vec<&Checked> = passing.iter().map(|(_, checked)| checked).collect();
            let times = self.lab()?.compare_briefly(&codes, rounds, &[]);
            let times =
                times.map_err(|fault| Error::Fault { context: "failed to time the flag sets".into(), fault })?;
            for ((at, _), picos) in passing.iter().zip(times) {
                tried[*at].picos = picos;
            }
        }
        // Stable order: of equal medians the more conservative set is taken.
        let best = passing.into_iter().min_by_key(|(at, _)| median(&tried[*at].picos));
        match (best, last_fault) {
            (Some((_, checked)), _) => Ok((checked, tried)),
            (None, Some(fault)) => Err(baseline_fault("compiler", fault)),
            (None, None) => Err(usage("the protocol names no flag set".into(), "add one to build.compiler_flags")),
        }
    }

    fn record_baseline(&mut self, role: Role, checked: &Checked, tried: Vec<TriedBody>) -> Result<()> {
        let body = BaselineBody {
            format: FORMAT,
            campaign: self.body.id.clone(),
            session: self.session_id(),
            role,
            source: checked.built().source(),
            artefact: checked.built().artefact(),
            flags: checked.built().flags().to_owned(),
            tried,
        };
        self.append(&body).map(drop)
    }
}

fn median(values: &[u64]) -> u64 {
    let mut sorted = values.to_vec();
    sorted.sort_unstable();
    sorted.get(sorted.len() / 2).copied().unwrap_or(0)
}

fn baseline_fault(name: &str, fault: Fault) -> Error {
    Error::Fault { context: format!("the {name} baseline of the task does not pass its own check"), fault }
}
