//! Resolving a host to the addresses that may be reached. The connection goes to an address that was checked.

use std::net::IpAddr;

use wasmtime_wasi_http::Error;

use super::{HttpGrant, failure::Failure, net::Net, target::Target};
use crate::capability::{
    hosts::{
        name::{Host, plain},
        resolver::{self, LookupError, Unreachable, describe_inside},
    },
    refusals::advice,
};

/// Returns the addresses of the target that the grant allows.
pub(super) async fn addresses(
    net: &Net,
    grant: &HttpGrant,
    target: &Target,
    plugin: &str,
) -> Result<Vec<IpAddr>, Failure> {
    let all = net.resolver.addresses(&target.host).await.map_err(|error| lookup_failure(&error))?;
    reachable_addresses(all, grant, target, plugin)
}

fn lookup_failure(error: &LookupError) -> Failure {
    let code = match error {
        LookupError::Late => Error::DnsTimeout,
        LookupError::Unknown(_) => Error::DestinationNotFound,
    };
    Failure::new(code, error.to_string())
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
    resolver::reachable_addresses(all, named, &grant.networks).map_err(|why| match why {
        Unreachable::NoAddress => Failure::new(Error::DestinationNotFound, "its name has no address"),
        Unreachable::Inside(address) => inside_failure(address, target, plugin),
    })
}

fn inside_failure(address: IpAddr, target: &Target, plugin: &str) -> Failure {
    let is = describe_inside(&target.host, address);
    let advice = advice("http-networks", &plain(address).to_string(), plugin);
    Failure::address(format!("{is}; {advice}"))
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
