//! Resolving a host to the addresses that may be reached. The connection goes to an address that was checked.

use std::{
    net::{IpAddr, Ipv4Addr, Ipv6Addr, ToSocketAddrs as _},
    sync::Arc,
    time::Duration,
};

use tokio::time::timeout;
use wasmtime_wasi_http::Error;

use super::{
    HttpGrant,
    authority::{Host, plain},
    failure::Failure,
    net::Net,
    network::special,
    target::Target,
};

/// Maximum time of a look-up.
const LOOKUP_TIMEOUT: Duration = Duration::from_secs(10);
/// Maximum number of addresses of a name that are considered.
const MAX_ADDRESSES: usize = 16;

/// Returns the addresses of the target that the grant allows.
pub(super) async fn addresses(
    net: &Net,
    grant: &HttpGrant,
    target: &Target,
    plugin: &str,
) -> Result<Vec<IpAddr>, Failure> {
    let all = match &target.host {
        Host::Address(address) => vec![*address],
        // DNS is not asked for `localhost`.
        host if host.is_localhost() => vec![Ipv4Addr::LOCALHOST.into(), Ipv6Addr::LOCALHOST.into()],
        Host::Name(name) => match net.config.hosts.get(name) {
            Some(known) => known.clone(),
            None => look_up(net, name.clone()).await?,
        },
    };
    reachable_addresses(all, grant, target, plugin)
}

fn reachable_addresses(
    all: Vec<IpAddr>,
    grant: &HttpGrant,
    target: &Target,
    plugin: &str,
) -> Result<Vec<IpAddr>, Failure> {
    let named = !matches!(target.host, Host::Name(_)) || target.host.is_localhost();
    let named =
        named && grant.allow.iter().any(|pattern| pattern.matches(target) && pattern.names(&target.host));
    let may = |address: &IpAddr| {
        special(*address).is_none()
            || named
            || grant.networks.iter().any(|network| network.contains(*address))
    };
    let first = all.first().copied();
    let reachable: Vec<_> = all.into_iter().take(MAX_ADDRESSES).filter(may).collect();
    match (first, reachable.is_empty()) {
        (Some(address), true) => Err(inside_failure(address, target, plugin)),
        (None, _) => Err(Failure::new(Error::DestinationNotFound, "its name has no address")),
        _ => Ok(reachable),
    }
}

fn inside_failure(address: IpAddr, target: &Target, plugin: &str) -> Failure {
    let address = plain(address);
    let what = special(address).unwrap_or_default();
    let host = &target.host;
    let is = if matches!(host, Host::Name(_)) {
        format!("{host} is {address}, {what}")
    } else {
        format!("{host} is {what}")
    };
    Failure::address(format!(
        "{is}; `http-networks = [\"{address}\"]` under `[grants.{plugin}]` in the configuration (`--config`) grants it"
    ))
}

async fn look_up(net: &Net, name: String) -> Result<Vec<IpAddr>, Failure> {
    let late = || {
        Failure::new(
            Error::DnsTimeout,
            format!("no address of its name within {} s", LOOKUP_TIMEOUT.as_secs()),
        )
    };
    let ask = async {
        let permit = Arc::clone(&net.lookups).acquire_owned().await;
        let asking = tokio::task::spawn_blocking(move || {
            // Held until the system has responded, even if the caller has gone.
            let _permit = permit;
            (name.as_str(), 0)
                .to_socket_addrs()
                .map(|found| found.map(|address| address.ip()).collect::<Vec<_>>())
        });
        asking.await.map_err(std::io::Error::other).and_then(|found| found)
    };
    let unknown = |error: std::io::Error| {
        Failure::new(Error::DestinationNotFound, format!("no address of its name: {error}"))
    };
    timeout(LOOKUP_TIMEOUT, ask).await.map_err(|_| late())?.map_err(unknown)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reach(
        url: &str,
        allow: &[&str],
        networks: &[&str],
        addresses: &[&str],
    ) -> Result<Vec<String>, String> {
        let grant = HttpGrant {
            allow: allow.iter().map(|text| text.parse().unwrap()).collect(),
            networks: networks.iter().map(|text| text.parse().unwrap()).collect(),
        };
        let target = Target::of_url("GET", url).unwrap();
        let all = addresses.iter().map(|text| text.parse().unwrap()).collect();
        let reached = reachable_addresses(all, &grant, &target, "http");
        reached.map(|all| all.iter().map(ToString::to_string).collect()).map_err(|failure| failure.why)
    }

    #[test]
    fn inside_addresses_are_for_those_who_are_granted_them() {
        let a = "https://a.example/";
        let allow = ["https://*"];
        assert_eq!(reach(a, &allow, &[], &["1.1.1.1", "10.0.0.1"]), Ok(vec!["1.1.1.1".to_owned()]));
        assert_eq!(reach(a, &allow, &["10.0.0.0/8"], &["10.0.0.1"]), Ok(vec!["10.0.0.1".to_owned()]));
        let refused = "a.example is 10.0.0.1, a private address; `http-networks = [\"10.0.0.1\"]` under `[grants.http]` in the configuration (`--config`) grants it";
        for address in ["10.0.0.1", "::ffff:10.0.0.1"] {
            assert_eq!(reach(a, &allow, &["10.0.1.0/24", "127.0.0.1"], &[address]), Err(refused.to_owned()));
        }
        // A pattern that names an address grants it; one that names a host, or any host, does not.
        assert!(reach("http://127.0.0.1/", &["http://127.0.0.1"], &[], &["127.0.0.1"]).is_ok());
        assert!(reach("http://127.0.0.1/", &["http://*"], &[], &["127.0.0.1"]).is_err());
        assert!(reach("http://localhost/", &["http://localhost"], &[], &["127.0.0.1"]).is_ok());
        assert!(reach("http://localhost/", &["http://*"], &[], &["127.0.0.1"]).is_err());
        assert!(reach(a, &["https://a.example"], &[], &["127.0.0.1"]).is_err());
        assert_eq!(reach(a, &allow, &[], &[]), Err("its name has no address".to_owned()));
    }
}
