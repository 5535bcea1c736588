//! A child that calls the guests of one plugin, one after the other.
//!
//! ```text
//! parent ── setup, machine code, call, call … ──▶ stdin    a socket: the child's messages go back on it
//!        ◀── ready; output, requests …, result ──
//! parent ── events and responses ───────────────▶ stdout    closes with the parent, and ends the child
//! ```

use std::{
    fs::File,
    io::{self, BufReader, Read as _},
    os::fd::AsFd as _,
    process::exit,
    sync::Arc,
    thread,
};

use tokio::runtime::{Builder, Runtime};
use wasmtime::{Engine, UpdateDeadline, component::Linker};

use super::{
    EXIT_PARENT_GONE,
    cpu_watchdog::CpuWatchdog,
    hardening,
    outbound::Outbound,
    rlimits::ResourceLimits,
    wire::{Call, ChildMessage, LENGTH_BYTES, ParentMessage, Setup, WireResult, decode, decode_owned},
};
#[cfg(feature = "http")]
use crate::capability::sockets::TcpRelayClient;
use crate::{
    attempt_context::AttemptContext,
    bindings::{self, phasm::executor::types::NamedValueParam},
    call_context::{CallContext, SandboxContext},
    call_result::CallResult,
    capability::{
        dirs::{DirGrant, QuotaClient, SharedDirs},
        http::{HttpLimits, Net, RelayClient},
    },
    fault::FaultCounts,
    grants::Grants,
    guest::{self, Guest},
    guest_store::{call_result, store},
    limits::{Ceilings, Limit, Meter, UNLIMITED},
    memory::Memory,
    poll_state::{compute_since, so_far},
    pool::Pool,
    program::Program,
    sealed_code::FreshCode,
    stopwatch::{Stopwatch, micros},
    transcript::Transcript,
};

/// Name of this kind of job.
pub(crate) const JOB: &str = "attempt";

/// Does the job and returns the exit status.
pub(super) fn serve(job: &[String]) -> i32 {
    match run(job) {
        Ok(()) => 0,
        Err(_) => 1,
    }
}

fn run(job: &[String]) -> io::Result<()> {
    // A file is read and written with system calls that open nothing else; sockets have calls of their own.
    let socket = File::from(io::stdin().as_fd().try_clone_to_owned()?);
    let mut input = BufReader::new(socket.try_clone()?);
    let outbound = Arc::new(Outbound::new(socket));
    let server = match prepare(job, &mut input, &outbound) {
        Ok(server) => server,
        Err(why) => return outbound.send(&ChildMessage::Failure(why.to_string())),
    };
    outbound.send(&ChildMessage::Ready)?;
    while let Some(call) = read_frame(&mut input)? {
        let ended = server.call(&decode_owned(&call)?);
        outbound.send(
            &ended.map_or_else(ChildMessage::Failure, |ended| ChildMessage::Result(WireResult::from(ended))),
        )?;
    }
    Ok(())
}

/// Prepares everything that calls need, and gives up everything else.
fn prepare(job: &[String], input: &mut BufReader<File>, outbound: &Arc<Outbound>) -> io::Result<CallServer> {
    let [memory, files] = job else { return Err(io::Error::other("no job of this version of Phasm")) };
    let number = |text: &String| text.parse().map_err(io::Error::other);
    ResourceLimits { memory: number(memory)?, cpu: None, files: number(files)? }.enter()?;
    let setup: Setup = decode_owned(&read_frame(input)?.unwrap_or_default())?;
    // The parent's working directory is not this one's.
    setup.grants.dirs.iter().try_for_each(DirGrant::check_absolute)?;
    let code = FreshCode::new(read_frame(input)?.unwrap_or_default());
    let server = CallServer::new(setup, &code, Arc::clone(outbound)).map_err(io::Error::other)?;
    let (clients, engine) = (server.clients.clone(), server.engine.clone());
    thread::spawn(move || {
        // The parent has gone.
        let _ = receive_messages(&clients, &engine);
        exit(EXIT_PARENT_GONE);
    });
    let flushed = Arc::clone(outbound);
    thread::spawn(move || flushed.keep_flushing());
    let outbound = Arc::clone(outbound);
    let watchdog = Arc::clone(&server.watchdog);
    thread::spawn(move || watchdog.watch(&outbound));
    hardening::system_calls()?;
    Ok(server)
}

/// Reads the next frame; `None` at the end.
fn read_frame(input: &mut BufReader<File>) -> io::Result<Option<Vec<u8>>> {
    let mut length = [0; LENGTH_BYTES];
    match input.read_exact(&mut length) {
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
        read => read?,
    }
    let mut frame = vec![0; u32::from_le_bytes(length) as usize];
    input.read_exact(&mut frame)?;
    Ok(Some(frame))
}

/// Receives messages while calls are made, until the parent has gone.
fn receive_messages(clients: &Clients, engine: &Engine) -> io::Result<()> {
    let mut messages = BufReader::new(File::from(io::stdout().as_fd().try_clone_to_owned()?));
    while let Some(frame) = read_frame(&mut messages)? {
        match decode(&frame)? {
            ParentMessage::Epoch => engine.increment_epoch(),
            ParentMessage::Http(event) => clients.relay.receive(event)?,
            #[cfg(feature = "http")]
            ParentMessage::Tcp(event) => clients.tcp_relay.receive(event)?,
            ParentMessage::Quota(answer) => clients.quota.receive(answer),
        }
    }
    Ok(())
}

/// Clients of the parent's services.
#[derive(Clone)]
struct Clients {
    relay: Arc<RelayClient>,
    #[cfg(feature = "http")]
    tcp_relay: Arc<TcpRelayClient>,
    quota: Arc<QuotaClient>,
}

impl Clients {
    fn new(outbound: &Arc<Outbound>) -> Self {
        let [of_quota, of_relay] = [Arc::clone(outbound), Arc::clone(outbound)];
        #[cfg(feature = "http")]
        let of_tcp = Arc::clone(outbound);
        Self {
            relay: RelayClient::new(move |request| of_relay.send_http(request)),
            #[cfg(feature = "http")]
            tcp_relay: TcpRelayClient::new(move |request| of_tcp.send_tcp(request)),
            quota: QuotaClient::new(move |entry| of_quota.send_quota(entry)),
        }
    }
}

/// State that calls share.
struct CallServer {
    context: Arc<SandboxContext>,
    grants: Arc<Grants>,
    engine: Engine,
    program: Program,
    runtime: Runtime,
    outbound: Arc<Outbound>,
    clients: Clients,
    watchdog: Arc<CpuWatchdog>,
}

impl CallServer {
    fn new(setup: Setup, code: &FreshCode, outbound: Arc<Outbound>) -> Result<Self, String> {
        let Setup { limits, grants, headers } = setup;
        let Pool { engine, slots, .. } =
            Pool::reserve(limits.slots_for(1), &limits).map_err(|error| error.to_string())?;
        let linker: Linker<Guest> = guest::linker(&engine).map_err(|error| format!("{error:#}"))?;
        let component = code.component(&engine).map_err(|error| format!("{error:#}"))?;
        // The initial images of memories are mapped now, while the process may still do so.
        component.initialize_copy_on_write_image().map_err(|error| format!("{error:#}"))?;
        let program =
            Program::link(&linker, &component, &limits, slots).map_err(|error| error.to_string())?;
        let clients = Clients::new(&outbound);
        let dirs = SharedDirs::for_single_call(&grants.dirs, &clients.quota);
        // The thread of the runtime, and those that send and receive messages, have no other files either.
        hardening::files(&grants.dirs).map_err(|error| error.to_string())?;
        // One thread in addition to the guest's: requests and timers continue while the guest computes.
        let runtime = Builder::new_multi_thread().worker_threads(1).enable_time().build();
        let runtime = runtime.map_err(|error| error.to_string())?;
        let context = Arc::new(SandboxContext {
            ceilings: Ceilings::of(&limits, &HttpLimits::default()),
            limits: Arc::new(limits),
            tenants: Arc::default(),
            memory: Memory::uncounted(),
            faults: FaultCounts::default(),
            dirs,
            net: Arc::new(Net::relayed(headers)),
            relay: Some(Arc::clone(&clients.relay)),
            #[cfg(feature = "http")]
            tcp_relay: Some(Arc::clone(&clients.tcp_relay)),
        });
        let watchdog = Arc::default();
        Ok(Self { context, grants: Arc::new(grants), engine, program, runtime, outbound, clients, watchdog })
    }

    fn call(&self, call: &Call) -> Result<CallResult, String> {
        let outbound = Arc::clone(&self.outbound);
        let attempt = AttemptContext {
            invocation: call.invocation(),
            tenant: call.tenant.as_str().into(),
            limits: Arc::clone(&self.context.limits),
            ceilings: call.ceilings,
        };
        let context = CallContext {
            attempt: Arc::new(attempt),
            grants: Arc::clone(&self.grants),
            sandbox: Arc::clone(&self.context),
        };
        let log = context.attempt.ceilings.ceiling(Limit::Log);
        let line = context.attempt.limits.line;
        let transcript = Transcript::forwarded(log, line, Box::new(move |output| outbound.forward(output)));
        let watch = Stopwatch::of_thread();
        let cpu = context.attempt.ceilings.ceiling(Limit::Cpu);
        compute_since(watch);
        self.watchdog.start(cpu);
        let ended = self.runtime.block_on(async {
            // The parent counts the memory that all guests share.
            let meter = Meter::new(UNLIMITED, None);
            let dirs = context.open_dirs().await?;
            let guest = Guest::new(context, meter, dirs, Arc::new(transcript));
            Ok(self.execute(guest, call).await)
        });
        self.watchdog.stop();
        ended.map(|mut ended: CallResult| {
            ended.metered.cpu_us = micros(watch.elapsed());
            ended
        })
    }

    async fn execute(&self, guest: Guest, call: &Call) -> CallResult {
        // The parent ends the call by ending the process, and has been told its usage by then.
        let mut store = store(&self.engine, guest, None);
        let outbound = Arc::clone(&self.outbound);
        store.set_epoch_deadline(1);
        store.epoch_deadline_callback(move |store| {
            outbound.send_usage(so_far(store.data().metered()));
            Ok(UpdateDeadline::Continue(1))
        });
        let inputs: Vec<_> =
            call.inputs.iter().map(|(name, value)| NamedValueParam { name, value }).collect();
        let argument = bindings::Invocation {
            run_id: &call.run_id,
            workflow: &call.workflow,
            namespace: &call.namespace,
            task_run_id: &call.task_run_id,
            task: &call.task,
            attempt: call.attempt,
            dispatch: call.dispatch,
            resumed: call.resumed,
            remaining_ms: call.remaining_ms,
            idempotency_key: &call.idempotency_key,
            config: &call.config,
            inputs: &inputs,
        };
        let result = match self.program.pre.instantiate_async(&mut store).await {
            Ok(executor) => executor.call_execute(&mut store, argument).await,
            Err(error) => Err(error),
        };
        let guest = store.data_mut();
        let result = result.map_err(|error| within(error, &guest.context.attempt.ceilings));
        call_result(result, guest)
    }
}

/// Turns a failed mapping into the memory limit: declared memory is mapped before it is counted, and this process has hardly more
/// than a guest may have.
fn within(error: wasmtime::Error, ceilings: &Ceilings) -> wasmtime::Error {
    let lacking = error.root_cause().to_string().contains("(os error 12)");
    if lacking { ceilings.exceeded(Limit::Memory).into() } else { error }
}
