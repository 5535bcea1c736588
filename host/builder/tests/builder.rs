//! Guests are built by whatever way this machine has; the ways themselves are tried against tools that are scripts.
#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "tests")]

use std::{
    collections::BTreeMap,
    env, fs,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    process::Command,
    time::SystemTime,
};

use phasm_builder::{Toolchain, artefact_if_fresh, bring_up_to_date, build_plugin, build_plugins};

const GUEST: &str =
    "#[unsafe(no_mangle)]\npub extern \"C\" fn run() -> usize {\n    std::env::args().count()\n}\n";
/// First bytes of a component; a core module has a 1 where this has 0d 00 01.
const COMPONENT: &[u8] = b"\0asm\x0d\0\x01\0";
/// Tells the copy of this test that runs in an environment of our making what to build and where to answer.
const FOLDER: &str = "PHASM_TEST_FOLDER";
const ANSWER: &str = "PHASM_TEST_ANSWER";

fn manifest(name: &str, more: &str) -> String {
    format!("[package]\nname = \"{name}\"\nedition = \"2024\"\n[lib]\ncrate-type = [\"cdylib\"]\n{more}")
}

fn write(path: PathBuf, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

fn guest(folder: &Path, name: &str, source: &str) {
    write(folder.join("Cargo.toml"), &manifest(name, ""));
    write(folder.join("src/lib.rs"), source);
}

fn workspace(members: &[(&str, &str)]) -> (tempfile::TempDir, PathBuf) {
    let dir = tempfile::Builder::new().prefix("phasm with blank ").tempdir().unwrap();
    let root = fs::canonicalize(dir.path()).unwrap();
    write(
        root.join("Cargo.toml"),
        "[workspace]\nresolver = \"3\"\nmembers = [\"*\"]\nexclude = [\"target\"]\n",
    );
    for (name, source) in members {
        guest(&root.join(name), name, source);
    }
    (dir, root)
}

fn silent(_: &str) {}

/// `bring_up_to_date` in a process of its own with these variables; `None` removes one.
fn in_environment(folder: &Path, variables: &BTreeMap<&str, Option<PathBuf>>) -> String {
    let answer = tempfile::NamedTempFile::new().unwrap();
    let mut command = Command::new(env::current_exe().unwrap());
    command
        .args(["--exact", "the_copy_in_another_environment"])
        .env(FOLDER, folder)
        .env(ANSWER, answer.path());
    for (name, value) in variables {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    fs::read_to_string(answer.path()).unwrap()
}

#[test]
fn the_copy_in_another_environment() {
    let (Some(folder), Some(answer)) = (env::var_os(FOLDER), env::var_os(ANSWER)) else { return };
    let built = bring_up_to_date(&[folder], &silent).pop().unwrap();
    fs::write(answer, built.map_or_else(|error| error.to_string(), |artefact| artefact.name)).unwrap();
}

#[test]
fn a_folder_is_built_once_and_again_when_its_source_changes() {
    let (_dir, root) = workspace(&[("my-guest", GUEST)]);
    let folder = root.join("my-guest");
    assert_eq!(artefact_if_fresh(&folder), None);
    let toolchain = Toolchain::find_or_prepare(&root, &silent).unwrap();
    let artefact = build_plugin(&folder, &toolchain, &silent).unwrap();
    assert_eq!(
        (artefact.name.as_str(), artefact.wasm.parent().unwrap()),
        ("my-guest", root.join("target/wasm32-wasip2/release").as_path())
    );
    assert!(fs::read(&artefact.wasm).unwrap().starts_with(COMPONENT));
    assert_eq!(artefact_if_fresh(&folder), Some(artefact.wasm.clone()));

    let source = fs::File::options().append(true).open(folder.join("src/lib.rs")).unwrap();
    source.set_modified(SystemTime::now()).unwrap();
    assert_eq!(artefact_if_fresh(&folder), None);
    let again = bring_up_to_date(&[&folder], &silent).pop().unwrap().unwrap();
    assert_eq!(again, artefact);
    assert_eq!(artefact_if_fresh(&folder), Some(artefact.wasm));
}

/// The executor `regex` uses the crate `regex`.
#[test]
fn a_plugin_may_have_the_name_of_a_dependency() {
    let (_dir, root) = workspace(&[("one", GUEST)]);
    let elsewhere = tempfile::tempdir().unwrap();
    let path = elsewhere.path().display();
    let dependency = format!("[dependencies]\nother = {{ package = \"one\", path = \"{path}\" }}\n");
    let versioned = |version: &str, more: &str| {
        manifest("one", more).replace("edition", &format!("version = \"{version}\"\nedition"))
    };
    write(root.join("one/Cargo.toml"), &versioned("1.0.0", &dependency));
    write(
        elsewhere.path().join("Cargo.toml"),
        &versioned("2.0.0", "[workspace]\n").replace("cdylib", "rlib"),
    );
    write(elsewhere.path().join("src/lib.rs"), "");
    let toolchain = Toolchain::find_or_prepare(&root, &silent).unwrap();
    let artefact = build_plugin(&root.join("one"), &toolchain, &silent).unwrap();
    assert!(fs::read(artefact.wasm).unwrap().starts_with(COMPONENT));
}

#[test]
fn one_that_does_not_build_does_not_keep_the_others_from_it() {
    let (_dir, root) =
        workspace(&[("good", GUEST), ("bad", "compile_error!(\"not today\");"), ("fine", GUEST)]);
    let folders = ["good", "bad", "nowhere", "fine"].map(|name| root.join(name));
    let answers = build_plugins(&folders, &silent);
    let words = answers.iter().map(|answer| match answer {
        Ok(artefact) => artefact.name.clone(),
        Err(error) => error.to_string(),
    });
    let words = words.collect::<Vec<_>>();
    assert_eq!([&words[0], &words[3]], ["good", "fine"]);
    assert!(words[1].contains("plugin `bad`") && words[1].contains("error: not today"), "{}", words[1]);
    assert!(!words[1].contains("Compiling"), "{}", words[1]);
    assert!(words[2].contains("no such folder"), "{}", words[2]);
    // A failure is not forgotten because an older artefact lies there.
    write(root.join("good/src/lib.rs"), "compile_error!(\"nor now\");");
    let failed = bring_up_to_date(&folders[..1], &silent).pop().unwrap().unwrap_err().to_string();
    assert!(failed.contains("error: nor now"), "{failed}");
}

#[test]
fn a_new_dependency_needs_no_hand_on_the_lock_file() {
    let (_dir, root) = workspace(&[("user", GUEST), ("helper", GUEST)]);
    let folders = [root.join("user")];
    build_plugins(&folders, &silent).pop().unwrap().unwrap();
    let locked = fs::read_to_string(root.join("Cargo.lock")).unwrap();
    write(root.join("helper/Cargo.toml"), "[package]\nname = \"helper\"\nedition = \"2024\"\n");
    write(
        root.join("user/Cargo.toml"),
        &manifest("user", "[dependencies]\nhelper = { path = \"../helper\" }\n"),
    );
    bring_up_to_date(&folders, &silent).pop().unwrap().unwrap();
    assert_ne!(fs::read_to_string(root.join("Cargo.lock")).unwrap(), locked);
    // The helper's source is now one of the guest's.
    assert!(artefact_if_fresh(&folders[0]).is_some());
    let source = fs::File::options().append(true).open(root.join("helper/src/lib.rs")).unwrap();
    source.set_modified(SystemTime::now()).unwrap();
    assert_eq!(artefact_if_fresh(&folders[0]), None);
}

#[test]
fn settings_for_the_hosts_build_do_not_reach_the_guests() {
    let (_dir, root) = workspace(&[("guest", GUEST)]);
    // Have the toolchain made, if it must be, in a sane environment.
    Toolchain::find_or_prepare(&root, &silent).unwrap();
    let hostile = [
        ("CARGO_BUILD_TARGET", "no-such-target"),
        ("CARGO_ENCODED_RUSTFLAGS", "--no-such-flag"),
        ("CARGO_PROFILE_RELEASE_OPT_LEVEL", "nonsense"),
        ("CARGO_TARGET_DIR", "/dev/null"),
        ("CARGO_TARGET_WASM32_WASIP2_LINKER", "/bin/false"),
        ("RUSTC", "/bin/false"),
        ("RUSTC_WRAPPER", "/bin/false"),
        ("RUSTFLAGS", "--no-such-flag"),
    ];
    let hostile = hostile.map(|(name, value)| (name, Some(PathBuf::from(value))));
    assert_eq!(in_environment(&root.join("guest"), &hostile.into()), "guest");
    assert!(root.join("target/wasm32-wasip2/release/guest.wasm").is_file());
}

/// A PATH with nothing but these scripts on it, beside a cargo and a rustc that lack the target.
struct Machine {
    dir: tempfile::TempDir,
    guest: tempfile::TempDir,
}

impl Machine {
    fn with(tools: &[(&str, &str)]) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let rustc = "case $2 in sysroot) echo /nowhere;; *) echo unknown target >&2; exit 1;; esac";
        for (name, script) in [("cargo", "exit 1"), ("rustc", rustc)].iter().chain(tools) {
            let path = dir.path().join("bin").join(name);
            write(path.clone(), &format!("#!/bin/sh\n{script}\n"));
            fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
        }
        let guest_dir = tempfile::tempdir().unwrap();
        guest(guest_dir.path(), "guest", GUEST);
        Self { dir, guest: guest_dir }
    }

    fn without(tool: &str) -> Self {
        let machine = Self::with(&[]);
        fs::remove_file(machine.dir.path().join("bin").join(tool)).unwrap();
        machine
    }

    fn try_to_build(&self) -> String {
        let at = |name: &str| Some(self.dir.path().join(name));
        let variables = [("PATH", at("bin")), ("PHASM_CACHE_DIR", at("cache")), ("CARGO", None)];
        in_environment(self.guest.path(), &variables.into())
    }
}

#[test]
fn without_rust_the_message_says_so() {
    for tool in ["cargo", "rustc"] {
        let message = Machine::without(tool).try_to_build();
        assert!(message.contains(&format!("`{tool}` is not installed, or not on PATH")), "{message}");
        assert!(message.contains("install it and run this again"), "{message}");
    }
}

#[test]
fn every_way_that_failed_is_named_with_its_reason_and_its_remedy() {
    let rustup = ("rustup", "echo info: downloading >&2; echo error: no route to the server >&2; exit 1");
    let nothing = ("apt-get", "exit 0");
    let old = "case $* in *pkgnames*) echo rustc;; *madison*) echo ' rustc | 1.63.0 | http://a/debian x/main Packages';; esac";
    let unreachable = "case $* in *update*) echo 'W: Failed to fetch http://a' >&2;; esac";
    let here = ["dpkg-deb", "tar", "cc"].map(|tool| (tool, "exit 0"));
    let all = |apt_get, apt_cache| {
        [[rustup, ("apt-get", apt_get), ("apt-cache", apt_cache)].as_slice(), &here].concat()
    };
    type Tools = Vec<(&'static str, &'static str)>;
    let rows: [(Tools, &[&str]); 5] = [
        (
            vec![],
            &[
                "`rustup` is not installed",
                "PATH: `apt-get`, `apt-cache`, `dpkg-deb`, `tar`, `cc`",
                "use a Debian or Ubuntu system",
            ],
        ),
        (vec![rustup], &["error: no route to the server", "let it reach its server", "PATH: `apt-get`"]),
        (
            vec![rustup, nothing, ("apt-cache", "exit 0")],
            &["install `dpkg-deb` (package dpkg), `tar` (package tar), `cc`"],
        ),
        (
            all("exit 0", old),
            &["offer no Rust 1.", "found: rustc=1.63.0", "reach a package archive that has them"],
        ),
        (all(unreachable, "exit 0"), &["found: none at all", "W: Failed to fetch http://a"]),
    ];
    for (tools, expected) in rows {
        let message = Machine::with(&tools).try_to_build();
        let missing = expected.iter().filter(|words| !message.contains(**words)).collect::<Vec<_>>();
        assert_eq!(missing, Vec::<&&str>::new(), "in: {message}");
    }
}

#[test]
fn a_toolchain_that_could_not_be_made_leaves_nothing_behind() {
    let machine = Machine::with(&[]);
    machine.try_to_build();
    let left = fs::read_dir(machine.dir.path().join("cache/toolchain")).unwrap();
    let left = left.map(|entry| entry.unwrap().file_name()).collect::<Vec<_>>();
    assert_eq!(left, ["lock"]);
}
