//! The shipped `email` against a relay that takes emails, refuses them and goes away.
#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "tests")]

use std::sync::{Arc, LazyLock};

use phasm::{
    Outcome,
    executor::{Executor as _, Invocation},
    plugins::Plugins,
    sandbox::{Grants, Isolation, Sandbox, WallClock},
};
use serde_json::{Value as Json, json};

use crate::{
    attempt::LogListener,
    relay::{Manner, Relay},
};

#[expect(dead_code, reason = "other tests do more")]
#[path = "../attempt/mod.rs"]
mod attempt;
mod relay;

static EMAIL: LazyLock<Arc<[u8]>> = LazyLock::new(|| attempt::built("plugins/email"));

fn grants(port: u16) -> Grants {
    Grants { tcp: attempt::tcp(&[&format!("127.0.0.1:{port}")], &[]), ..Grants::default() }
}

/// Sends an email with these inputs besides the usual ones.
async fn send(isolation: Isolation, port: u16, grants: Grants, more: &Json) -> Outcome {
    let plugins = Plugins::new(Sandbox::new(attempt::sandbox(isolation)).unwrap());
    plugins.register("email", EMAIL.to_vec(), grants);
    let usual = json!({
        "host": "127.0.0.1", "port": port, "from": "Ada <ada@example.com>", "to": ["grace@example.com"], "subject": "Hello",
        "text": "Hello, Grace!",
    });
    let members = [&usual, more].into_iter().flat_map(|object| object.as_object().unwrap().clone());
    let call = Invocation {
        inputs: attempt::inputs(&Json::Object(members.collect())),
        ..Invocation::first("email")
    };
    plugins.execute(call, Arc::new(LogListener::default()) as _).await
}

fn outputs(outcome: &Outcome) -> Json {
    assert_eq!(outcome.code, 0, "{}", outcome.message);
    attempt::outputs(outcome)
}

fn error(outcome: &Outcome) -> Json {
    let detail: Json = serde_json::from_str(&outcome.detail.as_ref().unwrap().to_json()).unwrap();
    detail.get("error").cloned().unwrap()
}

/// R-L176: all recipients get the email, also those that others do not see; headers keep their lines.
#[tokio::test]
async fn an_email_is_handed_to_the_relay() {
    let tiers = if cfg!(target_os = "linux") {
        vec![Isolation::Shared, Isolation::Process]
    } else {
        vec![Isolation::Shared]
    };
    for tier in tiers {
        let relay = Relay::start(Manner::Takes);
        let more = json!({
            "cc": ["alan@example.com"], "bcc": ["audit@example.com"], "replyTo": "desk@example.com",
            "subject": "Grüße\r\nBcc: mallory@example.com", "html": "<p>Hello</p>", "text": ".\r\n.\r\nQUIT\r\n",
        });
        let found = outputs(&send(tier, relay.port, grants(relay.port), &more).await);
        assert_eq!((&found["recipients"], &found["response"]), (&json!(3), &json!("taken as 1")));
        let said = relay.said();
        let commands: Vec<&str> = said.commands.iter().map(String::as_str).collect();
        assert_eq!(
            commands,
            [
                "EHLO localhost",
                "MAIL FROM:<ada@example.com>",
                "RCPT TO:<grace@example.com>",
                "RCPT TO:<alan@example.com>",
                "RCPT TO:<audit@example.com>",
                "DATA",
                "QUIT",
            ]
        );
        let id = found["messageId"].as_str().unwrap();
        for line in [
            &format!("Message-ID: {id}"),
            "From: Ada <ada@example.com>",
            "Cc: alan@example.com",
            "Reply-To: desk@example.com",
        ] {
            assert!(said.data.lines().any(|given| given == line), "{line}: {}", said.data);
        }
        assert!(!said.data.contains("audit@") && !said.data.contains("\nBcc:"), "{}", said.data);
        assert!(!said.data.contains("\nDate: "), "the clock is not granted: {}", said.data);
        assert!(
            said.data.contains("multipart/alternative") && said.data.contains("<p>Hello</p>"),
            "{}",
            said.data
        );
    }
    let relay = Relay::start(Manner::Takes);
    let timed = Grants { wall_clock: WallClock::Real, ..grants(relay.port) };
    outputs(&send(Isolation::Shared, relay.port, timed, &json!({})).await);
    assert!(relay.said().data.contains("\nDate: "));
}

/// R-L177: a refusal says whether another attempt may succeed.
#[tokio::test]
async fn refusals_have_their_status() {
    let rows = [
        (
            Manner::Says("MAIL", "451 try later"),
            3,
            json!({ "kind": "busy", "retryable": true, "code": 451 }),
            "451 try later",
        ),
        (
            Manner::Says("RCPT", "550 no such user"),
            2,
            json!({ "kind": "refused", "retryable": false, "code": 550 }),
            "550 no such user",
        ),
        (
            Manner::Says("DATA", "554 spam"),
            2,
            json!({ "kind": "refused", "retryable": false, "code": 554 }),
            "554 spam",
        ),
        (Manner::Says("EHLO", "what?"), 3, json!({ "kind": "protocol", "retryable": false }), "is not SMTP"),
        (
            Manner::Leaves("RCPT"),
            3,
            json!({ "kind": "connection", "retryable": true }),
            "no connection to the relay",
        ),
    ];
    for (manner, code, expected, message) in rows {
        let relay = Relay::start(manner);
        let outcome = send(Isolation::Shared, relay.port, grants(relay.port), &json!({})).await;
        assert_eq!((outcome.code, error(&outcome)), (code, expected), "{manner:?}: {}", outcome.message);
        assert!(outcome.message.contains(message), "{manner:?}: {}", outcome.message);
    }
    let relay = Relay::start(Manner::Takes);
    let refused = send(Isolation::Shared, relay.port, Grants::default(), &json!({})).await;
    assert!(refused.message.contains("under `[grants.email]` in the configuration"), "{}", refused.message);
    assert_eq!(error(&refused), json!({ "kind": "grant", "retryable": false }), "{}", refused.message);
}
