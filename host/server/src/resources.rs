//! Bounded resources of the server. Each is a queue that is fair to tenants and keys, and each route says which it uses.

use std::{
    net::IpAddr,
    sync::{Arc, OnceLock},
    thread,
    time::Duration,
};

use axum::http::StatusCode;
use phasm::{
    Host,
    fair_queue::{FairQueue, Holder, Place, QueueFull, QueueUsage},
    spans::{caller, on_behalf_of},
};
use tokio::{runtime::Handle, time::timeout};

use crate::{
    auth::caller::{Caller, Role},
    config::ServerLimits,
    problem_response::ProblemResponse,
    work_threads::{Priority, WorkThreads},
};

/// Connections that wait to be served.
const MAX_WAITING_CONNECTIONS: usize = 64;
/// Large bodies in memory at once, and requests that wait to send one.
const MAX_BODIES: usize = 64;
const MAX_WAITING_BODIES: usize = 1024;
const MAX_WAITING_UPLOADS: usize = 64;
/// Requests that wait for a thread.
const MAX_WAITING_WORK: usize = 1024;
/// Streams at once that read what happened before they came, and those that wait for that.
const MAX_CATCH_UP_STREAMS: usize = 64;
const MAX_WAITING_STREAMS: usize = 65_536;
/// Sessions of browsers at once. A key has at most a third of them.
const MAX_SESSIONS: usize = 3000;
const MAX_TICKETS: usize = 3000;
/// Unit in which large values count, in bytes.
const VALUE_UNIT_BYTES: u64 = 1 << 20;
/// Large values in memory at once, in units, and requests that wait to have one.
const MAX_VALUE_UNITS: usize = 512;
const MAX_WAITING_VALUES: usize = 1024;
/// Threads for long work, at least: two tenants with endless work leave one for a third.
const MIN_WORK_THREADS: usize = 3;
/// Size of a document, in bytes, below which reading and planning it is not worth a thread of its own.
const SMALL_DOCUMENT_BYTES: usize = 4 << 10;

/// A bounded resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Resource {
    /// Connections: of an address, and from the first request on of its caller.
    Connections,
    /// Large bodies in memory.
    Bodies,
    /// Plugins that are uploaded.
    Uploads,
    /// Threads for work that grows with a document, a run or a list.
    Work,
    /// Reading what happened before a stream began.
    CatchUp,
    /// Memory for large values that are sent by themselves, in MiB.
    Values,
    /// Sessions of browsers.
    Sessions,
    /// Login tickets.
    Tickets,
    /// Turns on the threads that serve requests.
    Turns,
}

impl Resource {
    pub(crate) const ALL: [Self; 9] = [
        Self::Connections,
        Self::Bodies,
        Self::Uploads,
        Self::Work,
        Self::CatchUp,
        Self::Values,
        Self::Sessions,
        Self::Tickets,
        Self::Turns,
    ];

    /// Its word in metrics.
    pub(crate) const fn word(self) -> &'static str {
        match self {
            Self::Connections => "connections",
            Self::Bodies => "bodies",
            Self::Uploads => "uploads",
            Self::Work => "work",
            Self::CatchUp => "catch-up",
            Self::Values => "values",
            Self::Sessions => "sessions",
            Self::Tickets => "tickets",
            Self::Turns => "turns",
        }
    }

    /// Its name in refusals.
    const fn plural(self) -> &'static str {
        match self {
            Self::Connections => "connections",
            Self::Bodies => "large bodies",
            Self::Uploads => "plugin uploads",
            Self::Work => "requests that compute",
            Self::CatchUp => "streams that catch up",
            Self::Values => "memory for large values",
            Self::Sessions => "sessions",
            Self::Tickets => "tickets",
            Self::Turns => "turns",
        }
    }
}

/// Conditions of a route.
#[derive(Clone, Copy)]
pub(crate) struct RouteAccess {
    /// Role that a caller needs. `None` for routes without authentication.
    pub(crate) needs: Option<Role>,
    /// Bounded resources that the route uses, besides its connection.
    pub(crate) uses: &'static [Resource],
}

/// The queues of all resources, and the threads of one of them.
pub(crate) struct Resources {
    connections: FairQueue,
    bodies: FairQueue,
    uploads: FairQueue,
    work: FairQueue,
    catch_up: FairQueue,
    values: FairQueue,
    sessions: FairQueue,
    tickets: FairQueue,
    turns: OnceLock<FairQueue>,
    threads: WorkThreads,
    patience: Duration,
}

impl Resources {
    pub(crate) fn new(limits: &ServerLimits) -> Self {
        let cores = thread::available_parallelism().map_or(1, usize::from);
        let threads = (cores + 1).max(MIN_WORK_THREADS);
        Self {
            connections: FairQueue::new(limits.connections, MAX_WAITING_CONNECTIONS),
            bodies: FairQueue::new(MAX_BODIES, MAX_WAITING_BODIES),
            uploads: FairQueue::new(limits.uploads, MAX_WAITING_UPLOADS),
            work: FairQueue::new(threads, MAX_WAITING_WORK),
            catch_up: FairQueue::new(MAX_CATCH_UP_STREAMS, MAX_WAITING_STREAMS),
            values: FairQueue::new(MAX_VALUE_UNITS, MAX_WAITING_VALUES),
            sessions: FairQueue::new(MAX_SESSIONS, 0),
            tickets: FairQueue::new(MAX_TICKETS, 0),
            turns: OnceLock::new(),
            threads: WorkThreads::new(threads),
            patience: limits.body_time,
        }
    }

    pub(crate) fn queue(&self, resource: Resource) -> &FairQueue {
        match resource {
            Resource::Connections => &self.connections,
            Resource::Bodies => &self.bodies,
            Resource::Uploads => &self.uploads,
            Resource::Work => &self.work,
            Resource::CatchUp => &self.catch_up,
            Resource::Values => &self.values,
            Resource::Sessions => &self.sessions,
            Resource::Tickets => &self.tickets,
            // A turn for each thread of the runtime, which is known once there are requests.
            Resource::Turns => self.turns.get_or_init(|| {
                FairQueue::of_turns(
                    Handle::try_current().map_or(1, |runtime| runtime.metrics().num_workers()),
                )
            }),
        }
    }

    /// Waits for a place as long as a body may take.
    ///
    /// # Errors
    /// 429 if the holder has as many requests waiting as it may, or there was no place in time.
    pub(crate) async fn enter(&self, resource: Resource, holder: &Holder) -> Result<Place, ProblemResponse> {
        let entered = timeout(self.patience, self.queue(resource).enter(holder)).await;
        entered.unwrap_or(Err(QueueFull)).map_err(|_full| too_many(resource))
    }

    /// Waits for room for a value of so many bytes, as long as a body may take.
    ///
    /// # Errors
    /// The errors of [`Self::enter`].
    pub(crate) async fn room(&self, holder: &Holder, bytes: u64) -> Result<Place, ProblemResponse> {
        let units = usize::try_from(bytes.div_ceil(VALUE_UNIT_BYTES)).unwrap_or(MAX_VALUE_UNITS);
        let entered = timeout(self.patience, self.values.enter_with(holder, units)).await;
        entered.unwrap_or(Err(QueueFull)).map_err(|_full| too_many(Resource::Values))
    }

    /// Does work in its turn, on a thread for long work.
    ///
    /// # Errors
    /// 429 if the holder has as many requests waiting as it may; 500 if the work panics.
    pub(crate) async fn work<T: Send + 'static>(
        &self,
        holder: &Holder,
        work: impl Future<Output = T> + Send + 'static,
    ) -> Result<T, ProblemResponse> {
        let place = self.work.enter(holder).await.map_err(|_full| too_many(Resource::Work))?;
        let trace = caller();
        let priority = if place.is_only() { Priority::Normal } else { Priority::Low };
        // The place is given back once the work has ended, and not once the client is gone.
        let placed = async move {
            let done = on_behalf_of(trace, work).await;
            drop(place);
            done
        };
        self.threads.run(priority, placed).await.map_err(|error| ProblemResponse::failed(&error))
    }

    /// Does work on a document of so many bytes: that on a large one in its turn.
    ///
    /// # Errors
    /// The errors of [`Self::work`].
    pub(crate) async fn work_on<T: Send + 'static>(
        &self,
        holder: &Holder,
        bytes: usize,
        work: impl Future<Output = T> + Send + 'static,
    ) -> Result<T, ProblemResponse> {
        if bytes <= SMALL_DOCUMENT_BYTES { Ok(work.await) } else { self.work(holder, work).await }
    }

    pub(crate) fn usage(&self) -> impl Iterator<Item = (&'static str, QueueUsage)> {
        Resource::ALL.into_iter().map(|resource| (resource.word(), self.queue(resource).usage()))
    }
}

/// The refusal of a holder that wants more than its share.
pub(crate) fn too_many(resource: Resource) -> ProblemResponse {
    let detail = format!(
        "this key has its share of the server's {}, and as many requests waiting as it may; try again when some have ended",
        resource.plural()
    );
    ProblemResponse::new(StatusCode::TOO_MANY_REQUESTS, detail).again_after(1)
}

/// The holder that a caller's requests count for: its key, of the tenant that owns all of its namespaces. A key that is not of one
/// tenant counts as a tenant by itself.
pub(crate) fn holder(host: &Host, caller: &Caller) -> Holder {
    let key = Arc::from(caller.name());
    let mut tenants = caller.namespaces.iter().map(|namespace| host.tenant_of(namespace));
    match tenants.next().filter(|first| tenants.all(|other| other == *first)) {
        Some(tenant) => Holder { weight: host.tenant_weight(&tenant), tenant, key },
        // No namespace, and so no tenant, is called so.
        None => Holder { tenant: format!("/{key}").into(), key, weight: 1 },
    }
}

/// The holder that counts for clients that are known by their address alone. One client has many addresses of version 6: they count by
/// network.
pub(crate) fn address(peer: IpAddr) -> Holder {
    let name = match peer.to_canonical() {
        IpAddr::V4(address) => format!("//{address}"),
        IpAddr::V6(address) => {
            let [a, b, c, d, ..] = address.segments();
            format!("//{a:x}:{b:x}:{c:x}:{d:x}::/64")
        }
    };
    Holder { tenant: name.into(), key: "-".into(), weight: 1 }
}

/// The holder of requests that come without a connection of this server, by a router that is mounted elsewhere.
pub(crate) fn unknown() -> Holder {
    Holder { tenant: "//".into(), key: "-".into(), weight: 1 }
}

#[cfg(test)]
mod tests;
