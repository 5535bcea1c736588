use super::*;

fn tree(files: &[&str]) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    for file in files {
        let path = dir.path().join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, "").unwrap();
    }
    dir
}

#[test]
fn compiler_and_libraries_are_found_wherever_a_release_puts_them() {
    let rows: [(&[&str], &str, &[&str]); 2] = [
        (
            &[
                "usr/bin/rustc",
                "usr/lib/x86_64-linux-gnu/librustc_driver-ab.so",
                "usr/lib/x86_64-linux-gnu/libLLVM.so.22.1",
                "usr/lib/rustlib/x86_64-unknown-linux-gnu/lib/libtest-ab.so",
                "usr/share/doc/notes.source",
            ],
            "usr/bin/rustc",
            &["usr/lib/x86_64-linux-gnu"],
        ),
        (
            &[
                "usr/lib/rust-1.96/bin/rustc",
                "usr/lib/rust-1.96/lib/librustc_driver-ab.so",
                "usr/lib/a/libz3.so.4",
            ],
            "usr/lib/rust-1.96/bin/rustc",
            &["usr/lib/a", "usr/lib/rust-1.96/lib"],
        ),
    ];
    for (files, rustc, libraries) in rows {
        let record = Record::of(tree(files).path()).unwrap();
        assert_eq!(record.rustc, Path::new(rustc));
        assert_eq!(record.libraries, libraries.iter().map(PathBuf::from).collect::<Vec<_>>());
    }
    assert_eq!(Record::of(tree(&["usr/bin/rustdoc"]).path()), None);
}

#[test]
fn a_made_toolchain_takes_the_place_of_a_useless_one() {
    let home = tree(&["old/phasm-toolchain.json", "old/gone", "made/phasm-toolchain.json"]);
    replace(&home.path().join("made"), &home.path().join("old")).unwrap();
    replace(&home.path().join("old"), &home.path().join("new")).unwrap();
    assert_eq!(unpack::files(home.path()), [home.path().join("new/phasm-toolchain.json")]);
}

/// A compiler that is a script: it has the target's library if there is one in `std`.
#[cfg(unix)]
fn made(home: &Path, record: &str, std: Option<&str>) {
    use std::os::unix::fs::PermissionsExt;

    let root = place(home);
    fs::create_dir_all(root.join("std")).unwrap();
    fs::write(root.join(RECORD), record).unwrap();
    fs::write(root.join("rustc"), format!("#!/bin/sh\necho {}\n", root.join("std").display())).unwrap();
    fs::set_permissions(root.join("rustc"), fs::Permissions::from_mode(0o755)).unwrap();
    if let Some(std) = std {
        fs::write(root.join("std").join(std), "").unwrap();
    }
}

#[cfg(unix)]
#[test]
fn only_a_toolchain_that_is_new_enough_and_runs_is_opened() {
    let record = |release: &str, rustc: &str| {
        format!("{{\"release\": \"{release}\", \"rustc\": \"{rustc}\", \"libraries\": [\"lib\"]}}")
    };
    let library = Some("libstd-0123.rlib");
    let rows = [
        (record("1.999.0", "rustc"), library, true),
        (record(MINIMUM, "rustc"), library, true),
        (record("1.94.9", "rustc"), library, false),
        (record("new", "rustc"), library, false),
        (record("1.999.0", "gone"), library, false),
        (record("1.999.0", "rustc"), Some("libcore-0123.rlib"), false),
        (record("1.999.0", "rustc"), None, false),
        ("{".to_owned(), library, false),
        ("{}".to_owned(), library, false),
    ];
    for (record, std, opens) in rows {
        let home = tempfile::tempdir().unwrap();
        assert!(Private::open(home.path()).is_none());
        made(home.path(), &record, std);
        assert_eq!(Private::open(home.path()).is_some(), opens, "{record} {std:?}");
    }
}
