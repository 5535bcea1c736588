//! Heartbeats of hosts that are there already, on a connection of their own: they do not wait behind records, however large these are
//! and however slowly they are sent.

use std::{
    collections::HashSet,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use tokio::{runtime::Handle, sync::Mutex as AsyncMutex};

use super::{
    super::{HostId, Pending},
    address::Address,
    fault::Parameter,
    reader::ask,
    reconnect::ReconnectingClient,
    statement::Statement,
    thread::Thread,
    writer::WriteJob,
};

/// Takes a host to be there, or to have left, and wakes the others.
pub(super) const HEARTBEAT: &str = "SELECT heartbeat($1, $2, $3)";
/// Renews the leases of a host that is taken to be there. Any other host has to arrive, which others hear.
const RENEW: &str =
    "UPDATE hosts SET until = coalesce($2, clock() + $3) FROM (SELECT check_format()) AS checked
    WHERE host = $1 AND until > clock() RETURNING host";

/// A host, and until when it is there: by its own clock, or for the length of a lease.
pub(super) struct Heartbeat {
    pub(super) host: HostId,
    pub(super) until: Option<i64>,
    pub(super) lease: i64,
}

impl Heartbeat {
    fn parameters(&self) -> Vec<Parameter> {
        vec![Box::new(self.host.to_string()), Box::new(self.until), Box::new(self.lease)]
    }

    fn is_farewell(&self) -> bool {
        self.until.is_some_and(|until| until <= 0)
    }
}

/// Sends heartbeats.
pub(super) struct Renewals {
    address: Arc<Address>,
    link: Arc<AsyncMutex<ReconnectingClient>>,
    handle: Handle,
    /// Hosts that have said that they are there, and not that they go.
    present: Arc<Mutex<HashSet<HostId>>>,
}

impl Renewals {
    pub(super) fn new(address: &Arc<Address>, handle: &Handle) -> Self {
        let link = ReconnectingClient::new(address, &[RENEW]);
        Self {
            address: Arc::clone(address),
            link: Arc::new(AsyncMutex::new(link)),
            handle: handle.clone(),
            present: Arc::default(),
        }
    }

    /// Notes that a host is there, or leaves; false if it was noted already.
    fn notes(&self, heartbeat: &Heartbeat) -> bool {
        let mut present = present(&self.present);
        if heartbeat.is_farewell() {
            present.remove(&heartbeat.host);
            return true;
        }
        present.insert(heartbeat.host.clone())
    }

    /// Sends a heartbeat. The first and the last one of a host are written in the order of everything else: before the host has a run,
    /// and after the last record.
    pub(super) fn send(&self, heartbeat: &Heartbeat, thread: &Thread<WriteJob>) -> Pending<()> {
        let parameters = || heartbeat.parameters();
        let (in_order, answered) = Statement::new(&self.address, HEARTBEAT, parameters(), |_| Ok(()));
        let is_renewal = !self.notes(heartbeat);
        let Some(queue) = thread.queue().filter(|_| is_renewal) else {
            thread.send(WriteJob::Statement(in_order));
            return answered;
        };
        let (renewal, _) = Statement::new(&self.address, RENEW, parameters(), |_| Ok(()));
        let (address, link) = (Arc::clone(&self.address), Arc::clone(&self.link));
        let (host, hosts) = (heartbeat.host.clone(), Arc::clone(&self.present));
        self.handle.spawn(async move {
            match ask(&link, &renewal).await {
                // The host fell silent for too long. One that has left meanwhile stays away.
                Ok(rows) if rows.is_empty() && present(&hosts).contains(&host) => {
                    if let Some(queue) = queue.upgrade() {
                        drop(queue.send(WriteJob::Statement(in_order)));
                    }
                }
                renewed => in_order.answer(renewed.map_err(|fault| fault.at(&address, "written"))),
            }
        });
        answered
    }
}

fn present(hosts: &Mutex<HashSet<HostId>>) -> MutexGuard<'_, HashSet<HostId>> {
    hosts.lock().unwrap_or_else(PoisonError::into_inner)
}
