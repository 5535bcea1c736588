//! One call: a fresh guest, and the outcome it came to.

use std::{
    mem,
    sync::Arc,
    time::{Duration, Instant},
};

use phasm_engine::{
    metered::Metered,
    outcome::{Outcome, Output, code},
    text,
    value::Value,
};
use wasmtime::{Store, UpdateDeadline};

use super::{
    Shared,
    attempt::{computed, stop_for_others},
    bindings::{
        self,
        phasm::executor::types::{NamedValueParam, NamedValueResult},
    },
    budget::Holder,
    capability::{
        Grants,
        refused::{self, Refused},
    },
    fault::Fault,
    guest::Guest,
    isolation::Isolation,
    limits::{Limit, Meter, UNLIMITED},
    program::Program,
    stopwatch::micros,
    transcript::Transcript,
    whose::Whose,
};
use crate::executor::{Invocation, Observer};

/// The longest name of an output, in bytes.
const LONGEST_NAME: usize = 256;

/// Calls `program` once, on the thread that polls this.
pub(super) async fn call(
    sandbox: &Shared,
    program: &Program,
    grants: Arc<Grants>,
    invocation: Invocation,
    observer: Arc<dyn Observer>,
) -> Outcome {
    let premises = Arc::clone(&sandbox.premises);
    let tenant = premises.tenants.of(&invocation.namespace);
    let ceilings = premises.ceilings(program, &grants, &tenant, &invocation);
    let isolation = grants.isolation.or_else(|| premises.tenants.isolation(&tenant));
    let whose = Arc::new(Whose { premises, invocation, tenant, grants, ceilings });
    if isolation.unwrap_or(sandbox.isolation) == Isolation::Process {
        return apart(sandbox, program, &whose, observer).await;
    }
    let dirs = match whose.open().await {
        Ok(dirs) => dirs,
        Err(message) => return Outcome::error(message),
    };
    let meter = meter(program, &whose).await;
    // Held until the guest is gone: no more guests than the pool has room for.
    let Ok(_slots) = sandbox.slots.acquire_many(program.slots).await else {
        return Outcome::error("host fault: the sandbox is closed");
    };
    let transcript = Arc::new(transcript(observer, &whose));
    let guest = Guest::new(Arc::clone(&whose), meter, dirs, Arc::clone(&transcript));
    let store = store(&sandbox.engine, guest, whose.invocation.deadline);
    let mut store = scopeguard::guard(store, unmap);
    let result = execute(program, &mut store, &whose.invocation).await;
    let ended = ended(result, store.data_mut());
    drop(store);
    ended.conclude(&transcript, &whose)
}

/// Memory of a large guest is unmapped while no other's is mapped or unmapped: unmapping takes milliseconds, in which nobody maps
/// any, and whoever waits for that keeps out all who come behind, small guests too.
fn unmap(store: Store<Guest>) {
    let guest = store.data();
    let premises = guest.meter.is_large().then(|| Arc::clone(&guest.whose.premises));
    let _alone = premises.as_ref().map(|premises| premises.memory.alone());
    drop(store);
}

pub(super) fn transcript(observer: Arc<dyn Observer>, whose: &Whose) -> Transcript {
    Transcript::new(observer, whose.ceilings.ceiling(Limit::Log), whose.limits().line)
}

/// Counts what the guest takes of the memory of all. One that begins with more than its part waits until that is free.
async fn meter(program: &Program, whose: &Whose) -> Meter {
    let memory = &whose.premises.memory;
    let part = memory.part.saturating_mul(program.slots.into());
    let more = program.memory.saturating_sub(part);
    if more == 0 || program.memory > whose.ceilings.most(Limit::Memory) {
        return Meter::new(part, None);
    }
    let holder = Holder::of_tenant(&memory.pool, &whose.tenant, UNLIMITED);
    // Most need not wait, and what can is large.
    Box::pin(holder.hold_when_free(more)).await;
    Meter::new(part, Some(holder))
}

/// Calls `program` in a process of its own.
#[cfg(target_os = "linux")]
async fn apart(
    sandbox: &Shared,
    program: &Program,
    whose: &Arc<Whose>,
    observer: Arc<dyn Observer>,
) -> Outcome {
    match &sandbox.processes {
        Some(processes) => processes.call(program, whose, observer).await,
        None => Outcome::error(NO_PROCESSES),
    }
}

#[cfg(not(target_os = "linux"))]
async fn apart(_: &Shared, _: &Program, _: &Arc<Whose>, _: Arc<dyn Observer>) -> Outcome {
    std::future::ready(Outcome::error(NO_PROCESSES)).await
}

const NO_PROCESSES: &str =
    "the plugin's guests are to have processes of their own (`isolation`), and this program starts none";

/// How a call ended, before anybody has read what it returned.
pub(super) struct Ended {
    pub(super) result: Result<bindings::Outcome, Fault>,
    /// What was refused to the guest.
    pub(super) refused: Refused,
    pub(super) metered: Metered,
}

/// How a call of `guest` ended.
pub(super) fn ended(result: wasmtime::Result<bindings::Outcome>, guest: &mut Guest) -> Ended {
    guest.held.dirs.tell(&mut guest.refused);
    guest.held.http.tell(&mut guest.refused);
    let whose = &guest.whose;
    let result = result.map_err(|error| Fault::of(&error, whose.limits(), &whose.ceilings));
    Ended { result, refused: mem::take(&mut guest.refused), metered: guest.metered() }
}

impl Ended {
    /// The engine's view of it.
    pub(super) fn conclude(self, transcript: &Transcript, whose: &Whose) -> Outcome {
        let said = transcript.finish();
        let mut outcome = match self.result {
            Ok(returned) => read(returned, whose).unwrap_or_else(Outcome::error),
            Err(fault) => {
                whose.premises.faults.add(&fault);
                // Of an attempt that met its deadline the outcome is not told.
                transcript.used(so_far(self.metered));
                fault.outcome(&said, whose.named())
            }
        };
        outcome.message = transcript.brief(&outcome.message);
        if !matches!(outcome.code, code::SUCCEEDED | code::SUSPENDED) {
            outcome.message = refused::explain(outcome.message, &self.refused.told());
        }
        outcome.metered = self.metered;
        outcome
    }
}

/// What was used, and what this thread has computed for it.
pub(super) fn so_far(metered: Metered) -> Metered {
    Metered { cpu_us: metered.cpu_us.saturating_add(micros(computed())), ..metered }
}

pub(super) fn store(engine: &wasmtime::Engine, guest: Guest, deadline: Option<Instant>) -> Store<Guest> {
    let limits = guest.whose.limits();
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

/// Another tick has passed: stop at the deadline, or when it has computed enough, else let the neighbours have a turn.
fn next_epoch(guest: &Guest, deadline: Option<Instant>) -> wasmtime::Result<UpdateDeadline> {
    if deadline.is_some_and(|deadline| Instant::now() >= deadline) {
        return Ok(UpdateDeadline::Interrupt);
    }
    let (metered, ceilings) = (so_far(guest.metered()), &guest.whose.ceilings);
    if metered.cpu_us > ceilings.most(Limit::Cpu) {
        return Err(ceilings.exceeded(Limit::Cpu).into());
    }
    guest.transcript.used(metered);
    Ok(UpdateDeadline::YieldCustom(1, Box::pin(stop_for_others())))
}

async fn execute(
    program: &Program,
    store: &mut Store<Guest>,
    invocation: &Invocation,
) -> wasmtime::Result<bindings::Outcome> {
    let executor = program.pre.instantiate_async(&mut *store).await?;
    let Invocation { run_id, workflow, namespace, task_run_id, task, attempt, dispatch, resumed, .. } =
        invocation;
    let values: Vec<_> = invocation.inputs.iter().map(|(name, value)| (&**name, value.to_json())).collect();
    let inputs: Vec<_> = values.iter().map(|(name, value)| NamedValueParam { name, value }).collect();
    let argument = bindings::Invocation {
        run_id,
        workflow,
        namespace,
        task_run_id,
        task,
        attempt: *attempt,
        dispatch: *dispatch,
        resumed: *resumed,
        remaining_ms: invocation.deadline.map(remaining_ms),
        idempotency_key: &invocation.idempotency_key(),
        config: &invocation.config.to_json(),
        inputs: &inputs,
    };
    executor.call_execute(store, argument).await
}

pub(super) fn remaining_ms(deadline: Instant) -> u64 {
    let left: Duration = deadline.saturating_duration_since(Instant::now());
    u64::try_from(left.as_millis()).unwrap_or(u64::MAX)
}

/// Reads what a guest returned; sizes first, so that nothing too large is ever parsed.
fn read(returned: bindings::Outcome, whose: &Whose) -> Result<Outcome, String> {
    let bindings::Outcome { code, message, outputs, detail } = returned;
    let met = |limit| Err(whose.ceilings.exceeded(limit).told(whose.named()));
    let values: usize = outputs.iter().map(|output| output.name.len() + output.value.len()).sum();
    let size = values + message.len() + detail.as_ref().map_or(0, String::len);
    if size as u64 > whose.ceilings.most(Limit::Output) {
        return met(Limit::Output);
    }
    let texts = outputs.iter().map(|output| &output.value).chain(&detail);
    if texts.map(|text| most_values(text)).sum::<usize>() as u64 > whose.ceilings.most(Limit::OutputValues) {
        return met(Limit::OutputValues);
    }
    let outputs = outputs.into_iter().map(output).collect::<Result<_, _>>()?;
    let detail = detail.map(|text| object(&text)).transpose()?;
    Ok(Outcome { code, message: message.into(), outputs, detail, metered: Metered::default() })
}

/// How many values a JSON text has at most, without parsing it: a value in memory takes many times what `[],` takes as text.
fn most_values(text: &str) -> usize {
    let (mut values, mut quoted, mut escaped) = (1, false, false);
    for byte in text.bytes() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if quoted => escaped = true,
            b'"' => quoted = !quoted,
            b',' | b'[' | b'{' if !quoted => values += 1,
            _ => {}
        }
    }
    values
}

fn output(NamedValueResult { name, value }: NamedValueResult) -> Result<Output, String> {
    if name.is_empty() {
        return Err("an output has an empty name; expected a name".to_owned());
    }
    if name.len() > LONGEST_NAME || name.contains(text::is_hidden) {
        let name = text::brief(&name);
        return Err(format!(
            "an output is called {name:?}; expected up to {LONGEST_NAME} bytes that people can see"
        ));
    }
    let value = Value::from_json(&value)
        .map_err(|error| format!("output `{name}` is not JSON: {error}; expected one JSON value"))?;
    Ok(Output { name: name.into(), value })
}

fn object(text: &str) -> Result<Value, String> {
    let value =
        Value::from_json(text).map_err(|error| format!("detail is not JSON: {error}; expected an object"))?;
    if value.as_object().is_none() {
        return Err(format!("detail is of type {}; expected an object", value.type_name()));
    }
    Ok(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// R-I29.
    #[test]
    fn values_are_counted_without_parsing_and_never_too_few() {
        for (text, values) in [
            ("1", 1),
            ("[]", 2),
            ("[[],[]]", 5),
            (r#"{"a": 1, "b": [2, 3]}"#, 5),
            (r#"",[{\",[""#, 1),
            (r#"["\\", 1]"#, 3),
        ] {
            assert_eq!(most_values(text), values, "{text}");
        }
    }
}
