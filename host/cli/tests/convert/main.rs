//! `phasm convert` on workflows of other systems: each result is a valid workflow file, and each field is used or reported.
#![expect(clippy::unwrap_used, clippy::panic, reason = "tests")]

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::{Command, Output},
};

use phasm::{
    engine::{
        plan::{Draft, Executors},
        tree::{Tree, TreeNode},
        value::Value,
    },
    reader,
};
use phasm_convert::{Conversion, Format, convert};

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/convert").join(name)
}

/// Returns the sources in a folder, by their names.
fn sources(name: &str) -> Vec<(String, String)> {
    let files = fs::read_dir(folder(name)).unwrap().map(|file| file.unwrap().path());
    let mut found: Vec<_> = files
        .filter(|path| path.extension().is_some_and(|end| end == "yaml"))
        .map(|path| {
            (path.file_stem().unwrap().to_str().unwrap().to_owned(), fs::read_to_string(path).unwrap())
        })
        .collect();
    found.sort();
    found
}

fn converted(text: &str, format: Format) -> Conversion {
    let tree = reader::read("source.yaml", text).unwrap_or_else(|found| panic!("{found:#?}\n{text}"));
    assert_eq!(Format::of(&tree), Some(format), "{text}");
    convert(&tree, format)
}

fn validate(name: &str, text: &str) -> Result<(), String> {
    let tree = reader::read("result.yaml", text).map_err(|found| format!("{name}: {found:#?}\n{text}"))?;
    let plan = Draft::read(&tree).plan(&Executors::any(), &Value::Null);
    plan.map(|_| ()).map_err(|found| format!("{name}: {found:#?}\n{text}"))
}

/// R-W26: each source is converted to a valid file, whose text and notes are recorded.
#[test]
fn sources_are_converted_to_valid_files() {
    let mut faults = Vec::new();
    for (name, format, least) in [("argo", Format::Argo, 30), ("actions", Format::Actions, 8)] {
        let all = sources(name);
        assert!(all.len() >= least, "{name}: {}", all.len());
        for (file, text) in all {
            let conversion = converted(&text, format);
            faults.extend(validate(&file, &conversion.text).err());
            let golden = folder(name).join(format!("{file}.golden"));
            if env::var_os("PHASM_ACCEPT").is_some() {
                fs::write(&golden, &conversion.text).unwrap();
            }
            let expected = fs::read_to_string(&golden).unwrap_or_default();
            if expected != conversion.text {
                faults.push(format!("{file} differs from its golden file:\n{}", conversion.text));
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n\n"));
}

/// Adds a field to every object, and an element to no list; returns the number of fields.
fn sprinkle(tree: &mut Tree) -> usize {
    let span = tree.span;
    match &mut tree.node {
        TreeNode::Object(members) => {
            let mut count: usize = members.iter_mut().map(|(_, value)| sprinkle(value)).sum();
            if let Some((first, _)) = members.first() {
                let mut key = first.clone();
                key.name = "unheardOf".into();
                members.push((key, Tree::new(TreeNode::Bool(true), span)));
                count += 1;
            }
            count
        }
        TreeNode::Array(items) => items.iter_mut().map(sprinkle).sum(),
        TreeNode::Null | TreeNode::Bool(_) | TreeNode::Number(_) | TreeNode::String(_) => 0,
    }
}

/// R-W27: a field that nothing reads is reported, wherever it stands; or it is in the result, as all settings of some work are.
#[test]
fn no_field_is_left_out_in_silence() {
    for (name, format) in [("argo", Format::Argo), ("actions", Format::Actions)] {
        for (file, text) in sources(name) {
            let mut tree = reader::read("source.yaml", &text).unwrap();
            let count = sprinkle(&mut tree);
            let conversion = convert(&tree, format);
            let body: String = conversion
                .text
                .lines()
                .filter(|line| !line.starts_with('#'))
                .map(|line| format!("{line}\n"))
                .collect();
            let kept = body.matches("unheardOf").count();
            let reported = conversion.notes.iter().filter(|note| note.path.ends_with("unheardOf")).count();
            // An object without a counterpart is one note.
            let inside = |note: &&phasm_convert::Note| matches!(note.value.chars().next(), Some('{' | '['));
            let whole = conversion.notes.iter().filter(inside).count();
            assert!(count > 0 && reported > 0, "{file}");
            assert!(
                kept + reported + whole * 8 >= count,
                "{file}: {count} fields, {kept} kept, {reported} reported\n{}",
                conversion.text
            );
        }
    }
}

/// Returns numbers by xorshift, so that a failure can be repeated.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % u64::try_from(limit).unwrap()).unwrap()
    }
}

/// Replaces values of a source by values of any kind.
fn mangle(tree: &mut Tree, random: &mut Random) {
    const TEXTS: [&str; 14] = [
        "",
        "{{",
        "}}",
        "{{=",
        "${{ }}",
        "{{item}}",
        "((((",
        "a && (b",
        "-1",
        "99999999999999999999",
        "\u{202e}\u{7}",
        "'",
        "é",
        "{{tasks.a.outputs.result}} == ",
    ];
    if random.below(12) == 0 {
        let other = match random.below(6) {
            0 => TreeNode::Null,
            1 => TreeNode::Bool(true),
            2 => TreeNode::Number((-3_i64).into()),
            3 => TreeNode::Array(vec![tree.clone(), tree.clone()]),
            4 => TreeNode::Object(Vec::new()),
            _ => TreeNode::String(TEXTS.get(random.below(TEXTS.len())).copied().unwrap_or_default().into()),
        };
        tree.node = other;
    }
    match &mut tree.node {
        TreeNode::Object(members) => {
            if !members.is_empty() && random.below(8) == 0 {
                let at = random.below(members.len());
                let again = members.get(at).unwrap().clone();
                members.push(again);
            }
            members.iter_mut().for_each(|(_, value)| mangle(value, random));
        }
        TreeNode::Array(items) => items.iter_mut().for_each(|value| mangle(value, random)),
        TreeNode::Null | TreeNode::Bool(_) | TreeNode::Number(_) | TreeNode::String(_) => {}
    }
}

/// R-W28: whatever the fields hold, the result is YAML, and nothing panics.
#[test]
fn any_values_are_converted_or_reported() {
    let mut random = Random(0x5eed_cafe_f00d_d00d);
    for (name, format) in [("argo", Format::Argo), ("actions", Format::Actions)] {
        for (file, text) in sources(name) {
            let tree = reader::read("source.yaml", &text).unwrap();
            for _ in 0..60 {
                let mut mangled = tree.clone();
                mangle(&mut mangled, &mut random);
                let conversion = convert(&mangled, format);
                let read = reader::read("result.yaml", &conversion.text);
                assert!(read.is_ok(), "{file}: {read:#?}\n{}", conversion.text);
            }
        }
    }
}

/// R-W28: groups of steps, whose dependencies grow with the square, are bounded; so are notes.
#[test]
fn large_files_stay_bounded() {
    let step = |group: usize, at: usize| format!("{{name: s{group}-{at}, template: w, other: 1}}");
    let group = |group| format!("[{}]", (0..2_000).map(|at| step(group, at)).collect::<Vec<_>>().join(","));
    let text = format!(
        "{{\"apiVersion\": \"argoproj.io/v1alpha1\", spec: {{templates: [{{name: w, container: {{}}}}, {{name: m, steps: [{}, {}]}}]}}}}",
        group(0),
        group(1)
    );
    let conversion = converted(&text, Format::Argo);
    assert!(conversion.text.len() < 10 << 20, "{}", conversion.text.len());
    assert_eq!(conversion.notes.len(), phasm_convert::MAX_NOTES);
    assert!(conversion.more > 1_000, "{}", conversion.more);
}

fn phasm(dir: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_phasm"))
        .args(arguments)
        .current_dir(dir)
        .env("XDG_DATA_HOME", dir.join("data-home"))
        .env("PHASM_PLUGINS", Path::new(env!("CARGO_MANIFEST_DIR")).join("../../plugins"))
        .env_remove("PHASM_CONFIG")
        .env_remove("PHASM_STORE")
        .env_remove("PHASM_SERVER")
        .output()
        .unwrap()
}

/// R-L72: a file without work for executors of one's own runs as it is.
#[test]
fn converted_files_run_to_their_end() {
    let dir = tempfile::tempdir().unwrap();
    for name in ["sleep-and-loop", "parallelism-limit", "parallelism-nested"] {
        let source = folder("argo").join(format!("{name}.yaml"));
        let output = phasm(dir.path(), &["convert", source.to_str().unwrap()]);
        assert!(output.status.success(), "{output:?}");
        let file = dir.path().join("workflow.yaml");
        fs::write(&file, &output.stdout).unwrap();
        let ran = phasm(dir.path(), &["run", "workflow.yaml", "--json"]);
        assert!(ran.status.success(), "{name}: {ran:?}");
        let view: serde_json::Value = serde_json::from_slice(&ran.stdout).unwrap();
        let phases: Vec<_> =
            view["tasks"].as_array().unwrap().iter().map(|task| task["phase"].as_str().unwrap()).collect();
        assert!(
            phases.len() > 3 && phases.iter().all(|phase| ["Succeeded", "Skipped"].contains(phase)),
            "{name}: {phases:?}"
        );
        assert_eq!(phases.contains(&"Skipped"), name == "sleep-and-loop", "{phases:?}");
    }
}

/// R-L72: notes on stderr and status 0; with `--strict` status 1 and no result; with `--json` one object.
#[test]
fn notes_have_a_status_and_a_stream() {
    let dir = tempfile::tempdir().unwrap();
    let source = folder("argo").join("artifacts-volumes.yaml");
    let source = source.to_str().unwrap();
    let output = phasm(dir.path(), &["convert", source]);
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(0), "{stderr}");
    assert!(stderr.contains("spec.serviceAccountName (robot): left out: there are no pods"), "{stderr}");
    assert!(output.stdout.starts_with(b"# yaml-language-server: $schema="));
    let strict = phasm(dir.path(), &["convert", source, "--strict"]);
    assert_eq!((strict.status.code(), strict.stdout.len()), (Some(1), 0), "{strict:?}");
    assert_eq!(String::from_utf8(strict.stderr).unwrap(), stderr);
    let json = phasm(dir.path(), &["convert", source, "--json"]);
    let report: serde_json::Value = serde_json::from_slice(&json.stdout).unwrap();
    assert_eq!(report["text"].as_str().unwrap().as_bytes(), output.stdout);
    assert_eq!(report["notes"].as_array().unwrap().len(), stderr.lines().count());
    assert_eq!(json.stderr, b"");
    // A file in which nothing is left to do.
    let whole = phasm(
        dir.path(),
        &["convert", folder("argo").join("sleep-and-loop.yaml").to_str().unwrap(), "--strict"],
    );
    assert_eq!((whole.status.code(), whole.stderr.len()), (Some(0), 0), "{whole:?}");
}
