//! Limits that several may set, the time that guests compute, and what they used.

use std::sync::{Arc, Mutex};

use phasm::{
    executor::{Executor as _, Level, Observer},
    plugins::Plugins,
    sandbox::{Allowance, Grants, Limit, SandboxConfig},
};
use phasm_engine::{
    outcome::code::{ERROR, SUCCEEDED, TIMEOUT},
    usage::ResourceUsage,
};

use crate::harness::{call, config, guest, invocation, plugins, within, working};

const MIB: u64 = 1 << 20;

fn at_most(limit: Limit, most: u64) -> Allowance {
    Allowance::default().with(limit, most)
}

/// Plugins of tenant acme, whose namespace is the invocations'.
fn of_acme(limits: Allowance, names: &[&str], grants: &Grants) -> Plugins {
    let mut config = config();
    let acme = Arc::from("acme");
    config.tenants.add(&acme, 1, ["default".into()]);
    config.tenants.limit(&acme, limits);
    let plugins = Plugins::new(phasm::sandbox::Sandbox::new(config).unwrap());
    names.iter().for_each(|name| plugins.register(*name, guest(name), grants.clone()));
    plugins
}

/// A component with a manifest that says this of its limits.
fn saying(name: &str, limits: &str) -> Vec<u8> {
    let manifest = format!(r#"{{"name":"{name}","limits":{limits}}}"#);
    let section = b"phasm:manifest";
    let body = [&[section.len() as u8], &section[..], manifest.as_bytes()].concat();
    let length = [(body.len() & 0x7f) as u8 | 0x80, (body.len() >> 7) as u8];
    [&guest(name)[..], &[0], &length, &body].concat()
}

/// R-I40: the lowest limit counts, and the message names its source.
#[tokio::test]
async fn the_smallest_limit_counts_and_is_told_with_who_set_it() {
    let plugin = |most| Grants { limits: at_most(Limit::Memory, most), ..Grants::default() };
    let rows = [
        (64 * MIB, 64 * MIB, None, "memory limit of 64 MiB reached (limits.memory)"),
        (
            4 * MIB,
            8 * MIB,
            Some(16 * MIB),
            "memory limit of 4 MiB reached, set for tenant acme ([tenants.acme] limits.memory)",
        ),
        (
            8 * MIB,
            4 * MIB,
            None,
            "memory limit of 4 MiB reached, set for plugin allocate ([grants.allocate] limits.memory)",
        ),
        (8 * MIB, 4 * MIB, Some(MIB), "memory limit of 1 MiB reached (resources.memory of the task)"),
        (1 << 40, 1 << 40, Some(1 << 40), "memory limit of 64 MiB reached (limits.memory)"),
    ];
    for (tenant, of_plugin, task, message) in rows {
        let plugins = of_acme(at_most(Limit::Memory, tenant), &["allocate"], &plugin(of_plugin));
        let mut invocation = invocation("allocate");
        invocation.memory = task;
        let outcome = call(&plugins, invocation).await;
        assert_eq!((outcome.code, &*outcome.message), (ERROR, message));
    }
}

/// R-I40.
#[tokio::test]
async fn every_limit_of_a_tenant_is_told_as_its_own() {
    let rows = [
        (Limit::Log, 100, "flood", "log over its limit of 100 bytes"),
        (Limit::Output, 0, "count", "output over its limit of 0 bytes"),
        (Limit::OutputValues, 0, "count", "output over its limit of 0 JSON values"),
        (Limit::TableElements, 2, "table", "table limit of 2 elements reached"),
        (Limit::Cpu, 20_000, "spin", "CPU time limit of 20ms reached"),
    ];
    for (limit, most, name, says) in rows {
        let plugins = of_acme(at_most(limit, most), &[name], &Grants::default());
        let outcome = call(&plugins, invocation(name)).await;
        let key = limit.key();
        let message = format!("{says}, set for tenant acme ([tenants.acme] limits.{key})");
        assert_eq!((outcome.code, &*outcome.message), (ERROR, &*message), "{name}");
    }
}

/// R-I40: a manifest lowers limits and never raises them; one that cannot be read is named.
#[tokio::test]
async fn a_manifest_says_what_its_plugin_needs() {
    let plugins = plugins(config(), &[]);
    let rows = [
        (
            "modest",
            r#"{"memory":"2 MiB"}"#,
            "memory limit of 2 MiB reached, set by the manifest of plugin modest",
        ),
        ("vain", r#"{"memory":"2 GiB"}"#, "memory limit of 64 MiB reached (limits.memory)"),
        ("confused", r#"{"memery":1}"#, "limits: "),
    ];
    for (name, limits, says) in rows {
        plugins.register(name, saying("allocate", limits), Grants::default());
        let outcome = call(&plugins, invocation(name)).await;
        assert!(outcome.code == ERROR && outcome.message.contains(says), "{}", outcome.message);
    }
}

fn with_cpu(millis: u64) -> SandboxConfig {
    let mut config = config();
    config.limits.cpu = Some(std::time::Duration::from_millis(millis));
    config
}

/// R-I41.
#[tokio::test]
async fn who_computes_too_long_is_stopped_and_who_waits_is_not() {
    let computing = ["spin", "spin-at-start", "fill"];
    let plugins = plugins(with_cpu(30), &[&computing[..], &["doze"]].concat());
    for name in computing {
        let outcome = call(&plugins, invocation(name)).await;
        let message = "CPU time limit of 30ms reached (limits.cpu)";
        assert_eq!((outcome.code, &*outcome.message), (ERROR, message), "{name}");
        assert!(outcome.metered.cpu_us >= 30_000, "{:?}", outcome.metered);
    }
    // A twentieth of a second, by the clock.
    let outcome = call(&plugins, invocation("doze")).await;
    assert!(outcome.code == SUCCEEDED && outcome.metered.cpu_us < 30_000, "{outcome:?}");
}

/// R-I41: time is each attempt's own, however many of them there are.
#[tokio::test]
async fn beside_others_each_has_its_own_time() {
    let plugins = plugins(with_cpu(40), &["spin", "echo"]);
    let spinners = (0..8).map(|_| plugins.execute(invocation("spin"), Arc::new(crate::harness::Deaf)));
    let spinners = tokio::task::JoinSet::from_iter(spinners);
    assert_eq!(call(&plugins, working("echo", 3)).await.code, SUCCEEDED);
    for outcome in spinners.join_all().await {
        assert!(outcome.message.starts_with("CPU time limit"), "{}", outcome.message);
        assert!((40_000..400_000).contains(&outcome.metered.cpu_us), "{:?}", outcome.metered);
    }
}

/// Remembers what it heard last of what was used.
#[derive(Default)]
struct Meter(Mutex<ResourceUsage>);

impl Observer for Meter {
    fn log(&self, _: Level, _: &str) {}
    fn progress(&self, _: Option<f64>, _: &str) {}
    fn activity(&self) {}
    fn used(&self, metered: ResourceUsage) {
        *self.0.lock().unwrap() = metered;
    }
}

/// R-I42.
#[tokio::test]
async fn what_an_attempt_used_is_told() {
    let plugins = plugins(config(), &["say", "allocate", "spin"]);
    let said = call(&plugins, invocation("say")).await.metered;
    assert_eq!((said.pages, said.bytes_in, said.bytes_out), (1, 0, 0), "{said:?}");
    // Two of the log and progress each way, a heartbeat, three writes and two streams; what the table is asked for besides counts, too.
    assert!(said.calls >= 11 && said.cpu_us > 0, "{said:?}");
    let again = call(&plugins, invocation("say")).await.metered;
    assert_eq!((again.calls, again.pages), (said.calls, said.pages));
    let grown = call(&plugins, invocation("allocate")).await.metered;
    assert_eq!(grown.memory(), 64 * MIB);
    // Its time is not the compiler's.
    plugins.load("spin").await.unwrap();
    let meter = Arc::new(Meter::default());
    let stopped = plugins.execute(within(50, invocation("spin")), Arc::clone(&meter) as _).await;
    assert_eq!(stopped.code, TIMEOUT);
    let heard = *meter.0.lock().unwrap();
    assert!(heard.cpu_us > 1_000 && heard.pages == 1, "{heard:?}");
}
