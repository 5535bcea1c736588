//! The files of a new plugin in Rust.

use std::path::Path;

/// Paths within the new folder, and what stands there; `sdk` is relative to it, or absolute.
pub(super) fn files(name: &str, sdk: &Path) -> Vec<(String, String)> {
    let filled =
        |template: &str| template.replace("{{name}}", name).replace("{{ident}}", &name.replace('-', "_"));
    let files = [
        ("Cargo.toml", filled(CARGO).replace("{{sdk}}", &dependency(sdk))),
        ("src/lib.rs", filled(LIB)),
        ("example.yaml", example(name, "greet")),
        (".gitignore", "/target\n".to_owned()),
    ];
    files.into_iter().map(|(path, text)| (path.to_owned(), text)).collect()
}

/// A workflow with a task that uses the new plugin.
pub(super) fn example(name: &str, task: &str) -> String {
    EXAMPLE.replace("{{name}}", name).replace("{{task}}", task)
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
        times: usize = 1,
    }
}

fn {{ident}}(call: Call<Greet>) -> Outcome {
    let greeting = format!("Hello, {}! ", call.inputs.name);
    Outcome::succeeded().output("greeting", greeting.repeat(call.inputs.times).trim_end())
}

executor!({{ident}}, {
    outputs: {
        /// Text of the greeting.
        greeting: String,
    },
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

const EXAMPLE: &str = r#"apiVersion: phasm/v1
kind: Workflow
metadata: { name: {{name}}-example }
spec:
  entrypoint: main
  parameters: { name: { type: string, default: World } }
  templates:
    - dag:
        name: main
        outputs: { greeting: tasks.{{task}}.outputs.greeting }
        tasks:
          - name: {{task}}
            executor: { type: {{name}} }
            inputs: { name: "{{ workflow.parameters.name }}", times: 2 }
"#;
