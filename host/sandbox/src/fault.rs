//! Faults of guests, and the outcomes that name their causes.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use phasm_engine::outcome::Outcome;
use phasm_files::Size;
use serde::{Deserialize, Serialize};
use wasmtime::{Error, Trap};
use wasmtime_wasi::I32Exit;

use super::{
    limits::{Ceilings, Limit, LimitError, Limits, Owner},
    memory::NoMemory,
    occupancy::FaultKind,
    stderr_tail::StderrTail,
};

/// Fault that ended a call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Fault {
    /// The guest computed until its deadline.
    Timeout,
    /// The guest reached a limit that tenants, plugins and tasks may lower.
    Exceeded(LimitError),
    /// The guest reached another limit; the text explains it.
    Limit(String),
    /// The guest exited; its last output may tell why.
    Exited(String),
    /// The guest trapped; its panic message or its last output may tell why.
    Trapped(String),
}

/// Number of calls that ended with each kind of fault.
#[derive(Debug, Default)]
pub(super) struct FaultCounts([AtomicU64; FaultKind::ALL.len()]);

impl FaultCounts {
    pub(super) fn add(&self, fault: &Fault) {
        let kind = fault.kind();
        let found = FaultKind::ALL.iter().zip(&self.0).find(|(of, _)| **of == kind);
        if let Some((_, count)) = found {
            count.fetch_add(1, Relaxed);
        }
    }

    pub(super) fn get(&self) -> Vec<(FaultKind, u64)> {
        FaultKind::ALL.into_iter().zip(&self.0).map(|(kind, count)| (kind, count.load(Relaxed))).collect()
    }
}

impl Fault {
    const fn kind(&self) -> FaultKind {
        match self {
            Self::Timeout => FaultKind::Timeout,
            Self::Exceeded(_) | Self::Limit(_) => FaultKind::Limit,
            Self::Exited(_) => FaultKind::Exit,
            Self::Trapped(_) => FaultKind::Trap,
        }
    }

    /// Returns the fault of a call that ended with `error`.
    pub(super) fn of(error: &Error, limits: &Limits, ceilings: &Ceilings) -> Self {
        if let Some(exceeded) = error.downcast_ref::<LimitError>() {
            return Self::Exceeded(*exceeded);
        }
        if let Some(no_memory) = error.downcast_ref::<NoMemory>() {
            return Self::Limit(no_memory.to_string());
        }
        if let Some(I32Exit(status)) = error.downcast_ref() {
            let exited = format!("the guest exited with status {status} instead of returning an outcome");
            return Self::Exited(exited);
        }
        match error.downcast_ref::<Trap>() {
            Some(Trap::Interrupt) => Self::Timeout,
            Some(Trap::StackOverflow) => {
                Self::Limit(format!("stack overflow: limit of {} reached (limits.stack)", Size(limits.stack)))
            }
            // The guest's own stack lies at the bottom of its memory.
            Some(trap @ Trap::MemoryOutOfBounds) => Self::Trapped(format!(
                "{}, or the stack that the guest was linked with is full",
                trap_message(&trap.to_string())
            )),
            Some(trap) => Self::Trapped(trap_message(&trap.to_string())),
            None => other(error, limits, ceilings),
        }
    }

    /// Returns the outcome of the fault; `stderr` is the guest's last output on standard error.
    pub(super) fn outcome(self, stderr: &StderrTail, owner: Owner<'_>) -> Outcome {
        match self {
            Self::Timeout => timeout(),
            Self::Exceeded(exceeded) => Outcome::error(exceeded.message(owner)),
            Self::Limit(cause) => Outcome::error(cause),
            Self::Exited(cause) => Outcome::error(stderr.follow(cause)),
            Self::Trapped(cause) => Outcome::error(stderr.explain(cause)),
        }
    }
}

/// Returns the outcome of an attempt that met its deadline.
pub(super) fn timeout() -> Outcome {
    Outcome::timeout("stopped at its deadline")
}

/// Returns the outcome of an attempt during which the host itself panicked.
pub(super) fn host_fault(panic: &(dyn std::any::Any + Send)) -> Outcome {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("panic without a message");
    Outcome::error(format!("host fault: {text}"))
}

fn other(error: &Error, limits: &Limits, ceilings: &Ceilings) -> Fault {
    let cause = error.root_cause().to_string();
    // The type of this error is private to wasmtime.
    if cause.contains("fuel allocated for hostcalls has been exhausted") {
        return transfer_fault(error, limits, ceilings);
    }
    let key =
        WASMTIME_LIMITS.iter().find(|(says, _)| cause.contains(says)).map(|(_, key)| format!(" ({key})"));
    Fault::Trapped(trap_message(&cause) + key.as_deref().unwrap_or_default())
}

/// Messages of wasmtime about limits that wasmtime counts, and the keys of these limits in a configuration.
const WASMTIME_LIMITS: [(&str, &str); 7] = [
    ("instance count too high", "limits.instances"),
    ("memory count too high", "limits.memories"),
    ("table count too high", "limits.tables"),
    ("resource table has no free keys", "limits.resources"),
    ("requested len", "limits.random"),
    ("store handle limit exceeded", "limits.handles"),
    ("total size of fields exceeds limit", "`headers` under `[http]`"),
];

fn trap_message(cause: &str) -> String {
    format!("trap: {}", cause.trim_start_matches("wasm trap: "))
}

/// Converts the error about too much data copied out of the guest: its outcome, if no guest code was running, else an argument of
/// a host call.
fn transfer_fault(error: &Error, limits: &Limits, ceilings: &Ceilings) -> Fault {
    let limit = Size(limits.hostcall.max(limits.output));
    if error.downcast_ref::<wasmtime::WasmBacktrace>().is_some() {
        Fault::Limit(format!("more than {limit} handed to the host in one call (limits.hostcall)"))
    } else {
        Fault::Exceeded(ceilings.exceeded(Limit::Output))
    }
}

#[cfg(test)]
mod tests {
    use phasm_engine::outcome::code;

    use super::*;
    use crate::capability::http::HttpLimits;

    /// R-I45.
    #[test]
    fn a_full_stack_of_the_guests_own_is_named() {
        let ceilings = Ceilings::of(&Limits::default(), &HttpLimits::default());
        let fault = Fault::of(&Trap::MemoryOutOfBounds.into(), &Limits::default(), &ceilings);
        let outcome = fault.outcome(&StderrTail::default(), Owner { tenant: "acme", plugin: "jq" });
        let says = "trap: out of bounds memory access, or the stack that the guest was linked with is full";
        assert_eq!((outcome.code, &*outcome.message), (code::ERROR, says));
    }

    #[test]
    fn every_cause_is_named() {
        let limits = Limits { memory: 65_536, ..Limits::default() };
        let ceilings = Ceilings::of(&limits, &HttpLimits::default());
        let owner = Owner { tenant: "acme", plugin: "jq" };
        let rows: [(Error, &str, i32, &str); 10] = [
            (Trap::Interrupt.into(), "", code::TIMEOUT, "stopped at its deadline"),
            (
                Trap::StackOverflow.into(),
                "",
                code::ERROR,
                "stack overflow: limit of 512 KiB reached (limits.stack)",
            ),
            (Trap::IntegerDivisionByZero.into(), "", code::ERROR, "trap: integer divide by zero"),
            (
                Trap::IntegerDivisionByZero.into(),
                "dividing",
                code::ERROR,
                "trap: integer divide by zero; the guest said: dividing",
            ),
            (
                Trap::UnreachableCodeReached.into(),
                "a panicked at src/lib.rs:1:2: oh",
                code::ERROR,
                "guest panicked at src/lib.rs:1:2: oh",
            ),
            (
                ceilings.exceeded(Limit::Memory).into(),
                "oh",
                code::ERROR,
                "memory limit of 64 KiB reached (limits.memory)",
            ),
            (
                ceilings.exceeded(Limit::Log).into(),
                "",
                code::ERROR,
                "log over its limit of 1 MiB (limits.log)",
            ),
            (
                I32Exit(1).into(),
                "",
                code::ERROR,
                "the guest exited with status 1 instead of returning an outcome",
            ),
            (
                I32Exit(2).into(),
                "panic: oh",
                code::ERROR,
                "the guest exited with status 2 instead of returning an outcome; the guest said: panic: oh",
            ),
            (Error::msg("pipe burst"), "", code::ERROR, "trap: pipe burst"),
        ];
        for (error, line, code, message) in rows {
            let mut stderr = StderrTail::default();
            stderr.push_line(line);
            let outcome = Fault::of(&error, &limits, &ceilings).outcome(&stderr, owner);
            assert_eq!((outcome.code, &*outcome.message), (code, message));
        }
    }

    #[test]
    fn a_host_fault_says_so() {
        for (panic, message) in [
            (Box::new("a") as Box<dyn std::any::Any + Send>, "host fault: a"),
            (Box::new("b".to_owned()), "host fault: b"),
            (Box::new(1), "host fault: panic without a message"),
        ] {
            assert_eq!(&*host_fault(&*panic).message, message);
        }
    }
}
