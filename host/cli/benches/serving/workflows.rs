//! Workflows of the benchmarks, and their components.

use std::{fmt::Write as _, fs, path::Path};

/// The shipped echo plugin, built if need be.
pub(crate) fn echo_component() -> Vec<u8> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../plugins/echo");
    let built = phasm_builder::bring_up_to_date(&[folder], &|_: &str| {});
    let artefact = built.into_iter().next().expect("one answer a folder").expect("echo builds");
    fs::read(artefact.wasm).expect("the component is there")
}

/// A guest of the tests, in its world.
pub(crate) fn guest(name: &str) -> Vec<u8> {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/guests");
    let read = |name: &str| fs::read_to_string(dir.join(format!("{name}.wat"))).expect("a guest");
    wat::parse_str(read("world").replace(";; GUEST", &read(name))).expect("a component")
}

/// Puts the plugins where a server finds them.
pub(crate) fn install(dir: &Path, echo: &[u8]) {
    fs::create_dir_all(dir.join("plugins")).expect("a folder");
    let doze = guest("doze");
    for (name, component) in [("echo", echo), ("doze", &doze), ("suspend", &guest("suspend"))] {
        fs::write(dir.join(format!("plugins/{name}.wasm")), component).expect("a file");
    }
}

/// One task of echo.
pub(crate) fn one() -> String {
    dag(&[task("t", "echo", None)])
}

/// A question, and a chain of so many tasks behind it.
pub(crate) fn asked(count: u32, executor: &str) -> String {
    let mut tasks = vec![task("ask", "suspend", None)];
    let mut before = "ask".to_owned();
    for number in 0..count {
        let name = format!("t{number}");
        tasks.push(task(&name, executor, Some(&before)));
        before = name;
    }
    dag(&tasks)
}

fn task(name: &str, executor: &str, before: Option<&str>) -> String {
    let mut task = format!(r#"{{"name": "{name}", "executor": {{"type": "{executor}"}}"#);
    if let Some(before) = before {
        let _ = write!(task, r#", "dependencies": ["{before}"]"#);
    }
    task + r#", "inputs": {"parameters": [{"name": "index", "value": 1}]}}"#
}

fn dag(tasks: &[String]) -> String {
    format!(
        r#"{{"apiVersion": "aether/v1", "kind": "Workflow", "metadata": {{"name": "bench"}}, "spec": {{"entrypoint": "main",
            "templates": [{{"dag": {{"name": "main", "tasks": [{}]}}}}]}}}}"#,
        tasks.join(", ")
    )
}
