//! Attempts of other hosts that are executed here.

use std::{
    collections::{BTreeMap, HashMap},
    sync::Arc,
};

use phasm_engine::event::{Fence, TaskId};
use tokio::{sync::mpsc, task::AbortHandle};

use super::{MOST_AT_ONCE, Sender};
use crate::{
    core::HostCore,
    dispatch::{
        backlog::Upcoming,
        dispatcher::{Attempt, Dispatcher, Signal},
        wire::{OfferBody, ReportBody, bytes, read},
    },
    run::message::Message,
    store::{OfferId, Report, Sharing, TakenOffer},
    watch::{observer::Ear, spans::Calls},
};

/// Number of times that an attempt which is lost without a report is taken again.
const MOST_TAKINGS: u64 = 3;

/// One attempt.
struct Guest {
    id: OfferId,
    namespace: Arc<str>,
    abort: AbortHandle,
    ear: Arc<Ear>,
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
pub(super) struct Executing {
    dispatcher: Arc<Dispatcher<Sender>>,
    sender: Sender,
    inbox: mpsc::UnboundedReceiver<Message>,
    learns: mpsc::UnboundedSender<(Arc<str>, bool)>,
    learned: mpsc::UnboundedReceiver<(Arc<str>, bool)>,
    kinds: HashMap<Arc<str>, Kind>,
    /// By the number that stands for a task here.
    guests: BTreeMap<u32, Guest>,
    last: u32,
    reports: Vec<Report>,
    returned: Vec<OfferId>,
    host: std::sync::Weak<HostCore>,
}

impl Executing {
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
            guests: BTreeMap::new(),
            last: 0,
            reports: Vec::new(),
            returned: Vec::new(),
            host: Arc::downgrade(host),
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.guests.is_empty()
    }

    pub(super) fn has_to_tell(&self) -> bool {
        !self.reports.is_empty() || !self.returned.is_empty()
    }

    /// Adds what is to be told, and with `again` what is held.
    pub(super) fn ask(&self, ask: &mut Sharing, again: bool) {
        ask.reports.clone_from(&self.reports);
        ask.returned.clone_from(&self.returned);
        let lacking =
            |(name, kind): (&Arc<str>, &Kind)| matches!(kind, Kind::Lacking).then(|| Arc::clone(name));
        ask.except = self.kinds.iter().filter_map(lacking).collect();
        ask.holds = again.then(|| self.held());
    }

    fn held(&self) -> Vec<OfferId> {
        let waiting = self.kinds.values().filter_map(|kind| match kind {
            Kind::Open(waiting) => Some(waiting),
            Kind::Ready | Kind::Lacking => None,
        });
        let waiting = waiting.flatten().map(|offer| offer.id.clone());
        self.guests.values().map(|guest| guest.id.clone()).chain(waiting).collect()
    }

    pub(super) fn told(&mut self) {
        self.reports.clear();
        self.returned.clear();
    }

    /// Waits until there is something to tell or to begin.
    pub(super) async fn hear(&mut self) {
        let mut messages = Vec::new();
        tokio::select! {
            _ = self.inbox.recv_many(&mut messages, MOST_AT_ONCE) => {}
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
        let is_over = matches!(signal, Signal::Finished(..) | Signal::Interrupted(_) | Signal::Gone(_));
        let Some(guest) = self.guests.get(&task) else { return };
        if is_over {
            self.dispatcher.slots.give_back(1);
        }
        let is_lost = matches!(signal, Signal::Gone(_)) && guest.id.taking < MOST_TAKINGS;
        if is_lost && !guest.stopped {
            self.returned.push(guest.id.clone());
        } else if !guest.stopped
            && let Some((body, is_last)) =
                ReportBody::of(self.hidden(signal, &guest.namespace), || guest.ear.close())
        {
            self.reports.push(Report { id: guest.id.clone(), is_last, body: bytes(&body) });
        }
        if is_over {
            self.guests.remove(&task);
        }
    }

    /// Redacts the secrets of this host from a signal.
    fn hidden(&self, signal: Signal, namespace: &Arc<str>) -> Signal {
        match (signal, self.host.upgrade()) {
            (Signal::Finished(fence, outcome), Some(host)) => {
                let secrets = &host.realms.of(namespace).secrets;
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
        for guest in self.guests.values_mut().filter(|guest| stopped.contains(&guest.id)) {
            guest.stopped = true;
            guest.abort.abort();
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
        let realm = body.as_ref().map_or(host.realms.common(), |body| host.realms.of(&body.namespace));
        let Some(invocation) = body.and_then(|body| body.invocation(&realm.secrets)) else {
            return self.hand_back(offer.id.clone());
        };
        let namespace = Arc::clone(&invocation.namespace);
        self.last = self.last.wrapping_add(1);
        let fence =
            Fence { task: TaskId(self.last), attempt: invocation.attempt, dispatch: invocation.dispatch };
        let calls = Calls::of(host.tracer.as_ref(), &invocation);
        let ear = Arc::new(Ear::alone(fence, &realm.secrets, host.kept_log).tracing(calls));
        let observer = Arc::clone(&ear) as _;
        let attempt = Attempt {
            fence,
            invocation,
            bounds,
            observer,
            inbox: self.sender.clone(),
            upcoming: Upcoming::default(),
            tenant: None,
            due: None,
        };
        let abort = host.dispatcher.start_in(host.dispatcher.taken_place(), attempt);
        self.guests.insert(self.last, Guest { id: offer.id.clone(), namespace, abort, ear, stopped: false });
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
    let realm = host.realms.of(&body.namespace);
    if body.secrets().any(|secret| realm.secrets.get(secret).is_none()) {
        return false;
    }
    let Some(plugins) = &realm.plugins else { return true };
    let Some((pinned, digest)) =
        body.pinned.as_ref().and_then(|pinned| Some((pinned, pinned.digest.as_ref()?)))
    else {
        return false;
    };
    let kept = host.store.component(digest).await.unwrap_or_default();
    plugins.restore(pinned, kept).await.is_ok() && plugins.lacking(pinned).is_empty()
}
