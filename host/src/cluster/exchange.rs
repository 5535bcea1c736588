//! Attempts that find no place here are offered to the other hosts of the store, and theirs are executed here.
//!
//! ```text
//!  driver ──▶ dispatcher ── no place ──▶ own ── offers ──▶ store ── taken ──▶ another host: executing
//!                 ▲                       ▲                  │                       │
//!                 └──── a place here ─────┴── recalled ◀─────┴◀── started, over ◀────┘
//! ```
//!
//! One exchange with the store at a time: all that has gathered meanwhile goes with the next.

mod borrowed;
mod offered;

use std::{
    sync::{Arc, Weak},
    time::Duration,
};

use tokio::sync::{mpsc, watch};

use self::{borrowed::BorrowedAttempts, offered::OfferedAttempts};
use crate::{
    core::{HostCore, background::RETRY_PAUSES},
    dispatch::{
        dispatcher::{Outbound, Permit},
        slots::WakeConditions,
    },
    run::message::Message,
    store::{ExchangeRequest, ExchangeResponse, StoreError},
};

/// Messages taken in one go.
const MAX_MESSAGES_AT_ONCE: usize = 4096;

type Sender = mpsc::UnboundedSender<Message>;

/// Exchange of attempts between one host and the others of its store.
pub(crate) struct Exchange {
    host: Weak<HostCore>,
    outbound: mpsc::UnboundedReceiver<Outbound<Sender>>,
    changed: watch::Receiver<()>,
    offered: OfferedAttempts,
    borrowed: BorrowedAttempts,
    /// Others may have offered something, told something, or have room.
    news: bool,
    /// A reply may have been lost.
    missed: bool,
    /// There was no permit left at the last look.
    was_full: bool,
    pause: Duration,
}

/// Room that was set aside for attempts that an exchange may bring.
struct Reservation {
    /// For attempts of others.
    room: u32,
    /// For those of this host that come back.
    permits: Vec<Permit<Sender>>,
}

impl Exchange {
    /// Begins to share attempts of `host` with the others of its store.
    pub(crate) fn begin(host: &Arc<HostCore>) {
        let (sends, outbound) = mpsc::unbounded_channel();
        host.dispatcher.set_outbound(sends);
        let exchange = Self {
            host: Arc::downgrade(host),
            outbound,
            changed: host.store.shared(),
            offered: OfferedAttempts::default(),
            borrowed: BorrowedAttempts::new(host),
            news: true,
            missed: false,
            was_full: true,
            pause: RETRY_PAUSES.0,
        };
        host.control.spawn(exchange.run());
    }

    /// Until the host is gone.
    async fn run(mut self) {
        while let Some(host) = self.host.upgrade().filter(|host| !host.is_closed()) {
            self.settle(&host);
            if self.is_due(&host) {
                self.exchange(&host).await;
                drop(host);
            } else {
                self.wait(host).await;
            }
        }
    }

    /// Begins what can begin here.
    fn settle(&mut self, host: &Arc<HostCore>) {
        while self.offered.waits_here() && host.dispatcher.slots.unused() > 0 {
            let Some(permit) = host.dispatcher.permit() else { break };
            self.offered.run_locally(permit);
        }
        self.was_full |= host.dispatcher.slots.unused() == 0;
    }

    fn takes(host: &HostCore) -> bool {
        host.idle_timeout.is_some() && host.begins()
    }

    fn is_due(&self, host: &HostCore) -> bool {
        let unused = host.dispatcher.slots.unused() > 0;
        let could_take = unused && Self::takes(host);
        let concerns = !self.offered.is_empty() || !self.borrowed.is_empty() || could_take;
        self.missed
            || self.offered.has_to_tell()
            || self.borrowed.has_to_tell()
            || (self.news && (concerns || host.dispatcher.slots.is_starved()))
            || (could_take && self.was_full)
            || (unused && self.offered.untaken() > 0)
            || self.offered.looks_again()
    }

    async fn wait(&mut self, host: Arc<HostCore>) {
        let takes = Self::takes(&host);
        let unused = (takes && self.was_full) || self.offered.untaken() > 0 || self.offered.waits_here();
        let dispatcher = Arc::clone(&host.dispatcher);
        // A task that waits must not keep the host alive.
        drop(host);
        let mut sent = Vec::new();
        let look_again = self.offered.look_again();
        tokio::select! {
            count = self.outbound.recv_many(&mut sent, MAX_MESSAGES_AT_ONCE) => {
                if count == 0 {
                    std::future::pending::<()>().await;
                }
            }
            () = self.borrowed.hear() => {}
            changed = self.changed.changed() => {
                if changed.is_err() {
                    std::future::pending::<()>().await;
                }
                self.news = true;
            }
            () = dispatcher.slots.listen(WakeConditions { unused, starved: self.news }) => {}
            () = look_again => {}
        }
        self.offered.add(sent);
    }

    fn reserve(&self, host: &Arc<HostCore>) -> Reservation {
        let slots = &host.dispatcher.slots;
        let back = slots.unused().min(self.offered.untaken());
        let permits: Vec<_> = (0..back).map_while(|_| host.dispatcher.permit()).collect();
        let takes = Self::takes(host) && permits.is_empty();
        Reservation { room: if takes { slots.take_unused(u32::MAX) } else { 0 }, permits }
    }

    async fn exchange(&mut self, host: &Arc<HostCore>) {
        let reserved = self.reserve(host);
        self.was_full = false;
        self.news = false;
        self.changed.mark_unchanged();
        let mut request = ExchangeRequest::nothing(host.host.clone(), host.clock.now());
        request.room = reserved.room;
        request.recalled = u32::try_from(reserved.permits.len()).unwrap_or(0);
        self.offered.add_to(&mut request, self.missed);
        self.borrowed.add_to(&mut request, self.missed);
        match host.store.share(request).await {
            Ok(shares) => {
                self.missed = false;
                self.pause = RETRY_PAUSES.0;
                self.take_in(host, shares, reserved);
            }
            Err(error) => {
                self.missed = true;
                host.dispatcher.give_back_room(reserved.room);
                drop(reserved.permits);
                self.back_off(host, &error).await;
            }
        }
        let mut sent = Vec::new();
        while let Ok(outbound) = self.outbound.try_recv() {
            sent.push(outbound);
        }
        self.offered.add(sent);
        self.borrowed.hear_what_is_there();
    }

    fn take_in(&mut self, host: &Arc<HostCore>, shares: ExchangeResponse, reserved: Reservation) {
        let ExchangeResponse { taken, stopped, recalled, reported, room, look_again } = shares;
        self.offered.acknowledge();
        self.borrowed.acknowledge();
        self.offered.hear(reported);
        self.offered.recall(recalled, reserved.permits);
        self.offered.look_again_at(look_again.map(|at| host.clock.after(left(host, at))), host);
        let began = u32::try_from(taken.len()).unwrap_or(u32::MAX);
        host.dispatcher.give_back_room(reserved.room.saturating_sub(began));
        self.borrowed.stop(&stopped);
        self.borrowed.take(host, taken);
        // The room of other hosts, and a quarter of what they execute, which waits until they have room again.
        let started = self.offered.started();
        host.dispatcher.slots.lend_elsewhere(started.saturating_add(started / 4).saturating_add(room));
    }

    async fn back_off(&mut self, host: &HostCore, error: &StoreError) {
        tracing::warn!(
            error = error as &dyn std::error::Error,
            "attempts cannot be shared with other hosts now; trying again"
        );
        host.clock.sleep(self.pause).await;
        self.pause = (self.pause * 2).min(RETRY_PAUSES.1);
    }
}

fn left(host: &HostCore, at: phasm_engine::time::Timestamp) -> Duration {
    Duration::from_millis(at.since(host.clock.now()))
}
