//! JavaScript and TypeScript: Node.js, npm and its packages are scripts here.

use std::{fs, os::unix::fs::symlink, path::Path, process::Command};

use phasm_builder::artefact_if_fresh;

use crate::machine::Machine;

/// Does what Node.js does: it says its version, and writes the manifest and the lines of a bundle.
const NODE: &str = r#"case $1 in --version) echo vVERSION.1.0; exit 0;; esac
case $PWD in
  */throwing) printf 'x.js:1\nTypeError: no\n    at go (/p/x.js:1:1)\n    at node:internal/x:1:1\n\nNode.js v20\n' >&2; exit 1;;
esac
printf '{"inputs":{"type":"object"}}' > "$5"
printf '{"files":["","greet.js"],"parts":[[1,0,1],[2,1,5]]}' > "$6"
"#;

/// Does what npm does: it installs the tools that lie next to it, or a project's packages.
const NPM: &str = r#"echo "$@" >> "$0.calls"
while [ $# -gt 0 ]; do case $1 in --prefix) dir=$2;; esac; shift; done
/bin/mkdir -p "$dir/node_modules"
case $dir in
  */cache/*) /bin/cp -r "${0%/*}/../made" "$dir/node_modules/.bin";;
  *) /bin/mkdir -p "$dir/node_modules/yaml";;
esac
"#;

const ESBUILD: &str = r#"echo "$@" >> "$0.calls"
case $PWD in */lost) echo 'lost.js:1:7: Could not resolve "fs", which is built into node' >&2; exit 1;; esac
for option; do case $option in --outfile=*) out=${option#--outfile=};; esac; done
printf 'import types from "wasi:http/types@0.2.0";\nlet x;\n' > "$out"
"#;

const TSC: &str = r#"echo "$@" >> "$0.calls"
case $PWD in
  */typed) printf '\033[96mtyped.ts\033[0m:2:1 - error TS2304: Cannot find name '"'fetch'"'.\n'; exit 1;;
esac
"#;

/// Does what componentize-qjs does: a component with the names of the world.
const COMPONENTIZE: &str = r#"echo "$@" >> "$0.calls"
while [ $# -gt 0 ]; do case $1 in --output) out=$2;; --wit) wit=$2;; esac; shift; done
case $PWD in
  */strange/*) echo 'Error: : Failed to finish JavaScript module evaluation: Error: URL is not defined' >&2
    echo '    at <anonymous> (/bundle.mjs:4:9)' >&2; exit 1;;
esac
printf '\0asm\15\0\1\0' > "$out"
/bin/cat "$wit"/*.wit bundle.mjs >> "$out"
"#;

const TOOLS: [(&str, &str, &str, &str); 3] = [
    ("componentize-qjs", "0.4.5", "componentize-qjs", COMPONENTIZE),
    ("esbuild", "0.25.12", "esbuild", ESBUILD),
    ("typescript", "7.0.2", "tsc", TSC),
];
const STEP: &str = "building greet with componentize-qjs 0.4.5\n";

fn machine(tools: &[(&str, &str)]) -> Machine {
    let machine = Machine::new(tools);
    for name in ["greet", "lost", "throwing", "strange"] {
        machine.write(&format!("{name}/package.json"), &package(name, "js", ""));
        machine.write(&format!("{name}/{name}.js"), "");
    }
    machine.write("typed/package.json", &package("typed", "ts", ""));
    machine.write("typed/typed.ts", "");
    for (_, _, program, script) in TOOLS {
        machine.script(&format!("made/{program}"), script);
    }
    machine
}

fn package(name: &str, ending: &str, dependencies: &str) -> String {
    format!(
        r#"{{"name":"{name}","version":"1.2.3","phasm":{{"main":"{name}.{ending}"}},"dependencies":{{{dependencies}}}}}"#
    )
}

fn node(version: &str) -> String {
    NODE.replace("VERSION", version)
}

/// A machine with Node.js 20 and npm.
fn usual() -> Machine {
    machine(&[("node", &node("20")), ("npm", NPM)])
}

/// R-L139, R-L141.
#[test]
fn a_project_is_built_once_with_tools_that_are_installed_once() {
    let machine = usual();
    let (built, steps) = machine.build("greet");
    assert_eq!(built, "greet");
    let installing = "componentize-qjs 0.4.5, esbuild 0.25.12, typescript 7.0.2 are not on PATH: installing them once for this user";
    assert!(steps.starts_with(installing) && steps.ends_with(STEP), "{steps}");
    let component = fs::read(machine.at("greet/build/greet.wasm")).unwrap();
    let text = String::from_utf8_lossy(&component);
    let manifest = r#"{"inputs":{"type":"object"},"name":"greet","version":"1.2.3"}"#;
    assert!(
        component.starts_with(b"\0asm\x0d\0\x01\0\0") && text.contains(&format!("phasm:manifest{manifest}"))
    );
    // The script's request for HTTP decides about the world; the interfaces have their names again.
    assert!(text.contains("import wasi:http/types@0.2.0;") && !text.contains("wasq"), "{text}");
    assert!(text.contains("globalThis.phasmLines = {"), "{text}");
    assert_eq!(machine.build("greet"), ("greet".to_owned(), String::new()));
    assert_eq!(fs::read_dir(machine.at("greet/build")).unwrap().count(), 2);
    machine.write("greet/helper.js", "");
    machine.write("greet/greet.test.js", "");
    assert_eq!(machine.build("greet").1, STEP);
    machine.write("greet/greet.test.js", "changed");
    assert!(artefact_if_fresh(&machine.at("greet")).is_some());
    assert_eq!(machine.calls("bin/npm.calls"), 1);
    let call = fs::read_to_string(machine.at("bin/npm.calls")).unwrap();
    assert!(call.contains("--ignore-scripts") && call.contains("typescript@7.0.2"), "{call}");
}

/// R-L141.
#[test]
fn tools_of_these_versions_on_path_are_used() {
    let machine = usual();
    for (name, version, program, script) in TOOLS {
        let folder = format!("tools/{name}");
        machine.script(&format!("{folder}/bin/{program}"), script);
        machine.write(
            &format!("{folder}/package.json"),
            &format!(r#"{{"name":"{name}","version":"{version}"}}"#),
        );
        symlink(machine.at(&format!("{folder}/bin/{program}")), machine.at(&format!("bin/{program}")))
            .unwrap();
    }
    assert_eq!(machine.build("greet"), ("greet".to_owned(), STEP.to_owned()));
    assert_eq!(machine.calls("bin/npm.calls"), 0);
    machine.write("tools/esbuild/package.json", r#"{"name":"esbuild","version":"0.1.0"}"#);
    machine.write("greet/greet.js", "x");
    machine.build("greet");
    assert_eq!(machine.calls("bin/npm.calls"), 1);
}

/// R-L140: npm is asked for packages that are missing, and the SDK is found without it.
#[test]
fn packages_of_the_project_are_installed_where_they_are_missing() {
    let machine = usual();
    machine.write(
        "greet/package.json",
        &package("greet", "js", r#""phasm-sdk":"file:phasm-sdk","yaml":"2.8.1""#),
    );
    machine.write("greet/phasm-sdk/index.js", "");
    let (built, steps) = machine.build("greet");
    assert_eq!(built, "greet");
    assert!(steps.contains("installing the packages of greet with `npm install`\n"), "{steps}");
    machine.write("greet/greet.js", "x");
    assert_eq!(machine.build("greet").1, STEP);
    let call = fs::read_to_string(
        machine
            .at("cache/javascript")
            .read_dir()
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .find(|path| path.is_dir())
            .unwrap()
            .join("node_modules/.bin/esbuild.calls"),
    )
    .unwrap();
    assert!(call.contains("--alias:phasm-sdk=") && call.contains("/greet/phasm-sdk "), "{call}");
    fs::remove_dir_all(machine.at("greet/node_modules")).unwrap();
    machine.write("greet/package-lock.json", "{}");
    assert!(machine.build("greet").1.contains("`npm ci`"));
}

/// R-L141.
#[test]
fn what_is_missing_is_named_with_its_package() {
    let no_registry = "echo 'npm error code E404' >&2; exit 1";
    let (old, new) = (node("18"), node("20"));
    type Row<'a> = (&'a [(&'a str, &'a str)], &'a [&'a str]);
    let rows: [Row<'_>; 4] = [
        (&[], &["`node` is not installed, or not on PATH", "Node.js 20 or newer", "apt install nodejs npm"]),
        (&[("node", &old), ("npm", NPM)], &["is Node.js `18.1.0`", "Node.js 20 or newer"]),
        (
            &[("node", &new)],
            &["`npm` is not installed, or not on PATH", "apt install npm", "or put componentize-qjs 0.4.5, "],
        ),
        (
            &[("node", &new), ("npm", no_registry)],
            &["cannot be installed", "npm error code E404", "Let npm reach"],
        ),
    ];
    for (tools, expected) in rows {
        let (said, _) = machine(tools).build("greet");
        assert!(said.starts_with("plugin `greet` cannot be built: "), "{said}");
        let missing: Vec<_> = expected.iter().filter(|words| !said.contains(**words)).collect();
        assert!(missing.is_empty(), "{missing:?} in: {said}");
    }
}

/// R-L142: each tool's error, with the author's places and with advice.
#[test]
fn errors_have_the_places_of_the_authors_files() {
    let machine = usual();
    let rows = [
        (
            "lost",
            "lost.js:1:7: Could not resolve \"fs\", which is built into node\n\nthere are no modules of Node.js in a component",
        ),
        ("throwing", "throwing.js: x.js:1\nTypeError: no\n    at go (/p/x.js:1:1)"),
        (
            "typed",
            "typed.ts:2:1 - error TS2304: Cannot find name 'fetch'.\n\nthere is no `fetch` in a component: `http.get` of phasm-sdk",
        ),
        (
            "strange",
            "strange.js: URL is not defined\n    at <anonymous> (greet.js:7)\n\nthere is no `URL` in a component",
        ),
    ];
    for (name, expected) in rows {
        let (said, _) = machine.build(name);
        let head = format!("plugin `{name}` in {} does not build:\n", machine.at(name).display());
        assert!(said.starts_with(&format!("{head}{expected}")), "{said}");
        assert!(!said.contains("node:internal") && !said.contains('\u{1b}'), "{said}");
        assert_eq!(artefact_if_fresh(&machine.at(name)), None);
    }
}

/// R-L143, R-L144: the package's own tests, which need no component. Left out where there is no Node.js.
#[test]
fn the_sdk_passes_its_own_tests() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../plugin-sdk/js");
    let mut tests = Command::new("npm");
    let Ok(output) = tests.arg("test").current_dir(folder).output() else {
        assert!(std::env::var_os("PHASM_TEST_ALL").is_none(), "there is no npm");
        return;
    };
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && said.contains("pass "), "{said}");
}
