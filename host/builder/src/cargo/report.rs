//! Messages of cargo with `--message-format json`.

use std::{collections::BTreeSet, path::PathBuf};

use serde::Deserialize;

/// The messages of one run that matter here.
pub(super) struct CargoMessages {
    /// Files that are there and current.
    pub(super) artefacts: BTreeSet<PathBuf>,
    errors: Vec<Diagnostic>,
}

struct Diagnostic {
    manifest: PathBuf,
    rendered: String,
}

#[derive(Deserialize)]
#[serde(tag = "reason")]
enum Message {
    #[serde(rename = "compiler-artifact")]
    Artifact { filenames: Vec<PathBuf> },
    #[serde(rename = "compiler-message")]
    Diagnostic { manifest_path: PathBuf, message: Body },
    #[serde(other)]
    Other,
}

#[derive(Deserialize)]
struct Body {
    level: String,
    rendered: Option<String>,
}

impl CargoMessages {
    /// Reads one message a line; a build script's own output among them is passed over.
    pub(super) fn read(messages: &str) -> Self {
        let mut report = Self { artefacts: BTreeSet::new(), errors: Vec::new() };
        for message in messages.lines().filter_map(|line| serde_json::from_str(line).ok()) {
            match message {
                Message::Artifact { filenames } => report.artefacts.extend(filenames),
                Message::Diagnostic { manifest_path, message } => report.add(manifest_path, message),
                Message::Other => {}
            }
        }
        report
    }

    fn add(&mut self, manifest: PathBuf, Body { level, rendered }: Body) {
        if let Some(rendered) = rendered.filter(|_| level.starts_with("error")) {
            self.errors.push(Diagnostic { manifest, rendered });
        }
    }

    /// The compiler's errors, without those of the crates with these manifests.
    pub(super) fn errors_except(&self, manifests: &BTreeSet<PathBuf>) -> String {
        let errors = self.errors.iter().filter(|error| !manifests.contains(&error.manifest));
        errors.map(|error| error.rendered.trim_end()).collect::<Vec<_>>().join("\n\n")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MESSAGES: &str = r#"
{"reason":"compiler-artifact","package_id":"path+file:///p#0.1.0","manifest_path":"/p/Cargo.toml","filenames":["/t/a.wasm","/t/a.rlib"],"fresh":true}
{"reason":"compiler-message","manifest_path":"/a/Cargo.toml","message":{"level":"warning","rendered":"warning: w\n"}}
{"reason":"compiler-message","manifest_path":"/a/Cargo.toml","message":{"level":"error","rendered":"error: in a\n\n"}}
{"reason":"compiler-message","manifest_path":"/dep/Cargo.toml","message":{"level":"error: internal compiler error","rendered":"error: in dep\n"}}
{"reason":"compiler-message","manifest_path":"/b/Cargo.toml","message":{"level":"error","rendered":"error: in b\n"}}
{"reason":"compiler-message","manifest_path":"/b/Cargo.toml","message":{"level":"error","rendered":null}}
a line of a build script's
{"reason":"build-script-executed","out_dir":"/t/no"}
{"reason":"build-finished","success":false}
"#;

    #[test]
    fn artefacts_and_errors_are_told_apart_by_crate() {
        let report = CargoMessages::read(MESSAGES);
        assert_eq!(report.artefacts, ["/t/a.wasm", "/t/a.rlib"].map(PathBuf::from).into());
        let except = |manifest: &str| report.errors_except(&[PathBuf::from(manifest)].into());
        assert_eq!(except("/b/Cargo.toml"), "error: in a\n\nerror: in dep");
        assert_eq!(except("/a/Cargo.toml"), "error: in dep\n\nerror: in b");
        assert_eq!(CargoMessages::read("").errors_except(&BTreeSet::new()), "");
    }
}
