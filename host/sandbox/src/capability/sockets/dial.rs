//! Looking up and connecting for an attempt. Names and addresses are checked here, whatever process the guest is in.

use std::{
    net::{IpAddr, SocketAddr},
    sync::Arc,
    time::Duration,
};

use tokio::{
    net::TcpStream,
    time::{Instant, timeout_at},
};

use super::{
    caller::{Caller, visible},
    connection::Connection,
    direction::{Direction, OpenConnection},
    failure::Failure,
};
use crate::{
    capability::{
        hosts::{
            name::{Host, plain},
            resolver::{LookupError, Unreachable, is_reachable, reachable_addresses},
        },
        http::Permits,
    },
    executor::Level,
    limits::LimitError,
};

/// Maximum time of connecting; longer limits are cut to it.
const MAX_CONNECT_TIME: Duration = Duration::from_secs(365 * 24 * 60 * 60);

/// Looks up a name, and remembers that its addresses are the name's.
///
/// # Errors
/// Fails when no pattern has the name, and when none of its addresses may be reached.
pub(super) async fn look_up(caller: &Caller, name: &str) -> Result<Vec<IpAddr>, Failure> {
    // Nothing is looked up, and whether the address may be reached is decided when it is connected to.
    if let Ok(address) = name.parse::<IpAddr>() {
        return Ok(vec![plain(address)]);
    }
    let host = match Host::read(name) {
        Ok(Host::Address(address)) => return Ok(vec![plain(address)]),
        Ok(host @ Host::Name(_)) => host,
        Err(why) => {
            caller.refuse(&format!("look-up of {}: its name is invalid: {why}", visible(name)));
            return Err(Failure::InvalidArgument);
        }
    };
    caller.budget.look_up().map_err(|over| refuse_over(caller, over))?;
    if !caller.grant.allow.iter().any(|pattern| pattern.matches_host(&host)) {
        let advice = caller.advice("tcp", &format!("{host}:PORT"));
        caller.refuse(&format!("look-up of {host}: not granted; {advice}"));
        return Err(Failure::AccessDenied);
    }
    let all = caller.net.resolver.addresses(&host).await.map_err(|error| not_found(caller, &host, &error))?;
    let named = host.is_localhost() && caller.grant.allow.iter().any(|pattern| pattern.names(&host));
    match reachable_addresses(all, named, &caller.grant.networks) {
        Ok(addresses) => {
            let addresses: Vec<_> = addresses.into_iter().map(plain).collect();
            caller.remember(&host, &addresses);
            Ok(addresses)
        }
        Err(Unreachable::NoAddress) => {
            caller.transcript.note(Level::Warn, &format!("look-up of {host}: its name has no address"));
            Err(Failure::NameUnresolvable)
        }
        Err(Unreachable::Inside(address)) => {
            caller.refuse(&caller.inside(&host, address));
            Err(Failure::AccessDenied)
        }
    }
}

fn not_found(caller: &Caller, host: &Host, error: &LookupError) -> Failure {
    caller.transcript.note(Level::Warn, &format!("look-up of {host}: {error}"));
    match error {
        LookupError::Late => Failure::ResolverUnavailable,
        LookupError::Unknown(_) => Failure::NameUnresolvable,
    }
}

/// Checks that the address may be connected to, and returns the name or address that is granted.
///
/// # Errors
/// The reason why it is refused.
fn check(caller: &Caller, address: IpAddr, port: u16) -> Result<Host, String> {
    let own = Host::Address(address);
    let is_granted = |host: &Host| caller.grant.allow.iter().any(|pattern| pattern.matches(host, port));
    let is_named = |host: &Host| {
        let mut matching = caller.grant.allow.iter().filter(|pattern| pattern.matches(host, port));
        matching.any(|pattern| pattern.names(host))
    };
    let names = caller.names_of(address);
    let is_outside = is_reachable(address, &caller.grant.networks);
    // An address that is only found by its name is granted by itself as well, so that a refusal names the address.
    let may = |host: &&Host| is_granted(host) && (is_outside || (is_own_or_local(host) && is_named(host)));
    let candidates = || names.iter().chain([&own]);
    if let Some(granted) = candidates().find(may) {
        return Ok(granted.clone());
    }
    if let Some(host) = candidates().find(|host| is_granted(host)) {
        return Err(caller.inside(host, address));
    }
    let shown = names.first().map_or_else(|| own.to_string(), |name| format!("{name} ({address})"));
    let advice = caller.advice("tcp", &format!("{}:{port}", names.first().unwrap_or(&own)));
    Err(format!("connection to {shown} at port {port}: not granted; {advice}"))
}

/// Connects to an address that may be connected to.
///
/// # Errors
/// Fails when it may not, when a limit is reached, and when the other side does not respond in time.
pub(super) async fn connect(caller: &Arc<Caller>, address: SocketAddr) -> Result<Connection, Failure> {
    let (address, port) = (plain(address.ip()), address.port());
    caller.budget.connect().map_err(|over| refuse_over(caller, over))?;
    let granted = check(caller, address, port).map_err(|why| {
        caller.refuse(&why);
        Failure::AccessDenied
    })?;
    let shown = match &granted {
        Host::Name(name) => format!("{name}:{port} ({address})"),
        Host::Address(_) => format!("{granted}:{port}"),
    };
    let deadline = Instant::now() + caller.context.limits.tcp_connect_time.min(MAX_CONNECT_TIME);
    let late = |what: &str| {
        caller.transcript.note(Level::Warn, &format!("TCP {shown}: timeout of {what}"));
        Failure::Timeout
    };
    let places = timeout_at(deadline, places(caller)).await;
    let places = places.map_err(|_| late("waiting for other connections to end"))??;
    let connected = timeout_at(deadline, TcpStream::connect((address, port))).await;
    let connected = connected.map_err(|_| late("connecting"))?;
    let stream = connected.map_err(|error| {
        caller.transcript.note(Level::Warn, &format!("TCP {shown}: {error}"));
        Failure::from(&error)
    })?;
    Ok(opened(caller, stream, shown, places))
}

/// Takes a place of this attempt, and waits for those of its plugin and of all guests, which it shares with requests by HTTP.
async fn places(caller: &Caller) -> Result<Permits, Failure> {
    let own = caller.budget.place().map_err(|over| {
        refuse_over(caller, over);
        Failure::NewSocketLimit
    })?;
    let plugin = caller.net.of_plugin(&caller.context.tenant, caller.context.plugin());
    caller.net.permits(own, plugin).await.ok_or(Failure::Other)
}

fn opened(caller: &Arc<Caller>, stream: TcpStream, shown: String, places: Permits) -> Connection {
    // Only slower without it.
    let _ = stream.set_nodelay(true);
    let local = stream.local_addr().ok();
    let open = OpenConnection::new(caller, shown, places);
    let (input, output) = stream.into_split();
    Connection {
        input: Box::new(Direction { stream: input, open: Arc::clone(&open) }),
        output: Box::new(Direction { stream: output, open }),
        local,
    }
}

fn refuse_over(caller: &Caller, over: LimitError) -> Failure {
    caller.over(over);
    Failure::AccessDenied
}

/// Returns whether a host that a pattern names needs no network: an address, or this machine.
fn is_own_or_local(host: &Host) -> bool {
    !matches!(host, Host::Name(_)) || host.is_localhost()
}

#[cfg(all(test, target_os = "linux"))]
mod tests;
