//! Numbers of rows as callers see them that are bound to namespaces. A row's number counts the runs of all namespaces, and the difference
//! of two of them those that others submitted meanwhile.

use sha2::{Digest as _, Sha256};

/// Number of rounds. Four make a permutation that looks random to those without the seed.
const ROUNDS: u8 = 6;

/// A permutation of all numbers, another for each key.
pub(crate) struct Disguise([u8; 32]);

impl Disguise {
    pub(crate) fn of_key(seed: &str, name: &str) -> Self {
        Self(Sha256::new().chain_update(seed).chain_update([0]).chain_update(name).finalize().into())
    }

    /// Returns what a caller sees in place of a number.
    pub(crate) fn hide(&self, number: u64) -> u64 {
        let halves = (0..ROUNDS)
            .fold(Halves::of(number), |halves, round| halves.forth(self.mixed(round, halves.right)));
        halves.number()
    }

    /// Returns the number that a caller sees this in place of.
    pub(crate) fn reveal(&self, shown: u64) -> u64 {
        let halves = (0..ROUNDS)
            .rev()
            .fold(Halves::of(shown), |halves, round| halves.back(self.mixed(round, halves.left)));
        halves.number()
    }

    fn mixed(&self, round: u8, half: u32) -> u32 {
        let digest =
            Sha256::new().chain_update(self.0).chain_update([round]).chain_update(half.to_be_bytes());
        let digest: [u8; 32] = digest.finalize().into();
        let [a, b, c, d, ..] = digest;
        u32::from_be_bytes([a, b, c, d])
    }
}

/// The halves of a number in a Feistel network.
#[derive(Clone, Copy)]
struct Halves {
    left: u32,
    right: u32,
}

impl Halves {
    fn of(number: u64) -> Self {
        let [a, b, c, d, e, f, g, h] = number.to_be_bytes();
        Self { left: u32::from_be_bytes([a, b, c, d]), right: u32::from_be_bytes([e, f, g, h]) }
    }

    const fn forth(self, mixed: u32) -> Self {
        Self { left: self.right, right: self.left ^ mixed }
    }

    const fn back(self, mixed: u32) -> Self {
        Self { left: self.right ^ mixed, right: self.left }
    }

    fn number(self) -> u64 {
        u64::from(self.left) << 32 | u64::from(self.right)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// R-A11.
    #[test]
    fn a_number_is_another_for_each_key_and_comes_back() {
        let (one, other) = (Disguise::of_key("seed", "a"), Disguise::of_key("seed", "b"));
        let mut seen = std::collections::BTreeSet::new();
        for number in (0..500).chain([u64::from(u32::MAX), u64::MAX, i64::MAX.unsigned_abs()]) {
            let shown = one.hide(number);
            assert_eq!(one.reveal(shown), number);
            assert!(shown != other.hide(number) && seen.insert(shown));
        }
        let near =
            seen.iter().zip(seen.iter().skip(1)).filter(|(one, other)| *other - *one < 1 << 32).count();
        assert!(near < 5, "neighbours are far apart: {near}");
        assert_ne!(one.hide(7), Disguise::of_key("another", "a").hide(7));
    }
}
