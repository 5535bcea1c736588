//! One call: a fresh guest, and its outcome.

use std::sync::Arc;

use phasm_engine::outcome::Outcome;
use wasmtime::Store;

use super::{
    attempt_context::AttemptContext,
    bindings::{self, phasm::executor::types::NamedValueParam},
    call_context::CallContext,
    executor::{Invocation, Observer},
    grants::Grants,
    guest::Guest,
    guest_store::{call_result, store},
    isolation::Isolation,
    limits::{Limit, Meter, UNLIMITED},
    outcome::{conclude, transcript},
    program::Program,
    sandbox_core::SandboxCore,
    shared_budget::Lease,
};

/// Calls `program` once, on the thread that polls this.
pub(super) async fn call(
    sandbox: &SandboxCore,
    program: &Program,
    grants: Arc<Grants>,
    invocation: Invocation,
    observer: Arc<dyn Observer>,
) -> Outcome {
    let common = Arc::clone(&sandbox.context);
    let tenant = common.tenants.of(&invocation.namespace);
    let ceilings = common.ceilings(&program.limits, &grants, &tenant, &invocation);
    let isolation = grants.isolation.or_else(|| common.tenants.isolation(&tenant));
    let attempt = AttemptContext { invocation, tenant, limits: Arc::clone(&common.limits), ceilings };
    let grants = grants.with_dirs(&attempt.invocation.dirs);
    let context = CallContext { attempt: Arc::new(attempt), grants, sandbox: common };
    // The paths of an attempt's own directories never come again.
    let context = scopeguard::guard(context, |context| {
        context.sandbox.dirs.forget(&context.attempt.invocation.dirs);
    });
    // Held until the guest is gone, in whichever process it is.
    let _locks = match context.lock_dirs().await {
        Ok(locks) => locks,
        Err(message) => return Outcome::error(message),
    };
    if isolation.unwrap_or(sandbox.isolation) == Isolation::Process {
        return call_in_process(sandbox, program, &context, observer).await;
    }
    let dirs = match context.open_dirs().await {
        Ok(dirs) => dirs,
        Err(message) => return Outcome::error(message),
    };
    let meter = meter(program, &context).await;
    // Held until the guest is gone, so that there are no more guests than the pool has room for.
    let Ok(_slots) = sandbox.slots.acquire_many(program.slots).await else {
        return Outcome::error("host fault: the sandbox is closed");
    };
    let transcript = Arc::new(transcript(observer, &context.attempt));
    let guest = Guest::new(CallContext::clone(&context), meter, dirs, Arc::clone(&transcript));
    let store = store(&sandbox.engine, guest, context.attempt.invocation.deadline);
    let mut store = scopeguard::guard(store, unmap);
    let result = execute(program, &mut store, &context.attempt.invocation).await;
    let result = call_result(result, store.data_mut());
    drop(store);
    conclude(result, &transcript, &context)
}

/// Drops the store of a guest. Memory of a large guest is unmapped under the mapping lock: unmapping takes milliseconds in which
/// the kernel lets no other thread map memory, and threads that queue for that would hold up all others, small guests included.
fn unmap(store: Store<Guest>) {
    let guest = store.data();
    let common = guest.meter.is_large().then(|| Arc::clone(&guest.context.sandbox));
    let _alone = common.as_ref().map(|common| common.memory.lock_mapping());
    drop(store);
}

/// Makes the meter of the guest's memory. A guest whose initial memory exceeds its part waits until shared memory is free.
async fn meter(program: &Program, context: &CallContext) -> Meter {
    let memory = &context.sandbox.memory;
    let part = memory.part.saturating_mul(program.slots.into());
    let more = program.memory.saturating_sub(part);
    if more == 0 || program.memory > context.attempt.ceilings.most(Limit::Memory) {
        return Meter::new(part, None);
    }
    let lease = Lease::of_tenant(&memory.pool, &context.attempt.tenant, UNLIMITED);
    // Boxed: most calls need not wait, and the future is large.
    Box::pin(lease.reserve_when_free(more)).await;
    Meter::new(part, Some(lease))
}

/// Calls `program` in a process of its own.
#[cfg(target_os = "linux")]
async fn call_in_process(
    sandbox: &SandboxCore,
    program: &Program,
    context: &CallContext,
    observer: Arc<dyn Observer>,
) -> Outcome {
    match &sandbox.processes {
        Some(processes) => processes.call(program, context, observer).await,
        None => Outcome::error(NO_PROCESSES),
    }
}

#[cfg(not(target_os = "linux"))]
async fn call_in_process(_: &SandboxCore, _: &Program, _: &CallContext, _: Arc<dyn Observer>) -> Outcome {
    std::future::ready(Outcome::error(NO_PROCESSES)).await
}

const NO_PROCESSES: &str =
    "the plugin's guests are to have processes of their own (`isolation`), and this program starts none";

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
        remaining_ms: invocation.remaining_ms(),
        idempotency_key: &invocation.idempotency_key(),
        config: &invocation.config.to_json(),
        inputs: &inputs,
    };
    executor.call_execute(store, argument).await
}
