//! `cargo xtask simulate [--replicates N]`: the error rates of every rule, on machines whose truth is known; writes docs/simulation.md.
//!
//! The verdicts come from the functions that `atb tune` runs, the levels from certified-1. The model and its three machines are those of
//! the design study, with an effect of a run's place in its round added; that study's figures stand beside.

mod model;
mod studies;
mod table;

use std::fmt::Write as _;
use std::path::Path;
use std::time::Instant;

use anyhow::{Context as _, Result, anyhow, bail};
use atb_core::ladder::MeasuredOutcome;
use atb_core::protocol::Protocol;
use atb_core::stats::e_process::SequentialDesign;
use atb_core::stats::spending::Threshold;

use crate::tree::Tree;
use model::{PROFILES, Profile, Session};
use studies::{
    estimates, generation, is_undecided, level, median, naive, ratchet_errs, seed, sequential, share, share_of,
    unspent, verdict,
};
use table::{Cell, Table};

/// Replicates per cell: a standard error of at most 1.6 points.
const REPLICATES: u64 = 1000;
const PAGE: &str = "docs/simulation.md";

/// Runs all studies and writes the page. True if no rule of ours errs more often than it says.
pub(crate) fn run(tree: &Tree, arguments: &[&str]) -> Result<bool> {
    let replicates = match arguments {
        [] => REPLICATES,
        ["--replicates", number] => number.parse().context("--replicates needs a number")?,
        _ => bail!("unknown arguments {}: see cargo xtask", arguments.join(" ")),
    };
    let file = "protocol/certified-1.toml";
    let protocol = Protocol::parse(file, &tree.read(file)?)?;
    let studies: [fn(&Protocol, u64) -> Table; 7] =
        [false_wins, false_keeps, chosen_best, power, looks, cost_of_spending, estimators];
    let tables = std::thread::scope(|scope| {
        let running = studies.map(|study| {
            let protocol = &protocol;
            scope.spawn(move || {
                let start = Instant::now();
                let table = study(protocol, replicates);
                println!("{}: {:.0} s", table.title, start.elapsed().as_secs_f64());
                table
            })
        });
        running
            .into_iter()
            .map(|study| study.join().map_err(|_| anyhow!("a study panicked")))
            .collect::<Result<Vec<_>>>()
    })?;
    write(&tree.root.join(PAGE), &tables, replicates)?;
    println!("wrote {PAGE}");
    // What is bounded must be within its bound and three standard errors of it.
    let mut holds = true;
    for (label, machine, rate, bound) in tables.iter().flat_map(Table::bounded) {
        let error = (bound * (1.0 - bound) / replicates as f64).sqrt();
        if rate > bound + 3.0 * error {
            println!("{label} ({machine}): {rate:.3} is above {bound}");
            holds = false;
        }
    }
    Ok(holds)
}

fn write(path: &Path, tables: &[Table], replicates: u64) -> Result<()> {
    let mut text = format!(
        "<!-- Written by `cargo xtask simulate`. -->\n\n# Simulation\n\nHow often does each rule err? On a real machine the truth is never known, so \
         this is asked of simulated ones: {replicates} replicates a cell,\nwith fixed seeds, so that the page is the same wherever it is written. \
         The verdicts come from the functions that `atb tune` runs, at the levels\nof certified-1. A run is the median of 100 iterations, with an \
         effect of its process, rare outliers, a drift of the session either way, and 1 %\nbetween the first and the last place of a round.\n\n\
         | machine | spread of iterations, outliers | spread of runs, outliers | drift |\n| --- | --- | --- | --- |\n"
    );
    for Profile { name, iteration, iteration_outlier, run, run_outlier, drift } in PROFILES {
        let _ = writeln!(text, "| {name} | {iteration}, {iteration_outlier} | {run}, {run_outlier} | {drift} |");
    }
    text.push_str(
        "\nEach cell holds quiet / cloud / noisy. The second column is the study from which the protocol was designed: the same model without the \
         effect of\nplaces, written apart, in another language.\n",
    );
    for table in tables {
        text.push_str(&table.markdown());
    }
    text.push_str(
        "\n## Limits\n\nThe noise is synthetic, the drift linear, and nothing clusters by the time of day. The machines were chosen, not fitted. \
         Scatter over the cap,\nwhich has a block measured again, is not modelled: it would help the noisy machine only.\n",
    );
    std::fs::write(path, text).with_context(|| format!("failed to write {}", path.display()))
}

/// One value per machine.
fn each(of: impl Fn(Profile) -> f64) -> [f64; 3] {
    PROFILES.map(of)
}

/// No candidate is faster: how often do rules that are common claim that one is?
fn false_wins(protocol: &Protocol, replicates: u64) -> Table {
    let mut table =
        Table::new("Candidates that are all no-ops, under common rules", "share of searches that claim a gain");
    let mut study = 0;
    let mut naive_row = |label: &str, count: usize, runs: usize, claim: f64, drift: f64, said: [f64; 3]| {
        study += 1;
        let here = each(|profile| {
            share(replicates, |replicate| {
                let mut session = Session::new(profile, seed(study, replicate), (count + 1) * runs).drifting(drift);
                naive(&mut session, &vec![0.0; count], runs).0 > claim
            })
        });
        table.row(label, Cell::shares(here), Cell::shares(said));
    };
    naive_row("best single reading below the incumbent's, of 1", 1, 1, 0.0, 0.0, [0.52, 0.51, 0.48]);
    naive_row("of 5", 5, 1, 0.0, 0.0, [0.83, 0.83, 0.84]);
    naive_row("of 20", 20, 1, 0.0, 0.0, [0.95, 0.96, 0.95]);
    naive_row("of 50", 50, 1, 0.0, 0.0, [0.98, 0.98, 0.98]);
    naive_row("of 20, the machine gets 3 % faster", 20, 1, 0.0, -0.03, [1.0, 1.0, 1.0]);
    naive_row("of 20, with a claim above 1 %", 20, 1, 0.01_f64.ln_1p(), 0.0, [0.28, 0.81, 0.90]);
    naive_row("of 20, each the median of 3 runs", 20, 3, 0.0, 0.0, [0.95, 0.95, 0.96]);
    for (count, said) in [(20, [0.007, 0.21, 0.28]), (50, [0.017, 0.44, 0.54])] {
        let here = each(|profile| {
            share(replicates, |replicate| {
                let mut session = Session::new(profile, seed(100 + count, replicate), 12 * 20);
                (0..count).any(|_| verdict(&session.pairs(6, 0.0), protocol).outcome == MeasuredOutcome::Faster)
            })
        });
        table.row(
            &format!("any of {count} `faster` in 6 pairs, without fresh data"),
            Cell::shares(here),
            Cell::shares(said),
        );
    }
    table
}

/// No candidate is faster: how often does a search keep one?
fn false_keeps(protocol: &Protocol, replicates: u64) -> Table {
    let mut table =
        Table::new("Candidates that are all no-ops, as a search runs them", "share of searches that keep one");
    for (count, said) in [(20, [0.0, 0.010, 0.027]), (50, [0.0, 0.012, 0.031])] {
        let here = each(|profile| {
            share(replicates, |replicate| {
                let runs = 5 * (count + 1) + 24;
                let mut session = Session::new(profile, seed(200 + count as u64, replicate), runs);
                generation(&mut session, &vec![0.0; count], 12, level(protocol, 1), protocol).confirmed.is_some()
            })
        });
        table.bound(&format!("**ours**: SCREEN of {count}, then CONFIRM"), here, Cell::shares(said), 0.025);
    }
    for (label, spends, said, bound) in [
        ("ten generations of 5, each CONFIRM at 2.5 %", false, [0.0, 0.117, 0.190], None),
        ("**ours**: the same, alpha spent", true, [0.0, 0.025, 0.038], Some(0.05)),
    ] {
        let here = each(|profile| {
            share(replicates, |replicate| ratchet_errs(profile, seed(300, replicate), spends, protocol))
        });
        match bound {
            Some(bound) => table.bound(label, here, Cell::shares(said), bound),
            None => table.row(label, Cell::shares(here), Cell::shares(said)),
        }
    }
    table
}

/// Of 20 candidates seven in ten do harm: what is claimed for the best, and what is it worth?
fn chosen_best(protocol: &Protocol, replicates: u64) -> Table {
    let mut table = Table::new("The best of 20, most of which do harm", "ratios as claimed and as true; shares");
    let mut claimed = Vec::new();
    let mut found = Vec::new();
    for (at, profile) in (0..).zip(PROFILES) {
        let of = |replicate: u64| {
            let mut session = Session::new(profile, seed(400 + at, replicate), 21 + 5 * 21 + 48);
            let gains: Vec<f64> = (0..20).map(|at| mixture(&mut session, at)).collect();
            (session, gains)
        };
        let naive: Vec<(f64, f64)> = (0..replicates)
            .map(|replicate| {
                let (session, gains) = of(replicate);
                naive(&mut session.drifting(0.0), &gains, 1)
            })
            .collect();
        claimed.push(naive);
        let ours: Vec<Option<[f64; 4]>> = (0..replicates)
            .map(|replicate| {
                let (mut session, gains) = of(replicate);
                let run = generation(&mut session, &gains, 12, level(protocol, 1), protocol);
                let confirmed = run.confirmed?;
                let report = verdict(&session.pairs(12, gains[run.pick]), protocol);
                Some([run.screened, confirmed.estimate_log.get(), report.estimate_log.get(), gains[run.pick]])
            })
            .collect();
        found.push(ours);
    }
    let ratio = |values: Vec<f64>| (values.iter().sum::<f64>() / values.len().max(1) as f64).exp();
    let of_naive = |take: fn(&(f64, f64)) -> f64| [0, 1, 2].map(|at| ratio(claimed[at].iter().map(take).collect()));
    table.row(
        "best single reading: claimed",
        Cell::ratios(of_naive(|pair| pair.0)),
        Cell::ratios([1.038, 1.048, 1.075]),
    );
    table.row("true", Cell::ratios(of_naive(|pair| pair.1)), Cell::ratios([1.035, 1.031, 1.018]));
    let harm = [0, 1, 2].map(|at| share_of(&claimed[at], |chosen| chosen.1 <= 0.0));
    table.row("kept, and truly not faster", Cell::shares(harm), Cell::shares([0.002, 0.033, 0.222]));
    let kept = [0, 1, 2].map(|at| share_of(&found[at], Option::is_some));
    table.row("**ours**: kept", Cell::shares(kept), Cell::shares([0.945, 0.755, 0.246]));
    let harm = [0, 1, 2].map(|at| share_of(&found[at], |kept| kept.is_some_and(|kept| kept[3] <= 0.0)));
    table.bound("kept, and truly not faster", harm, Cell::shares([0.0, 0.0, 0.001]), 0.025);
    let said = [[1.037, 1.042, 1.067], [1.037, 1.037, 1.051], [1.037, 1.036, 1.038], [1.037, 1.036, 1.038]];
    for (at, name) in ["SCREEN", "CONFIRM", "REPORT", "true"].into_iter().enumerate() {
        let here = [0, 1, 2].map(|of| ratio(found[of].iter().flatten().map(|kept| kept[at]).collect()));
        table.row(&format!("{name}, of what is kept"), Cell::ratios(here), Cell::ratios(said[at]));
    }
    table
}

/// A true gain: 70 % N(-1 %, 1 %), 30 % N(+1 %, 2 %).
fn mixture(session: &mut Session, at: u64) -> f64 {
    if at % 10 < 7 { -0.01 + 0.01 * session.normal() } else { 0.01 + 0.02 * session.normal() }
}

/// A true gain, or none: how often does one block of so many pairs say so?
fn power(protocol: &Protocol, replicates: u64) -> Table {
    let mut table = Table::new("What one block shows", "share of blocks");
    let said_power = [
        (0.02, [[0.88, 0.41, 0.09], [0.83, 0.59, 0.18], [0.98, 0.73, 0.20], [0.99, 0.92, 0.33]]),
        (0.03, [[0.89, 0.65, 0.16], [0.83, 0.64, 0.31], [0.98, 0.87, 0.37], [1.0, 0.94, 0.59]]),
        (0.05, [[0.90, 0.76, 0.34], [0.87, 0.72, 0.53], [0.99, 0.92, 0.63], [1.0, 0.97, 0.86]]),
    ];
    let said_null = [[0.73, 0.04, 0.0], [0.88, 0.09, 0.0], [0.95, 0.14, 0.0], [1.0, 0.39, 0.0]];
    let blocks = |study: u64, pairs: usize, gain: f64, outcome: MeasuredOutcome| {
        each(|profile| {
            share(replicates, |replicate| {
                let mut session = Session::new(profile, seed(500 + study, replicate), 2 * pairs);
                verdict(&session.pairs(pairs, gain), protocol).outcome == outcome
            })
        })
    };
    for (at, pairs) in [6, 10, 12, 20].into_iter().enumerate() {
        let study = at as u64;
        for (gain, said) in said_power {
            let here = blocks(study, pairs, f64::ln_1p(gain), MeasuredOutcome::Faster);
            table.row(
                &format!("`faster` at a gain of {:.0} %, {pairs} pairs", gain * 100.0),
                Cell::shares(here),
                Cell::shares(said[at]),
            );
        }
        let here = blocks(10 + study, pairs, 0.0, MeasuredOutcome::Equivalent);
        table.row(
            &format!("`equivalent` without a gain, {pairs} pairs"),
            Cell::shares(here),
            Cell::shares(said_null[at]),
        );
        let here = blocks(20 + study, pairs, 0.0, MeasuredOutcome::Faster);
        table.bound(&format!("`faster` without a gain, {pairs} pairs"), here, Cell::said("at most 0.025"), 0.025);
    }
    table
}

/// Looking after every pair.
fn looks(protocol: &Protocol, replicates: u64) -> Table {
    let mut table = Table::new("Stopping as soon as the evidence suffices", "shares; pairs");
    let threshold = |value: f64| Threshold::new(value).unwrap_or_else(|error| unreachable!("{error}"));
    let design = SequentialDesign {
        decisive: threshold(40.0),
        equivalence: threshold(20.0),
        delta: protocol.statistics_delta(),
        min_pairs: 6,
        max_pairs: 30,
    };
    let ends = |study: u64, gain: f64, profile: Profile| -> Vec<(MeasuredOutcome, usize)> {
        let of = |replicate| sequential(&mut Session::new(profile, seed(600 + study, replicate), 60), gain, &design);
        (0..replicates).map(of).collect()
    };
    let count = |ends: &[(MeasuredOutcome, usize)], of: fn(MeasuredOutcome) -> bool| {
        ends.iter().filter(|(outcome, _)| of(*outcome)).count() as f64 / ends.len() as f64
    };
    let wrong = |outcome| matches!(outcome, MeasuredOutcome::Faster | MeasuredOutcome::Slower);
    let here = each(|profile| count(&ends(0, 0.0, profile), wrong));
    table.bound("`faster` or `slower` without a gain", here, Cell::shares([0.016, 0.028, 0.035]), 0.05);
    let here = each(|profile| count(&ends(1, 0.02_f64.ln_1p(), profile), |outcome| outcome == MeasuredOutcome::Faster));
    table.row("`faster` at a gain of 2 %, within 30 pairs", Cell::shares(here), Cell::shares([0.91, 0.69, 0.20]));
    let stops = |profile| median(ends(2, 0.05_f64.ln_1p(), profile).into_iter().map(|(_, at)| at as f64).collect());
    table.row("pairs at a gain of 5 %, median", Cell::counts(each(stops)), Cell::counts([6.0, 6.0, 14.0]));
    let here = each(|profile| count(&ends(3, 0.0, profile), is_undecided));
    table.here("undecided after 30 pairs without a gain", Cell::shares(here));
    table
}

/// What spending alpha costs at a gain of 3 %.
fn cost_of_spending(protocol: &Protocol, replicates: u64) -> Table {
    let mut table = Table::new("What alpha spending costs: kept at a gain of 3 %", "share of CONFIRM blocks");
    let none = f64::NAN;
    let said = [
        [[0.98, 0.86, none], [0.80, 0.59, none], [0.79, 0.55, none], [0.79, 0.42, none]],
        [[1.0, 0.96, none], [0.96, 0.83, none], [0.95, 0.76, none], [0.72, 0.44, none]],
        [[1.0, 0.98, none], [0.99, 0.95, none], [0.99, 0.89, none], [0.93, 0.72, none]],
    ];
    for (row, pairs) in [12, 18, 24].into_iter().enumerate() {
        for (column, j) in [1, 2, 5, 10].into_iter().enumerate() {
            let here = each(|profile| {
                share(replicates, |replicate| {
                    let mut session = Session::new(profile, seed(700 + row as u64, replicate), 2 * pairs);
                    let verdict = verdict(&session.pairs(pairs, 0.03_f64.ln_1p()), protocol);
                    atb_core::ladder::kept(&verdict, level(protocol, j))
                })
            });
            table.row(&format!("CONFIRM {j}, {pairs} pairs"), Cell::shares(here), Cell::shares(said[row][column]));
        }
    }
    let free = each(|profile| {
        share(replicates, |replicate| {
            let mut session = Session::new(profile, seed(700, replicate), 24);
            atb_core::ladder::kept(&verdict(&session.pairs(12, 0.03_f64.ln_1p()), protocol), unspent())
        })
    });
    table.here("12 pairs, at 2.5 % whatever was spent", Cell::shares(free));
    table
}

/// How far off is each estimate of the log ratio, with 12 pairs?
fn estimators(_: &Protocol, replicates: u64) -> Table {
    let mut table = Table::new("How far an estimate is off, with 12 pairs", "root mean square error, percent");
    let said = [[0.19, 0.60, 1.72], [0.20, 0.58, 1.58], [1.00, 1.54, 2.34], [0.32, 0.88, 2.13]];
    let gain = 0.02_f64.ln_1p();
    let errors = PROFILES.map(|profile| {
        let mut squares = [0.0; 4];
        for replicate in 0..replicates {
            let found = estimates(&mut Session::new(profile, seed(800, replicate), 24), gain);
            for (square, found) in squares.iter_mut().zip(found) {
                *square += (found - gain).powi(2);
            }
        }
        squares.map(|square| 100.0 * (square / replicates as f64).sqrt())
    });
    for (at, name) in ["Hodges and Lehmann", "median of pair ratios", "mean of pair ratios", "ratio of fastest runs"]
        .into_iter()
        .enumerate()
    {
        table.row(name, Cell::percents([0, 1, 2].map(|machine| errors[machine][at])), Cell::percents(said[at]));
    }
    table
}
