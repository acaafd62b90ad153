//! Baselines and candidates as built and checked code.

use atb_core::canon::Digest;
use atb_core::codes::{self, Code};
use atb_core::entry::{BaselineBody, FORMAT, Role, TriedBody};
use atb_core::outcome::Outcome;
use atb_core::task::Vendor;
use atb_measure::correctness::Checked;
use atb_measure::fault::Fault;

use super::{Campaign, usage};
use crate::error::{Error, Result};

/// Environment of a worker.
type Environment = Vec<(String, String)>;
/// A variant of a baseline: its place among those tried, its code, and the environment of its workers.
type Variant = (usize, Checked, Environment);

/// Codes by which a shared object is refused before it is loaded.
const INSPECTED: [Code; 3] = [codes::ARTEFACT, codes::ELF, codes::DEPENDENCY];

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
            .build_and_check(task.baseline("naive"), &naive_flags, &[], &[])?
            .map_err(|fault| baseline_fault("naive", fault))?;
        self.record_baseline(Role::Naive, &naive, Vec::new())?;
        let (compiler, tried) = self.choose_compiler(task.baseline("compiler"), earlier)?;
        let flags = compiler.built().flags().to_owned();
        self.record_baseline(Role::Compiler, &compiler, tried)?;
        self.console.line(&format!("  compiler baseline: {flags}"));
        let mut arms = Arms { naive, compiler, vendor: None, flags, vendor_env: Vec::new() };
        if let Some(vendor) = &task.spec.vendor {
            match self.choose_vendor(task.file("baselines/vendor.c"), vendor)? {
                Some((checked, env)) => {
                    arms.vendor = Some(checked);
                    arms.vendor_env = env;
                }
                None => self.console.line(&format!(
                    "  vendor baseline: {} is not installed or not usable (Debian: apt install {})",
                    vendor.name, vendor.package
                )),
            }
        }
        Ok(arms)
    }

    /// Tries the library with each environment that the task names and takes the fastest that passes correctness.
    fn choose_vendor(&mut self, text: &str, vendor: &Vendor) -> Result<Option<(Checked, Environment)>> {
        let mut tried = Vec::new();
        let mut passing = Vec::new();
        for variant in std::iter::once(None).chain(vendor.variants.iter().map(Some)) {
            let env: Environment = vendor.env.iter().chain(variant).cloned().collect();
            let name = variant.map_or_else(|| "as installed".to_owned(), |(name, value)| format!("{name}={value}"));
            let checked = self.build_and_check(text, "-O2", &vendor.link, &env)?;
            let outcome = checked.as_ref().map_or_else(|fault| fault.outcome.name(), |_| "ok").to_owned();
            tried.push(TriedBody { flags: name, outcome, picos: Vec::new() });
            match checked {
                Ok(checked) => passing.push((tried.len() - 1, checked, env)),
                // Without the library no variant builds.
                Err(fault) if matches!(fault.outcome, Outcome::BuildError(_)) => break,
                // Code that may not be loaded is a fault of the task, however many libraries are installed.
                Err(fault) if INSPECTED.iter().any(|code| fault.outcome == Outcome::Rejected(*code)) => {
                    return Err(baseline_fault("vendor", fault));
                }
                Err(_) => {}
            }
        }
        let best = self.fastest(passing, &mut tried)?;
        if let Some((at, checked, _)) = &best {
            self.console.line(&format!("  vendor baseline: {}, {}", vendor.name, tried[*at].flags));
            self.record_baseline(Role::Vendor, checked, tried)?;
        }
        Ok(best.map(|(_, checked, env)| (checked, env)))
    }

    /// The fastest of several variants of a baseline, by the median of a few short runs; notes the times.
    fn fastest(&mut self, passing: Vec<Variant>, tried: &mut [TriedBody]) -> Result<Option<Variant>> {
        if passing.len() > 1 {
            let rounds = self.plan.protocol.build_select_rounds();
            let codes: Vec<_> = passing.iter().map(|(_, checked, env)| (checked, env.as_slice())).collect();
            let times = self.lab()?.compare_briefly(&codes, rounds);
            let times = times.map_err(|fault| Error::Fault { context: "failed to time a baseline".into(), fault })?;
            for ((at, ..), picos) in passing.iter().zip(times) {
                tried[*at].picos = picos;
            }
        }
        // Stable order: of equal medians the earlier, more conservative variant is taken.
        Ok(passing.into_iter().min_by_key(|(at, ..)| median(&tried[*at].picos)))
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
            None => match self.lab()?.interpreter() {
                Some(interpreter) => vec![interpreter.identity()],
                None => self.plan.protocol.build_compiler_flags().to_vec(),
            },
        };
        let mut passing = Vec::new();
        let mut tried = Vec::new();
        let mut last_fault = None;
        for flags in sets {
            let checked = self.build_and_check(text, &flags, &[], &[])?;
            let outcome = checked.as_ref().map_or_else(|fault| fault.outcome.name(), |_| "ok").to_owned();
            tried.push(TriedBody { flags, outcome, picos: Vec::new() });
            match checked {
                Ok(checked) => passing.push((tried.len() - 1, checked, Environment::new())),
                Err(fault) => last_fault = Some(fault),
            }
        }
        match (self.fastest(passing, &mut tried)?, last_fault) {
            (Some((_, checked, _)), _) => Ok((checked, tried)),
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
