//! Chance, by a seed that failures name.

use std::{env, time::SystemTime};

/// Splitmix64.
#[derive(Clone)]
pub(crate) struct Random {
    pub(crate) seed: u64,
    state: u64,
}

impl Random {
    /// Returns the seed in `PHASM_TORTURE_SEED`, or another each time; `salt` tells the tests of one process apart.
    pub(crate) fn new(salt: u64) -> Self {
        let given = env::var("PHASM_TORTURE_SEED").ok().map(|text| text.parse().expect("a number"));
        let now = || SystemTime::UNIX_EPOCH.elapsed().map_or(0, |since| since.as_secs());
        let seed = given.unwrap_or_else(now);
        Self { seed, state: seed.wrapping_mul(31).wrapping_add(salt) }
    }

    /// Returns the generator of a concurrent client.
    pub(crate) fn another(&mut self) -> Self {
        Self { seed: self.seed, state: self.below(u64::MAX) }
    }

    pub(crate) fn below(&mut self, limit: u64) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % limit
    }

    pub(crate) fn chance(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }

    pub(crate) fn pick<'l, T>(&mut self, list: &'l [T]) -> &'l T {
        let at = self.below(list.len() as u64);
        list.get(usize::try_from(at).unwrap()).unwrap()
    }
}
