//! Attempts of other hosts that are executed here.

use std::{
    collections::{BTreeMap, HashMap},
    sync::Arc,
};

use phasm_engine::event::{Fence, TaskId};
use tokio::{sync::mpsc, task::AbortHandle};

use super::{MAX_MESSAGES_AT_ONCE, Sender};
use crate::{
    core::HostCore,
    dispatch::{
        attempt::Attempt,
        backlog::Backlog,
        dispatcher::Dispatcher,
        signal::Signal,
        wire::{OfferBody, ReportBody, bytes, read},
    },
    run::message::Message,
    store::{ExchangeRequest, OfferId, Report, TakenOffer},
    watch::{observer::AttemptObserver, spans::Calls},
};

/// Number of times that an attempt which is lost without a report is taken again.
const MAX_TAKINGS: u64 = 3;

/// One attempt.
struct BorrowedAttempt {
    id: OfferId,
    namespace: Arc<str>,
    abort: AbortHandle,
    observer: Arc<AttemptObserver>,
    /// The host that offered it has withdrawn it.
    stopped: bool,
}

/// Whether this host has what offers of a kind need.
enum Kind {
    /// The requirements are being checked; these offers wait for the result.
    Open(Vec<TakenOffer>),
    Ready,
    Lacking,
}

/// All that is executed here for others.
pub(super) struct BorrowedAttempts {
    dispatcher: Arc<Dispatcher<Sender>>,
    sender: Sender,
    inbox: mpsc::UnboundedReceiver<Message>,
    learns: mpsc::UnboundedSender<(Arc<str>, bool)>,
    learned: mpsc::UnboundedReceiver<(Arc<str>, bool)>,
    kinds: HashMap<Arc<str>, Kind>,
    /// By the number that stands for a task here.
    attempts: BTreeMap<u32, BorrowedAttempt>,
    last: u32,
    reports: Vec<Report>,
    returned: Vec<OfferId>,
    host: std::sync::Weak<HostCore>,
}

impl BorrowedAttempts {
    pub(super) fn new(host: &Arc<HostCore>) -> Self {
        let (sender, inbox) = mpsc::unbounded_channel();
        let (learns, learned) = mpsc::unbounded_channel();
        Self {
            dispatcher: Arc::clone(&host.dispatcher),
            sender,
            inbox,
            learns,
            learned,
            kinds: HashMap::new(),
            attempts: BTreeMap::new(),
            last: 0,
            reports: Vec::new(),
            returned: Vec::new(),
            host: Arc::downgrade(host),
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.attempts.is_empty()
    }

    pub(super) fn has_to_tell(&self) -> bool {
        !self.reports.is_empty() || !self.returned.is_empty()
    }

    /// Adds what is to be told, and with `again` what is held.
    pub(super) fn add_to(&self, request: &mut ExchangeRequest, again: bool) {
        request.reports.clone_from(&self.reports);
        request.returned.clone_from(&self.returned);
        let lacking =
            |(name, kind): (&Arc<str>, &Kind)| matches!(kind, Kind::Lacking).then(|| Arc::clone(name));
        request.except = self.kinds.iter().filter_map(lacking).collect();
        request.holds = again.then(|| self.held());
    }

    fn held(&self) -> Vec<OfferId> {
        let waiting = self.kinds.values().filter_map(|kind| match kind {
            Kind::Open(waiting) => Some(waiting),
            Kind::Ready | Kind::Lacking => None,
        });
        let waiting = waiting.flatten().map(|offer| offer.id.clone());
        self.attempts.values().map(|attempt| attempt.id.clone()).chain(waiting).collect()
    }

    pub(super) fn acknowledge(&mut self) {
        self.reports.clear();
        self.returned.clear();
    }

    /// Waits until there is something to tell or to begin.
    pub(super) async fn hear(&mut self) {
        let mut messages = Vec::new();
        tokio::select! {
            _ = self.inbox.recv_many(&mut messages, MAX_MESSAGES_AT_ONCE) => {}
            Some((kind, is_ready)) = self.learned.recv() => self.learn(&kind, is_ready),
        }
        messages.into_iter().for_each(|message| self.take_message(message));
    }

    pub(super) fn hear_what_is_there(&mut self) {
        while let Ok(message) = self.inbox.try_recv() {
            self.take_message(message);
        }
        while let Ok((kind, is_ready)) = self.learned.try_recv() {
            self.learn(&kind, is_ready);
        }
    }

    fn take_message(&mut self, message: Message) {
        let Message::Signal(signal) = message else { return };
        let Some(task) = fence(&signal).map(|fence| fence.task.0) else { return };
        let is_over = signal.is_end();
        let Some(attempt) = self.attempts.get(&task) else { return };
        if is_over {
            self.dispatcher.slots.give_back(1);
        }
        let is_lost = matches!(signal, Signal::Gone(_)) && attempt.id.taking < MAX_TAKINGS;
        if is_lost && !attempt.stopped {
            self.returned.push(attempt.id.clone());
        } else if !attempt.stopped
            && let Some((body, is_last)) =
                ReportBody::of(self.hidden(signal, &attempt.namespace), || attempt.observer.close())
        {
            self.reports.push(Report { id: attempt.id.clone(), is_last, body: bytes(&body) });
        }
        if is_over {
            self.attempts.remove(&task);
        }
    }

    /// Redacts the secrets of this host from a signal.
    fn hidden(&self, signal: Signal, namespace: &Arc<str>) -> Signal {
        match (signal, self.host.upgrade()) {
            (Signal::Finished(fence, outcome), Some(host)) => {
                let secrets = &host.environments.of(namespace).secrets;
                Signal::Finished(fence, secrets.hide_in(outcome).normalized())
            }
            (signal, _) => signal,
        }
    }

    /// Aborts attempts whose offers were withdrawn.
    pub(super) fn stop(&mut self, stopped: &[OfferId]) {
        if stopped.is_empty() {
            return;
        }
        for attempt in self.attempts.values_mut().filter(|attempt| stopped.contains(&attempt.id)) {
            attempt.stopped = true;
            attempt.abort.abort();
        }
        for kind in self.kinds.values_mut() {
            if let Kind::Open(waiting) = kind {
                let before = waiting.len();
                waiting.retain(|offer| !stopped.contains(&offer.id));
                self.dispatcher.give_back_room(u32::try_from(before - waiting.len()).unwrap_or(0));
            }
        }
    }

    /// Begins what was taken, once this host is known to have what it needs. Each has a place and a slot.
    pub(super) fn take(&mut self, host: &Arc<HostCore>, taken: Vec<TakenOffer>) {
        for offer in taken {
            match self.kinds.get_mut(&offer.kind) {
                Some(Kind::Ready) => self.begin(host, &offer),
                Some(Kind::Lacking) => self.hand_back(offer.id),
                Some(Kind::Open(waiting)) => waiting.push(offer),
                None => {
                    let (kind, learns) = (Arc::clone(&offer.kind), self.learns.clone());
                    host.control.spawn(find_out(Arc::clone(host), kind, Arc::clone(&offer.body), learns));
                    self.kinds.insert(Arc::clone(&offer.kind), Kind::Open(vec![offer]));
                }
            }
        }
    }

    fn learn(&mut self, kind: &Arc<str>, is_ready: bool) {
        let now = if is_ready { Kind::Ready } else { Kind::Lacking };
        let Some(Kind::Open(waiting)) = self.kinds.insert(Arc::clone(kind), now) else { return };
        let Some(host) = self.host.upgrade() else { return };
        for offer in waiting {
            // An attempt that has not begun when the host is told to end is left to other hosts.
            if is_ready && host.begins() { self.begin(&host, &offer) } else { self.hand_back(offer.id) }
        }
    }

    fn hand_back(&mut self, id: OfferId) {
        self.returned.push(id);
        self.dispatcher.give_back_room(1);
    }

    fn begin(&mut self, host: &Arc<HostCore>, offer: &TakenOffer) {
        let body: Option<OfferBody> = read(&offer.body);
        let bounds = body.as_ref().map(OfferBody::bounds).unwrap_or_default();
        let environment =
            body.as_ref().map_or(host.environments.common(), |body| host.environments.of(&body.namespace));
        let Some(invocation) = body.and_then(|body| body.invocation(&environment.secrets)) else {
            return self.hand_back(offer.id.clone());
        };
        let namespace = Arc::clone(&invocation.namespace);
        self.last = self.last.wrapping_add(1);
        let fence =
            Fence { task: TaskId(self.last), attempt: invocation.attempt, dispatch: invocation.dispatch };
        let calls = Calls::of(host.tracer.as_ref(), &invocation);
        let observer = Arc::new(
            AttemptObserver::alone(fence, &environment.secrets, host.log_retention_bytes).tracing(calls),
        );
        let attempt = Attempt {
            fence,
            invocation,
            bounds,
            observer: Arc::clone(&observer) as _,
            inbox: self.sender.clone(),
            backlog: Backlog::default(),
            tenant: None,
            due: None,
            offer: None,
        };
        let abort = host.dispatcher.start_here(host.dispatcher.reserved_permit(), attempt);
        self.attempts.insert(
            self.last,
            BorrowedAttempt { id: offer.id.clone(), namespace, abort, observer, stopped: false },
        );
    }
}

fn fence(signal: &Signal) -> Option<Fence> {
    match signal {
        Signal::Started(fence, _)
        | Signal::Finished(fence, _)
        | Signal::Interrupted(fence)
        | Signal::Gone(fence)
        | Signal::Inactive(fence)
        | Signal::Wrote(fence, _) => Some(*fence),
        Signal::Lent(_) => None,
    }
}

/// Finds out whether this host has the component, the grants and the secrets that offers of a kind need.
async fn find_out(
    host: Arc<HostCore>,
    kind: Arc<str>,
    body: Arc<[u8]>,
    learns: mpsc::UnboundedSender<(Arc<str>, bool)>,
) {
    let body: Option<OfferBody> = read(&body);
    let is_ready = match &body {
        Some(body) => has_what_it_needs(&host, body).await,
        None => false,
    };
    // The host is going.
    let _going = learns.send((kind, is_ready));
}

async fn has_what_it_needs(host: &HostCore, body: &OfferBody) -> bool {
    let environment = host.environments.of(&body.namespace);
    if body.secrets().any(|secret| environment.secrets.get(secret).is_none()) {
        return false;
    }
    let Some(plugins) = &environment.plugins else { return true };
    let Some((pinned, digest)) =
        body.pinned.as_ref().and_then(|pinned| Some((pinned, pinned.digest.as_ref()?)))
    else {
        return false;
    };
    let kept = host.store.component(digest).await.unwrap_or_default();
    plugins.restore(pinned, kept).await.is_ok() && plugins.lacking(pinned).is_empty()
}
