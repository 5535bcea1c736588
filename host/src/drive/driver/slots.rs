//! The slots of a run: asking the dispatcher for them, using them, giving them back.

use std::{mem, sync::Arc};

use phasm_engine::{
    event::{Command, Input, RunningQuota},
    time::Timestamp,
};

use super::Driver;
use crate::{
    dispatch::slots::{Claimant, SlotGrant},
    run::message::Message,
    store::Note,
};

/// Slots that a run has from the dispatcher.
pub(super) struct SlotAccount {
    pub(super) claimant: Claimant,
    /// Slots that the run may use and does not use yet.
    spare: u32,
    /// Slots that came back since the dispatcher was asked last, less those that were taken.
    returned: i64,
    /// The quota that the run's row gives as the reason why it waits.
    noted_quota: Option<u32>,
}

impl SlotAccount {
    pub(super) fn new(claimant: Claimant) -> Self {
        Self { claimant, spare: 0, returned: 0, noted_quota: None }
    }

    /// Takes slots that the dispatcher has lent, or that an attempt has freed.
    pub(super) fn put(&mut self, slots: i64) {
        self.returned += slots;
    }

    /// Takes the slots of attempts that `commands` start.
    pub(super) fn take_for(&mut self, commands: &[Command]) {
        self.returned -= dispatches(commands);
    }

    /// Slots that are neither used by an attempt nor with the dispatcher, besides those of commands not yet carried out.
    pub(super) fn in_hand(&self) -> i64 {
        self.returned + i64::from(self.spare)
    }
}

impl Driver {
    /// Settles slots with the dispatcher and uses what it lends, until neither changes anything.
    pub(super) fn fill_slots(&mut self, now: Timestamp) {
        loop {
            if self.batch.is_full() {
                // The rest begins with the next batch.
                self.inbox.send(Message::Tick);
                return;
            }
            let wanted = self.run.wanted_slots();
            let needless = self.slots.spare.saturating_sub(wanted);
            self.slots.spare -= needless;
            let returned = mem::take(&mut self.slots.returned) + i64::from(needless);
            let missing = wanted - self.slots.spare;
            let slots = &self.core.dispatcher.slots;
            let SlotGrant { lent, quota } =
                slots.exchange(&self.slots.claimant, self.inbox.as_sender(), returned, missing);
            self.slots.spare += lent;
            let used = self.slots.spare.min(self.room());
            if used == 0 {
                return self.tell_held(now, quota);
            }
            self.slots.spare -= used;
            self.slots.put(i64::from(used));
            self.step(now, Input::Lent(used));
        }
    }

    /// Records the quota that keeps tasks from slots while some wait for one.
    fn tell_held(&mut self, now: Timestamp, quota: Option<u32>) {
        let waits = self.run.wanted_slots() > self.slots.spare;
        let is_news = quota.is_some() || self.run.quota().is_some();
        if is_news && waits {
            let tenant = Arc::clone(&self.slots.claimant.tenant);
            self.step(now, Input::Held(quota.map(|running| RunningQuota { tenant, running })));
        }
        self.note_quota(now, quota.filter(|_| waits));
    }

    /// Notes in the run's row that a quota keeps tasks waiting, and when none does any more.
    fn note_quota(&mut self, since: Timestamp, quota: Option<u32>) {
        if self.slots.noted_quota == quota {
            return;
        }
        self.slots.noted_quota = quota;
        let key = format!("`running` under `[tenants.{}.quotas]`", self.slots.claimant.tenant);
        let note =
            quota.map(|running| Note { why: format!("{running} running at most ({key})").into(), since });
        self.batch.note = Some(note);
    }

    /// Number of attempts that may still join the backlog. With other hosts it is unbounded, as they may take the rest.
    fn room(&self) -> u32 {
        if self.core.dispatcher.has_outbound() {
            return u32::MAX;
        }
        self.attempts.backlog.room(u32::try_from(self.undispatched()).unwrap_or(u32::MAX))
    }

    /// Slots that are neither used by an attempt nor with the dispatcher.
    pub(super) fn slots_in_hand(&self) -> i64 {
        self.slots.in_hand() + self.undispatched()
    }

    /// Attempts that are decided and not with the dispatcher yet.
    fn undispatched(&self) -> i64 {
        let in_flight = self.commit.as_ref().map_or(0, |commit| dispatches(&commit.effects.commands));
        in_flight + dispatches(&self.batch.effects.commands) + dispatches(&self.pure)
    }
}

/// Number of slots that commands take.
fn dispatches(commands: &[Command]) -> i64 {
    let dispatches = commands.iter().filter(|command| matches!(command, Command::Dispatch(_))).count();
    i64::try_from(dispatches).unwrap_or(i64::MAX)
}
