//! Untrusted input of a sandbox: any bytes instead of a component, and any bytes across the boundary of one.
//!
//! The fuzz targets of `tests/fuzz/guests` and an ordinary test give these functions their input. They panic where the sandbox
//! breaks a promise.

#![expect(clippy::unwrap_used, clippy::panic, clippy::missing_panics_doc, reason = "tests")]

use std::{
    fmt::Write as _,
    path::Path,
    sync::Arc,
    time::{Duration, Instant},
};

use phasm::{
    executor::{Invocation, Level, Observer},
    sandbox::{DirGrant, Grants, LoadError, Program, Quota, Sandbox, SandboxConfig},
};
use phasm_engine::{outcome::Outcome, text, value::Map};
use tokio::runtime::{Builder, Runtime};

/// After so long a guest is stopped.
const DEADLINE: Duration = Duration::from_millis(100);

/// A sandbox that calls one stranger after the other, and what they are granted.
pub struct Arena {
    runtime: Runtime,
    sandbox: Sandbox,
    grants: Arc<Grants>,
    puppet: Arc<Program>,
}

impl Arena {
    /// One that grants `dir`, to be written.
    #[must_use]
    pub fn new(dir: &Path) -> Self {
        let runtime = Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let sandbox = Sandbox::new(SandboxConfig { slots: 16, ..SandboxConfig::default() }).unwrap();
        let quota = Quota { bytes: Some(1 << 20), files: Some(1000) };
        let dirs = vec![DirGrant { quota, ..DirGrant::read_write(dir, "/data") }];
        let puppet = runtime.block_on(sandbox.load(puppet().into())).unwrap();
        let grants = Grants { dirs, ..Grants::default() };
        Self { runtime, sandbox, grants: Arc::new(grants), puppet: Arc::new(puppet) }
    }

    /// `data` is refused as a component, for what it is; or it runs, and comes to an outcome as any.
    pub fn component(&self, data: &[u8]) {
        match self.runtime.block_on(self.sandbox.load(data.into())) {
            Ok(program) => drop(self.call(&Arc::new(program), Map::new())),
            Err(LoadError::Fault(fault)) => panic!("{fault}"),
            Err(refused) => assert!(!refused.to_string().is_empty()),
        }
    }

    /// A guest does with the host what `data` says, and returns what it says.
    pub fn boundary(&self, data: &[u8]) {
        let digits = data.iter().fold(String::new(), |mut digits, byte| {
            let _ = write!(digits, "{byte:02x}");
            digits
        });
        self.call(&self.puppet, Map::from([("image".into(), digits.into())]));
    }

    fn call(&self, program: &Arc<Program>, inputs: Map) -> Outcome {
        let (program, grants) = (Arc::clone(program), Arc::clone(&self.grants));
        let calling = self.sandbox.call(program, grants, invocation(inputs), Arc::new(Deaf));
        let outcome = self.runtime.block_on(calling);
        check(&outcome);
        outcome
    }
}

/// Checks the invariants of every outcome, from any guest.
fn check(outcome: &Outcome) {
    let message = &outcome.message;
    // The guest's own message, and the refusals that it got.
    assert!(message.len() <= 4 * text::MAX_BYTES, "{} bytes of message", message.len());
    assert!(!message.starts_with("host fault"), "{message}");
    for output in &outcome.outputs {
        assert!((1..=256).contains(&output.name.len()), "{:?}", output.name);
        assert!(!output.name.contains(text::is_hidden), "{:?}", output.name);
    }
    assert!(outcome.detail.as_ref().is_none_or(|detail| detail.as_object().is_some()));
}

/// The world around the guest that does what it is told.
fn puppet() -> Vec<u8> {
    let world = include_str!("../hostile/world.wat");
    wat::parse_str(world.replace(";; GUEST", include_str!("guests/puppet.wat"))).unwrap()
}

fn invocation(inputs: Map) -> Invocation {
    Invocation {
        deadline: Some(Instant::now() + DEADLINE),
        inputs: Arc::new(inputs.into_iter().collect()),
        ..Invocation::first("stranger")
    }
}

/// Hears nothing.
struct Deaf;

impl Observer for Deaf {
    fn log(&self, _: Level, _: &str) {}
    fn progress(&self, _: Option<f64>, _: &str) {}
    fn activity(&self) {}
}
