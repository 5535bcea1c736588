//! `phasm plugin new --lang go`, and executors in Go.

use std::{
    env, fs,
    io::Write as _,
    path::{Path, PathBuf},
    process::Command,
};

use serde_json::json;

use crate::bench::{Bench, Ran};

/// The folder with the go command; none, which fails where all tests have to run, if it is not there.
fn go_folder() -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/go/usr/lib/go-1.24/bin");
    if folder.join("go").exists() {
        return Some(folder.canonicalize().unwrap());
    }
    let said = format!("left out: no go command in {}\n", folder.display());
    assert!(env::var_os("PHASM_TEST_ALL").is_none(), "{said}");
    std::io::stderr().write_all(said.as_bytes()).unwrap();
    None
}

fn with_go(command: &mut Command, folder: &Path) -> Ran {
    let path = format!("{}:{}", folder.display(), env::var("PATH").unwrap());
    Ran::from(command.env("PATH", path).env_remove("GOROOT").env("GOPROXY", "off").output().unwrap())
}

fn passes_its_tests(bench: &Bench, project: &str, go: &Path) {
    let ran = with_go(Command::new("go").args(["test", "./..."]).current_dir(bench.path(project)), go);
    assert!(ran.status == 0 && ran.stdout.starts_with("ok "), "{ran:?}");
}

/// R-L154.
#[test]
fn a_new_plugin_in_go_has_all_its_files_and_passes_its_tests() {
    let Some(go) = go_folder() else { return };
    let bench = Bench::new();
    // The name of a package of Go's library, and one that a file of Go must not have.
    for name in ["sort", "send-windows"] {
        let ran = bench.phasm(&["plugin", "new", name, "--lang", "go"]);
        assert!(ran.status == 0 && ran.stdout.starts_with(&format!("created plugins/{name}\n")), "{ran:?}");
        assert!(ran.stdout.ends_with(&format!("\n  go -C plugins/{name} test ./...\n")), "{ran:?}");
        let folder = bench.path("plugins").join(name);
        let own =
            ["plugin.toml", "go.mod", "main.go", "main_test.go", "example.yaml", "README.md", ".gitignore"];
        let all = own.map(|file| fs::read_to_string(folder.join(file)).unwrap()).concat();
        assert!(!all.contains("{{name}}") && !all.contains("{{sdk") && !all.contains("{{place"), "{all}");
        assert!(!all.contains(bench.path("").to_str().unwrap()), "{all}");
        assert!(
            all.contains(&format!("module executor/{name}\n"))
                && all.contains("replace phasm => ./phasm_sdk\n"),
            "{all}"
        );
        passes_its_tests(&bench, &format!("plugins/{name}"), &go);
        let validated = bench.phasm(&["validate", &format!("plugins/{name}/example.yaml")]);
        assert!(validated.status == 0 && validated.stderr.contains("W026"), "{validated:?}");
    }
    assert_eq!(bench.phasm(&["plugin", "sdk", "own sdk"]).status, 0);
    let shared = bench.phasm(&["plugin", "new", "greet", "--lang", "golang", "--sdk", "own sdk"]);
    assert_eq!(shared.status, 0, "{shared:?}");
    let module = fs::read_to_string(bench.path("plugins/greet/go.mod")).unwrap();
    assert!(module.ends_with("\nreplace phasm => \"../../own sdk/go\"\n"), "{module}");
    assert!(!bench.path("plugins/greet/phasm_sdk").exists());
    passes_its_tests(&bench, "plugins/greet", &go);
    let no_sdk = bench.phasm(&["plugin", "new", "x", "--lang", "go", "--sdk", "plugins"]);
    assert!(no_sdk.status == 2 && no_sdk.stderr.contains("does not hold the module phasm"), "{no_sdk:?}");
}

/// R-L157, R-L160, R-L161: also with inputs of megabytes, and more garbage than there is memory.
#[test]
fn an_executor_in_go_has_its_memory_collected() {
    const SOURCE: &str = r#"package main

import (
	"fmt"
	"strings"
	"time"

	"phasm"
)

type Inputs struct {
	Texts []string `json:"texts"`
	Mode  string   `json:"mode" choices:"garbage,wait,panic,error,call"`
}

type Outputs struct {
	Bytes   int   `json:"bytes"`
	Garbage int   `json:"garbage"`
	Waited  int64 `json:"waited"`
}

var executor = phasm.New(phasm.Declaration{}, func(call *phasm.Call, in Inputs) (Outputs, error) {
	out := Outputs{}
	for _, text := range in.Texts {
		out.Bytes += len(text)
	}
	switch in.Mode {
	case "garbage":
		for range 300 {
			out.Garbage += len(strings.Repeat("x", 1<<20)) >> 20
		}
	case "wait":
		done, began := make(chan int), time.Now()
		go func() {
			time.Sleep(20 * time.Millisecond)
			done <- 1
		}()
		<-done
		out.Waited = time.Since(began).Milliseconds() / 20
		call.Heartbeat()
		call.Progress(0.5, "half")
	case "panic":
		var names map[string]int
		names["x"] = 1
	case "error":
		return out, fmt.Errorf("no: %w", phasm.Failed("gone", "there is no %s", "x").WithOutputs(map[string]int{"bytes": out.Bytes}))
	case "call":
		_, isBounded := call.Remaining()
		return out, phasm.Ended(9, "%s %s %s %d %d %t %t %v %t", call.Workflow, call.Namespace, call.Task, call.Attempt, call.Dispatch,
			call.Resumed, isBounded, call.Config["n"], call.RunID != "" && call.TaskRunID != "" && call.IdempotencyKey != "")
	}
	fmt.Println("printed")
	return out, nil
})

func main() { phasm.Main() }
"#;
    let Some(go) = go_folder() else { return };
    let bench = Bench::new();
    assert_eq!(bench.phasm(&["plugin", "new", "heap", "--lang", "go"]).status, 0);
    bench.write("plugins/heap/main.go", SOURCE);
    let built = with_go(&mut bench.command(&["plugin", "build", "plugins/heap"]), &go);
    assert_eq!(built.status, 0, "{built:?}");
    let call = |mode: &str, size: usize| {
        let texts = vec!["y".repeat(size); 8];
        bench.write("inputs.json", json!({ "mode": mode, "texts": texts }).to_string());
        bench.phasm(&[
            "plugin",
            "call",
            "./plugins/heap/build/heap.wasm",
            "--inputs",
            "inputs.json",
            "--json",
        ])
    };
    // The inputs are among what is printed, which is too long for messages.
    let ended = |mode: &str, size: usize| {
        let ran = call(mode, size);
        let run = ran.json();
        let outputs = run["outputs"].as_array().into_iter().flatten();
        let outputs: serde_json::Map<_, _> = outputs
            .map(|output| (output["name"].as_str().unwrap().to_owned(), output["value"].clone()))
            .collect();
        (ran.status, run["tasks"][0]["message"].clone(), serde_json::Value::from(outputs))
    };
    let garbage = json!({ "bytes": 4 << 20, "garbage": 300, "waited": 0 });
    assert_eq!(ended("garbage", 1 << 19), (0, json!(""), garbage));
    assert_eq!(ended("wait", 1).2["waited"], 1);
    let (status, message, _) = ended("panic", 1);
    assert_eq!((status, message), (3, json!("panic: assignment to entry in nil map")));
    let (status, message, _) = ended("call", 3);
    assert_eq!((status == 0, message), (false, json!("heap default heap 1 1 false false <nil> true")));
    let (status, message, _) = ended("error", 2);
    assert_eq!((status == 0, message), (false, json!("no: there is no x")));
}
