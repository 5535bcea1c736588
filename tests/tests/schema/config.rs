//! The configuration's JSON Schema: the shipped file is the generated one, and it accepts exactly what the reader does.

use std::fs;

use phasm::config;
use serde_json::{Value, json};

use crate::{
    corpus::{root, tree},
    mutations::Mutations,
    validator::Validator,
};

/// `PHASM_ACCEPT=1` rewrites it.
#[test]
fn the_shipped_schema_is_the_generated_one() {
    let file = root().join("host/schema/config.schema.json");
    let generated = format!("{:#}\n", config::schema());
    if std::env::var_os("PHASM_ACCEPT").is_some() {
        fs::write(&file, &generated).unwrap();
    }
    assert!(fs::read_to_string(&file).unwrap() == generated, "stale; run this test with PHASM_ACCEPT=1");
}

/// A configuration with every field.
fn whole() -> Value {
    let limits = config::schema().pointer("/$defs/limits/properties").unwrap().clone();
    let some = |name: &str| if name == "isolation" { json!("process") } else { json!(5) };
    let limited = config::schema().pointer("/$defs/allowance/properties").unwrap().clone();
    let limited = limited.as_object().unwrap().keys().map(|name| (name.clone(), json!(5)));
    let limited = limited.collect::<serde_json::Map<_, _>>();
    let limits = limits.as_object().unwrap().keys().map(|name| (name.clone(), some(name)));
    json!({
        "plugins": ["../plugins"],
        "grants": { "file": {
            "dirs": [{ "host": "..", "guest": "/repo", "mode": "rw", "create": true, "exclusive": true, "max-size": "1 GiB", "max-files": 9 }],
            "artifacts": true, "env": { "LANG": "C" }, "http": ["https://example.org"], "http-networks": ["10.0.0.0/8"], "tcp": ["a.example:1"], "tcp-networks": ["10.0.0.0/8"],
            "wall-clock": "2026-01-31T08:00:00Z", "random-seed": 7, "isolation": "process", "limits": limited,
        } },
        "dirs": [{ "host": "..", "guest": "/w", "mode": "rw", "create": true, "exclusive": false, "max-size": "1 GiB", "max-files": 9, "plugins": ["jq"] }],
        "vars": { "region": "eu", "sizes": [1, { "deep": true }] },
        "secrets": { "db": { "password": { "env": "DB_PASSWORD" }, "cert": { "file": "cert.pem", "egress": ["https://a.example"] } },
            "s3": { "key": { "env": "DB_PASSWORD", "egress": ["https://a.example"], "sign": "aws-sigv4", "access-key-id": "A", "region": "r", "service": "s3" } } },
        "http": {
            "requests": 5, "sent": 5, "received": 5, "headers": 5, "time": "5s", "connections": 5, "plugin-connections": 5,
            "all-connections": 5, "roots": ["a.pem"], "hosts": { "a.example": ["10.0.0.1"] },
        },
        "limits": limits.collect::<serde_json::Map<_, _>>(),
        "tenants": { "acme": {
            "namespaces": ["prod"], "weight": 3, "plugins": ["own"], "root": "acme", "grants": { "file": {} }, "secrets": {},
            "quotas": { "running": 5, "queued": 5, "open-runs": 5, "runs-per-minute": 5, "stored": "5 GiB", "requests-per-minute": 5 },
            "limits": limited, "isolation": "process",
            "trust": { "require-signature": true, "keys": ["RW"] },
        } },
        "library": "library",
        "trust": { "require-signature": true, "keys": ["RW"], "hold": "all" },
        "artifacts": { "directory": "files", "bucket": { "endpoint": "https://s3.example", "name": "files", "prefix": "phasm", "addressing": "host", "region": "eu",
            "access-key-id": "A", "secret-access-key": { "env": "KEY" }, "cache": "1 GiB" }, "attempt-size": "1 GiB", "attempt-files": 5, "stored": "9 GiB" },
        "retention": { "age": "30d", "count": 5, "namespaces": { "nightly": { "age": 5, "count": 0 } } },
        "server": { "keys": "keys", "hosts": ["a.example"], "tls-certificate": "a.pem", "tls-key": "a.key", "audit": "audit.log",
            "body": "1 MiB", "connections": 5, "streams": 5, "upload": "5 MiB" },
        "notify": { "chat": { "url": "https://a.example", "secrets": [{ "env": "HOOK" }, { "file": "hook.key" }], "on": ["Failed"],
            "namespaces": ["prod"], "workflows": ["nightly"], "named": true, "inside": true } },
        "telemetry": { "otlp": "http://localhost:4318", "sampling": 0.5, "service-name": "a", "resource": { "site": "here" },
            "headers": { "x-key": { "env": "KEY" }, "x-more": { "file": "key" } } },
    })
}

#[test]
fn every_change_of_a_configuration_is_judged_alike() {
    let schema = Validator::new(config::schema());
    let whole = whole();
    assert!(schema.accepts(&whole) && schema.not_met().is_empty(), "{:?}", schema.not_met());
    let mut mutations = Mutations::new(&config::schema());
    mutations.learn(&whole);
    let mutants = mutations.of(&whole);
    assert!(mutants.len() > 1000, "{} changes", mutants.len());
    let wrong: Vec<_> = mutants
        .iter()
        .filter_map(|mutant| {
            let problems = config::check_shape(&tree(&mutant.document));
            let accepted = schema.accepts(&mutant.document);
            (accepted != problems.is_empty())
                .then(|| format!("{} ({:?}): {accepted}, {problems:?}", mutant.path, mutant.change))
        })
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
