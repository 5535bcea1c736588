//! Everything kept for the fuzz targets of `tests/fuzz`, without a fuzzer: what it found once is not found again.
#![expect(clippy::unwrap_used, reason = "tests")]

use std::{
    fs,
    panic::catch_unwind,
    path::{Path, PathBuf},
};

use phasm::reader;
use phasm_tests::fuzz;

/// Gives every file of a folder of this crate to a target; the folder with fewer than `least` files is not the one meant.
fn feed(folder: &str, least: usize, target: fn(&[u8])) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
    let mut files: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    assert!(files.len() >= least, "{} files", files.len());
    let broken = |file: &PathBuf| {
        let data = fs::read(file).unwrap();
        catch_unwind(|| target(&data)).is_err()
    };
    files.retain(broken);
    assert_eq!(files, Vec::<PathBuf>::new(), "these break a promise; what each of them says stands above");
}

#[test]
fn durations() {
    feed("fuzz/corpus/duration", 19, fuzz::duration);
}

#[test]
fn expressions() {
    feed("fuzz/corpus/expression", 30, fuzz::expression);
}

#[test]
fn functions() {
    feed("fuzz/corpus/functions", 9, fuzz::functions);
}

#[test]
fn documents() {
    feed("fuzz/corpus/document", 20, |data| fuzz::document(data, reader::read));
}

/// Every kind of problem has a document beside the reader.
#[test]
fn documents_with_problems() {
    feed("../host/src/reader/tests/problems", 77, |data| fuzz::document(data, reader::read));
}
