//! Names that change their addresses, and addresses that guests invent.
#![expect(clippy::unwrap_used, reason = "tests")]

use std::{
    io,
    net::IpAddr,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
};

use super::{check, connect, look_up};
use crate::{
    attempt_context::AttemptContext,
    capability::{
        hosts::resolver::Resolver,
        http::{HttpConfig, Net},
        refusals::Refusals,
        sockets::{
            TcpGrant,
            caller::{AttemptConnections, Caller},
            failure::Failure,
        },
    },
    executor::{Level, Observer},
    limits::{Limit, Limits},
    tenants::Tenants,
    transcript::Transcript,
};

/// Remembers log lines.
#[derive(Default)]
struct Ear(Mutex<Vec<String>>);

impl Observer for Ear {
    fn log(&self, level: Level, text: &str) {
        self.0.lock().unwrap().push(format!("{level:?} {text}"));
    }
    fn progress(&self, _: Option<f64>, _: &str) {}
    fn activity(&self) {}
}

/// Returns the addresses that the stub has for a name. Those of `rebinding.example` change with each look-up.
fn stub(name: &str) -> io::Result<Vec<IpAddr>> {
    static LOOKUPS: AtomicUsize = AtomicUsize::new(0);
    let addresses: &[&str] = match name {
        "rebinding.example" if LOOKUPS.fetch_add(1, Relaxed) == 0 => &["1.1.1.1"],
        "rebinding.example" => &["127.0.0.1"],
        "db.example" => &["2.2.2.2", "10.0.0.7", "::ffff:3.3.3.3"],
        "inner.example" => &["10.0.0.7"],
        "metadata.example" => &["169.254.169.254"],
        "mapped.example" => &["::ffff:127.0.0.1"],
        "empty.example" => &[],
        _ => return Err(io::Error::other("unknown name")),
    };
    Ok(addresses.iter().map(|text| text.parse().unwrap()).collect())
}

fn caller(allow: &[&str], networks: &[&str], limits: Limits) -> (AttemptConnections, Arc<Ear>) {
    let ear = Arc::<Ear>::default();
    let grant = TcpGrant {
        allow: allow.iter().map(|text| text.parse().unwrap()).collect(),
        networks: networks.iter().map(|text| text.parse().unwrap()).collect(),
    };
    let attempt = AttemptContext::for_tests(limits);
    let mut net = Net::new(HttpConfig::default(), &Tenants::default());
    net.resolver = Resolver::asking(stub);
    let transcript = Transcript::new(Arc::clone(&ear) as _, attempt.ceilings.ceiling(Limit::Log), 1000);
    let caller = Caller::new(&Arc::new(net), &grant, &attempt, &Arc::new(transcript));
    (AttemptConnections::new(caller), ear)
}

fn refusals(attempt: &AttemptConnections) -> String {
    let mut refusals = Refusals::default();
    attempt.report_refusals(&mut refusals);
    refusals.summary("")
}

fn may(caller: &Caller, address: &str, port: u16) -> bool {
    check(caller, address.parse().unwrap(), port).is_ok()
}

/// R-I142: a name whose address becomes an internal one is refused, and what it was before stays what it was.
#[tokio::test]
async fn a_name_that_changes_its_address_leads_nowhere_else() {
    let (attempt, _) = caller(&["rebinding.example:443"], &[], Limits::default());
    let caller = attempt.caller();
    assert!(!may(caller, "1.1.1.1", 443), "nothing was looked up yet");
    assert_eq!(look_up(caller, "rebinding.example").await, Ok(vec!["1.1.1.1".parse().unwrap()]));
    assert!(may(caller, "1.1.1.1", 443) && !may(caller, "1.1.1.1", 80));
    assert_eq!(look_up(caller, "Rebinding.example").await, Err(Failure::AccessDenied));
    assert!(!may(caller, "127.0.0.1", 443) && may(caller, "1.1.1.1", 443));
    assert_eq!(
        refusals(&attempt),
        "refused: rebinding.example is 127.0.0.1, a loopback address; `tcp-networks = [\"127.0.0.1\"]` under `[grants.guest]` in the \
         configuration (`--config`) grants it"
    );
    let denied = connect(caller, "127.0.0.1:443".parse().unwrap()).await;
    assert_eq!(denied.err(), Some(Failure::AccessDenied));
}

/// R-I142: only addresses that a pattern names, or that a look-up of a granted name gave, and only with the port of that pattern.
#[tokio::test]
async fn an_address_is_granted_by_its_pattern_or_by_its_name() {
    let allow = ["db.example:5432", "*.example:1", "9.9.9.9:53", "192.168.0.9:53"];
    let (attempt, _) = caller(&allow, &[], Limits::default());
    let caller = attempt.caller();
    for (address, port, expected) in [
        ("9.9.9.9", 53, true),
        ("9.9.9.9", 54, false),
        ("192.168.0.9", 53, true),
        ("192.168.0.8", 53, false),
        ("2.2.2.2", 5432, false),
        ("8.8.8.8", 1, false),
        ("127.0.0.1", 53, false),
        ("::1", 53, false),
    ] {
        assert_eq!(may(caller, address, port), expected, "{address} {port}");
    }
    let found = ["2.2.2.2", "3.3.3.3"].map(|text| text.parse::<IpAddr>().unwrap());
    assert_eq!(look_up(caller, "db.example").await, Ok(found.to_vec()), "without the private one");
    assert!(may(caller, "2.2.2.2", 5432) && may(caller, "3.3.3.3", 5432) && may(caller, "2.2.2.2", 1));
    assert!(!may(caller, "2.2.2.2", 53) && !may(caller, "10.0.0.7", 5432) && !may(caller, "9.9.9.9", 5432));
    let refused = check(caller, "2.2.2.2".parse().unwrap(), 80).unwrap_err();
    assert_eq!(
        refused,
        "connection to db.example (2.2.2.2) at port 80: not granted; `tcp = [\"db.example:80\"]` under `[grants.guest]` in the \
         configuration (`--config`) grants it"
    );
}

/// R-I142: any host is not this machine, nor a private network, nor a cloud's metadata.
#[tokio::test]
async fn internal_addresses_are_for_those_who_are_granted_them() {
    let (attempt, _) = caller(&["*:*"], &[], Limits::default());
    let caller_of_all = attempt.caller();
    assert!(may(caller_of_all, "8.8.8.8", 443));
    for address in
        ["127.0.0.1", "10.0.0.7", "169.254.169.254", "224.0.0.1", "0.0.0.0", "::1", "fe80::1", "fd00::1"]
    {
        assert!(!may(caller_of_all, address, 443), "{address}");
    }
    for name in ["inner.example", "metadata.example", "mapped.example", "localhost"] {
        assert_eq!(look_up(caller_of_all, name).await, Err(Failure::AccessDenied), "{name}");
    }
    assert_eq!(look_up(caller_of_all, "empty.example").await, Err(Failure::NameUnresolvable));
    assert_eq!(look_up(caller_of_all, "other.example").await, Err(Failure::NameUnresolvable));
    let (attempt, _) = caller(&["inner.example:5432", "localhost:5432"], &["10.0.0.0/8"], Limits::default());
    let caller = attempt.caller();
    assert_eq!(look_up(caller, "inner.example").await, Ok(vec!["10.0.0.7".parse().unwrap()]));
    assert!(
        may(caller, "10.0.0.7", 5432) && !may(caller, "10.0.0.8", 5432) && !may(caller, "127.0.0.1", 5432)
    );
    assert!(look_up(caller, "localhost").await.is_ok());
    assert!(
        may(caller, "127.0.0.1", 5432) && !may(caller, "127.0.0.1", 5433) && !may(caller, "127.0.0.2", 5432)
    );
}

/// R-I141: names are looked up where a pattern has them, and an address needs no look-up.
#[tokio::test]
async fn only_granted_names_are_looked_up() {
    let (attempt, _) = caller(&["db.example:5432"], &[], Limits::default());
    let caller = attempt.caller();
    assert_eq!(look_up(caller, "hunter2.evil.example").await, Err(Failure::AccessDenied));
    for (text, address) in [("10.0.0.7", "10.0.0.7"), ("::ffff:10.0.0.7", "10.0.0.7"), ("[::1]", "::1")] {
        assert_eq!(look_up(caller, text).await, Ok(vec![address.parse().unwrap()]), "{text}");
        assert!(!may(caller, address, 5432), "{text}");
    }
    for text in ["", "2130706433", "0x7f.1", "db.example.", "db.example:5432", "d\u{f6}.example"] {
        assert_eq!(look_up(caller, text).await, Err(Failure::InvalidArgument), "{text}");
    }
    assert!(
        refusals(&attempt).contains(
            "look-up of hunter2.evil.example: not granted; `tcp = [\"hunter2.evil.example:PORT\"]` under `[grants.guest]`"
        ),
        "{}",
        refusals(&attempt)
    );
}

/// R-I143: floods of look-ups and of refused connections end at a limit, and leave few lines.
#[tokio::test]
async fn floods_end_at_a_limit() {
    let limits = Limits { tcp_connects: 3, ..Limits::default() };
    let (attempt, ear) = caller(&["db.example:5432"], &[], limits);
    let caller = attempt.caller();
    for count in 0..50 {
        let found = look_up(caller, "db.example").await;
        assert_eq!(found.is_ok(), count < 3, "{count}");
        let denied = connect(caller, "127.0.0.1:1".parse().unwrap()).await;
        assert_eq!(denied.err(), Some(Failure::AccessDenied), "{count}");
    }
    let told = refusals(&attempt);
    assert!(told.contains("limit of 3 TCP connections and look-ups reached (limits.tcp-connects)"), "{told}");
    assert_eq!(ear.0.lock().unwrap().len(), 2);
}
