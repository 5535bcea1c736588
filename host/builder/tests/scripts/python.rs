//! Python: componentize-py and Python are scripts here.

use std::{fs, path::Path, process::Command};

use phasm_builder::artefact_if_fresh;

use crate::machine::Machine;

/// Does what componentize-py does: a component, and what the SDK writes while the module is imported.
const COMPONENTIZE: &str = r#"case $1 in --version) echo "componentize-py VERSION"; exit 0;; esac
echo "$@" >> "$0.calls"
while [ $# -gt 0 ]; do
  case $1 in -o) out=$2;; -p) entry=${entry:-$2};; esac
  shift
done
case $PWD in
  */wrong) printf 'File "/1/wrong.py", line 3\nValueError: no' > "$entry/error.txt"; echo 'Stack backtrace: junk' >&2; exit 1;;
  */odd) echo 'AssertionError: no world here' >&2; printf '\nStack backtrace:\n  junk' >&2; exit 1;;
esac
printf '\0asm\15\0\1\0' > "$out"
printf '{"description":"of hints","inputs":{"type":"object"}}' > "$entry/manifest.json"
"#;
const VERSION: &str = "0.25.1";

/// Does what Python does: an environment, in which pip installs what the variable says.
const PYTHON: &str = r#"case "$*" in
  *ensurepip*) exit 0;;
  *"-m venv"*) /bin/mkdir -p "$3/bin"; /bin/cp "$0" "$3/bin/python"; /bin/cp "$0.made" "$3/bin/componentize-py.made";;
  *"pip install"*) /bin/mv "${0%/*}/componentize-py.made" "${0%/*}/componentize-py";;
esac
"#;

fn machine(tools: &[(&str, &str)]) -> Machine {
    let machine = Machine::new(tools);
    for name in ["greet", "wrong", "odd"] {
        machine.write(&format!("{name}/pyproject.toml"), &pyproject(name));
        machine.write(&format!("{name}/{name}.py"), "");
    }
    machine
}

fn pyproject(name: &str) -> String {
    format!("[project]\nname = \"{name}\"\nversion = \"1.2.3\"\n[tool.phasm]\n")
}

fn componentize(version: &str) -> String {
    COMPONENTIZE.replace("VERSION", version)
}

/// R-L131.
#[test]
fn a_project_is_built_once_and_again_when_a_source_changes() {
    let machine = machine(&[("componentize-py", &componentize(VERSION))]);
    let (built, steps) = machine.build("greet");
    assert_eq!((built.as_str(), steps.as_str()), ("greet", "building greet with componentize-py 0.25.1\n"));
    let component = fs::read(machine.at("greet/build/greet.wasm")).unwrap();
    let manifest =
        r#"{"description":"of hints","inputs":{"type":"object"},"name":"greet","version":"1.2.3"}"#;
    assert!(component.starts_with(b"\0asm\x0d\0\x01\0\0"));
    assert!(String::from_utf8_lossy(&component).contains(&format!("phasm:manifest{manifest}")));
    assert_eq!(artefact_if_fresh(&machine.at("greet")), Some(machine.at("greet/build/greet.wasm")));
    assert_eq!(machine.build("greet"), ("greet".to_owned(), String::new()));
    let left: Vec<_> =
        fs::read_dir(machine.at("greet/build")).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert_eq!(left.len(), 2, "{left:?}");
    machine.write("greet/helper.py", "x = 1\n");
    assert_eq!(artefact_if_fresh(&machine.at("greet")), None);
    machine.build("greet");
    assert_eq!(machine.calls("bin/componentize-py.calls"), 2);
    let call = fs::read_to_string(machine.at("bin/componentize-py.calls")).unwrap();
    assert!(call.contains("-w executor-http componentize phasm_entry -p "), "{call}");
}

/// R-L132: a copy in the project is used instead of the SDK that the command carries.
#[test]
fn a_project_can_bring_its_own_sdk() {
    let machine = machine(&[("componentize-py", &componentize(VERSION))]);
    machine.build("greet");
    machine.write("greet/phasm_sdk/guest.py", "");
    machine.build("greet");
    let calls = fs::read_to_string(machine.at("bin/componentize-py.calls")).unwrap();
    let carried: Vec<bool> = calls.lines().map(|call| call.contains("/sdk -o ")).collect();
    assert_eq!(carried, [true, false], "{calls}");
}

/// R-L133.
#[test]
fn componentize_py_is_installed_once_where_path_has_another_version_or_none() {
    for path in [None, Some(componentize("0.24.0"))] {
        let mut tools = vec![("python3", PYTHON)];
        tools.extend(path.as_deref().map(|script| ("componentize-py", script)));
        let machine = machine(&tools);
        machine.script("bin/python3.made", &componentize(VERSION));
        let (built, steps) = machine.build("greet");
        assert_eq!(built, "greet");
        assert!(
            steps.starts_with("componentize-py 0.25.1 is not on PATH: installing it once for this user"),
            "{steps}"
        );
        let tool = "cache/python/componentize-py-0.25.1/bin/componentize-py";
        assert!(machine.at(tool).is_file());
        fs::remove_file(machine.at("bin/python3")).unwrap();
        machine.write("greet/greet.py", "x = 1\n");
        let (built, steps) = machine.build("greet");
        assert_eq!(
            (built.as_str(), steps.as_str()),
            ("greet", "building greet with componentize-py 0.25.1\n")
        );
    }
}

/// R-L133.
#[test]
fn what_is_missing_is_named_with_its_package() {
    let no_venv = "echo \"No module named 'ensurepip'\" >&2; exit 1";
    let no_index = PYTHON.replace("/bin/mv", "echo 'No matching distribution found' >&2; exit 1; /bin/mv");
    type Row<'a> = (&'a [(&'a str, &'a str)], &'a [&'a str]);
    let rows: [Row<'_>; 3] = [
        (&[], &["`python3` is not installed, or not on PATH", "apt install python3 python3-venv"]),
        (&[("python3", no_venv)], &["apt install python3-venv", "No module named 'ensurepip'"]),
        (
            &[("python3", &no_index)],
            &["cannot be installed", "No matching distribution", "put componentize-py 0.25.1 on PATH"],
        ),
    ];
    for (tools, expected) in rows {
        let machine = machine(tools);
        machine.script("bin/python3.made", "");
        let (said, _) = machine.build("greet");
        assert!(said.starts_with("plugin `greet` cannot be built: "), "{said}");
        let missing: Vec<_> = expected.iter().filter(|words| !said.contains(**words)).collect();
        assert!(missing.is_empty(), "{missing:?} in: {said}");
    }
}

/// R-L134.
#[test]
fn a_module_that_cannot_be_imported_is_shown_with_its_own_paths() {
    let machine = machine(&[("componentize-py", &componentize(VERSION))]);
    let (said, _) = machine.build("wrong");
    let at = machine.at("wrong");
    let expected = format!(
        "plugin `wrong` in {} does not build:\nFile \"{}/wrong.py\", line 3\nValueError: no",
        at.display(),
        at.display()
    );
    assert_eq!(said, expected);
    let (said, _) = machine.build("odd");
    assert!(said.ends_with("does not build:\nno world here"), "{said}");
    assert_eq!(artefact_if_fresh(Path::new(&machine.at("odd"))), None);
}

/// R-L135, R-L136, R-L137: the package's own tests, which need no component.
#[test]
fn the_sdk_passes_its_own_tests() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../plugin-sdk/python");
    let mut tests = Command::new("python3");
    let output = tests.args(["-B", "-m", "unittest"]).current_dir(folder).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && said.contains("OK"), "{said}");
}
