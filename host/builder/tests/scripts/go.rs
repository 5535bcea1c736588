//! Go: the go command is a script here that calls the real one, below `target/go`, where `.ci/run` puts it.

use std::{
    env, fs,
    io::Write as _,
    path::{Path, PathBuf},
    process::Command,
};

use phasm_builder::GO_SDK;

use crate::machine::Machine;

const GREET: &str = r#"package main

import (
	_ "embed"

	"phasm"
)

//go:embed words.md
var words string

type Inputs struct {
	Name string `json:"name" doc:"A name."`
}

type Outputs struct {
	Greeting string `json:"greeting"`
}

var executor = phasm.New(phasm.Declaration{Description: "Greets"}, func(_ *phasm.Call, in Inputs) (Outputs, error) {
	return Outputs{Greeting: words + in.Name}, nil
})

func main() { phasm.Main() }
"#;

/// The go command that tests use; none, which fails where all tests have to run, if it is not there.
fn go() -> Option<PathBuf> {
    let bin = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/go/usr/lib/go-1.24/bin/go");
    if let Ok(go) = bin.canonicalize() {
        return Some(go);
    }
    let said = format!("left out: no go command at {}\n", bin.display());
    assert!(env::var_os("PHASM_TEST_ALL").is_none(), "{said}");
    std::io::stderr().write_all(said.as_bytes()).unwrap();
    None
}

/// A machine with a project, and the go command.
fn machine(go: &Path) -> Machine {
    let machine = Machine::new(&[]);
    // Modules and a proxy are not to be asked for.
    machine.script(
        "bin/go",
        &format!(
            "echo \"$1\" >> \"$0.calls\"\nGOPROXY=off GOFLAGS=-mod=readonly exec '{}' \"$@\"\n",
            go.display()
        ),
    );
    machine
        .write("greet/plugin.toml", "name = 'greet'\nversion = '1.2.3'\n[[examples]]\nname = 'one'\n[go]\n");
    machine.write(
        "greet/go.mod",
        "module greet\n\ngo 1.24\n\nrequire phasm v0.0.0\n\nreplace phasm => ../sdk\n",
    );
    machine.write("greet/main.go", GREET);
    machine.write("greet/words.md", "Hello, ");
    for (name, text) in GO_SDK {
        machine.write(&format!("sdk/{name}"), text);
    }
    machine
}

/// R-L155, R-L157, R-L158.
#[test]
fn a_project_is_built_once_and_again_when_a_file_changes() {
    let Some(go) = go() else { return };
    let machine = machine(&go);
    let (built, steps) = machine.build("greet");
    assert_eq!(built, "greet");
    assert_eq!(steps, format!("building greet with {}\n", machine.at("bin/go").display()));
    let component = fs::read(machine.at("greet/build/greet.wasm")).unwrap();
    assert!(component.starts_with(b"\0asm\x0d\0\x01\0\0"));
    let text = String::from_utf8_lossy(&component);
    let manifest = r#"{"description":"Greets","examples":[{"name":"one"}],"inputs":{"additionalProperties":false,"properties":{"name":{"description":"A name.","type":"string"}},"required":["name"],"type":"object"},"name":"greet","outputs":{"#;
    assert!(text.contains(&format!("phasm:manifest{manifest}")), "{}", text.get(..900).unwrap_or(&text));
    for import in ["phasm:executor/host@0.1.0", "wasi:cli/stdout@0.2."] {
        assert!(text.contains(import), "{import}");
    }
    for path in [machine.at("greet"), go] {
        assert!(!text.contains(&*path.to_string_lossy()), "{}", path.display());
    }
    let left: Vec<_> =
        fs::read_dir(machine.at("greet/build")).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left.len(), 2, "{left:?}");
    let is_built = || !machine.build("greet").1.is_empty();
    assert!(!is_built());
    machine.write("greet/main_test.go", "package main\n");
    machine.write("greet/.hidden.go", "junk\n");
    machine.write("greet/build/x.go", "junk\n");
    assert!(!is_built());
    machine.write("greet/words.md", "Good morning, ");
    assert!(is_built() && !is_built());
    machine.write("greet/inner/build/more.go", "package build\n");
    assert!(is_built() && !is_built());
    machine.write("sdk/more.go", "package phasm\n");
    assert!(is_built() && !is_built());
}

/// R-L157.
#[test]
fn errors_of_the_compiler_are_shown_with_their_lines() {
    let Some(go) = go() else { return };
    let machine = machine(&go);
    machine.write("greet/main.go", &GREET.replace("in.Name", "in.Nmae"));
    machine.write("greet/other.go", "package main\n\nfunc other() int { return more }\n");
    let (said, _) = machine.build("greet");
    for part in [
        "plugin `greet` in ",
        "/greet does not build:\n",
        "main.go:21:38: in.Nmae undefined (type Inputs has no field or method Nmae)",
        "other.go:3:27: undefined: more",
    ] {
        assert!(said.contains(part), "{part}: {said}");
    }
    machine.write("greet/plugin.toml", "name = 'greet'\n[go]\nflags = ['-tags=x', '-x y']\n");
    assert!(machine.build("greet").0.contains("flag provided but not defined: -x y"));
}

/// R-L158.
#[test]
fn declarations_with_errors_fail_the_build() {
    let Some(go) = go() else { return };
    let machine = machine(&go);
    let said = |main: &str| {
        machine.write("greet/main.go", main);
        machine.build("greet").0
    };
    let wrong = said(
        &GREET
            .replace("`json:\"greeting\"`", "`json:\"greeting\" min:\"1\"`")
            .replace("A name.\"", "\" default:\"1\" choices:\"a\""),
    );
    assert!(
        wrong.ends_with(
            "does not build:\nthe declarations of the executor: default of `name`: expected `a`, got string \"1\"; \
             output `greeting`: min: expected a number, for an integer or a number"
        ),
        "{wrong}"
    );
    let empty = said(&GREET.replace("phasm.Main()", ""));
    assert!(
        empty.ends_with("the program writes no manifest; expected `func main() { phasm.Main() }`"),
        "{empty}"
    );
    let none = said("package main\n\nimport \"phasm\"\n\nfunc main() { phasm.Main() }\n");
    assert!(
        none.contains("0 executors; expected one variable of the package that phasm.New returns"),
        "{none}"
    );
    let fails = said(&GREET.replace("func main()", "func init() { panic(\"at the start\") }\n\nfunc main()"));
    assert!(fails.contains("the declarations of the executor: panic: at the start"), "{fails}");
}

/// R-L156.
#[test]
fn a_command_that_is_missing_or_too_old_is_named_with_its_package() {
    let has_other = |dir: &str, start: &str| {
        let entries = fs::read_dir(dir).into_iter().flatten().flatten();
        entries.into_iter().any(|entry| entry.file_name().to_string_lossy().starts_with(start))
    };
    if has_other("/usr/lib", "go-1.") || has_other("/usr/local", "go") {
        return;
    }
    for (script, found) in [
        (None, "there is none on PATH, in GOROOT, in /usr/lib/go-1.24 and in /usr/local/go"),
        (Some("echo go version go1.19.8 linux/amd64"), "/bin/go is go1.19.8\n"),
        (Some("exit 1"), "/bin/go is no go command that runs\n"),
    ] {
        let machine = Machine::new(&[]);
        machine.write("greet/plugin.toml", "name = 'greet'\n[go]\n");
        machine.write("greet/go.mod", "module greet\n");
        if let Some(script) = script {
            machine.script("bin/go", script);
        }
        let (said, _) = machine.build("greet");
        let start = "plugin `greet` cannot be built: building a plugin in Go needs Go 1.24 or newer: ";
        assert!(said.starts_with(start) && said.contains(found), "{said}");
        assert!(said.contains("`apt install golang-go`") && said.contains("golang-1.24-src"), "{said}");
    }
}

/// R-L159, R-L160: the SDK's own tests, which need no component.
#[test]
fn the_sdk_passes_its_own_tests() {
    let Some(go) = go() else { return };
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../plugin-sdk/go");
    let run = |arguments: &[&str]| {
        let mut command = Command::new(&go);
        command.args(arguments).current_dir(&folder).env("GOPROXY", "off").env_remove("GOROOT");
        let output = command.output().unwrap();
        let said = [output.stdout, output.stderr].concat();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&said));
    };
    run(&["test", "-count=1", "./..."]);
    run(&["vet", "./..."]);
}
