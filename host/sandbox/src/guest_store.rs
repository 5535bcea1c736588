//! The store of a guest: its limits, its epochs, and the result of its call.

use std::{mem, time::Instant};

use wasmtime::{Store, UpdateDeadline};

use super::{
    bindings,
    call_result::CallResult,
    fault::Fault,
    guest::Guest,
    limits::Limit,
    poll_state::{so_far, stop_for_others},
};

/// Returns the result of a call of `guest`, and takes its refusals.
pub(super) fn call_result(result: wasmtime::Result<bindings::Outcome>, guest: &mut Guest) -> CallResult {
    guest.capabilities.dirs.report_refusals(&mut guest.refusals);
    guest.capabilities.http.report_refusals(&mut guest.refusals);
    guest.capabilities.sockets.report_refusals(&mut guest.refusals);
    let attempt = &guest.context.attempt;
    let result = result.map_err(|error| Fault::of(&error, &attempt.limits, &attempt.ceilings));
    CallResult { result, refusals: mem::take(&mut guest.refusals), metered: guest.metered() }
}

pub(super) fn store(engine: &wasmtime::Engine, guest: Guest, deadline: Option<Instant>) -> Store<Guest> {
    let limits = &guest.context.attempt.limits;
    let (fuel, handles) = (limits.hostcall.max(limits.output), limits.handles as usize);
    let mut store = Store::new(engine, guest);
    store.limiter(|guest| guest);
    store.set_hostcall_fuel(usize::try_from(fuel).unwrap_or(usize::MAX));
    store.set_max_component_handles(handles);
    // The next tick is not a whole epoch away.
    store.set_epoch_deadline(2);
    store.epoch_deadline_callback(move |store| next_epoch(store.data(), deadline));
    store
}

/// Handles a tick: stops at the deadline or at the CPU limit, else yields to other guests.
fn next_epoch(guest: &Guest, deadline: Option<Instant>) -> wasmtime::Result<UpdateDeadline> {
    if deadline.is_some_and(|deadline| Instant::now() >= deadline) {
        return Ok(UpdateDeadline::Interrupt);
    }
    let (metered, ceilings) = (so_far(guest.metered()), &guest.context.attempt.ceilings);
    if metered.cpu_us > ceilings.most(Limit::Cpu) {
        return Err(ceilings.exceeded(Limit::Cpu).into());
    }
    guest.transcript.used(metered);
    Ok(UpdateDeadline::YieldCustom(1, Box::pin(stop_for_others())))
}
