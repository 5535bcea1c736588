use std::{
    fs::{self, File},
    time::Duration,
};

use super::*;

/// A guest whose files all carry times of our choosing: sources at second 100, artefact at second 200.
struct Fake {
    dir: tempfile::TempDir,
    guest: GuestCrate,
}

const MANIFEST_TEXT: &str = "[package]\nname = \"g\"\n[lib]\ncrate-type = [\"cdylib\"]\n[workspace]\n";

impl Fake {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let root = fs::canonicalize(dir.path()).unwrap();
        let files =
            ["g/src/lib.rs", "g/src/two words.rs", "g/Cargo.lock", "sdk/src/lib.rs", "sdk/Cargo.toml"];
        for file in files {
            fs::create_dir_all(root.join(file).parent().unwrap()).unwrap();
            fs::write(root.join(file), "").unwrap();
        }
        fs::write(root.join("g/Cargo.toml"), MANIFEST_TEXT).unwrap();
        let Folder::Crate(guest) = folder::read(&root.join("g")).unwrap() else { panic!("not a crate") };
        fs::create_dir_all(guest.artefact().parent().unwrap()).unwrap();
        fs::write(guest.artefact(), "\0asm").unwrap();
        let (artefact, root) = (guest.artefact().display().to_string(), root.display());
        let rule = format!("{artefact}: {root}/g/src/lib.rs src/two\\ words.rs {root}/sdk/src/lib.rs\n");
        fs::write(guest.dep_info(), rule).unwrap();
        let fake = Self { dir, guest };
        files.iter().chain(&["g/Cargo.toml"]).for_each(|file| fake.touch(file, 100));
        set_time(&fake.guest.artefact(), 200);
        fake
    }

    fn touch(&self, file: &str, second: u64) {
        set_time(&self.dir.path().join(file), second);
    }

    fn fresh(&self) -> bool {
        artefact_if_fresh(&self.guest.folder) == Some(self.guest.artefact())
    }
}

fn set_time(path: &Path, second: u64) {
    let at = SystemTime::UNIX_EPOCH + Duration::from_secs(second);
    File::options().write(true).open(path).unwrap().set_modified(at).unwrap();
}

#[test]
fn an_artefact_newer_than_all_it_was_made_from_is_fresh() {
    assert!(Fake::new().fresh());
}

#[test]
fn any_newer_file_asks_for_a_build() {
    let files = [
        "g/src/lib.rs",
        "g/src/two words.rs",
        "g/Cargo.toml",
        "g/Cargo.lock",
        "sdk/src/lib.rs",
        "sdk/Cargo.toml",
    ];
    for file in files {
        for (second, fresh) in [(199, true), (200, false), (201, false)] {
            let fake = Fake::new();
            fake.touch(file, second);
            assert_eq!(fake.fresh(), fresh, "{file} at {second}");
        }
    }
}

#[test]
fn settings_that_appear_ask_for_a_build() {
    for file in ["g/rust-toolchain.toml", "g/rust-toolchain", "g/.cargo/config.toml"] {
        let fake = Fake::new();
        let path = fake.dir.path().join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, "").unwrap();
        assert!(!fake.fresh(), "{file}");
        fake.touch(file, 150);
        assert!(fake.fresh(), "{file}");
    }
}

#[test]
fn what_is_missing_or_unreadable_asks_for_a_build() {
    let remove: [fn(&Fake) -> PathBuf; 5] = [
        |fake| fake.guest.artefact(),
        |fake| fake.guest.dep_info(),
        |fake| fake.guest.folder.join("src/lib.rs"),
        |fake| fake.guest.folder.join("src/two words.rs"),
        |fake| fake.dir.path().join("sdk/src/lib.rs"),
    ];
    for (row, path) in remove.iter().enumerate() {
        let fake = Fake::new();
        fs::remove_file(path(&fake)).unwrap();
        assert!(!fake.fresh(), "row {row}");
    }
    let fake = Fake::new();
    fs::write(fake.guest.dep_info(), "nonsense").unwrap();
    assert!(!fake.fresh());
}

#[test]
fn a_source_changed_while_the_compiler_ran_is_not_in_the_artefact() {
    let fake = Fake::new();
    let stamp = Stamp::now(&fake.guest.target_dir()).unwrap();
    let began = SystemTime::UNIX_EPOCH + Duration::from_secs(150);
    stamp.0.as_file().set_modified(began).unwrap();
    stamp.put(&fake.guest).unwrap();
    assert!(fake.fresh());
    for (second, fresh) in [(149, true), (150, false), (180, false)] {
        fake.touch("g/src/lib.rs", second);
        assert_eq!(fake.fresh(), fresh, "source at {second}");
    }
}

#[test]
fn a_stamp_may_be_younger_than_an_artefact_that_cargo_found_current() {
    let fake = Fake::new();
    fake.touch("g/Cargo.toml", 300);
    assert!(!fake.fresh());
    let stamp = Stamp::now(&fake.guest.target_dir()).unwrap();
    stamp.put(&fake.guest).unwrap();
    assert!(fake.fresh());
}

#[test]
fn the_lock_file_that_the_build_wrote_is_current_and_one_changed_later_is_not() {
    let fake = Fake::new();
    let stamp = Stamp::now(&fake.guest.target_dir()).unwrap();
    stamp.0.as_file().set_modified(SystemTime::UNIX_EPOCH + Duration::from_secs(150)).unwrap();
    fake.touch("g/Cargo.lock", 160);
    stamp.put(&fake.guest).unwrap();
    assert!(fake.fresh());
    fake.touch("g/Cargo.lock", 210);
    assert!(!fake.fresh());
}

#[test]
fn a_stamp_of_another_artefact_counts_for_nothing() {
    let fake = Fake::new();
    Stamp::now(&fake.guest.target_dir()).unwrap().put(&fake.guest).unwrap();
    set_time(&fake.guest.artefact(), 90);
    assert!(!fake.fresh());
}

#[test]
fn a_finished_component_is_always_fresh() {
    let dir = tempfile::tempdir().unwrap();
    let wasm = fs::canonicalize(dir.path()).unwrap().join("tool.wasm");
    fs::write(&wasm, "\0asm").unwrap();
    assert_eq!(artefact_if_fresh(dir.path()), Some(wasm));
    assert_eq!(artefact_if_fresh(&dir.path().join("nowhere")), None);
}
