//! The attempt that connects: its grant, its budget, and what it has looked up and opened.

use std::{
    net::IpAddr,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
};

use super::{
    TcpGrant,
    budget::Budget,
    connection_log::{ConnectionLog, Transfer},
};
use crate::{
    attempt_context::AttemptContext,
    capability::{
        hosts::{name::Host, resolver::describe_inside},
        http::Net,
        refusals::{RefusalList, Refusals, advice},
    },
    executor::Level,
    limits::LimitError,
    transcript::Transcript,
};

/// Results of look-ups that are remembered. The oldest is forgotten first, and its name has to be looked up again.
const MAX_RESOLVED: usize = 1024;
/// Characters of a name in messages.
const MAX_SHOWN_CHARS: usize = 100;

/// An attempt, as its connections see it.
pub(super) struct Caller {
    pub(super) net: Arc<Net>,
    pub(super) grant: TcpGrant,
    pub(super) context: Arc<AttemptContext>,
    pub(super) transcript: Arc<Transcript>,
    pub(super) budget: Budget,
    /// Addresses that look-ups of this attempt gave, with the name that was looked up.
    resolved: Mutex<Vec<(IpAddr, Host)>>,
    log: ConnectionLog,
    connected: AtomicU64,
    refusals: RefusalList,
}

impl Caller {
    pub(super) fn new(
        net: &Arc<Net>,
        grant: &TcpGrant,
        context: &Arc<AttemptContext>,
        transcript: &Arc<Transcript>,
    ) -> Self {
        Self {
            net: Arc::clone(net),
            grant: grant.clone(),
            context: Arc::clone(context),
            transcript: Arc::clone(transcript),
            budget: Budget::new(&context.ceilings),
            resolved: Mutex::default(),
            log: ConnectionLog::default(),
            connected: AtomicU64::new(0),
            refusals: RefusalList::default(),
        }
    }

    /// Remembers that addresses are those of a name.
    pub(super) fn remember(&self, host: &Host, addresses: &[IpAddr]) {
        let mut resolved = self.resolved.lock().unwrap_or_else(PoisonError::into_inner);
        for address in addresses {
            if !resolved.iter().any(|(known, name)| known == address && name == host) {
                if resolved.len() >= MAX_RESOLVED {
                    resolved.remove(0);
                }
                resolved.push((*address, host.clone()));
            }
        }
    }

    /// Returns the names whose look-up gave this address.
    pub(super) fn names_of(&self, address: IpAddr) -> Vec<Host> {
        let resolved = self.resolved.lock().unwrap_or_else(PoisonError::into_inner);
        resolved.iter().filter(|(known, _)| *known == address).map(|(_, name)| name.clone()).collect()
    }

    /// Returns the refusal of an internal or special address.
    pub(super) fn inside(&self, host: &Host, address: IpAddr) -> String {
        let advice = self.advice("tcp-networks", &address.to_string());
        format!("{}; {advice}", describe_inside(host, address))
    }

    /// Returns the line of a configuration that grants what was refused.
    pub(super) fn advice(&self, key: &str, entry: &str) -> String {
        advice(key, entry, self.context.plugin())
    }

    /// Enters a connection that starts now into the log, and returns its number.
    pub(super) fn begin(&self, shown: String, transfer: &Arc<Transfer>) -> u64 {
        let number = self.connected.fetch_add(1, Relaxed);
        self.log.insert(number, shown, transfer);
        number
    }

    /// Logs that a connection is over.
    pub(super) fn end(&self, number: u64, why: Option<&str>) {
        self.log.end(number, why, &self.transcript);
    }

    /// Notes that a limit was reached, and returns the message.
    pub(super) fn over(&self, over: LimitError) -> String {
        let why = over.message(self.context.owner());
        self.refuse(&why);
        why
    }

    /// Keeps a refusal for the attempt's message, and logs it if it is new.
    pub(super) fn refuse(&self, why: &str) {
        if self.refusals.keep(why) {
            self.transcript.note(Level::Warn, &format!("TCP refused: {why}"));
        }
    }
}

/// Returns enough of untrusted text to recognise it by.
pub(super) fn visible(text: &str) -> String {
    text.chars().filter(char::is_ascii_graphic).take(MAX_SHOWN_CHARS).collect()
}

/// Connections of one attempt. When this is dropped, those that are open are logged, and no more is reported of them.
pub(super) struct AttemptConnections(Arc<Caller>);

impl AttemptConnections {
    pub(super) fn new(caller: Caller) -> Self {
        Self(Arc::new(caller))
    }

    pub(super) fn caller(&self) -> &Arc<Caller> {
        &self.0
    }

    /// Reports the refusals.
    pub(super) fn report_refusals(&self, refusals: &mut Refusals) {
        self.0.refusals.report(refusals);
    }

    /// Returns the bytes that came in and went out.
    pub(super) fn byte_counts(&self) -> (u64, u64) {
        self.0.budget.byte_counts()
    }
}

impl Drop for AttemptConnections {
    fn drop(&mut self) {
        self.0.log.end_all(&self.0.transcript);
    }
}
