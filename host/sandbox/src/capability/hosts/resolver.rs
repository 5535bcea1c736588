//! Looking up the addresses of a host, and which of them may be reached.

use std::{
    collections::BTreeMap,
    io,
    net::{IpAddr, Ipv4Addr, Ipv6Addr, ToSocketAddrs as _},
    sync::Arc,
    time::Duration,
};

use tokio::{sync::Semaphore, time::timeout};

use super::{
    name::{Host, plain},
    network::{Network, special},
};

/// Maximum time of a look-up.
const LOOKUP_TIMEOUT: Duration = Duration::from_secs(10);
/// Maximum number of DNS look-ups in progress. An abandoned look-up counts until the system has responded.
const MAX_LOOKUPS: usize = 16;
/// Maximum number of addresses of a name that are considered.
const MAX_ADDRESSES: usize = 16;

/// Function that asks the system for the addresses of a name.
type AskSystem = fn(&str) -> io::Result<Vec<IpAddr>>;

/// Resolver of names for all guests of a sandbox.
pub(in crate::capability) struct Resolver {
    /// Addresses of names that are not looked up in DNS.
    known: BTreeMap<String, Vec<IpAddr>>,
    lookups: Arc<Semaphore>,
    ask: AskSystem,
}

/// Error of a look-up.
#[derive(Debug, thiserror::Error)]
pub(in crate::capability) enum LookupError {
    #[error("no address of its name within {} s", LOOKUP_TIMEOUT.as_secs())]
    Late,
    #[error("no address of its name: {0}")]
    Unknown(io::Error),
}

/// Reason why none of the addresses of a host may be reached.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::capability) enum Unreachable {
    NoAddress,
    /// The first address, which is internal or special.
    Inside(IpAddr),
}

impl Resolver {
    pub(in crate::capability) fn new(known: BTreeMap<String, Vec<IpAddr>>) -> Self {
        Self { known, lookups: Arc::new(Semaphore::new(MAX_LOOKUPS)), ask: ask_system }
    }

    /// Makes a resolver that asks `ask` instead of the system.
    #[cfg(all(test, target_os = "linux"))]
    pub(in crate::capability) fn asking(ask: AskSystem) -> Self {
        Self { ask, ..Self::new(BTreeMap::new()) }
    }

    /// Returns all addresses of a host, by one look-up.
    pub(in crate::capability) async fn addresses(&self, host: &Host) -> Result<Vec<IpAddr>, LookupError> {
        match host {
            Host::Address(address) => Ok(vec![*address]),
            // DNS is not asked for `localhost`.
            host if host.is_localhost() => Ok(vec![Ipv4Addr::LOCALHOST.into(), Ipv6Addr::LOCALHOST.into()]),
            Host::Name(name) => match self.known.get(name) {
                Some(known) => Ok(known.clone()),
                None => self.look_up(name.clone()).await,
            },
        }
    }

    async fn look_up(&self, name: String) -> Result<Vec<IpAddr>, LookupError> {
        let ask = self.ask;
        let asking = async {
            let permit = Arc::clone(&self.lookups).acquire_owned().await;
            let asking = tokio::task::spawn_blocking(move || {
                // Held until the system has responded, even if the caller has gone.
                let _permit = permit;
                ask(&name)
            });
            asking.await.map_err(io::Error::other).and_then(|found| found)
        };
        timeout(LOOKUP_TIMEOUT, asking).await.map_err(|_| LookupError::Late)?.map_err(LookupError::Unknown)
    }
}

fn ask_system(name: &str) -> io::Result<Vec<IpAddr>> {
    Ok((name, 0).to_socket_addrs()?.map(|address| address.ip()).collect())
}

/// Returns whether an address may be reached: one that is not special, or in a granted network.
pub(in crate::capability) fn is_reachable(address: IpAddr, networks: &[Network]) -> bool {
    special(address).is_none() || networks.iter().any(|network| network.contains(address))
}

/// Returns the addresses among `all` that may be reached. Where the host was granted by its own name or address (`named`), all may.
pub(in crate::capability) fn reachable_addresses(
    all: Vec<IpAddr>,
    named: bool,
    networks: &[Network],
) -> Result<Vec<IpAddr>, Unreachable> {
    let first = all.first().copied();
    let may = |address: &IpAddr| named || is_reachable(*address, networks);
    let reachable: Vec<_> = all.into_iter().take(MAX_ADDRESSES).filter(may).collect();
    match (first, reachable.is_empty()) {
        (Some(address), true) => Err(Unreachable::Inside(address)),
        (None, _) => Err(Unreachable::NoAddress),
        _ => Ok(reachable),
    }
}

/// Describes a host and its internal or special address, for people.
pub(in crate::capability) fn describe_inside(host: &Host, address: IpAddr) -> String {
    let address = plain(address);
    let what = special(address).unwrap_or_default();
    if matches!(host, Host::Name(_)) {
        format!("{host} is {address}, {what}")
    } else {
        format!("{host} is {what}")
    }
}
