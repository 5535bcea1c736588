//! `phasm plugin`.

use std::{fs, path::Path, process::Command};

use serde_json::json;

use crate::bench::{Bench, Ran};

/// R-L8.
#[test]
fn listed_are_the_plugins_a_run_would_find() {
    let bench = Bench::new();
    bench.write("own/echo.wasm", "other");
    bench.write("own/host/Cargo.toml", "[package]\nname = \"host\"\n");
    bench.write(
        "own/mine/Cargo.toml",
        "[package]\nname = \"mine\"\nversion = \"1.2.3\"\ndescription = \"Does it\"\n[dependencies]\nphasm-sdk = \"0.1\"\n",
    );
    bench.write("data/phasm/plugins/far.wasm", b"\0asm\x0d\0\x01\0");
    let ran = bench.phasm(&["plugin", "list", "--plugins", "own", "--json"]);
    assert_eq!(ran.status, 0, "{ran:?}");
    let all = ran.json();
    let listed = |name: &str| {
        let found = all.as_array().unwrap().iter().filter(|plugin| plugin["name"] == name);
        found.map(|plugin| (plugin["state"].clone(), plugin["shadowed"].clone())).collect::<Vec<_>>()
    };
    let component = |shadowed: bool| (json!("component"), json!(shadowed));
    assert_eq!(listed("echo"), [(json!("broken"), json!(false)), component(true)]);
    assert_eq!(listed("host"), []);
    assert!(ran.stderr.contains("own/host: a crate, but no plugin: "), "{ran:?}");
    assert_eq!(listed("mine"), [(json!("stale"), json!(false))]);
    assert_eq!(listed("far"), [component(false)]);
    let table = bench.phasm(&["plugin", "list", "--plugins", "own"]).stdout;
    assert!(table.contains("mine") && table.contains("1.2.3") && table.contains("Does it"), "{table}");
}

/// The program contains the shipped executors, in every directory; `PHASM_EXECUTORS` replaces them.
#[test]
fn the_shipped_executors_are_there_outside_any_checkout() {
    let bench = Bench::new();
    bench.write("shipped/jq.wasm", b"\0asm\x0d\0\x01\0");
    let known = |executors: Option<&str>| {
        let mut list = bench.command(&["plugin", "list", "--json"]);
        match executors {
            Some(dir) => list.env("PHASM_EXECUTORS", dir),
            None => list.env_remove("PHASM_EXECUTORS"),
        };
        let ran = Ran::from(list.output().unwrap());
        assert_eq!(ran.status, 0, "{ran:?}");
        let all = ran.json();
        let names = all.as_array().unwrap().iter().map(|plugin| plugin["name"].as_str().unwrap());
        ["file", "jq", "parse", "template"]
            .into_iter()
            .filter(|name| names.clone().any(|one| one == *name))
            .collect::<Vec<_>>()
    };
    assert_eq!(known(None), ["file", "jq", "parse", "template"]);
    assert_eq!(known(Some("shipped")), ["jq"]);
    assert!(known(Some("")).is_empty());
}

/// R-I5, R-I35.
#[test]
fn a_component_is_inspected_by_name_or_path() {
    let bench = Bench::new();
    for plugin in ["echo", "plugins/echo.wasm"] {
        let ran = bench.phasm(&["plugin", "inspect", plugin, "--json"]);
        assert_eq!(ran.status, 0, "{ran:?}");
        let about = ran.json();
        assert_eq!(about["name"], "echo");
        assert!(about["digest"].as_str().unwrap().starts_with("sha256:"), "{about}");
    }
    bench.write("plugins/echo.json", r#"{"version": "9.0.0", "retry": {"limit": 2}, "maxRuntime": "5s"}"#);
    let about = bench.phasm(&["plugin", "inspect", "echo", "--json"]).json();
    assert_eq!(about["defaults"], json!({ "maxRuntime": "5s", "retry": { "limit": 2 } }));
    let page = bench.phasm(&["plugin", "inspect", "echo"]).stdout;
    assert!(page.contains("defaults   maxRuntime: \"5s\"\n           retry: {\"limit\":2}\n"), "{page}");
    bench.write(
        "plugins/echo.json",
        r#"{"inputs": {"properties": {"dir": {"type": "string", "description": "Which."}}, "required": ["dir"],
            "additionalProperties": false}, "settings": ["rejection", "notBy"]}"#,
    );
    let about = bench.phasm(&["plugin", "inspect", "echo", "--json"]).json();
    assert_eq!(about["inputs"]["required"], json!(["dir"]));
    assert_eq!(about["outputs"], json!(null));
    assert_eq!(about["settings"], json!(["rejection", "notBy"]));
    let page = bench.phasm(&["plugin", "inspect", "echo"]).stdout;
    assert!(page.contains("\ninputs     dir  string  required  Which.\n"), "{page}");
    assert!(page.contains("\nsettings   rejection, notBy\n"), "{page}");
    bench.write("plugins/echo.json", r#"{"maxRuntime": 0}"#);
    let broken = bench.phasm(&["plugin", "inspect", "echo"]);
    assert!(broken.status == 2 && broken.stderr.contains("P031: maxRuntime: "), "{broken:?}");
    let unknown = bench.phasm(&["plugin", "inspect", "absent"]);
    assert_eq!(unknown.status, 2, "{unknown:?}");
    assert!(unknown.stderr.contains("known: assert, code, doze, echo, "), "{unknown:?}");
}

/// R-L124: one attempt without a workflow, with values as they are given and the same exit status as a run.
#[test]
fn one_attempt_is_called() {
    let bench = Bench::new();
    bench.write("inputs.json", r#"{"value": 1, "more": [1]}"#);
    for plugin in ["echo", "plugins/echo.wasm"] {
        let call = [
            "plugin",
            "call",
            plugin,
            "--inputs",
            "inputs.json",
            "-i",
            "value=2",
            "-i",
            "text={{ a }}",
            "--json",
        ];
        let ran = bench.phasm(&call);
        assert_eq!(ran.status, 0, "{ran:?}");
        let view = ran.json();
        let output = |name: &str| {
            let all = view["outputs"].as_array().unwrap().iter();
            all.clone().find(|one| one["name"] == name).map(|one| one["value"].clone())
        };
        assert_eq!(output("value"), Some(json!(2)), "{view}");
        assert_eq!(output("more"), Some(json!([1])));
        assert_eq!(output("text"), Some(json!("{{ a }}")), "braces are no expression here");
    }
    bench.write(
        "plugins/code.toml",
        "name = \"code\"\n[inputs]\ntype = \"object\"\nadditionalProperties = false\nproperties.code = { type = \"integer\" }\n\
         properties.note = { type = [\"string\", \"null\"] }\n",
    );
    let failed = bench.phasm(&["plugin", "call", "code", "-i", "code=2"]);
    assert_eq!(failed.status, 1, "{failed:?}");
    assert!(failed.stdout.contains("code Failed") && failed.stderr.contains("code#1 Failed"), "{failed:?}");
    // Digits are text where the executor takes text.
    let noted = bench.phasm(&["plugin", "call", "code", "-i", "code=0", "-i", "note=5"]);
    assert_eq!(noted.status, 0, "{noted:?}");
    let asked = bench.phasm(&["plugin", "call", "suspend", "--resume", "{\"approved\": true}"]);
    assert!(asked.status == 0 && asked.stdout.contains("approved  true"), "{asked:?}");
    let wrong = bench.phasm(&["plugin", "call", "code", "-i", "code=soon", "-i", "cod=1"]);
    assert_eq!(wrong.status, 2, "{wrong:?}");
    for says in ["input `code`", "`cod`", "plugin inspect code"] {
        assert!(wrong.stderr.contains(says), "{says}: {wrong:?}");
    }
    let none = bench.phasm(&["plugin", "call", "unknown"]);
    assert_eq!(none.status, 2, "{none:?}");
    assert!(none.stderr.contains("no plugin `unknown`"), "{none:?}");
}

/// R-L125: the page of an executor is its manifest in Markdown.
#[test]
fn an_executor_has_a_page() {
    let bench = Bench::new();
    bench.write(
        "plugins/code.toml",
        "name = \"code\"\ndescription = \"Returns a code.\"\n[inputs]\ntype = \"object\"\nrequired = [\"code\"]\nadditionalProperties = false\n\
         properties.code = { type = \"integer\", description = \"The code.\" }\nproperties.note = { type = [\"string\", \"null\"], default = \"a|b\" }\n",
    );
    let ran = bench.phasm(&["plugin", "docs", "code"]);
    assert_eq!(ran.status, 0, "{ran:?}");
    let expected = "# code\n\nReturns a code.\n\n```yaml\n- name: code\n  executor: { type: code }\n  inputs:\n    code: …  # integer\n```\n\n\
                    ## Inputs\n\n| input | type | meaning |\n|---|---|---|\n| `code` | integer, required | The code. |\n\
                    | `note` | string, `\"a\\|b\"` |  |\n";
    assert!(ran.stdout.starts_with(expected), "{}", ran.stdout);
    assert_eq!(bench.phasm(&["plugin", "docs", "unknown"]).status, 2);
}

#[test]
fn a_new_plugin_has_all_its_files() {
    let bench = Bench::new();
    let ran = bench.phasm(&["plugin", "new", "send-mail"]);
    assert_eq!(ran.status, 0, "{ran:?}");
    assert!(ran.stdout.starts_with("created plugins/send-mail\n"), "{ran:?}");
    assert!(ran.stdout.contains("\n  cargo test --manifest-path plugins/send-mail/Cargo.toml\n"), "{ran:?}");
    let read = |name: &str| fs::read_to_string(bench.path("plugins/send-mail").join(name)).unwrap();
    let manifest: toml::Table = read("Cargo.toml").parse().unwrap();
    assert_eq!(manifest["package"]["name"].as_str(), Some("send-mail"));
    let sdk = manifest["dependencies"]["phasm-sdk"]["path"].as_str().unwrap();
    assert!(sdk.starts_with(bench.path("data/phasm/sdk").to_str().unwrap()), "{sdk}");
    assert!(read("src/lib.rs").contains("executor!(send_mail, {"));
    let validated = bench.phasm(&["validate", "plugins/send-mail/example.yaml"]);
    assert_eq!(validated.stdout, "plugins/send-mail/example.yaml: valid, 1 warning\n", "{validated:?}");
    assert!(validated.stderr.contains("W026"), "its source is not built: {validated:?}");
    let elsewhere = bench.phasm(&["plugin", "new", "other/there"]);
    assert!(elsewhere.stdout.starts_with("created other/there\n"), "{elsewhere:?}");
    let ran = bench.phasm(&["plugin", "sdk", "own-sdk"]);
    assert_eq!((ran.status, &*ran.stdout), (0, "created own-sdk\n"), "{ran:?}");
    assert!(bench.path("own-sdk/wit/executor.wit").is_file());
    let shared = bench.phasm(&["plugin", "new", "shared", "--sdk", "own-sdk"]);
    assert_eq!(shared.status, 0, "{shared:?}");
    for wrong in [
        &["plugin", "sdk", "own-sdk"][..],
        &["plugin", "new", "send-mail"],
        &["plugin", "new", "Send"],
        &["plugin", "new", "-x"],
        &["plugin", "new", "x", "--sdk", "plugins"],
        &["plugin", "build", "none"],
    ] {
        let ran = bench.phasm(wrong);
        assert!(matches!(ran.status, 1 | 2) && ran.stdout.is_empty(), "{wrong:?}: {ran:?}");
    }
}

/// R-L130: in Python, as the tests of the project itself; built and run it is by the test of the page about Python.
#[test]
fn a_new_plugin_in_python_has_all_its_files_and_passes_its_tests() {
    let bench = Bench::new();
    let ran = bench.phasm(&["plugin", "new", "send-mail", "--lang", "python"]);
    assert!(ran.status == 0 && ran.stdout.starts_with("created plugins/send-mail\n"), "{ran:?}");
    assert!(ran.stdout.ends_with("\n  cd plugins/send-mail && python3 -m unittest\n"), "{ran:?}");
    let folder = bench.path("plugins/send-mail");
    let own =
        ["pyproject.toml", "send_mail.py", "test_send_mail.py", "example.yaml", "README.md", ".gitignore"];
    let all = own.map(|name| fs::read_to_string(folder.join(name)).unwrap()).concat();
    let path = bench.path("");
    assert!(
        !all.contains("{{name}}") && !all.contains("greet_") && !all.contains(path.to_str().unwrap()),
        "{all}"
    );
    assert!(all.contains("name = \"send-mail\"") && all.contains("def send_mail("), "{all}");
    let tests = |folder: &Path, path: &str| {
        let mut python = Command::new("python3");
        python.args(["-B", "-m", "unittest"]).current_dir(folder).env("PYTHONPATH", path);
        let output = python.output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    };
    tests(&folder, "");
    let validated = bench.phasm(&["validate", "plugins/send-mail/example.yaml"]);
    assert!(validated.status == 0 && validated.stderr.contains("W026"), "{validated:?}");
    let listed = bench.phasm(&["plugin", "list", "--json"]).json();
    let row = listed.as_array().unwrap().iter().find(|row| row["name"] == "send-mail").unwrap().clone();
    assert_eq!((&row["state"], &row["version"]), (&json!("stale"), &json!("0.1.0")));

    assert_eq!(bench.phasm(&["plugin", "sdk", "own-sdk"]).status, 0);
    assert!(bench.path("own-sdk/wit/http/deps/executor.wit").is_file());
    let shared = bench.phasm(&["plugin", "new", "json", "--lang", "python", "--sdk", "own-sdk"]);
    assert_eq!(shared.status, 0, "{shared:?}");
    let project = fs::read_to_string(bench.path("plugins/json/pyproject.toml")).unwrap();
    assert!(project.contains("module = \"json_executor\"\nsdk = \"../../own-sdk/python\"\n"), "{project}");
    assert!(!bench.path("plugins/json/phasm_sdk").exists());
    tests(&bench.path("plugins/json"), "../../own-sdk/python");

    let other = bench.phasm(&["plugin", "new", "x", "--lang", "cobol"]);
    assert!(other.status == 2 && other.stderr.contains("possible values: rust, python, js, ts"), "{other:?}");
    let no_sdk = bench.phasm(&["plugin", "new", "x", "--lang", "python", "--sdk", "plugins"]);
    assert!(no_sdk.status == 2 && no_sdk.stderr.contains("does not hold the Python package"), "{no_sdk:?}");
    bench.write(
        "plugins/wrong/pyproject.toml",
        "[project]\nname = \"../x\"\n[tool.phasm]\npython-path = [\"no\"]\n",
    );
    let wrong = bench.phasm(&["plugin", "build", "plugins/wrong"]);
    assert_eq!(wrong.status, 1, "{wrong:?}");
    for says in ["project.name: found \"../x\"", "python-path: ", "tool.phasm.module: "] {
        assert!(wrong.stderr.contains(says), "{says}: {wrong:?}");
    }
}

/// R-L138: the project's own tests run; built and run it is by the test of the page about JavaScript.
#[test]
fn a_new_plugin_in_javascript_or_typescript_has_all_its_files() {
    let bench = Bench::new();
    let path = bench.path("");
    for (language, others) in [("js", [].as_slice()), ("ts", &["tsconfig.json"])] {
        let name = format!("send-{language}");
        let ran = bench.phasm(&["plugin", "new", &name, "--lang", language]);
        assert!(ran.status == 0 && ran.stdout.starts_with(&format!("created plugins/{name}\n")), "{ran:?}");
        assert!(
            ran.stdout.ends_with(&format!("\n  cd plugins/{name} && npm install && npm test\n")),
            "{ran:?}"
        );
        let folder = bench.path(&format!("plugins/{name}"));
        let scripts = [format!("{name}.{language}"), format!("{name}.test.{language}")];
        let common = ["package.json", "example.yaml", "README.md", ".gitignore"];
        let own = scripts.iter().map(String::as_str).chain(common).chain(others.iter().copied());
        let all: String = own.map(|file| fs::read_to_string(folder.join(file)).unwrap()).collect();
        assert!(
            !all.contains("{{name}}") && !all.contains("greet.js") && !all.contains(path.to_str().unwrap()),
            "{all}"
        );
        assert!(all.contains(&format!("\"main\": \"{name}.{language}\"")), "{all}");
        assert!(folder.join("phasm-sdk/index.d.ts").is_file());
        let listed = bench.phasm(&["plugin", "list", "--json"]).json();
        let row = listed.as_array().unwrap().iter().find(|row| row["name"] == *name).unwrap().clone();
        assert_eq!((&row["state"], &row["version"]), (&json!("stale"), &json!("0.1.0")));
    }
    let validated = bench.phasm(&["validate", "plugins/send-js/example.yaml"]);
    assert!(validated.status == 0 && validated.stderr.contains("W026"), "{validated:?}");
    let test = |folder: &str| {
        let mut npm = Command::new("sh");
        npm.args(["-c", "npm install --offline --no-audit --no-fund && npm test"]);
        let output = npm.current_dir(bench.path(folder)).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    };
    test("plugins/send-js");

    assert_eq!(bench.phasm(&["plugin", "sdk", "own-sdk"]).status, 0);
    let shared = bench.phasm(&["plugin", "new", "shared", "--lang", "js", "--sdk", "own-sdk"]);
    assert_eq!(shared.status, 0, "{shared:?}");
    let project = fs::read_to_string(bench.path("plugins/shared/package.json")).unwrap();
    assert!(project.contains("\"phasm-sdk\": \"file:../../own-sdk/js\""), "{project}");
    assert!(!bench.path("plugins/shared/phasm-sdk").exists());
    test("plugins/shared");

    let taken = bench.phasm(&["plugin", "new", "phasm-sdk", "--lang", "ts"]);
    assert!(taken.status == 2 && taken.stderr.contains("expected another name"), "{taken:?}");
    bench.write("plugins/wrong/package.json", r#"{"name":"@x/y","phasm":{"main":"no.js"}}"#);
    let wrong = bench.phasm(&["plugin", "build", "plugins/wrong"]);
    assert_eq!(wrong.status, 1, "{wrong:?}");
    for says in ["name: found \"@x/y\"", "phasm.main: there is no no.js"] {
        assert!(wrong.stderr.contains(says), "{says}: {wrong:?}");
    }
}

/// R-L146: in C and C++, as the tests of the projects themselves; built and run they are by the test of the page about C.
#[test]
fn new_plugins_in_c_and_cpp_have_all_their_files_and_pass_their_tests() {
    let bench = Bench::new();
    let made = |folder: &Path| {
        let output = Command::new("make").arg("test").current_dir(folder).output().unwrap();
        let said = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
        assert!(output.status.success() && said.contains("OK: 4 expectations met, 0 not"), "{said}");
    };
    for (name, lang, ending) in
        [("send-mail", "c", "c"), ("log-mail", "cpp", "cpp"), ("test-json", "c++", "cpp")]
    {
        let ran = bench.phasm(&["plugin", "new", name, "--lang", lang]);
        assert!(ran.status == 0 && ran.stdout.starts_with(&format!("created plugins/{name}\n")), "{ran:?}");
        assert!(ran.stdout.ends_with(&format!("\n  make -C plugins/{name} test\n")), "{ran:?}");
        let folder = bench.path("plugins").join(name);
        let stem =
            if name.starts_with("test") { "executor_test_json_".to_owned() } else { name.replace('-', "_") };
        let own = ["plugin.toml", "Makefile", "example.yaml", "README.md", ".gitignore"].map(str::to_owned);
        let sources = [format!("{stem}.{ending}"), format!("test_{stem}.{ending}")];
        let all: String =
            own.iter().chain(&sources).map(|file| fs::read_to_string(folder.join(file)).unwrap()).collect();
        let path = bench.path("");
        assert!(!all.contains("{{name}}") && !all.contains("{{stem}}") && !all.contains("{{sdk"), "{all}");
        assert!(
            !all.contains(path.to_str().unwrap()) && all.contains(&format!("name = \"{name}\"")),
            "{all}"
        );
        made(&folder);
        let validated = bench.phasm(&["validate", &format!("plugins/{name}/example.yaml")]);
        assert!(validated.status == 0 && validated.stderr.contains("W026"), "{validated:?}");
    }
    let listed = bench.phasm(&["plugin", "list", "--json"]).json();
    let row = listed.as_array().unwrap().iter().find(|row| row["name"] == "send-mail").unwrap().clone();
    assert_eq!((&row["state"], &row["version"]), (&json!("stale"), &json!("0.1.0")));

    assert_eq!(bench.phasm(&["plugin", "sdk", "own-sdk"]).status, 0);
    let shared = bench.phasm(&["plugin", "new", "greet", "--lang", "c", "--sdk", "own-sdk"]);
    assert_eq!(shared.status, 0, "{shared:?}");
    let project = fs::read_to_string(bench.path("plugins/greet/plugin.toml")).unwrap();
    assert!(project.ends_with("[c]\nsdk = \"../../own-sdk/c\"\n"), "{project}");
    assert!(!bench.path("plugins/greet/phasm_sdk").exists());
    made(&bench.path("plugins/greet"));
    let no_sdk = bench.phasm(&["plugin", "new", "x", "--lang", "c", "--sdk", "plugins"]);
    assert!(no_sdk.status == 2 && no_sdk.stderr.contains("does not hold phasm.h"), "{no_sdk:?}");
    bench.write("plugins/wrong/plugin.toml", "name = \"../x\"\n[c]\nsources = [\"no.c\"]\n");
    let wrong = bench.phasm(&["plugin", "build", "plugins/wrong"]);
    assert_eq!(wrong.status, 1, "{wrong:?}");
    for says in ["name: found \"../x\"", "c.sources: no.c is no file"] {
        assert!(wrong.stderr.contains(says), "{says}: {wrong:?}");
    }
}

/// R-I14.
#[test]
fn what_is_compiled_ahead_of_time_runs_for_whoever_has_the_key() {
    let bench = Bench::new();
    bench.task("w.yaml", "echo", "");
    for (out, key) in [("own", [].as_slice()), ("far", &["--key", "edge.key"])] {
        let ran = bench.phasm(&[&["plugin", "compile", "echo", "-o", out], key].concat());
        assert_eq!((ran.status, ran.stdout.as_str()), (0, format!("{out}/echo.cwasm\n").as_str()), "{ran:?}");
    }
    fs::remove_file(bench.path("plugins/echo.wasm")).unwrap();
    let own = bench.phasm(&["run", "w.yaml", "--plugins", "own", "--json"]);
    assert_eq!((own.status, &own.json()["phase"]), (0, &json!("Succeeded")), "{own:?}");
    let far = bench.phasm(&["run", "w.yaml", "--plugins", "far"]);
    assert!(far.status != 0 && far.stderr.contains("sealed with another key"), "{far:?}");
    let key = fs::metadata(bench.path("edge.key")).unwrap();
    let mode = std::os::unix::fs::PermissionsExt::mode(&key.permissions());
    assert_eq!((key.len(), mode & 0o777), (32, 0o600));
}

#[test]
fn a_key_that_is_none_and_a_plugin_that_is_none_are_refused() {
    let bench = Bench::new();
    bench.write("short.key", "0123");
    let ran = bench.phasm(&["plugin", "compile", "echo", "-o", "out", "--key", "short.key"]);
    assert!(ran.status == 2 && ran.stderr.contains("short.key is not a key"), "{ran:?}");
    bench.write("junk.wasm", "junk");
    let ran = bench.phasm(&["plugin", "compile", "./junk.wasm", "-o", "out"]);
    assert!(ran.status == 2 && ran.stderr.contains("junk.wasm is not a WebAssembly component"), "{ran:?}");
    assert!(!bench.path("out/junk.cwasm").exists());
}

/// With nothing but the program: no checkout around, no released crate.
#[test]
fn a_new_plugin_outside_any_checkout_builds_and_runs() {
    let bench = Bench::new();
    let new = bench.phasm(&["plugin", "new", "plugins/greeter"]);
    assert_eq!(new.status, 0, "{new:?}");
    bench.task("typo.yaml", "greeter", "");
    let codes = || {
        let ran = bench.phasm(&["validate", "typo.yaml", "--json"]).json();
        let problems = ran["problems"].as_array().unwrap().iter();
        problems.map(|problem| problem["code"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert!(codes().is_empty(), "nothing is known of what was never built");
    // The toolchain that is there already is found in the user's own cache.
    let run = |more: &[&str]| {
        let words = ["run", "plugins/greeter/example.yaml", "-p", "name=Ada", "--json"];
        let mut run = bench.command(&[&words, more].concat());
        Ran::from(run.env_remove("PHASM_CACHE_DIR").output().unwrap())
    };
    let unnamed = run(&[]);
    assert_eq!(unnamed.status, 2, "{unnamed:?}");
    assert!(unnamed.stdout.contains("nothing is built that was not named: "), "{unnamed:?}");
    let ran = run(&["--plugins", "plugins"]);
    assert_eq!(ran.status, 0, "{ran:?}");
    assert_eq!(ran.json()["outputs"][0]["value"], "Hello, Ada! Hello, Ada!");
    assert_eq!(codes(), ["P072", "P074"]);
    let about = bench.phasm(&["plugin", "inspect", "greeter", "--json"]).json();
    assert_eq!(about["inputs"]["properties"]["name"]["description"], "Name of the person to greet.");
    assert_eq!(about["outputs"]["required"], json!(["greeting"]));
}

#[test]
fn the_schema_knows_the_inputs_of_plugins() {
    let bench = Bench::new();
    bench.write("plugins/echo.json", r#"{"inputs": {"properties": {"dir": {"type": "string"}}}}"#);
    bench.write("plugins/bad.wasm", "(component)");
    let ran = bench.phasm(&["schema", "--plugins", "plugins"]);
    assert_eq!(ran.status, 0, "{ran:?}");
    assert!(ran.stderr.starts_with("warning: plugin `bad` is left out: "), "{}", ran.stderr);
    let schema = ran.json();
    let parameter =
        "/$defs/executors/allOf/0/then/properties/inputs/then/properties/parameters/items/allOf/0";
    assert_eq!(schema.pointer(&format!("{parameter}/if/properties/name/const")), Some(&json!("dir")));
    assert_eq!(bench.phasm(&["schema", "--plugins", "nowhere"]).status, 2);
    assert_eq!(bench.phasm(&["schema", "--plugins", "plugins", "--config"]).status, 2);
}

/// Compiling a component of another language takes a quarter of a minute, so progress is shown.
#[test]
fn compiling_a_large_component_is_announced_the_first_time() {
    let bench = Bench::new();
    let mut large = fs::read(bench.path("plugins/echo.wasm")).unwrap();
    // A custom section of 400 004 bytes: its name's length, `pad`, zeros.
    large.extend([&[0, 0x84, 0xb5, 0x18, 3][..], b"pad", &[0; 400_000]].concat());
    bench.write("plugins/large.wasm", large);
    bench.task("large.yaml", "large", "");
    let announced = || {
        let ran = bench.phasm(&["run", "large.yaml"]);
        assert_eq!(ran.status, 0, "{ran:?}");
        ran.stderr.contains("compiling a component of 0.4 MB (sha256:")
    };
    assert_eq!([announced(), announced()], [true, false]);
}

/// A text in a `.wasm` file is never read as WebAssembly's text format, whatever it holds.
#[test]
fn a_file_that_is_no_component_is_said_to_be_what_it_is() {
    let bench = Bench::new();
    bench.write("plugins/bad.wasm", "(component)");
    let ran = bench.phasm(&["plugin", "inspect", "bad"]);
    assert_eq!(ran.status, 2, "{ran:?}");
    assert!(ran.stderr.contains("plugins/bad.wasm is not a WebAssembly component but a text"), "{ran:?}");
    bench.task("bad.yaml", "bad", "");
    let ran = bench.phasm(&["run", "bad.yaml"]);
    assert_ne!(ran.status, 0, "{ran:?}");
    assert!(ran.stderr.contains("plugins/bad.wasm is not a WebAssembly component but a text"), "{ran:?}");
}
