use std::{fs, io::Write as _, path::Path};

use flate2::{Compression, write::GzEncoder};
use phasm_sdk::testing::call;
use tempfile::TempDir;

use super::*;

/// A directory, and paths in it as texts.
struct Place(TempDir);

impl Place {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn at(&self, name: &str) -> String {
        self.0.path().join(name).to_str().unwrap().to_owned()
    }

    fn write(&self, name: &str, bytes: impl AsRef<[u8]>) -> String {
        let path = self.at(name);
        fs::create_dir_all(Path::new(&path).parent().unwrap()).unwrap();
        fs::write(&path, bytes).unwrap();
        path
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.at(name)).unwrap()
    }
}

fn succeeds(inputs: Value) -> Outcome {
    let outcome = call(archive, inputs);
    assert_eq!(outcome.message, "");
    outcome
}

fn fails(inputs: Value, code: i32, kind: &str, message: &str) {
    let outcome = call(archive, inputs);
    assert_eq!((i32::from(outcome.code), outcome.message.as_str()), (code, message));
    assert_eq!(outcome.detail["error"]["kind"], json!(kind));
}

fn gzipped(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn zstd(bytes: &[u8]) -> Vec<u8> {
    ruzstd::encoding::compress_to_vec(bytes, ruzstd::encoding::CompressionLevel::Fastest)
}

/// A tar with an entry whose name is written as it is, however unsafe.
fn tar_with(entries: &[(&str, tar::EntryType, &str)]) -> Vec<u8> {
    let mut builder = tar::Builder::new(Vec::new());
    for (name, entry_type, content) in entries {
        let mut header = tar::Header::new_gnu();
        let bytes = header.as_old_mut();
        bytes.name[..name.len()].copy_from_slice(name.as_bytes());
        header.set_entry_type(*entry_type);
        let is_link = matches!(entry_type, tar::EntryType::Symlink | tar::EntryType::Link);
        if is_link {
            header.as_old_mut().linkname[..content.len()].copy_from_slice(content.as_bytes());
        }
        let content = if is_link { "" } else { content };
        header.set_size(content.len() as u64);
        header.set_cksum();
        builder.append(&header, content.as_bytes()).unwrap();
    }
    builder.into_inner().unwrap()
}

fn zip_with(entries: &[(&str, &str)]) -> Vec<u8> {
    let mut writer = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for (name, content) in entries {
        writer.start_file(*name, zip::write::SimpleFileOptions::default()).unwrap();
        writer.write_all(content.as_bytes()).unwrap();
    }
    writer.finish().unwrap().into_inner()
}

#[test]
fn what_was_created_is_listed_and_extracted() {
    for end in ["zip", "tar", "tar.gz", "tgz"] {
        let place = Place::new();
        place.write("in/b/c.txt", "two");
        place.write("in/a.txt", "one");
        place.write("in/ü.part", "three");
        fs::create_dir(place.at("in/empty")).unwrap();
        let path = place.at(&format!("x.{end}"));
        let created = succeeds(json!({ "operation": "create", "path": path, "from": place.at("in") }));
        let entries = json!([
            { "name": "a.txt", "kind": "file", "size": 3 },
            { "name": "b", "kind": "directory", "size": 0 },
            { "name": "b/c.txt", "kind": "file", "size": 3 },
            { "name": "empty", "kind": "directory", "size": 0 },
            { "name": "ü.part", "kind": "file", "size": 5 },
        ]);
        assert_eq!(created.get("entries"), Some(entries.clone()), "{end}");
        let listed = succeeds(json!({ "operation": "list", "path": path }));
        assert_eq!((listed.get("entries"), listed.get("size")), (Some(entries), Some(json!(11))), "{end}");
        // A second attempt does no harm.
        for _ in 0..2 {
            let to = place.at("out/deep");
            let extracted = succeeds(json!({ "operation": "extract", "path": path, "to": to }));
            assert_eq!(extracted.get("count"), Some(json!(5)));
        }
        assert_eq!(
            (place.read("out/deep/a.txt"), place.read("out/deep/b/c.txt")),
            ("one".into(), "two".into())
        );
        assert!(Path::new(&place.at("out/deep/empty")).is_dir());
        // Equal files make equal archives.
        let again = place.at(&format!("y.{end}"));
        let _ = succeeds(json!({ "operation": "create", "path": again, "from": place.at("in") }));
        assert_eq!(fs::read(&path).unwrap(), fs::read(&again).unwrap(), "{end}");
    }
}

#[test]
fn single_files_are_unpacked() {
    let place = Place::new();
    // Streams may follow each other.
    place.write("a.txt.gz", [gzipped(b"one "), gzipped(b"two")].concat());
    place.write("b.txt.zst", [zstd(b"three "), zstd(b"four")].concat());
    for (name, expected) in [("a.txt", "one two"), ("b.txt", "three four")] {
        let end = if name == "a.txt" { "gz" } else { "zst" };
        let path = place.at(&format!("{name}.{end}"));
        let _ = succeeds(json!({ "operation": "extract", "path": path, "to": place.at("out") }));
        assert_eq!(place.read(&format!("out/{name}")), expected);
    }
    let tar = place.write("c.tar.zst", zstd(&tar_with(&[("d", tar::EntryType::Regular, "five")])));
    let _ = succeeds(json!({ "operation": "extract", "path": tar, "to": place.at("out") }));
    assert_eq!(place.read("out/d"), "five");
    let from = place.write("e.txt", "six");
    let path = place.at("odd");
    let _ = succeeds(json!({ "operation": "create", "path": path, "from": from, "format": "gzip" }));
    let _ =
        succeeds(json!({ "operation": "extract", "path": path, "to": place.at("out"), "format": "gzip" }));
    assert_eq!(place.read("out/odd.out"), "six");
}

#[test]
fn some_entries_are_extracted_by_name() {
    let place = Place::new();
    let path = place.write("a.zip", zip_with(&[("a/b", "1"), ("c", "2")]));
    let extracted =
        succeeds(json!({ "operation": "extract", "path": path, "to": place.at("out"), "names": ["a/b"] }));
    assert_eq!((extracted.get("count"), place.read("out/a/b")), (Some(json!(1)), "1".to_owned()));
    assert!(!Path::new(&place.at("out/c")).exists());
    let inputs = json!({ "operation": "extract", "path": path, "to": place.at("out"), "names": ["d", "c"] });
    fails(inputs, 2, "not-found", &format!("`{path}` has no entry `d`; `list` shows its entries"));
}

/// Nothing is written, not even the entries that are safe.
#[test]
fn entries_that_lead_out_of_the_directory_are_refused() {
    use tar::EntryType::{Directory, Link, Regular, Symlink};
    for (name, entry_type, content, why) in [
        ("../evil", Regular, "x", "its name has `..`"),
        ("a/../../evil", Regular, "x", "its name has `..`"),
        ("../evil", Directory, "", "its name has `..`"),
        ("/etc/evil", Regular, "x", "its name is an absolute path"),
        ("..\\evil", Regular, "x", "its name has a backslash or a colon"),
        ("C:evil", Regular, "x", "its name has a backslash or a colon"),
        ("link", Symlink, "/etc/passwd", "it is a link"),
        ("link", Symlink, "..", "it is a link"),
        ("link", Link, "../x", "it is a link"),
        ("pipe", tar::EntryType::Fifo, "", "it is a device or of an unknown type"),
        ("disk", tar::EntryType::Block, "", "it is a device or of an unknown type"),
    ] {
        let place = Place::new();
        let bytes = tar_with(&[("good", Regular, "x"), (name, entry_type, content)]);
        for (file, bytes) in
            [("x.tar", bytes.clone()), ("x.tgz", gzipped(&bytes)), ("x.tar.zst", zstd(&bytes))]
        {
            let path = place.write(file, bytes);
            let shown = name.escape_debug();
            let message = format!("`{path}` has unsafe entries, and nothing was written: `{shown}`: {why}");
            fails(
                json!({ "operation": "extract", "path": path, "to": place.at("out") }),
                2,
                "unsafe",
                &message,
            );
            assert!(!Path::new(&place.at("out")).exists());
        }
    }
    for (name, why) in [
        ("../evil", "its name has `..`"),
        ("/evil", "its name is an absolute path"),
        ("a\\..\\evil", "its name has a backslash or a colon"),
    ] {
        let place = Place::new();
        let path = place.write("x.zip", zip_with(&[("good", "x"), (name, "x")]));
        let shown = name.escape_debug();
        let message = format!("`{path}` has unsafe entries, and nothing was written: `{shown}`: {why}");
        fails(json!({ "operation": "extract", "path": path, "to": place.at("out") }), 2, "unsafe", &message);
        assert!(!Path::new(&place.at("out")).exists());
    }
}

#[test]
fn links_in_a_zip_are_refused() {
    let place = Place::new();
    let mut writer = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    writer.add_symlink("link", "/etc/passwd", zip::write::SimpleFileOptions::default()).unwrap();
    let path = place.write("x.zip", writer.finish().unwrap().into_inner());
    let message = format!("`{path}` has unsafe entries, and nothing was written: `link`: it is a link");
    fails(json!({ "operation": "extract", "path": path, "to": place.at("out") }), 2, "unsafe", &message);
}

#[test]
fn equal_names_and_files_as_directories_are_refused() {
    use tar::EntryType::Regular;
    let place = Place::new();
    for (entries, fault) in [
        (vec![("a", Regular, "1"), ("./a", Regular, "2")], "`./a`: another entry has the same name"),
        (vec![("a", Regular, "1"), ("a/b", Regular, "2")], "`a`: it is a file, and other entries are in it"),
    ] {
        let path = place.write("x.tar", tar_with(&entries));
        let message = format!("`{path}` has unsafe entries, and nothing was written: {fault}");
        fails(json!({ "operation": "list", "path": path }), 2, "unsafe", &message);
    }
}

/// A link that is there already would lead the files elsewhere.
#[cfg(unix)]
#[test]
fn links_in_the_directory_are_not_followed() {
    let place = Place::new();
    fs::create_dir_all(place.at("elsewhere")).unwrap();
    fs::create_dir_all(place.at("out")).unwrap();
    std::os::unix::fs::symlink("../elsewhere", place.at("out/a")).unwrap();
    let path = place.write("x.zip", zip_with(&[("a/b", "1")]));
    let message = format!("nothing was written: `{}` is a link", place.at("out/a"));
    fails(json!({ "operation": "extract", "path": path, "to": place.at("out") }), 2, "exists", &message);
    assert!(!Path::new(&place.at("elsewhere/b")).exists());
    let message = format!("cannot pack `{0}`: `{0}/a` is neither a file nor a directory", place.at("out"));
    fails(
        json!({ "operation": "create", "path": place.at("y.tar"), "from": place.at("out") }),
        2,
        "unsafe",
        &message,
    );
}

#[test]
fn files_that_are_there_stay_if_they_should() {
    let place = Place::new();
    place.write("out/c", "old");
    let path = place.write("x.zip", zip_with(&[("a", "1"), ("c", "2")]));
    let mut inputs =
        json!({ "operation": "extract", "path": path, "to": place.at("out"), "overwrite": false });
    let message =
        format!("nothing was written: `{}` is there already; `overwrite` replaces it", place.at("out/c"));
    fails(inputs.clone(), 2, "exists", &message);
    assert!(!Path::new(&place.at("out/a")).exists());
    inputs["overwrite"] = json!(true);
    let _ = succeeds(inputs);
    assert_eq!(place.read("out/c"), "2");
}

/// Archives that are small and unpack to a lot.
#[test]
fn bombs_are_refused_before_anything_is_written() {
    let place = Place::new();
    let zeros = "\0".repeat(5 << 20);
    let tar = tar_with(&[("good", tar::EntryType::Regular, "x"), ("zeros", tar::EntryType::Regular, &zeros)]);
    let bombs = [
        ("x.zip", zip_with(&[("good", "x"), ("zeros", &zeros)])),
        ("x.gz", gzipped(zeros.as_bytes())),
        ("x.zst", zstd(zeros.as_bytes())),
        ("x.tar.gz", gzipped(&tar)),
        ("x.tar.zst", zstd(&tar)),
        ("x.tar", tar),
    ];
    for (name, bytes) in bombs {
        let path = place.write(name, bytes);
        for operation in ["list", "extract"] {
            let inputs =
                json!({ "operation": operation, "path": path, "to": place.at("out"), "maxBytes": 1 << 20 });
            let message =
                format!("`{path}` has more than 1048576 bytes, unpacked; `maxBytes` sets the limit");
            fails(inputs, 2, "too-large", &message);
            assert!(!Path::new(&place.at("out")).exists(), "{name}");
        }
    }
}

/// A name of a gigabyte is read by the library itself, before there is an entry.
#[test]
fn long_headers_are_bounded() {
    let place = Place::new();
    let long = "a".repeat(40 << 20);
    let tar = tar_with(&[
        ("././@LongLink", tar::EntryType::GNULongName, &long),
        ("x", tar::EntryType::Regular, ""),
    ]);
    let path = place.write("x.tgz", gzipped(&tar));
    let message = format!("`{path}` has more than 1000 bytes, unpacked; `maxBytes` sets the limit");
    fails(
        json!({ "operation": "list", "path": path, "maxBytes": 1000, "maxEntries": 10 }),
        2,
        "too-large",
        &message,
    );
}

#[test]
fn many_entries_are_refused() {
    let place = Place::new();
    let names: Vec<String> = (0..50).map(|n| n.to_string()).collect();
    let entries: Vec<_> = names.iter().map(|name| (name.as_str(), "")).collect();
    let path = place.write("x.zip", zip_with(&entries));
    let message = format!("`{path}` has more than 49 entries; `maxEntries` sets the limit");
    fails(json!({ "operation": "list", "path": path, "maxEntries": 49 }), 2, "too-large", &message);
    let entries: Vec<_> = names.iter().map(|name| (name.as_str(), tar::EntryType::Regular, "")).collect();
    let path = place.write("x.tar", tar_with(&entries));
    let message = format!("`{path}` has more than 49 entries; `maxEntries` sets the limit");
    fails(json!({ "operation": "list", "path": path, "maxEntries": 49 }), 2, "too-large", &message);
    for name in &names {
        place.write(&format!("in/{name}"), "1");
    }
    let from = place.at("in");
    let message = format!("`{from}` has more than 49 entries; `maxEntries` sets the limit");
    let inputs = json!({ "operation": "create", "path": place.at("y.zip"), "from": from, "maxEntries": 49 });
    fails(inputs, 2, "too-large", &message);
    let message = format!("`{from}` has more than 49 bytes, unpacked; `maxBytes` sets the limit");
    let inputs = json!({ "operation": "create", "path": place.at("y.zip"), "from": from, "maxBytes": 49 });
    fails(inputs, 2, "too-large", &message);
}

#[test]
fn broken_archives_fail_in_every_format() {
    let place = Place::new();
    let whole = zip_with(&[("a", &"x".repeat(1000))]);
    let tar = tar_with(&[("a", tar::EntryType::Regular, &"x".repeat(1000))]);
    let texts = [
        ("x.zip", 60, whole),
        ("x.tar", 700, tar.clone()),
        ("x.tar.gz", 40, gzipped(&tar)),
        ("x.zst", 8, zstd(&tar)),
    ];
    for (name, cut, bytes) in texts {
        for bytes in [&bytes[..cut], b"no archive at all", b""] {
            // Nothing compressed is an empty file.
            if name == "x.zst" && bytes.is_empty() {
                continue;
            }
            let path = place.write(name, bytes);
            let outcome =
                call(archive, json!({ "operation": "extract", "path": path, "to": place.at("out") }));
            assert_eq!(
                (i32::from(outcome.code), &outcome.detail["error"]["kind"]),
                (2, &json!("format")),
                "{name} {outcome:?}"
            );
            assert!(
                outcome.message.starts_with(&format!("`{path}` is broken, or no archive of its format: "))
            );
            assert!(!Path::new(&place.at("out")).exists());
        }
    }
}

#[test]
fn bad_inputs_and_missing_files_are_reported() {
    let place = Place::new();
    let odd = place.at("x.rar");
    let message = format!(
        "input `format` is missing, and `{odd}` ends as no format does; expected `zip`, `tar`, `tar.gz`, `tar.zst`, \
         `gzip` or `zstd`"
    );
    fails(json!({ "operation": "list", "path": odd }), 3, "input", &message);
    let path = place.at("x.zip");
    let message = "input `to` is missing; expected the directory to write to";
    fails(json!({ "operation": "extract", "path": path }), 3, "input", message);
    let message = "input `from` is missing; expected the directory whose files are packed";
    fails(json!({ "operation": "create", "path": path }), 3, "input", message);
    let message =
        "input `format`: Zstandard is read only; expected `zip`, `tar`, `tar.gz` or `gzip` to create";
    fails(
        json!({ "operation": "create", "path": place.at("x.zst"), "from": place.at("") }),
        3,
        "input",
        message,
    );
    let message = format!("cannot read `{path}`: it does not exist");
    fails(json!({ "operation": "list", "path": path }), 2, "not-found", &message);
    fs::create_dir(&path).unwrap();
    fails(
        json!({ "operation": "list", "path": path }),
        2,
        "is-a-directory",
        &format!("cannot read `{path}`: it is a directory"),
    );
}
