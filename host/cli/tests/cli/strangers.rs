//! Plugins that were not named, in folders of other users.

use std::{
    fs::{self, Permissions},
    io::{Read as _, Write as _},
    net::TcpStream,
    os::unix::fs::{PermissionsExt as _, symlink},
    process::Command,
};

use rustix::process::Signal;

use crate::{
    bench::{Bench, Ran},
    crash::Running,
};

/// A plugin whose build leaves a mark.
fn plant(bench: &Bench, folder: &str) {
    bench.write(
        &format!("{folder}/Cargo.toml"),
        "[package]\nname = \"evil\"\nversion = \"0.1.0\"\nedition = \"2024\"\nbuild = \"build.rs\"\n[lib]\ncrate-type = [\"cdylib\"]\n\
         [package.metadata.phasm]\n[workspace]\n",
    );
    let mark = bench.path("ran");
    bench.write(
        &format!("{folder}/build.rs"),
        format!("fn main() {{ std::fs::write({mark:?}, \"\").unwrap() }}"),
    );
    bench.write(&format!("{folder}/src/lib.rs"), "");
}

/// R-L8: nothing above a folder that is in no checkout is run, least of all its build script.
#[test]
fn nothing_is_built_that_lies_above_a_folder_of_no_checkout() {
    let bench = Bench::new();
    plant(&bench, "plugins/evil");
    bench.task("work/w.yaml", "evil", "");
    let ran = bench.phasm_in("work", &["run", "w.yaml"]);
    assert_eq!(ran.status, 2, "{ran:?}");
    assert!(!bench.path("ran").exists(), "{ran:?}");
    let told = format!("warning: the plugins in {} are not used: ", bench.path("plugins").display());
    assert!(ran.stderr.contains(&told), "{ran:?}");
    assert!(
        ran.stderr.contains("work is in no checkout; if you trust them, name them: --plugins /"),
        "{ran:?}"
    );
}

/// R-L8: neither components nor sources of a folder that others can write, in a checkout or right here.
#[test]
fn what_others_can_write_is_passed_over_and_said() {
    let bench = Bench::new();
    plant(&bench, "plugins/evil");
    bench.write(".git/HEAD", "");
    let plugins = bench.path("plugins");
    fs::set_permissions(&plugins, Permissions::from_mode(0o777)).unwrap();
    for executor in ["evil", "echo"] {
        bench.task("w.yaml", executor, "");
        let ran = bench.phasm(&["run", "w.yaml"]);
        assert_eq!(ran.status, 2, "{ran:?}");
        assert!(!bench.path("ran").exists(), "{ran:?}");
        assert!(
            ran.stderr.contains(&format!("others can write {}; if you trust", plugins.display())),
            "{ran:?}"
        );
        let checked = bench.phasm(&["validate", "w.yaml"]);
        assert!(checked.stderr.contains("others can write "), "{checked:?}");
    }
    let ran = bench.phasm(&["run", "w.yaml", "--plugins", "plugins"]);
    assert_eq!((ran.status, ran.stderr.contains("others")), (0, false), "{ran:?}");
}

fn pipe(bench: &Bench, name: &str) {
    let path = bench.path(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
}

/// R-I12: a pipe in place of a file blocks nothing.
#[test]
fn a_pipe_where_a_file_should_be_is_refused() {
    let says = "a pipe; expected a regular file";
    let bench = Bench::new();
    bench.task("w.yaml", "echo", "");
    pipe(&bench, "pipe");
    bench.write("large", "x".repeat(70_000));
    bench.write("c.toml", "[secrets]\na = { k = { file = \"pipe\" }, l = { file = \"large\" } }\n");
    let ran = bench.phasm(&["run", "w.yaml", "--config", "c.toml"]);
    assert_eq!(ran.status, 0, "{ran:?}");
    assert!(ran.stderr.contains(&format!("pipe cannot be read: {says}")), "{ran:?}");
    assert!(ran.stderr.contains("large cannot be read: more than 64 KiB, the most that is read"), "{ran:?}");
    let key = bench.phasm(&["plugin", "compile", "echo", "-o", "out", "--key", "pipe"]);
    assert!(
        key.status == 2 && key.stderr.contains(&format!("pipe is not a key\n  caused by: {says}")),
        "{key:?}"
    );
    for words in [["run", "pipe", "--config", "c.toml"], ["run", "w.yaml", "--config", "pipe"]] {
        let ran = bench.phasm(&words);
        assert!(ran.status == 2 && ran.stderr.contains("not a regular file but a pipe"), "{ran:?}");
    }
    for place in ["plugins/x.wasm", "plugins/echo.toml"] {
        pipe(&bench, place);
        let name = if place.ends_with(".wasm") { "x" } else { "echo" };
        bench.task("x.yaml", name, "");
        let ran = bench.phasm(&["run", "x.yaml"]);
        assert!(ran.status == 2 && ran.stderr.contains(&format!("{place}: {says}")), "{ran:?}");
    }
}

/// R-I12: without a cache everything runs.
#[test]
fn a_pipe_in_the_cache_is_no_key() {
    let bench = Bench::new();
    bench.task("w.yaml", "echo", "");
    pipe(&bench, "cache/compiled/key");
    let ran = bench.phasm(&["run", "w.yaml"]);
    assert_eq!(ran.status, 0, "{ran:?}");
    assert!(ran.stderr.contains("compiled: a pipe; expected a regular file"), "{ran:?}");
}

/// Posts a workflow file to `/v1/validate`. Returns the whole response.
fn validated(url: &str, document: &str) -> String {
    let at = url.strip_prefix("http://").unwrap();
    let mut server = TcpStream::connect(at).unwrap();
    let length = document.len();
    let head = format!("POST /v1/validate HTTP/1.1\r\nHost: {at}\r\nConnection: close\r\n");
    write!(server, "{head}Content-Type: application/yaml\r\nContent-Length: {length}\r\n\r\n{document}")
        .unwrap();
    let mut said = String::new();
    server.read_to_string(&mut said).unwrap();
    said
}

/// R-I47: no command and no server repeats a byte of a file that a link among the plugins leads to.
#[test]
fn nothing_of_a_file_that_another_named_is_repeated() {
    const SECRET: &str = "hunter2";
    let texts = [
        format!("token = {SECRET}\n"),
        format!("{{\"retry\": \"{SECRET}\", \"{SECRET}\": 1}}"),
        format!("[package]\nname = \"{SECRET}\"\n[package.metadata.phasm]\nretry = \"{SECRET}\"\n"),
        format!("untrusted comment: {SECRET}\n{SECRET}\n"),
        format!("\0asm{SECRET}"),
    ];
    let places = [
        "plugins/echo.toml",
        "plugins/echo.json",
        "plugins/echo.wasm.minisig",
        "plugins/echo.wasm",
        "plugins/echo/Cargo.toml",
    ];
    let bench = Bench::new();
    let component = fs::read(bench.path("plugins/echo.wasm")).unwrap();
    bench.task("w.yaml", "echo", "");
    let document = fs::read_to_string(bench.path("w.yaml")).unwrap();
    let mut server = Running::start(
        &bench,
        &["serve", "--listen", "127.0.0.1:0", "--store", "runs.db", "--plugins", "plugins"],
    );
    server.until(&["listening on http://", "/v1/docs\n"]);
    let url = server.said().split("listening on ").nth(1).unwrap().lines().next().unwrap().to_owned();
    let commands = [
        &["validate", "w.yaml"][..],
        &["run", "w.yaml"],
        &["plugin", "list"],
        &["plugin", "inspect", "echo"],
        &["plugin", "inspect", "plugins/echo.wasm"],
        &["plugin", "inspect", "plugins/echo"],
        &["plugin", "add", "plugins/echo.wasm"],
        &["plugin", "add", "plugins/echo.wasm", "--server", &url],
        &["submit", "w.yaml", "--server", &url],
    ];
    for place in places {
        let mut refused = 0;
        for text in &texts {
            bench.write("theirs", text);
            let at = bench.path(place);
            let _ = fs::remove_file(&at);
            if place.starts_with("plugins/echo/") {
                // A crate is used where there is no component.
                let _ = fs::remove_file(bench.path("plugins/echo.wasm"));
                bench.write("plugins/echo/src/lib.rs", "");
            }
            symlink(bench.path("theirs"), &at).unwrap();
            for command in commands {
                let ran: Ran = bench.phasm(command);
                assert!(!format!("{ran:?}").contains(SECRET), "{place} {command:?}: {ran:?}");
                refused += usize::from(ran.status != 0);
            }
            let said = validated(&url, &document);
            assert!(said.starts_with("HTTP/1.1 ") && !said.contains(SECRET), "{place}: {said}");
            fs::remove_file(&at).unwrap();
            bench.write("plugins/echo.wasm", &component);
        }
        assert!(refused > 0, "{place}");
        let _ = fs::remove_dir_all(bench.path("plugins/echo"));
    }
    server.signal(Signal::TERM);
    let said = server.end();
    assert!(!format!("{said:?}").contains(SECRET), "{said:?}");
}

/// A type that is a path is a name that no plugin has.
#[test]
fn an_executor_type_that_is_a_path_builds_nothing() {
    let bench = Bench::new();
    plant(&bench, "evil");
    for executor in ["../evil".to_owned(), bench.path("evil").display().to_string()] {
        bench.task("w.yaml", &executor, "");
        let ran = bench.phasm(&["run", "w.yaml", "--plugins", "plugins"]);
        assert_eq!(ran.status, 2, "{ran:?}");
        assert!(!bench.path("ran").exists(), "{ran:?}");
    }
}
