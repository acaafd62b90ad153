//! The worker's side. Everything here runs in the candidate's address space, so nothing here is trusted by the parent.

use std::ffi::c_void;
use std::io;
use std::os::fd::{AsFd, OwnedFd};

use atb_core::quantity::Nanos;

use super::event::Event;
use super::jail::{self, Layers};
use super::loader::{self, LoadFault, Symbol};
use super::memory::Mapping;
use super::{clock, process};
use crate::worker::{Operation, fd, report, status, word};

/// Serves a parent until it goes away. Entry point of `atb __run`.
pub fn serve() -> io::Result<()> {
    // SAFETY: the parent placed exactly these descriptors, and nothing else in this process uses them.
    let [control, input, output, status_page, go, done, code] =
        [fd::CONTROL, fd::INPUT, fd::OUTPUT, fd::STATUS, fd::GO, fd::DONE, fd::CODE]
            .map(|n| unsafe { process::inherited(n) });
    // Mapped, the memory's descriptors are closed: what the code needs not have, it has not.
    let map = |fd: OwnedFd, writable, populate| {
        Mapping::new(fd.as_fd(), process::size_of_fd(fd.as_fd())?, writable, populate)
    };
    let control = map(control, false, true)?;
    let mut status_page = map(status_page, true, true)?;
    let input = map(input, false, true)?;
    let output = map(output, true, true)?;
    let (go, done) = (Event::from_fd(go), Event::from_fd(done));

    let layers = Layers::from_bits(control.load(word::LAYERS));
    let parent = process::parent();
    let jailed = jail::before_loading(layers, &mut status_page);
    report(&mut status_page, jailed.map(|()| status::JAILED).map_err(|fault| (status::JAIL_FAILED, fault.to_string())));
    // Up to here nothing of the candidate was even loaded: what fails before this signal is the harness's fault, what fails after it is not.
    done.set()?;
    go.wait()?;
    let loaded = load(&control, &mut status_page, code, layers, parent);
    let symbol = loaded.as_ref().ok().copied().flatten();
    let failed = report(&mut status_page, loaded.map(|_| status::LOADED));
    done.set()?;
    if failed {
        // The parent reads the message while this process waits to be killed.
        return go.wait().map(drop);
    }
    loop {
        go.wait()?;
        run(&control, &status_page, &input, &output, symbol);
        done.set()?;
    }
}

/// Loads the code unless the operation needs none, and enters the jail's second stage. On failure the state and a message.
fn load(
    control: &Mapping,
    status_page: &mut Mapping,
    code: OwnedFd,
    layers: Layers,
    parent: u32,
) -> Result<Option<Symbol>, (u64, String)> {
    let operation = Operation::from_number(control.load(word::OPERATION));
    let mut symbol = None;
    if matches!(operation, Some(Operation::Kernel | Operation::Reference | Operation::Naive)) {
        let name = &control.bytes()[word::SYMBOL * 8..];
        let name = name.split(|&byte| byte == 0).next().unwrap_or_default();
        let found = loader::load(fd::CODE, &String::from_utf8_lossy(name));
        symbol = Some(found.map_err(|fault| match fault {
            LoadFault::Symbol => (status::NO_SYMBOL, String::new()),
            LoadFault::Load(message) => (status::LOAD_FAILED, message),
        })?);
    }
    drop(code);
    if operation == Some(Operation::Canary) {
        status_page.store(status::CANARY_LOADING, jail::canary::try_all(parent));
    }
    jail::before_running(layers).map_err(|fault| (status::JAIL_FAILED, fault.to_string()))?;
    if operation == Some(Operation::Canary) {
        status_page.store(status::CANARY_RUNNING, jail::canary::try_all(parent));
    }
    Ok(symbol)
}

/// One window.
fn run(control: &Mapping, status_page: &Mapping, input: &Mapping, output: &Mapping, symbol: Option<Symbol>) {
    let calls = index(control, word::CALLS);
    match (Operation::from_number(control.load(word::OPERATION)), symbol) {
        (Some(Operation::Delay), _) => {
            clock::spin_until(Nanos::new(clock::now().get() + control.load(word::DELAY_NS)));
        }
        (Some(operation @ (Operation::Kernel | Operation::Reference)), Some(symbol)) => {
            (0..calls).for_each(|at| call(control, input, output, symbol, operation, at));
        }
        (Some(operation @ Operation::Naive), Some(symbol)) => {
            // As harnesses in one process do it: the same buffers, and a clock within the code's reach.
            let mut sum = 0;
            for _ in 0..calls {
                let start = clock::now();
                call(control, input, output, symbol, operation, 0);
                sum += clock::now().get() - start.get();
            }
            status_page.store(status::NAIVE_PS, sum * 1000 / calls.max(1) as u64);
        }
        _ => {}
    }
}

fn index(control: &Mapping, at: usize) -> usize {
    usize::try_from(control.load(at)).unwrap_or(0)
}

/// One call, with the tensors that the control words place for it.
fn call(control: &Mapping, input: &Mapping, output: &Mapping, symbol: Symbol, operation: Operation, at: usize) {
    let load = |word: usize| index(control, word);
    let (inputs, outputs) = (load(word::INPUTS).min(8), load(word::OUTPUTS).min(8));
    let mut dims = [0_i64; 8];
    for (dim, value) in dims.iter_mut().enumerate().take(load(word::DIMS).min(8)) {
        *value = control.load(word::DIM + dim).cast_signed();
    }
    let mut tensors = [std::ptr::null_mut::<c_void>(); 16];
    for (tensor, place) in tensors.iter_mut().enumerate().take(inputs) {
        *place = input.address(load(word::INPUT_AT + tensor) + at * load(word::INPUT_STRIDE + tensor)).cast();
    }
    for (tensor, place) in tensors[inputs..].iter_mut().enumerate().take(outputs) {
        *place = output.address(load(word::OUTPUT_AT + tensor) + at * load(word::OUTPUT_STRIDE + tensor)).cast();
    }
    let tensors = &tensors[..inputs + outputs];
    let workspace = output.address(load(word::WORKSPACE) + at * load(word::WORKSPACE_STRIDE)).cast();
    // SAFETY: the parent laid out the memory for these shapes; the candidate may do with it what it likes.
    unsafe {
        if operation == Operation::Reference {
            symbol.call_reference(&tensors[..inputs], &tensors[inputs..], dims.as_ptr());
        } else {
            symbol.call_kernel(tensors, dims.as_ptr(), workspace);
        }
    }
}
