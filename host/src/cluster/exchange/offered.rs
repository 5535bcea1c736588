//! Attempts of this host that found no place here.

use std::{collections::BTreeMap, future::Future, sync::Arc};

use phasm_engine::{event::Fence, outcome::Outcome, time::Millis};

use super::Sender;
use crate::dispatch::wire::{ReportBody, read};
use crate::{
    clock::Clock,
    core::HostCore,
    dispatch::{
        dispatcher::{Outbound, Permit, WaitReply, WaitingAttempt},
        signal::Signal,
    },
    store::{ExchangeRequest, IncomingReport},
};

/// Where one of them is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// Not offered, or no other host may execute it.
    Here,
    /// Offered; another host may have taken it.
    Offered,
    /// Another host executes it.
    Started,
}

/// Attempts that wait for a place, or that another host executes.
#[derive(Default)]
pub(super) struct OfferedAttempts {
    /// The oldest first.
    all: BTreeMap<u64, (WaitingAttempt<Sender>, Stage)>,
    offered_count: u32,
    started: u32,
    withdrawn: Vec<u64>,
    heard: Vec<u64>,
    look_again: Option<(Clock, Millis)>,
}

impl OfferedAttempts {
    pub(super) fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// How many another host executes.
    pub(super) fn started(&self) -> u32 {
        self.started
    }

    /// How many are offered and not known to be executed.
    pub(super) fn untaken(&self) -> u32 {
        self.offered_count
    }

    pub(super) fn add(&mut self, sent: Vec<Outbound<Sender>>) {
        for outbound in sent {
            match outbound {
                Outbound::Attempt(waiting) => {
                    self.all.insert(waiting.number, (*waiting, Stage::Here));
                }
                Outbound::Left(number) => {
                    if self.remove(number).is_some_and(|(_, stage)| stage != Stage::Here) {
                        self.withdrawn.push(number);
                    }
                }
            }
        }
    }

    fn remove(&mut self, number: u64) -> Option<(WaitingAttempt<Sender>, Stage)> {
        let removed = self.all.remove(&number)?;
        self.count(removed.1, -1);
        Some(removed)
    }

    fn count(&mut self, stage: Stage, by: i32) {
        match stage {
            Stage::Here => {}
            Stage::Offered => self.offered_count = self.offered_count.saturating_add_signed(by),
            Stage::Started => self.started = self.started.saturating_add_signed(by),
        }
    }

    fn set(&mut self, number: u64, stage: Stage) {
        let Some((_, current)) = self.all.get_mut(&number) else { return };
        let before = std::mem::replace(current, stage);
        self.count(before, -1);
        self.count(stage, 1);
    }

    /// Whether one of them could begin here without asking others.
    pub(super) fn waits_here(&self) -> bool {
        self.here().next().is_some()
    }

    fn here(&self) -> impl Iterator<Item = u64> {
        self.all.iter().filter(|(_, (_, stage))| *stage == Stage::Here).map(|(number, _)| *number)
    }

    /// Begins the oldest attempt that is not offered here.
    pub(super) fn run_locally(&mut self, permit: Permit<Sender>) {
        let Some(number) = self.here().next() else { return };
        if let Some((waiting, _)) = self.remove(number) {
            // If the attempt was abandoned meanwhile, the permit is free again.
            drop(waiting.replies.send(WaitReply::Local(permit)));
        }
    }

    pub(super) fn has_to_tell(&self) -> bool {
        let is_new = |(waiting, stage): &(WaitingAttempt<Sender>, Stage)| {
            *stage == Stage::Here && waiting.offer.is_some()
        };
        !self.withdrawn.is_empty() || !self.heard.is_empty() || self.all.values().any(is_new)
    }

    /// Adds what is to be told; all of it again, if an answer may have been lost.
    pub(super) fn add_to(&mut self, request: &mut ExchangeRequest, again: bool) {
        let mut new = Vec::new();
        for (number, (waiting, stage)) in &self.all {
            let Some(offer) = &waiting.offer else { continue };
            if *stage == Stage::Here {
                new.push(*number);
            }
            if again || *stage == Stage::Here {
                request.offers.push(offer.clone());
            }
        }
        new.into_iter().for_each(|number| self.set(number, Stage::Offered));
        request.withdrawn.clone_from(&self.withdrawn);
        request.heard.clone_from(&self.heard);
    }

    /// Marks the reports as received.
    pub(super) fn acknowledge(&mut self) {
        self.withdrawn.clear();
        self.heard.clear();
    }

    pub(super) fn hear(&mut self, reported: Vec<IncomingReport>) {
        for IncomingReport { report, number, body } in reported {
            self.heard.push(report);
            let Some((waiting, _)) = self.all.get(&number) else { continue };
            let fence = waiting.fence;
            let signals = signals(read(&body), fence);
            let is_last = signals.iter().any(Signal::is_end);
            let replies = waiting.replies.clone();
            if is_last {
                self.remove(number);
            } else {
                self.set(number, Stage::Started);
            }
            // An attempt that was abandoned has said so, and its message is on the way.
            signals.into_iter().for_each(|signal| drop(replies.send(WaitReply::Remote(signal))));
        }
    }

    /// Begins the attempts of `recalled` here.
    pub(super) fn recall(&mut self, recalled: Vec<u64>, permits: Vec<Permit<Sender>>) {
        for (number, permit) in recalled.into_iter().zip(permits) {
            if let Some((waiting, _)) = self.remove(number) {
                drop(waiting.replies.send(WaitReply::Local(permit)));
            }
        }
    }

    pub(super) fn look_again_at(&mut self, at: Option<Millis>, host: &Arc<HostCore>) {
        self.look_again = at.map(|at| (host.clock.clone(), at));
    }

    /// Whether a host that executes one of them may be gone.
    pub(super) fn looks_again(&self) -> bool {
        !self.all.is_empty() && self.look_again.as_ref().is_some_and(|(clock, at)| clock.elapsed() >= *at)
    }

    /// Waits until that is so.
    pub(super) fn look_again(&self) -> impl Future<Output = ()> + use<> {
        let look_again = self.look_again.clone().filter(|_| !self.all.is_empty());
        async move {
            match look_again {
                Some((clock, at)) => clock.sleep_until(at).await,
                None => std::future::pending().await,
            }
        }
    }
}

fn signals(body: Option<ReportBody>, fence: Fence) -> Vec<Signal> {
    let over = |log: Option<crate::dispatch::wire::LogBody>, last| {
        let wrote = log.map(|log| Signal::Wrote(fence, log.log(fence)));
        wrote.into_iter().chain([last]).collect()
    };
    match body {
        Some(ReportBody::Started) => vec![Signal::Started(fence, None)],
        Some(ReportBody::Inactive) => vec![Signal::Inactive(fence)],
        Some(ReportBody::Interrupted(log)) => over(log, Signal::Interrupted(fence)),
        Some(ReportBody::Gone(log)) => over(log, Signal::Gone(fence)),
        Some(ReportBody::Finished(outcome, log)) => {
            over(log, Signal::Finished(fence, Outcome::from(*outcome)))
        }
        None => {
            let message =
                "the message of another host about the attempt cannot be read: it has another version";
            vec![Signal::Finished(fence, Outcome::error(message))]
        }
    }
}
