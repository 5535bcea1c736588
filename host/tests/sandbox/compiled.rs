//! Plugins that were compiled ahead of time are loaded with their key, and never without.

use std::sync::Arc;

use phasm::{
    plugins::Plugins,
    sandbox::{Digest, Grants, Key, Sandbox, SandboxConfig},
};
use phasm_engine::outcome::code::{ERROR, SUCCEEDED};

use crate::harness::{call, config, guest, invocation};

fn sandbox(key: Option<u8>) -> Sandbox {
    let key = key.map(|byte| Key::new([byte; Key::LENGTH]));
    Sandbox::new(SandboxConfig { key, ..config() }).unwrap()
}

/// A guest compiled with key 1.
async fn compiled(name: &str) -> Vec<u8> {
    let manifest = r#"{"version":"1.2.3","maxRuntime":"5s"}"#.to_owned();
    sandbox(Some(1)).precompile(guest(name).into(), manifest).await.unwrap()
}

fn plugins(key: Option<u8>, artefact: Vec<u8>) -> Plugins {
    let plugins = Plugins::new(sandbox(key));
    plugins.register("x", artefact, Grants::default());
    plugins
}

/// R-I14.
#[tokio::test]
async fn with_its_key_it_runs_and_is_known_as_its_component() {
    let plugins = plugins(Some(1), compiled("echo").await);
    assert_eq!(call(&plugins, invocation("x")).await.code, SUCCEEDED);
    let resolved = plugins.resolve("x@1.2.3").await.unwrap();
    assert_eq!(resolved.digest, Digest::of(&guest("echo")));
    let by_digest = invocation(&resolved.digest.to_string());
    assert_eq!(call(&plugins, by_digest).await.code, SUCCEEDED);
}

/// R-I14.
#[tokio::test]
async fn without_its_key_it_does_not() {
    for (key, says) in [(None, "no key for such plugins"), (Some(2), "sealed with another key")] {
        let outcome = call(&plugins(key, compiled("echo").await), invocation("x")).await;
        assert_eq!(outcome.code, ERROR);
        assert!(outcome.message.contains(says), "{}", outcome.message);
    }
}

/// R-I14: neither the code nor what is said about it may change.
#[tokio::test]
async fn changed_anywhere_it_does_not_run() {
    let good = compiled("echo").await;
    let manifest = good.windows(5).position(|part| part == b"1.2.3").unwrap();
    let places = [manifest, manifest + 60, good.len() / 2, good.len() - 1];
    let sandbox = sandbox(Some(1));
    for at in places {
        let mut bad = good.clone();
        bad[at] ^= 1;
        let error = sandbox.precompiled(&bad).unwrap().unwrap_err();
        assert!(error.to_string().contains("or changed since"), "{at}: {error}");
        assert!(sandbox.load(Arc::from(bad)).await.is_err(), "{at}");
    }
    let cut = &good[..good.len() - 1];
    assert!(sandbox.precompiled(cut).unwrap().is_err());
}

#[tokio::test]
async fn what_is_no_plugin_is_not_compiled() {
    let sandbox = sandbox(Some(1));
    for name in ["wrong-world", "wrong-version"] {
        assert!(sandbox.precompile(guest(name).into(), "{}".to_owned()).await.is_err(), "{name}");
    }
    assert!(sandbox.precompile(guest("echo").into(), "{".to_owned()).await.is_err());
}
