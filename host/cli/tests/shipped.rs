//! The shipped executors. They are built here if need be, which takes minutes: in a program of its own, no other test waits for that.
#![cfg(unix)]
#![expect(clippy::unwrap_used, clippy::panic, reason = "tests")]

#[expect(dead_code, reason = "other tests do more")]
#[path = "cli/bench.rs"]
mod bench;

use bench::Bench;

/// R-L126: the shipped executors that need no grant do what their manifests say.
#[test]
fn the_shipped_executors_keep_their_word() {
    let bench = Bench::new();
    // `echo` and `sleep` misbehave where their inputs ask for it.
    let shipped = [
        "approval", "csv", "email", "hash", "html", "jq", "markdown", "parse", "postgres", "regex",
        "template", "validate",
    ];
    for name in shipped {
        let plugin = format!("{}/../../plugins/{name}", env!("CARGO_MANIFEST_DIR"));
        let ran = bench.phasm(&["plugin", "test", &plugin]);
        assert_eq!(ran.status, 0, "{name}: {ran:?}");
        assert!(ran.stdout.contains(" 0 failed"), "{name}: {ran:?}");
    }
}
