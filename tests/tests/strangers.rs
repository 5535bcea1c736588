//! The fuzz targets of `tests/fuzz/guests` without a fuzzer: what was found once, and some hundred inputs made of the hostile guests.
//!
//! `PHASM_STRANGERS=100000` makes more of them.
#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests")]

use std::{
    env, fs,
    path::{Path, PathBuf},
};

use phasm_tests::{guests::Arena, hostile};

fn here(folder: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(folder)
}

fn how_many(usually: usize) -> usize {
    env::var("PHASM_STRANGERS").map_or(usually, |text| text.parse().unwrap())
}

/// Every file of a corpus.
fn corpus(target: &str) -> Vec<Vec<u8>> {
    let mut files: Vec<_> = fs::read_dir(here("fuzz/guests/corpus").join(target))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    files.sort();
    files.iter().map(|file| fs::read(file).unwrap()).collect()
}

/// The hostile guests that are a core module, within their world.
fn guests() -> Vec<Vec<u8>> {
    let world = fs::read_to_string(here("hostile/world.wat")).unwrap();
    let texts = hostile::cases(&here("hostile")).unwrap().into_iter().map(|case| case.guest);
    let is_module = |text: &String| {
        text.contains("(core module $guest\n  (import \"libc\"") && !text.contains("(component")
    };
    let built = texts.filter(is_module).map(|text| wat::parse_str(world.replace(";; GUEST", &text)));
    // Pages with a repeated part are not complete by themselves.
    built.filter_map(Result::ok).collect()
}

/// Numbers that are the same every time.
struct Dice(u64);

impl Dice {
    fn below(&mut self, most: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % most.max(1) as u64).unwrap()
    }

    fn byte(&mut self) -> u8 {
        u8::try_from(self.below(256)).unwrap()
    }

    /// Something like `bytes`, with a part of `other` perhaps.
    fn mutated(&mut self, bytes: &[u8], other: &[u8]) -> Vec<u8> {
        let mut bytes = bytes.to_vec();
        for _ in 0..=self.below(6) {
            let at = self.below(bytes.len());
            let end = (at + 1 + self.below(32)).min(bytes.len());
            match self.below(6) {
                0 => bytes[at] ^= 1 << self.below(8),
                1 => bytes[at] = [0, 1, 0x7f, 0x80, 0xff, 0x0b][self.below(6)],
                2 => drop(bytes.drain(at..end)),
                3 => bytes.insert(at, self.byte()),
                4 => bytes = [&bytes[..end], &bytes[at..]].concat(),
                _ => {
                    let from = self.below(other.len());
                    let part = &other[from..(from + end - at).min(other.len())];
                    bytes[at..at + part.len()].copy_from_slice(part);
                }
            }
            if bytes.is_empty() {
                bytes.push(0);
            }
        }
        bytes
    }

    fn bytes(&mut self, count: usize) -> Vec<u8> {
        (0..count).map(|_| self.byte()).collect()
    }
}

/// Any bytes instead of a component are refused for what they are, or run as any guest.
#[test]
fn components() {
    let dir = tempfile::tempdir().unwrap();
    let arena = Arena::new(dir.path());
    corpus("component").iter().for_each(|data| arena.component(data));
    let (guests, mut dice) = (guests(), Dice(0x5eed));
    assert!(guests.len() > 100, "{} guests", guests.len());
    for _ in 0..how_many(400) {
        let (one, other) = (dice.below(guests.len()), dice.below(guests.len()));
        arena.component(&dice.mutated(&guests[one], &guests[other]));
    }
}

/// Whatever a guest passes to the host, and returns: it is an outcome, and the host goes on.
#[test]
fn what_crosses_the_boundary() {
    let dir = tempfile::tempdir().unwrap();
    let data = dir.path().join("data");
    fs::create_dir(&data).unwrap();
    fs::write(dir.path().join("secret"), "precious").unwrap();
    let arena = Arena::new(&data);
    let corpus = corpus("boundary");
    corpus.iter().for_each(|data| arena.boundary(data));
    let mut dice = Dice(0xb0a7);
    for n in 0..how_many(800) {
        let data = match n % 4 {
            0 => dice.bytes(512),
            _ => {
                let (one, other) = (dice.below(corpus.len()), dice.bytes(64));
                dice.mutated(&corpus[one], &other)
            }
        };
        arena.boundary(&data);
    }
    assert_eq!(fs::read_to_string(dir.path().join("secret")).unwrap(), "precious");
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 2);
}
