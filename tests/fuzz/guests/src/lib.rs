//! The targets' work with one input, and the directory that it may touch.

use std::{env, fs, process, sync::LazyLock};

pub use self::guests::Arena;

#[path = "../../../src/guests.rs"]
mod guests;

/// One for all inputs of a process.
pub static ARENA: LazyLock<Arena> = LazyLock::new(|| {
    let dir = env::temp_dir().join(format!("phasm-fuzz-{}", process::id()));
    fs::create_dir_all(&dir).unwrap();
    Arena::new(&dir)
});
