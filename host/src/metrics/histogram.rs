//! Amounts by how large they were, counted without locks or memory of their own.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Bounds of times, in microseconds: from a small guest's to ten minutes.
pub static TIMES: [u64; 16] = [
    100,
    250,
    1_000,
    2_500,
    5_000,
    10_000,
    25_000,
    50_000,
    100_000,
    250_000,
    1_000_000,
    2_500_000,
    10_000_000,
    60_000_000,
    300_000_000,
    600_000_000,
];

/// Bounds of bytes.
pub(crate) static BYTES: [u64; 8] = [256, 1 << 10, 4 << 10, 16 << 10, 64 << 10, 256 << 10, 1 << 20, 8 << 20];

/// Bounds of what shares a commit.
pub(crate) static REQUESTS: [u64; 8] = [1, 2, 4, 16, 64, 256, 512, 1024];

/// Counts amounts by how large they are. To count one is two additions.
#[derive(Debug)]
pub struct Buckets<const N: usize> {
    bounds: &'static [u64; N],
    counts: [AtomicU64; N],
    beyond: AtomicU64,
    sum: AtomicU64,
}

impl<const N: usize> Buckets<N> {
    /// None counted yet. `bounds` rise; each is the most that its bucket takes.
    #[must_use]
    pub const fn new(bounds: &'static [u64; N]) -> Self {
        let (beyond, sum) = (AtomicU64::new(0), AtomicU64::new(0));
        Self { bounds, counts: [const { AtomicU64::new(0) }; N], beyond, sum }
    }

    /// Counts one.
    pub fn add(&self, amount: u64) {
        let at = self.bounds.partition_point(|most| *most < amount);
        self.counts.get(at).unwrap_or(&self.beyond).fetch_add(1, Relaxed);
        self.sum.fetch_add(amount, Relaxed);
    }

    /// The counts so far.
    pub fn get(&self) -> Histogram {
        let counts = self.counts.iter().chain([&self.beyond]).map(|count| count.load(Relaxed)).collect();
        Histogram { bounds: self.bounds, counts, sum: self.sum.load(Relaxed) }
    }
}

/// Amounts by how large they were.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Histogram {
    /// The most that each bucket takes, rising; one more bucket has whatever is beyond.
    pub bounds: &'static [u64],
    /// How many amounts each bucket has, the last for what is beyond all bounds. None, where nothing is measured.
    pub counts: Vec<u64>,
    /// Sum of all amounts.
    pub sum: u64,
}

impl Histogram {
    /// How many amounts were counted.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.counts.iter().sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// R-A50.
    #[test]
    fn an_amount_is_in_the_first_bucket_that_takes_it() {
        let buckets = Buckets::new(&[1, 10, 100]);
        [0, 1, 2, 10, 11, 100, 101, u64::MAX / 2].into_iter().for_each(|amount| buckets.add(amount));
        let found = buckets.get();
        assert_eq!((found.counts.as_slice(), found.count()), (&[2, 2, 2, 2][..], 8));
        assert_eq!(found.sum, 225 + u64::MAX / 2);
    }

    #[test]
    fn bounds_rise() {
        for bounds in [&TIMES[..], &BYTES[..], &REQUESTS[..]] {
            assert!(bounds.windows(2).all(|pair| pair[0] < pair[1]), "{bounds:?}");
        }
    }
}
