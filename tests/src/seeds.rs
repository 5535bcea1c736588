//! Random runs by number: which are tried, and what is said of the first that fails.

use std::{
    panic::{RefUnwindSafe, catch_unwind},
    sync::atomic::{AtomicU64, Ordering},
};

/// Tries `count` seeds from 0 on all cores, or as `PHASM_SIM_SEEDS` and `PHASM_SIM_SEED` say: so many, or that one.
///
/// # Panics
/// If one fails: with the seed, and why.
pub fn try_all(count: u64, simulate: impl Fn(u64) -> Result<(), String> + Sync + RefUnwindSafe) {
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    let (first, count) = match number("PHASM_SIM_SEED") {
        Some(seed) => (seed, 1),
        None => (0, number("PHASM_SIM_SEEDS").unwrap_or(count)),
    };
    let next = AtomicU64::new(first);
    let workers = std::thread::available_parallelism().map_or(1, usize::from);
    let found: Vec<String> = std::thread::scope(|scope| {
        let worker = || loop {
            let seed = next.fetch_add(1, Ordering::Relaxed);
            if seed >= first + count {
                return None;
            }
            let error = match catch_unwind(|| simulate(seed)) {
                Ok(Ok(())) => continue,
                Ok(Err(error)) => error,
                Err(_) => "panicked".to_owned(),
            };
            // One failure is enough: no thread tries further seeds.
            next.store(first + count, Ordering::Relaxed);
            return Some(format!("PHASM_SIM_SEED={seed}: {error}"));
        };
        let workers: Vec<_> = (0..workers).map(|_| scope.spawn(worker)).collect();
        workers.into_iter().filter_map(|worker| worker.join().unwrap_or(None)).collect()
    });
    assert!(found.is_empty(), "{}", found.join("\n"));
}
