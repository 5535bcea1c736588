//! The inputs of a guest, its outputs and grants; and nothing of it is left.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
    time::Duration,
};

use phasm::{
    executor::Executor,
    plugins::{Manifest, Plugins},
    sandbox::{DirGrant, Grants, Randomness, Sandbox, WallClock},
};
use phasm_engine::{
    outcome::code::{ERROR, SUCCEEDED},
    value::Value,
};

use crate::harness::{Listener, call, config, guest, invocation, outputs, plugins, within, working};

/// R-I1.
#[tokio::test]
async fn inputs_come_in_and_outputs_go_out() {
    let plugins = plugins(config(), &["echo"]);
    let json = r#"{"a":[1,2.5,null,true,"é\u0000"],"b":{}}"#;
    let mut invocation = invocation("echo");
    invocation.inputs =
        Arc::new(vec![("x".into(), Value::from_json(json).unwrap()), ("y".into(), Value::Null)]);
    let outcome = call(&plugins, invocation).await;
    assert_eq!((outcome.code, &*outcome.message, &outcome.detail), (SUCCEEDED, "", &None));
    let expected = BTreeMap::from([("x", Value::from_json(json).unwrap()), ("y", Value::Null)]);
    assert_eq!(outputs(&outcome), expected.iter().map(|(name, value)| (*name, value)).collect());
}

/// R-I1, R-T8.
#[tokio::test]
async fn a_guest_knows_its_attempt() {
    let plugins = plugins(config(), &["describe", "remaining"]);
    let mut second = invocation("describe");
    (second.attempt, second.dispatch, second.resumed) = (2, 3, true);
    second.config = Value::from_json(r#"{"k":"v"}"#).unwrap();
    let key = second.idempotency_key();
    let outcome = call(&plugins, second).await;
    assert_eq!((outcome.code, &*outcome.message), (231, &*key));
    assert_eq!(outcome.detail, Some(Value::from_json(r#"{"k":"v"}"#).unwrap()));
    assert_eq!(call(&plugins, within(3_600_000, invocation("remaining"))).await.code, 0);
    assert_eq!(call(&plugins, invocation("remaining")).await.code, 2);
}

/// R-I4.
#[tokio::test]
async fn every_call_is_a_fresh_instance() {
    let mut config = config();
    config.slots = 1;
    let plugins = plugins(config, &["count"]);
    for _ in 0..20 {
        let outcome = call(&plugins, invocation("count")).await;
        assert_eq!(outputs(&outcome), BTreeMap::from([("n", &2.into())]));
    }
}

#[tokio::test]
async fn everything_a_guest_says_is_heard_line_by_line() {
    let plugins = plugins(config(), &["say", "panic"]);
    let (listener, _) = Listener::new();
    assert_eq!(plugins.execute(invocation("say"), listener.clone()).await.code, SUCCEEDED);
    let expected = [
        "Error one",
        "Error two",
        "progress Some(0.5) half",
        "progress Some(1.0) ",
        "progress None ",
        "progress None half",
        "Info out1",
        "Info out2",
        "Warn err",
        "Info out3",
    ];
    assert_eq!(listener.heard(), expected);

    let (listener, _) = Listener::new();
    assert_eq!(plugins.execute(invocation("panic"), listener.clone()).await.code, ERROR);
    assert_eq!(listener.heard().get(2).unwrap(), "Warn no such fruit");
}

/// The message about a plugin whose manifest asks for nothing.
fn lacks_directory(name: &str) -> String {
    let line = "`dirs = [{ host = \"WHERE\", guest = \"/data\", mode = \"ro\" }]`";
    format!(
        "not granted: directories; {line} under `[grants.{name}]` in the configuration (`--config`) grants a directory, which the plugin sees as `/data`"
    )
}

/// R-I2, R-I3.
#[tokio::test]
async fn nothing_is_granted_unless_the_operator_grants_it() {
    let dir = tempfile::tempdir().unwrap();
    let grant = |host: &std::path::Path| Grants {
        dirs: vec![DirGrant::read_only(host, "/data")],
        env: BTreeMap::from([("NAME".to_owned(), "value".to_owned())]),
        ..Grants::default()
    };
    let plugins = Plugins::new(Sandbox::new(config()).unwrap());
    for name in ["directories", "environment", "network"] {
        plugins.register(name, guest(name), Grants::default());
        plugins.register(format!("granted-{name}"), guest(name), grant(dir.path()));
        plugins.register(format!("gone-{name}"), guest(name), grant(&dir.path().join("gone")));
    }
    let gone = "granted directory `/data`: No such file or directory (os error 2)";
    let lacks_network = "not granted: network; refused: connections: `tcp = [\"HOST:PORT\"]` under `[grants.network]` in the \
                         configuration (`--config`) grants it";
    // The variable that every environment has is no grant (R-O6).
    let place = invocation("environment").span().parent();
    let rows = [
        ("directories", 2, &*lacks_directory("directories")),
        ("network", 101, lacks_network),
        ("environment", 0, &*place),
        ("granted-directories", 3, ""),
        ("granted-environment", 1, "value"),
        ("gone-directories", ERROR, gone),
    ];
    for (name, code, message) in rows {
        let outcome = call(&plugins, invocation(name)).await;
        assert_eq!((outcome.code, &*outcome.message), (code, message), "{name}");
    }
}

/// R-I3, R-I33: a refusal names the lines that grant what the manifest asks for, unless all of that is granted.
#[tokio::test]
async fn a_refusal_says_what_grants_the_wishes_of_a_manifest() {
    let wants = r#"{"wants": {"dirs": [{"guest": "/data"}, {"guest": "/out", "mode": "rw"}], "env": ["A"]}}"#;
    let manifest: Manifest = serde_json::from_str(wants).unwrap();
    let plugins = Plugins::new(Sandbox::new(config()).unwrap());
    let bytes = |name: &str| manifest.embed(&guest(name)).unwrap();
    plugins.register("my dirs", bytes("directories"), Grants::default());
    plugins.register("fine", bytes("echo"), Grants::default());
    plugins.register("plain", guest("directories"), Grants::default());
    let lines = "`dirs = [{ host = \"WHERE\", guest = \"/data\", mode = \"ro\" }, { host = \"WHERE\", guest = \"/out\", \
                 mode = \"rw\" }]` and `env = { A = \"WHAT\" }` under `[grants.\"my dirs\"]` in the configuration (`--config`) grants these permissions";
    for (name, expected) in [
        ("my dirs", format!("not granted: directories; {lines}")),
        ("plain", lacks_directory("plain")),
        ("fine", String::new()),
    ] {
        assert_eq!(&*call(&plugins, invocation(name)).await.message, expected, "{name}");
    }
}

/// R-I20: what clock and dice show.
#[tokio::test]
async fn the_time_of_day_is_granted_and_chance_may_be_fixed() {
    let second = Grants { wall_clock: WallClock::Standing(Duration::from_secs(1)), ..Grants::default() };
    let real = Grants { wall_clock: WallClock::Real, ..Grants::default() };
    let seeded = Grants { random: Randomness::Seeded(1), ..Grants::default() };
    let plugins = Plugins::new(Sandbox::new(config()).unwrap());
    for (name, grants) in
        [("none", Grants::default()), ("second", second), ("real", real), ("seeded", seeded)]
    {
        plugins.register(name, guest("clock"), grants);
    }
    for (name, seconds) in [("none", 0), ("second", 1), ("real", 100_000), ("seeded", 0)] {
        let mut dice = BTreeSet::new();
        for _ in 0..8 {
            let code = call(&plugins, invocation(name)).await.code;
            assert_eq!(code & ((1 << 17) - 1), seconds, "{name}");
            dice.insert(code >> 17);
        }
        assert_eq!(dice.len() == 1, name == "seeded", "{name}: {dice:?}");
    }
}

#[tokio::test]
async fn calls_wait_for_a_slot_and_never_fail_for_want_of_one() {
    let mut config = config();
    config.slots = 3;
    let plugins = plugins(config, &["nap"]);
    let calls: Vec<_> = (0..200)
        .map(|_| tokio::spawn(plugins.execute(working("nap", 0), Arc::new(crate::harness::Deaf))))
        .collect();
    for call in calls {
        let outcome = call.await.unwrap();
        assert_eq!((outcome.code, &*outcome.message), (SUCCEEDED, ""));
    }
}
