//! Proofs of the user, and grants.

use std::collections::BTreeMap;

use phasm::sandbox::Grants;
use serde_json::json;

use super::TIER;
use crate::{
    database::database,
    guest::{Guests, detail, grants},
};

/// R-L172: passwords are proved, and no message has them.
#[tokio::test]
async fn passwords_are_proved_and_not_repeated() {
    let Some(database) = database() else { return };
    let guests = Guests::granted(TIER, database.port, grants(database.port));
    let who = "select current_user::text as it";
    for user in ["by_scram", "by_md5"] {
        let more = json!({ "user": user, "password": "geheim" });
        assert_eq!(guests.outputs(who, more).await["rows"], json!([{ "it": user }]), "{user}");
    }
    let url = format!("postgres://by_scram:geheim@localhost:{}/postgres?sslmode=disable", database.port);
    let by_url = json!({ "url": url, "host": null, "port": null, "user": null, "database": null });
    assert_eq!(guests.outputs(who, by_url).await["rows"], json!([{ "it": "by_scram" }]));
    let rows = [
        (json!({ "user": "by_scram", "password": "geheimx" }), "(SQLSTATE 28P01)", "auth"),
        (json!({ "user": "by_md5", "password": "geheimx" }), "(SQLSTATE 28P01)", "auth"),
        (json!({ "user": "by_scram" }), "expected input `password`", "input"),
        (json!({ "user": "in_clear", "password": "geheim" }), "in clear text", "input"),
        (json!({ "user": "unknown_user" }), "(SQLSTATE 28000)", "auth"),
        (json!({ "user": "encrypted" }), "(SQLSTATE 28000)", "auth"),
        (json!({ "database": "nothing" }), "(SQLSTATE 3D000)", "auth"),
    ];
    for (more, message, kind) in rows {
        let outcome = guests.ask(who, more.clone()).await;
        assert!(outcome.message.contains(message), "{more}: {}", outcome.message);
        assert!(!outcome.message.contains("geheim"), "{more}: {}", outcome.message);
        assert_eq!(detail(&outcome)["error"]["kind"], kind, "{more}");
    }
}

/// R-L172: the operator grants the connection, and can give it a name.
#[tokio::test]
async fn the_operator_grants_the_connection() {
    let Some(database) = database() else { return };
    let port = database.port;
    let nothing = Guests::granted(TIER, port, Grants::default());
    for (host, line) in [
        ("127.0.0.1", "tcp = [\"HOST:PORT\"]".to_owned()),
        ("db.internal", "tcp = [\"db.internal:PORT\"]".to_owned()),
    ] {
        let refused = nothing.ask("select 1", json!({ "host": host })).await;
        let expected =
            format!("`{line}` under `[grants.postgres]` in the configuration (`--config`) grants it");
        assert!(refused.message.contains(&expected), "{}", refused.message);
        assert_eq!(
            (refused.code, &detail(&refused)["error"]["kind"]),
            (3, &json!("grant")),
            "{}",
            refused.message
        );
        assert_eq!(detail(&refused)["error"]["retryable"], false);
    }
    let url = format!("postgres://by_scram:geheim@127.0.0.1:{port}/postgres");
    let env = BTreeMap::from([("pg_k8s".to_owned(), url)]);
    let named = Guests::granted(TIER, port, Grants { env, ..grants(port) });
    let alone =
        |name: &str| json!({ "auth": name, "host": null, "port": null, "user": null, "database": null });
    let rows = named.outputs("select current_user::text as it", alone("pg_k8s")).await["rows"].clone();
    assert_eq!(rows, json!([{ "it": "by_scram" }]));
    let unknown = named.ask("select 1", alone("other")).await;
    assert!(
        unknown.message.contains("`env = { other = \"postgres://…\" }` under `[grants.postgres]`"),
        "{}",
        unknown.message
    );
}
