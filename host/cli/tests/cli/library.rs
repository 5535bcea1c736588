//! The library of plugins: adding, holding, approving, signing, removing.

use std::{fs, process::Command};

use serde_json::json;

use crate::bench::{Bench, Ran};

/// A component that says this of itself, in a folder of its own.
fn component(bench: &Bench, folder: &str, manifest: &str) -> String {
    let path = format!("{folder}/greet.wasm");
    let bytes = fs::read(bench.path("plugins/echo.wasm")).unwrap();
    bench.write(&path, bytes);
    bench.write(&format!("{folder}/greet.json"), manifest);
    path
}

fn version(bench: &Bench, version: &str, wants: &str) -> String {
    component(bench, version, &format!(r#"{{"name": "greet", "version": "{version}", "wants": {wants}}}"#))
}

fn added(bench: &Bench, path: &str) -> serde_json::Value {
    let ran = bench.phasm(&["plugin", "add", path, "--json"]);
    assert_eq!(ran.status, 0, "{ran:?}");
    ran.json()
}

/// The digest that a run of a document with this executor was submitted with, or what was said instead.
fn pinned(bench: &Bench, executor: &str) -> Result<String, String> {
    bench.task("w.yaml", executor, "");
    let _ = fs::remove_file(bench.path("pinned.db"));
    let ran = bench.phasm(&["run", "w.yaml", "--store", "pinned.db"]);
    if ran.status != 0 {
        return Err(ran.stderr);
    }
    let store = rusqlite::Connection::open(bench.path("pinned.db")).unwrap();
    Ok(store.query_row("SELECT digest FROM components", [], |row| row.get(0)).unwrap())
}

/// R-I30, R-I31: a name is the highest version that is no pre-release, the beginning of a version the highest that begins so.
#[test]
fn a_name_is_its_highest_version() {
    let bench = Bench::new();
    let mut digests = Vec::new();
    for number in ["1.2.0", "1.10.0", "1.2.7", "2.0.0-beta.1"] {
        let path = version(&bench, number, "{}");
        digests.push(added(&bench, &path)["digest"].as_str().unwrap().to_owned());
    }
    let rows =
        [("greet", 1), ("greet@1", 1), ("greet@1.2", 2), ("greet@1.2.0", 0), ("greet@2.0.0-beta.1", 3)];
    for (executor, at) in rows {
        assert_eq!(pinned(&bench, executor).as_ref(), Ok(&digests[at]), "{executor}");
    }
    assert_eq!(pinned(&bench, &digests[2]).as_ref(), Ok(&digests[2]));
    let none = pinned(&bench, "greet@3").unwrap_err();
    assert!(
        none.contains(
            "there is no version 3 of plugin `greet`; there are 2.0.0-beta.1, 1.10.0, 1.2.7, 1.2.0"
        ),
        "{none}"
    );
    let checked = bench.phasm(&["validate", "w.yaml"]);
    assert!(checked.status == 2 && checked.stderr.contains("there is no version 3"), "{checked:?}");
}

/// R-I30: what stands for some bytes stands for them for good.
#[test]
fn other_content_of_the_same_version_is_refused() {
    let bench = Bench::new();
    let first = version(&bench, "1.0.0", "{}");
    assert_eq!(added(&bench, &first)["isNew"], json!(true));
    assert_eq!(added(&bench, &first)["isNew"], json!(false));
    let other =
        component(&bench, "other", r#"{"name": "greet", "version": "1.0.0", "description": "Other"}"#);
    let ran = bench.phasm(&["plugin", "add", &other]);
    assert!(
        ran.status == 2 && ran.stderr.contains("greet@1.0.0 exists already with other content, sha256:"),
        "{ran:?}"
    );
    for (manifest, says) in [
        (r#"{"name": "greet"}"#, "does not say its version; say it: --as NAME@1.0.0"),
        (r#"{"name": "greet", "version": "1"}"#, "\"1\" is not a version"),
        (
            r#"{"name": "greet", "version": "2.0.0", "wants": {"http": ["x"]}}"#,
            "wants.http: found \"x\": it has no scheme",
        ),
    ] {
        let ran = bench.phasm(&["plugin", "add", &component(&bench, "wrong", manifest)]);
        assert!(ran.status == 2 && ran.stderr.contains(says), "{ran:?}");
    }
    let named = component(&bench, "plain", "{}");
    let ran = bench.phasm(&["plugin", "add", &named, "--as", "hello@0.1.0", "--json"]);
    assert_eq!(ran.json()["name"], "hello", "{ran:?}");
    bench.write("junk.wasm", b"\0asm\x0d\0\x01\0junk");
    let junk = bench.phasm(&["plugin", "add", "./junk.wasm", "--as", "junk@1.0.0"]);
    assert!(junk.status == 1 || junk.status == 2, "{junk:?}");
    assert!(!bench.phasm(&["plugin", "list"]).stdout.contains("junk"));
}

/// R-I32, R-I33: a version that asks for more is held until it is approved; nothing is granted by that.
#[test]
fn a_version_that_asks_for_more_is_held() {
    let bench = Bench::new();
    let first = added(&bench, &version(&bench, "1.0.0", r#"{"http": ["GET https://a.example"]}"#));
    assert_eq!(first["state"], "approved");
    let same = added(&bench, &version(&bench, "1.1.0", r#"{"http": ["GET https://a.example/v1/*"]}"#));
    assert_eq!((&same["state"], &same["beyond"]), (&json!("approved"), &json!([])));
    let more = version(
        &bench,
        "1.2.0",
        r#"{"http": ["https://a.example"], "dirs": [{"guest": "/data", "mode": "rw"}]}"#,
    );
    let ran = bench.phasm(&["plugin", "add", &more]);
    for says in [
        "asks for more than 1.1.0:\n  + the directory /data\n  + requests of https://a.example\n",
        "[grants.greet]\ndirs = [{ host = \"WHERE\", guest = \"/data\", mode = \"rw\" }]\nhttp = [\"https://a.example\"]\n",
        "held greet@1.2.0\n  it asks for the directory /data, and 1.1.0 does not\n",
    ] {
        assert!(ran.stdout.contains(says), "{says}: {}", ran.stdout);
    }
    assert_eq!(pinned(&bench, "greet").unwrap(), same["digest"]);
    let held = pinned(&bench, "greet@1.2.0").unwrap_err();
    assert!(held.contains("plugin greet@1.2.0 is held: it asks for the directory /data"), "{held}");
    assert!(held.contains("approve it with `phasm plugin approve greet@1.2.0`"), "{held}");
    let list = bench.phasm(&["plugin", "list", "--json"]).json();
    let states: Vec<_> = list
        .as_array()
        .unwrap()
        .iter()
        .filter(|one| one["name"] == "greet")
        .map(|one| one["state"].clone())
        .collect();
    assert_eq!(states, ["held", "approved", "approved"]);
    let approved = bench.paste(&ran.stdout, "approve it with: ", &[]);
    assert!(
        approved.status == 0 && approved.stdout.contains("asks for permissions that it is not granted"),
        "{approved:?}"
    );
    assert_ne!(pinned(&bench, "greet").unwrap(), same["digest"]);
    // Granted permissions are not listed again.
    bench.write("phasm.toml", "library = 'data/phasm/library'\n[grants.greet]\nhttp = ['https://a.example']\ndirs = [{ host = '.', guest = '/data', mode = 'rw' }]\n");
    let again = bench.phasm(&["plugin", "approve", "greet@1.2.0", "--config", "phasm.toml"]);
    assert!(
        again.stdout.starts_with("approved before: greet@1.2.0 ") && !again.stdout.contains("asks"),
        "{again:?}"
    );
    // R-S15.
    let inspected = bench.phasm(&["plugin", "inspect", "greet@1.2.0", "--json"]).json();
    let callers = ["addedBy", "approvedBy"].map(|by| inspected[by].as_str().unwrap_or_default().to_owned());
    assert!(callers.iter().all(|by| by.starts_with("local:")), "{inspected}");
    let page = bench.phasm(&["plugin", "inspect", "greet@1.2.0"]).stdout;
    assert!(page.contains(&format!("added by   {}\napprover   {}\n", callers[0], callers[1])), "{page}");
    bench.write("all.toml", "[trust]\nhold = 'all'\n");
    let every = bench
        .phasm(&["plugin", "add", &version(&bench, "1.3.0", "{}"), "--config", "all.toml", "--json"])
        .json();
    assert_eq!(every["state"], "held");
    for wrong in ["greet", "greet@9.9.9", "absent@1.0.0"] {
        let ran = bench.phasm(&["plugin", "approve", wrong]);
        assert!(ran.status == 2 && ran.stdout.is_empty(), "{ran:?}");
    }
}

/// Signs what lies there with a key of its own; the public key.
fn sign(bench: &Bench, key: &str, path: &str) -> String {
    if !bench.path(key).exists() {
        assert_eq!(bench.phasm(&["plugin", "keygen", key]).status, 0);
    }
    let ran = bench.phasm(&["plugin", "sign", "--key", key, path]);
    assert_eq!((ran.status, ran.stdout.as_str()), (0, format!("{path}.minisig\n").as_str()), "{ran:?}");
    let public = fs::read_to_string(bench.path(&format!("{key}.pub"))).unwrap();
    public.lines().last().unwrap().to_owned()
}

fn packed(bench: &Bench, number: &str) -> String {
    let (from, to) = (version(bench, number, "{}"), format!("packed/{number}/greet.wasm"));
    assert_eq!(bench.phasm(&["plugin", "pack", &from, "-o", &to]).status, 0);
    to
}

/// R-I34, R-I35: where signatures are required, other plugins are refused when they are added and when they are used.
#[test]
fn what_nobody_vouches_for_is_refused() {
    let bench = Bench::new();
    let path = packed(&bench, "1.0.0");
    let (ours, theirs) = (sign(&bench, "ours.key", &path), {
        let other = packed(&bench, "1.1.0");
        sign(&bench, "theirs.key", &other)
    });
    bench.write("phasm.toml", format!("[trust]\nrequire-signature = true\nkeys = [{ours:?}]\n"));
    let phasm = |arguments: &[&str]| bench.phasm_with(&[("PHASM_CONFIG", "phasm.toml")], arguments);
    let ran = phasm(&["plugin", "add", &path]);
    assert!(ran.status == 0 && ran.stdout.contains(&format!("signed by {ours} (")), "{ran:?}");
    let refused = phasm(&["plugin", "add", "packed/1.1.0/greet.wasm"]);
    let asks = format!("`[trust]` of the configuration requires a signature by {ours}");
    assert!(
        refused.status == 1 && refused.stderr.contains("it is signed with another key, of the number "),
        "{refused:?}"
    );
    assert!(refused.stderr.contains(&asks) && !refused.stderr.contains(&theirs), "{refused:?}");
    let unsigned = phasm(&["plugin", "add", &version(&bench, "1.2.0", "{}")]);
    assert!(unsigned.status == 1 && unsigned.stderr.contains("it is not signed; "), "{unsigned:?}");
    bench.task("w.yaml", "greet", "");
    assert_eq!(phasm(&["run", "w.yaml"]).status, 0);
    // At use: plugins in a folder, and plugins that were added without the policy.
    bench.task("echo.yaml", "echo", "");
    let used = phasm(&["run", "echo.yaml"]);
    assert!(
        used.status == 2 && used.stderr.contains("it is not signed; ") && used.stderr.contains(&asks),
        "{used:?}"
    );
    sign(&bench, "ours.key", "plugins/echo.wasm");
    assert_eq!(phasm(&["run", "echo.yaml"]).status, 0);
    let mut bytes = fs::read(bench.path("plugins/echo.wasm")).unwrap();
    bytes.extend([0, 2, 1, b'x']);
    bench.write("plugins/echo.wasm", bytes);
    let changed = phasm(&["run", "echo.yaml"]);
    assert!(
        changed.status == 2 && changed.stderr.contains("is invalid: signature does not match"),
        "{changed:?}"
    );
    assert_eq!(bench.phasm(&["plugin", "add", "packed/1.1.0/greet.wasm"]).status, 0);
    let added = phasm(&["run", "w.yaml"]);
    assert!(added.status == 2 && added.stderr.contains("it is signed with another key"), "{added:?}");
    bench.write("wrong.toml", "[trust]\nkeys = ['ours.key.pub']\n");
    let wrong = bench.phasm(&["run", "w.yaml", "--config", "wrong.toml"]);
    assert!(wrong.status == 2 && wrong.stderr.contains("C012"), "{wrong:?}");
}

/// R-I34: a run is resumed only where a signature for its plugins is accepted.
#[test]
fn a_run_goes_on_only_where_its_plugins_are_vouched_for() {
    let bench = Bench::new();
    let ours = sign(&bench, "ours.key", "plugins/suspend.wasm");
    fs::remove_file(bench.path("plugins/suspend.wasm.minisig")).unwrap();
    bench.write("phasm.toml", format!("[trust]\nrequire-signature = true\nkeys = [{ours:?}]\n"));
    bench.task("ask.yaml", "suspend", "");
    assert_eq!(bench.phasm(&["run", "ask.yaml", "--store", "runs.db"]).status, 6);
    let resume =
        || bench.phasm(&["resume", "@last", "main", "{}", "--store", "runs.db", "--config", "phasm.toml"]);
    let refused = resume();
    assert!(refused.status == 2 && refused.stderr.contains("executor `suspend`: "), "{refused:?}");
    assert!(
        refused.stderr.contains("it is not signed; `[trust]` of the configuration requires"),
        "{refused:?}"
    );
    sign(&bench, "ours.key", "plugins/suspend.wasm");
    let resumed = resume();
    assert_eq!(resumed.status, 0, "{resumed:?}");
}

/// R-I34: a tenant's own policy stands in place of that of all.
#[test]
fn a_tenant_may_have_a_policy_of_its_own() {
    let bench = Bench::new();
    let ours = sign(&bench, "ours.key", "plugins/echo.wasm");
    sign(&bench, "theirs.key", "plugins/code.wasm");
    let theirs = fs::read_to_string(bench.path("theirs.key.pub")).unwrap();
    let theirs = theirs.lines().last().unwrap();
    let policy = |key: &str| format!("require-signature = true\nkeys = [{key:?}]\n");
    let config = format!("[trust]\n{}[tenants.acme.trust]\n{}", policy(&ours), policy(theirs));
    bench.write("phasm.toml", config);
    let run = |executor: &str, namespace: &str| {
        bench.task("w.yaml", executor, "");
        let text = fs::read_to_string(bench.path("w.yaml")).unwrap();
        bench.write("w.yaml", text.replace("{ name: w }", &format!("{{ name: w, namespace: {namespace} }}")));
        bench.phasm(&["run", "w.yaml", "--config", "phasm.toml"])
    };
    assert_eq!([run("echo", "default").status, run("code", "acme").status], [0, 0]);
    let refused = run("echo", "acme");
    assert!(
        refused.status == 2 && refused.stderr.contains("`[tenants.acme.trust]` of the configuration"),
        "{refused:?}"
    );
    let refused = run("code", "default");
    assert!(refused.status == 2 && refused.stderr.contains("`[trust]` of the configuration"), "{refused:?}");
}

/// R-I34: what was added without a signature gets one by being added again.
#[test]
fn what_is_signed_later_is_added_again() {
    let bench = Bench::new();
    let path = packed(&bench, "1.0.0");
    added(&bench, &path);
    let ours = sign(&bench, "ours.key", &path);
    bench.write("phasm.toml", format!("[trust]\nrequire-signature = true\nkeys = [{ours:?}]\n"));
    bench.task("w.yaml", "greet", "");
    let run = || bench.phasm(&["run", "w.yaml", "--config", "phasm.toml"]).status;
    assert_eq!(run(), 2);
    assert_eq!(added(&bench, &path)["isNew"], json!(false));
    assert_eq!(run(), 0);
}

/// R-I32: a version that another hand signed than the one before is held.
#[test]
fn another_hand_is_held() {
    let bench = Bench::new();
    let (one, two) = (packed(&bench, "1.0.0"), packed(&bench, "1.1.0"));
    let keys = [sign(&bench, "ours.key", &one), sign(&bench, "theirs.key", &two)];
    bench.write("phasm.toml", format!("[trust]\nrequire-signature = true\nkeys = {keys:?}\n"));
    let phasm = |path: &str| bench.phasm(&["plugin", "add", path, "--config", "phasm.toml", "--json"]).json();
    assert_eq!(phasm(&one)["state"], "approved");
    let held = phasm(&two);
    let [why] = held["held"].as_array().unwrap().as_slice() else { panic!("{held}") };
    assert!(why.as_str().unwrap().starts_with(&format!("it is not signed by {} (", keys[0])), "{held}");
    assert!(why.as_str().unwrap().ends_with("), as 1.0.0 is"), "{held}");
}

/// R-I38: whether a version is held, why, who signed it and who has it used is said of it, and of one key always the same.
#[test]
fn what_is_known_of_a_version_is_said() {
    let bench = Bench::new();
    let (one, two) = (packed(&bench, "1.0.0"), packed(&bench, "1.1.0"));
    let keys = [sign(&bench, "ours.key", &one), sign(&bench, "theirs.key", &two)];
    let made = fs::read_to_string(bench.path("ours.key.pub")).unwrap();
    let number = made.lines().next().unwrap().rsplit(' ').next().unwrap().to_owned();
    let name = format!("{} ({number})", keys[0]);
    // A key is read as it is shown.
    let config = format!(
        "[trust]\nrequire-signature = true\nkeys = [{name:?}]\n[tenants.acme.trust]\nkeys = [{:?}]\n",
        keys[1]
    );
    bench.write("phasm.toml", config);
    let phasm = |arguments: &[&str]| bench.phasm_with(&[("PHASM_CONFIG", "phasm.toml")], arguments);
    for path in [&one, &two] {
        assert_eq!(phasm(&["plugin", "add", path]).status, 0);
    }
    let first = phasm(&["plugin", "inspect", "greet@1.0.0"]);
    let says = [
        format!("signature  signed by {name}, saying: timestamp:"),
        "accepted by `[trust]`".to_owned(),
        "state      approved".to_owned(),
    ];
    for says in says {
        assert!(first.stdout.contains(&says), "{says}: {}", first.stdout);
    }
    let second = phasm(&["plugin", "inspect", "greet@1.1.0"]);
    for says in [
        "held       it is not signed by ",
        "approve it with: ",
        "plugin approve greet@1.1.0\n",
        &format!("signed by {} (", keys[1]),
        "not used: it is signed with another key, of the number ",
        &format!("requires a signature by {name}"),
        "accepted by `[tenants.acme.trust]`",
    ] {
        assert!(second.stdout.contains(says), "{says}: {}", second.stdout);
    }
    let json = phasm(&["plugin", "inspect", "greet@1.1.0", "--json"]).json();
    assert_eq!((&json["state"], &json["signature"]["key"]), (&json!("held"), &json!(keys[1])), "{json}");
    let list = phasm(&["plugin", "list", "--json"]).json();
    let listed = list.as_array().unwrap().iter().find(|one| one["version"] == "1.0.0").unwrap();
    let signature = &listed["signature"];
    assert_eq!(
        (&signature["key"], &signature["number"], &signature["state"]),
        (&json!(keys[0]), &json!(number), &json!("good"))
    );
    // A name with held versions only is reported as held, not as missing.
    bench.write("all.toml", "[trust]\nhold = 'all'\n");
    let plain = component(&bench, "plain", r#"{"name": "hello", "version": "1.0.0"}"#);
    assert_eq!(bench.phasm(&["plugin", "add", &plain, "--config", "all.toml"]).status, 0);
    let hello = bench.phasm(&["plugin", "inspect", "hello"]);
    assert!(hello.stdout.contains("held       every version is, until it is approved"), "{hello:?}");
    assert!(hello.stdout.contains("signature  not signed"), "{hello:?}");
    // Whatever lies in a folder has the signature beside it.
    let file = phasm(&["plugin", "inspect", &one, "--json"]).json();
    assert_eq!((&file["signature"]["state"], &file["state"]), (&json!("good"), &json!(null)));
    bench.write("number.toml", format!("[trust]\nkeys = [{number:?}]\n"));
    let number = bench.phasm(&["plugin", "list", "--config", "number.toml"]);
    assert!(number.status == 2 && number.stderr.contains("that is a key's number"), "{number:?}");
}

/// R-I6, R-I32, R-I34: validating reports what running would.
#[test]
fn what_is_not_used_is_a_problem_where_it_is_only_validated() {
    let bench = Bench::new();
    added(&bench, &version(&bench, "1.0.0", "{}"));
    added(&bench, &version(&bench, "1.1.0", r#"{"env": ["TOKEN"]}"#));
    let ours = sign(&bench, "ours.key", "plugins/echo.wasm");
    let trust = format!("require-signature = true\nkeys = [{ours:?}]\n");
    bench.write("phasm.toml", format!("[trust]\n{trust}"));
    bench.write("own/code.wasm", fs::read(bench.path("plugins/echo.wasm")).unwrap());
    bench.write("tenants.toml", format!("[tenants.acme]\nplugins = ['own']\n[tenants.acme.trust]\n{trust}"));
    bench.write("plugins/broken.wasm", b"\0asm\x0d\0\x01\0");
    bench.write("plugins/broken.json", "{");
    let same = |executor: &str, namespace: &str, config: &[&str]| {
        bench.task("w.yaml", executor, "");
        let text = fs::read_to_string(bench.path("w.yaml")).unwrap();
        bench.write("w.yaml", text.replace("{ name: w }", &format!("{{ name: w, namespace: {namespace} }}")));
        let problem = |command: &str| {
            let ran = bench.phasm(&[&[command, "w.yaml", "--json"], config].concat());
            let said = ran.json()["problems"][0]["message"].clone();
            (ran.status, said)
        };
        let (validated, ran) = (problem("validate"), problem("run"));
        assert_eq!(validated, ran, "{executor} in {namespace} with {config:?}");
        validated.1.to_string()
    };
    let (all, tenants) = (&["--config", "phasm.toml"][..], &["--config", "tenants.toml"][..]);
    assert!(same("greet@1.1.0", "default", &[]).contains("plugin greet@1.1.0 is held: it asks for"));
    assert!(same("greet", "default", all).contains("it is not signed; `[trust]`"));
    assert!(same("code", "default", all).contains("it is not signed; `[trust]`"));
    assert!(same("code", "acme", tenants).contains("it is not signed; `[tenants.acme.trust]`"));
    assert!(same("broken", "default", &[]).contains("broken.json"));
    for (executor, config) in [("echo", all), ("greet@1.0", &[]), ("code", tenants)] {
        bench.task("w.yaml", executor, "");
        let valid = bench.phasm(&[&["validate", "w.yaml"], config].concat());
        assert_eq!((valid.status, valid.stdout.as_str()), (0, "w.yaml: valid\n"), "{valid:?}");
    }
    assert!(same("absent", "default", &[]).contains("executor `absent` is not installed"));
    // A missing plugin may be there by the time of a run.
    assert_eq!(bench.phasm(&["validate", "w.yaml", "--allow-missing"]).status, 0);
    let explained = bench.phasm(&["validate", "--explain", "P071"]);
    for says in ["held in the library", "`[trust]`", "phasm plugin approve", "phasm plugin inspect"] {
        assert!(explained.stdout.contains(says), "{says}: {}", explained.stdout);
    }
}

#[test]
fn keys_are_their_owners_alone() {
    let bench = Bench::new();
    let path = packed(&bench, "1.0.0");
    sign(&bench, "ours.key", &path);
    let mode =
        std::os::unix::fs::PermissionsExt::mode(&fs::metadata(bench.path("ours.key")).unwrap().permissions());
    assert_eq!(mode & 0o777, 0o600);
    let again = bench.phasm(&["plugin", "keygen", "ours.key"]);
    assert_eq!(again.status, 2, "none is replaced");
    assert!(again.stderr.contains("ours.key exists already; keys are never overwritten"), "{again:?}");
    let public = bench.phasm(&["plugin", "sign", "--key", "ours.key.pub", "greet"]);
    assert!(public.status == 2 && public.stderr.contains("it is a public key"), "{public:?}");
    assert!(Command::new("chmod").arg("644").arg(bench.path("ours.key")).status().unwrap().success());
    let open = bench.phasm(&["plugin", "sign", "--key", "ours.key", &path]);
    assert!(open.status == 2 && open.stderr.contains("chmod 600"), "{open:?}");
    let none = bench.phasm(&["plugin", "sign", "--key", &path, &path]);
    assert_eq!(none.status, 2, "{none:?}");
    // A signature is of one file: what is packed behind it has none.
    let beside = version(&bench, "2.0.0", "{}");
    assert_eq!(bench.phasm(&["plugin", "sign", "--key", "theirs.key", &beside]).status, 2);
    sign(&bench, "theirs.key", &beside);
    let ran = bench.phasm(&["plugin", "add", &beside]);
    assert!(ran.status == 2 && ran.stderr.contains("phasm plugin pack 2.0.0/greet.wasm"), "{ran:?}");
}

/// R-I36: what runs were submitted with stays for them.
#[test]
fn what_runs_need_is_not_pruned() {
    let bench = Bench::new();
    let path = packed(&bench, "1.0.0");
    let ours = sign(&bench, "ours.key", &path);
    bench.write("phasm.toml", format!("[trust]\nrequire-signature = true\nkeys = [{ours:?}]\n"));
    let phasm = |arguments: &[&str]| bench.phasm_with(&[("PHASM_CONFIG", "phasm.toml")], arguments);
    bench.write("packed/ask/suspend.wasm", fs::read(bench.path("plugins/suspend.wasm")).unwrap());
    sign(&bench, "ours.key", "packed/ask/suspend.wasm");
    for (plugin, called) in [(path.as_str(), "greet@1.0.0"), ("packed/ask/suspend.wasm", "ask@1.0.0")] {
        assert_eq!(phasm(&["plugin", "add", plugin, "--as", called]).status, 0);
    }
    bench.task("ask.yaml", "ask", "");
    assert_eq!(phasm(&["run", "ask.yaml", "--store", "runs.db"]).status, 6);
    for called in ["greet@1.0.0", "ask@1.0.0"] {
        let removed = phasm(&["plugin", "remove", called]);
        assert!(
            removed.status == 0 && removed.stdout.starts_with(&format!("removed {called}; ")),
            "{removed:?}"
        );
    }
    assert!(!phasm(&["plugin", "list"]).stdout.contains("ask"));
    let pruned = phasm(&["plugin", "prune", "--store", "runs.db"]);
    assert_eq!(
        (pruned.status, pruned.stderr.as_str()),
        (0, "asked the runs of runs.db\nask@1.0.0 stays: runs need it\n1 component deleted\n"),
        "{pruned:?}"
    );
    let resumed = phasm(&["resume", "@last", "main", "{}", "--store", "runs.db"]);
    assert_eq!(resumed.status, 0, "{resumed:?}");
    assert_eq!(phasm(&["prune", "--store", "runs.db", "--keep", "0"]).status, 0);
    let pruned = phasm(&["plugin", "prune", "--store", "runs.db"]);
    assert_eq!(pruned.stderr, "asked the runs of runs.db\n1 component deleted\n", "{pruned:?}");
    // Partial files of a process that was killed while it added a plugin.
    bench.write("data/phasm/library/blobs/sha256-0.1-0.tmp", "x");
    let left = phasm(&["plugin", "prune"]);
    assert!(left.stderr.starts_with("no store was asked; "), "{left:?}");
    assert!(left.stderr.ends_with("\n0 components deleted\n"), "{left:?}");
    let blobs = fs::read_dir(bench.path("data/phasm/library/blobs")).unwrap();
    assert_eq!(blobs.count(), 0);
}

/// R-I36: signers of deleted components are remembered, for runs of stores that were not named; unknown ones are reported.
#[test]
fn a_run_goes_on_after_a_plain_prune() {
    let bench = Bench::new();
    bench.write("packed/ask/suspend.wasm", fs::read(bench.path("plugins/suspend.wasm")).unwrap());
    let ours = sign(&bench, "ours.key", "packed/ask/suspend.wasm");
    bench.write("phasm.toml", format!("[trust]\nrequire-signature = true\nkeys = [{ours:?}]\n"));
    let phasm = |arguments: &[&str]| bench.phasm_with(&[("PHASM_CONFIG", "phasm.toml")], arguments);
    let add = || phasm(&["plugin", "add", "packed/ask/suspend.wasm", "--as", "ask@1.0.0"]).status;
    assert_eq!(add(), 0);
    bench.task("ask.yaml", "ask", "");
    let resume = || phasm(&["resume", "@last", "main", "{}", "--store", "runs.db"]);
    for _ in 0..2 {
        assert_eq!(phasm(&["run", "ask.yaml", "--store", "runs.db"]).status, 6);
        assert_eq!(phasm(&["plugin", "remove", "ask@1.0.0"]).status, 0);
        assert!(phasm(&["plugin", "prune"]).stderr.ends_with("1 component deleted\n"));
        let resumed = resume();
        assert_eq!(resumed.status, 0, "{resumed:?}");
        assert!(!bench.phasm(&["plugin", "list"]).stdout.contains("ask"), "it is no version of the library");
        assert_eq!(add(), 0);
    }
    assert_eq!(phasm(&["run", "ask.yaml", "--store", "runs.db"]).status, 6);
    fs::remove_dir_all(bench.path("data/phasm/library")).unwrap();
    let refused = resume();
    let says = "no library here has a signature of this one. Add the signed component with digest sha256:";
    assert!(refused.status == 2 && refused.stderr.contains(says), "{refused:?}");
    assert_eq!(add(), 0);
    assert_eq!(resume().status, 0);
}

/// R-I30: what the digest does not say is not used, and neither is a library that others can write.
#[test]
fn what_was_changed_in_the_library_is_not_used() {
    let bench = Bench::new();
    added(&bench, &version(&bench, "1.0.0", "{}"));
    let blobs = bench.path("data/phasm/library/blobs");
    let blob = fs::read_dir(&blobs).unwrap().next().unwrap().unwrap().path();
    let bytes = fs::read(&blob).unwrap();
    fs::write(&blob, [&bytes[..], &[0, 2, 1, b'x']].concat()).unwrap();
    let changed = pinned(&bench, "greet").unwrap_err();
    assert!(changed.contains("is not the file that was added as greet@1.0.0"), "{changed}");
    fs::write(&blob, bytes).unwrap();
    assert!(pinned(&bench, "greet").is_ok());
    let library = bench.path("data/phasm/library");
    assert!(Command::new("chmod").arg("777").arg(&library).status().unwrap().success());
    let open = pinned(&bench, "greet").unwrap_err();
    assert!(open.contains("others can write") && open.contains("name them: --library "), "{open}");
    let add = bench.phasm(&["plugin", "add", &version(&bench, "2.0.0", "{}")]);
    assert!(add.status == 2 && add.stderr.contains("others can write"), "{add:?}");
    bench.write("data/phasm/library/index.json", "{");
    let broken = bench.phasm(&["run", "w.yaml", "--library", "data/phasm/library"]);
    assert!(broken.status == 3 && broken.stderr.contains("is not an index of a library"), "{broken:?}");
}

/// R-I30: of several processes that add at once none is lost.
#[test]
fn several_may_add_at_once() {
    let bench = Bench::new();
    let numbers: Vec<String> = (0..6).map(|minor| format!("1.{minor}.0")).collect();
    let adding: Vec<_> = numbers
        .iter()
        .map(|number| {
            let path = version(&bench, number, "{}");
            bench.command(&["plugin", "add", &path]).spawn().unwrap()
        })
        .collect();
    for mut one in adding {
        assert!(one.wait().unwrap().success());
    }
    let list = bench.phasm(&["plugin", "list", "--json"]).json();
    let found: Vec<_> = list.as_array().unwrap().iter().filter(|one| one["name"] == "greet").collect();
    assert_eq!(found.len(), numbers.len(), "{list}");
}

/// The examples in the docs about plugins can be run as they stand, and print what the pages say.
#[test]
fn the_pages_about_plugins_hold() {
    let page = concat!(
        include_str!("../../../docs/how-to/publish-plugin.md"),
        include_str!("../../../docs/how-to/plugins.md")
    );
    let bench = Bench::new();
    bench.write("greet.wasm", fs::read(bench.path("plugins/echo.wasm")).unwrap());
    fs::create_dir(bench.path("bin")).unwrap();
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_phasm"), bench.path("bin/phasm")).unwrap();
    let blocks = |kind: &str| -> Vec<(usize, String)> {
        let fence = format!("```{kind}\n");
        let found = page.match_indices(&fence).map(|(at, fence)| {
            let text = page[at + fence.len()..].split("```").next().unwrap();
            (at, text.to_owned())
        });
        found.collect()
    };
    let (commands, shown) = (blocks("sh"), blocks("text"));
    assert!(commands.len() >= 8 && shown.len() >= 5, "{} {}", commands.len(), shown.len());
    let script: String = commands.iter().map(|(at, text)| format!("echo '== {at}'\n{text}")).collect();
    let command = bench.command(&[]);
    let mut shell = Command::new("sh");
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => shell.env(name, value),
            None => shell.env_remove(name),
        };
    }
    let path = format!("{}:{}", bench.path("bin").display(), std::env::var("PATH").unwrap());
    let ran = Ran::from(
        shell
            .args(["-ec", &format!("exec 2>&1\n{script}")])
            .env("PATH", path)
            .current_dir(bench.path("."))
            .output()
            .unwrap(),
    );
    assert_eq!(ran.status, 0, "{}", ran.stdout);
    for (at, text) in shown {
        let (before, _) = commands.iter().rfind(|(command, _)| *command < at).unwrap();
        let said = ran.stdout.split(&format!("== {before}\n")).nth(1).unwrap().split("\n== ").next().unwrap();
        for line in text.lines() {
            let parts: Vec<_> = line.split('…').collect();
            let is_said = said.lines().any(|said| parts.iter().all(|part| said.contains(part)));
            assert!(is_said, "{line}\n--- of:\n{said}");
        }
    }
}
