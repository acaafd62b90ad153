//! The correctness step, and the pilot that chooses K.

use std::cell::RefCell;

use atb_core::codes;
use atb_core::outcome::Outcome;
use atb_core::protocol::Protocol;
use atb_core::quantity::Nanos;
use atb_core::stats::splitmix::SplitMix64;
use atb_core::task::Shape;

use crate::build::Built;
use crate::fault::{Fault, HIDDEN_SHAPE};
use crate::inputs::{FACTORS, Place, Purpose, Stream};
use crate::judge::{Checks, Shown, Streams, Window};
use crate::lab::Lab;
use crate::layout::Layout;
use crate::worker::Worker;

/// Calls per window in the correctness step, all compared in full: one of each scale, so that state left by one call meets another.
const CALLS: usize = FACTORS.len();
/// Memory of a pilot's windows.
const PILOT_BYTES: usize = 192 << 20;
/// Pilots draw from streams of their own.
const PILOT_CELL: u16 = 0x4000;

/// A built candidate whose outputs were right at all shapes; holds K for each timed shape.
#[derive(Debug)]
pub struct Checked {
    built: Built,
    /// Changed by a recalibration only, between blocks.
    pilots: RefCell<Vec<(usize, f64)>>,
    checks: Checks,
}

impl Checked {
    /// What was built.
    pub fn built(&self) -> &Built {
        &self.built
    }

    /// Calls per window, per timed shape.
    pub fn calls(&self) -> Vec<usize> {
        self.pilots.borrow().iter().map(|(calls, _)| *calls).collect()
    }

    /// Nanoseconds per call that the pilot saw, per timed shape; for planning and display only.
    pub fn pilot_ns(&self) -> Vec<f64> {
        self.pilots.borrow().iter().map(|(_, time)| *time).collect()
    }

    /// Calls compared with the reference in full in the correctness step.
    pub fn full_checks(&self) -> u64 {
        self.checks.full
    }
}

impl Lab {
    /// Tries the jail, checks a candidate at all public shapes and hidden ones, then finds K for each timed shape.
    ///
    /// Hidden shapes are drawn from the session key and the digest of the candidate's bytes, so they are fixed only after
    /// the bytes are.
    pub fn check(&mut self, built: Built, env: &[(String, String)]) -> Result<Checked, Fault> {
        self.isolation()?;
        let protocol = self.protocol().clone();
        let context = format!("check/{}", built.source());
        let plan = Stream::new(self.key(), Purpose::Plan, &context);
        let mut checks = Checks::default();
        let mut shapes: Vec<(Shape, bool)> = self.judge.spec.shapes.iter().map(|shape| (shape.clone(), true)).collect();
        shapes.extend(hidden_shapes(&protocol, &self.judge.spec.hidden, &plan));
        let (offset, padding) = Self::placement(&mut SplitMix64::new(self.plan_seed(&context, "layout")));
        let memory = shapes.iter().try_fold((64, 64), |memory, (shape, _)| {
            let layout = self.layout(&shape.dims, CALLS, offset)?;
            Ok::<_, Fault>((layout.memory.0.max(memory.0), layout.memory.1.max(memory.1)))
        })?;
        let streams = self.check_streams(&context);
        let pin = self.crew().pin().map_err(|error| Fault::harness("pin a thread", &error))?;
        let mut worker = self.kernel_worker(&built, memory, padding, env)?;
        for (cell, (shape, open)) in (0_u16..).zip(&shapes) {
            let layout = self.layout(&shape.dims, CALLS, offset)?;
            let shown = Shown { shape: &shape.name, open: *open };
            for window in 0..u32::try_from(protocol.correctness_seeds_per_shape()).unwrap_or(1) {
                self.cancelled()?;
                let place = Place { cell, window, call: 0 };
                self.judge.prepare(&mut worker, &layout, &streams, place);
                let window = Window { layout: &layout, place, next: None, full: &[0, 1, 2], shown };
                self.judge.window(&mut worker, &streams, window, &mut checks)?;
            }
        }
        drop(pin);
        self.end(worker)?;
        let pilots = (0..self.cells().len()).map(|cell| self.pilot(&built, cell, &context, env));
        let pilots = RefCell::new(pilots.collect::<Result<_, _>>()?);
        Ok(Checked { built, pilots, checks })
    }

    /// Finds K anew, for a machine whose speed has changed since the pilot.
    pub fn recalibrate(&mut self, checked: &Checked, env: &[(String, String)]) -> Result<(), Fault> {
        let context = format!("recalibrate/{}/{}", checked.built.source(), crate::sys::clock::now().get());
        let pilots = (0..self.cells().len()).map(|cell| self.pilot(&checked.built, cell, &context, env));
        checked.pilots.replace(pilots.collect::<Result<_, _>>()?);
        Ok(())
    }

    /// Runs windows and returns the lower quartile of the later half, in ns: less would leave windows below the floor.
    fn pilot_windows(
        &mut self,
        worker: &mut Worker,
        layout: &Layout,
        streams: &Streams,
        place: &mut Place,
        count: usize,
        shape: &str,
    ) -> Result<f64, Fault> {
        let shown = Shown { shape, open: true };
        let mut times = Vec::with_capacity(count);
        self.judge.prepare(worker, layout, streams, *place);
        for at in 0..count {
            self.cancelled()?;
            let next = Place { window: place.window + 1, ..*place };
            let prepared = (at + 1 < count).then_some(next);
            let window = Window { layout, place: *place, next: prepared, full: &[], shown };
            times.push(self.judge.window(worker, streams, window, &mut Checks::default())?);
            *place = next;
        }
        let mut later = times.split_off(count / 2);
        later.sort_unstable();
        Ok(later[later.len() / 4].get().max(1) as f64)
    }

    fn check_streams(&self, context: &str) -> Streams {
        Streams {
            inputs: Stream::new(self.key(), Purpose::Inputs, context),
            checks: Stream::new(self.key(), Purpose::Checks, context),
        }
    }

    /// Finds the number of calls that fills a window.
    fn pilot(
        &mut self,
        built: &Built,
        cell: usize,
        context: &str,
        env: &[(String, String)],
    ) -> Result<(usize, f64), Fault> {
        let shape = self.cells()[cell].clone();
        let streams = &self.check_streams(context);
        let place = format!("layout/pilot/{cell}");
        let (offset, padding) = Self::placement(&mut SplitMix64::new(self.plan_seed(context, &place)));
        let limit = usize::try_from(self.protocol().kernel_calls_max()).unwrap_or(1);
        let one = self.layout(&shape.dims, 1, 0)?;
        let most = limit.min(PILOT_BYTES / (one.memory.0 + one.memory.1)).max(1);
        let memory = self.layout(&shape.dims, most, offset)?.memory;
        let mut worker = self.kernel_worker(built, memory, padding, env)?;
        let target = self.protocol().kernel_window_target_us() as f64 * 1e3;
        let pin = self.crew().pin().map_err(|error| Fault::harness("pin a thread", &error))?;
        let mut place = Place { cell: PILOT_CELL + u16::try_from(cell).unwrap_or(0), window: 0, call: 0 };
        let mut calls = 1_usize;
        // Roughly first, with a few windows each, until one is about half full.
        loop {
            let layout = self.layout(&shape.dims, calls, offset)?;
            let median = self.pilot_windows(&mut worker, &layout, streams, &mut place, 5, &shape.name)?;
            if median >= target / 2.0 || calls == most {
                break;
            }
            calls = fill_window(target, median / calls as f64, most).clamp(calls + 1, calls * 16).min(most);
        }
        // Then in the steady state of a run: warmed up, inputs made by both processors.
        let layout = self.layout(&shape.dims, calls, offset)?;
        let median = self.pilot_windows(&mut worker, &layout, streams, &mut place, 40, &shape.name)?;
        let per_call = median / calls as f64;
        drop(pin);
        self.end(worker)?;
        let calls = whole_groups(fill_window(target, per_call, most), most);
        let floor = Nanos::new(self.protocol().kernel_window_floor_us() * 1000);
        if per_call * (calls as f64) < floor.get() as f64 * 0.9 {
            let detail =
                format!("{}: {per_call:.0} ns per call; {calls} calls do not fill a window of {floor}", shape.name);
            return Err(Fault::new(Outcome::Void(codes::WINDOW_FLOOR), detail));
        }
        Ok((calls, per_call))
    }
}

/// The number of calls that fills a window.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "between 1 and a million")]
fn fill_window(target: f64, per_call: f64, most: usize) -> usize {
    ((target / per_call).ceil().clamp(1.0, 1e6) as usize).min(most)
}

/// Rounds up to a multiple of the number of input factors, so that every window holds each as often, or down where that is more calls
/// than fit. One call, of a slow kernel, stays one.
fn whole_groups(calls: usize, most: usize) -> usize {
    let group = FACTORS.len();
    match calls.next_multiple_of(group) {
        _ if calls == 1 || most < group => 1,
        whole if whole > most => most - most % group,
        whole => whole,
    }
}

fn hidden_shapes(protocol: &Protocol, ranges: &[(u64, u64)], plan: &Stream) -> Vec<(Shape, bool)> {
    (0..u32::try_from(protocol.correctness_hidden_shapes()).unwrap_or(1))
        .map(|number| {
            let bounds: Vec<u64> = ranges.iter().map(|(low, high)| high - low + 1).collect();
            let drawn = plan.draw(Place { cell: 0, window: number, call: 0 }, &bounds);
            let dims = drawn.iter().zip(ranges).map(|(at, (low, _))| low + at).collect();
            (Shape { name: HIDDEN_SHAPE.to_owned(), dims, timed: false }, false)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_calls_of_a_window_are_whole_groups() {
        for (calls, most, whole) in [
            (1, 256, 1),
            (2, 256, 3),
            (3, 256, 3),
            (250, 256, 252),
            (254, 256, 255),
            (256, 256, 255),
            (2, 2, 1),
            (4, 4, 3),
        ] {
            assert_eq!(whole_groups(calls, most), whole, "{calls} of at most {most}");
        }
    }
}
