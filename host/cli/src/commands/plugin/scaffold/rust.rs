//! The files of a new plugin in Rust.

use std::path::Path;

use super::shared::{EXAMPLE, filled};

/// Paths within the new folder, and what stands there; `sdk` is relative to it, or absolute.
pub(crate) fn files(name: &str, sdk: &Path) -> Vec<(String, String)> {
    let (ident, sdk) = (name.replace('-', "_"), dependency(sdk));
    let values = [("name", name), ("ident", &ident), ("sdk", &sdk)];
    let files =
        [("Cargo.toml", CARGO), ("src/lib.rs", LIB), ("example.yaml", EXAMPLE), (".gitignore", "/target\n")];
    files.into_iter().map(|(path, template)| (path.to_owned(), filled(template, &values))).collect()
}

fn dependency(sdk: &Path) -> String {
    let path = toml::Value::String(sdk.to_string_lossy().replace('\\', "/"));
    format!("{{ path = {path} }}")
}

const CARGO: &str = r#"[package]
name = "{{name}}"
version = "0.1.0"
edition = "2024"
description = "Greets by name"
publish = false

[lib]
crate-type = ["cdylib", "rlib"]

[dependencies]
phasm-sdk = {{sdk}}

# Built by itself, in any folder.
[workspace]

[profile.release]
opt-level = "s"
lto = true
codegen-units = 1
panic = "abort"
strip = true
"#;

const LIB: &str = r#"use phasm_sdk::prelude::*;

inputs! {
    struct Greet {
        /// Name of the person to greet.
        name: String,
        /// How often.
        times: u8 = 1,
    }
}

fn {{ident}}(call: Call<Greet>) -> Outcome {
    if call.inputs.name.is_empty() {
        return Outcome::error("input `name`: expected a name, got an empty text").kind("input").retryable(false);
    }
    let greeting = format!("Hello, {}! ", call.inputs.name);
    Outcome::succeeded().output("greeting", greeting.repeat(call.inputs.times.into()).trim_end())
}

executor!({{ident}}, {
    outputs: {
        /// Text of the greeting.
        greeting: String,
    },
    codes: [{ code: 3, meaning: "The inputs are wrong." }],
    deterministic: true,
    // `phasm plugin test` calls them.
    examples: [
        { name: "greets", inputs: { name: "Ada" }, outputs: { greeting: "Hello, Ada!" } },
        { name: "needs a name", inputs: { name: "" }, code: 3, message: "name" },
    ],
});

#[cfg(test)]
mod tests {
    use phasm_sdk::testing;

    use super::*;

    #[test]
    fn it_greets() {
        let outcome = testing::call({{ident}}, json!({ "name": "Ada", "times": 2 }));
        assert_eq!(outcome.get("greeting"), Some(json!("Hello, Ada! Hello, Ada!")));
    }
}
"#;
