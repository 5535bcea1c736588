use std::{fs, path::Path};

use super::*;

const GUEST: &str = "[package]\nname = \"my-guest\"\n[lib]\ncrate-type = [\"cdylib\"]\n";

/// A folder tree from (path, text) pairs.
fn tree(files: &[(&str, &str)]) -> (tempfile::TempDir, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let root = fs::canonicalize(dir.path()).unwrap();
    for (path, text) in files {
        let path = root.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    (dir, root)
}

fn crate_in(folder: &Path) -> GuestCrate {
    match read(folder).unwrap() {
        Folder::Crate(guest) => guest,
        other @ (Folder::Component { .. } | Folder::Script(_) | Folder::C(_)) => {
            panic!("{other:?} is no crate")
        }
    }
}

#[test]
fn the_artefact_is_named_after_the_library_and_lies_in_the_workspaces_target() {
    let other_name = format!("{GUEST}name = \"other\"\n");
    let workspace = "[workspace]\nmembers = [\"a\", \"b/*\"]\nexclude = [\"out\"]\n";
    let (_dir, root) = tree(&[
        ("Cargo.toml", workspace),
        ("a/Cargo.toml", GUEST),
        ("b/c/Cargo.toml", &other_name),
        ("out/d/Cargo.toml", GUEST),
        (
            "elsewhere/Cargo.toml",
            "[package]\nname = \"x\"\nworkspace = \"../a\"\n[lib]\ncrate_type = [\"rlib\", \"cdylib\"]",
        ),
    ]);
    let rows = [
        ("a", "target/wasm32-wasip2/release/my_guest.wasm"),
        ("b/c", "target/wasm32-wasip2/release/other.wasm"),
        ("out/d", "out/d/target/wasm32-wasip2/release/my_guest.wasm"),
        ("elsewhere", "a/target/wasm32-wasip2/release/x.wasm"),
    ];
    for (folder, artefact) in rows {
        assert_eq!(crate_in(&root.join(folder)).artefact(), root.join(artefact), "{folder}");
    }
}

/// A dependency may have the name of a plugin: its version says which of the two is meant.
#[test]
fn a_package_is_named_with_its_version() {
    let workspace = "[workspace]\nmembers = [\"*\"]\n[workspace.package]\nversion = \"1.2.3\"\n";
    let package = |more: &str| GUEST.replace("[lib]", &format!("{more}\n[lib]"));
    let (_dir, root) = tree(&[
        ("Cargo.toml", workspace),
        ("a/Cargo.toml", &package("version = \"4.5.6-a\"")),
        ("b/Cargo.toml", &package("version.workspace = true")),
        ("c/Cargo.toml", GUEST),
    ]);
    for (folder, spec) in [("a", "my-guest@4.5.6-a"), ("b", "my-guest@1.2.3"), ("c", "my-guest")] {
        assert_eq!(crate_in(&root.join(folder)).spec, spec);
    }
}

#[test]
fn a_member_below_an_excluded_folder_stays_a_member() {
    let workspace = "[workspace]\nmembers = [\"guests/a\"]\nexclude = [\"guests\"]\n";
    let (_dir, root) =
        tree(&[("Cargo.toml", workspace), ("guests/a/Cargo.toml", GUEST), ("guests/b/Cargo.toml", GUEST)]);
    assert_eq!(crate_in(&root.join("guests/a")).root, root);
    assert_eq!(crate_in(&root.join("guests/b")).root, root.join("guests/b"));
}

#[test]
fn a_finished_component_is_taken_as_it_is() {
    let (_dir, root) = tree(&[
        ("one/tool.wasm", ""),
        ("one/tool.toml", ""),
        ("named/named.wasm", ""),
        ("named/other.wasm", ""),
        ("several/b.wasm", ""),
        ("several/a.wasm", ""),
    ]);
    let component = |folder: &str, name: &str| Folder::Component {
        name: name.to_owned(),
        wasm: root.join(folder).join(format!("{name}.wasm")),
    };
    assert_eq!(read(&root.join("one")).unwrap(), component("one", "tool"));
    assert_eq!(read(&root.join("named")).unwrap(), component("named", "named"));
    let several = read(&root.join("several")).unwrap_err().to_string();
    assert!(several.contains("several components (a.wasm, b.wasm)"), "{several}");
}

#[test]
fn what_is_no_plugin_says_what_is_missing() {
    let (_dir, root) = tree(&[
        ("empty/README.md", ""),
        ("virtual/Cargo.toml", "[workspace]\n"),
        ("rlib/Cargo.toml", "[package]\nname = \"r\"\n[workspace]\n"),
        ("broken/Cargo.toml", "[package\n"),
        ("file", ""),
    ]);
    let rows = [
        ("empty", "expected a Cargo.toml"),
        ("virtual", "name the folders of its members"),
        ("rlib", "crate `r` is not a component; add `crate-type = [\"cdylib\"]`"),
        ("broken", "line 1"),
        ("file", "no such folder"),
        ("nowhere", "no such folder"),
    ];
    for (folder, expected) in rows {
        let message = read(&root.join(folder)).unwrap_err().to_string();
        assert!(message.contains(expected) && message.contains(folder), "{folder}: {message}");
    }
}
