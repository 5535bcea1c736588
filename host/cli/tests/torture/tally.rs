//! How often what was done.

use std::{collections::BTreeMap, fmt, io::Write as _};

/// A process was ended by SIGKILL: what the number of a torture counts.
pub(crate) const KILLS: &str = "SIGKILL";

#[derive(Default)]
pub(crate) struct Tally(BTreeMap<&'static str, u32>);

impl Tally {
    pub(crate) fn count(&mut self, what: &'static str) {
        *self.0.entry(what).or_default() += 1;
    }

    pub(crate) fn add_some(&mut self, what: &'static str, count: u32) {
        *self.0.entry(what).or_default() += count;
    }

    pub(crate) fn add(&mut self, Self(others): Self) {
        for (what, count) in others {
            *self.0.entry(what).or_default() += count;
        }
    }

    pub(crate) fn of(&self, what: &str) -> u32 {
        self.0.get(what).copied().unwrap_or(0)
    }

    /// Says it where it is seen though the test passes.
    pub(crate) fn say(&self, whose: &str) {
        std::io::stderr().write_all(format!("{whose}: {self}\n").as_bytes()).unwrap();
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let each: Vec<String> = self.0.iter().map(|(what, count)| format!("{count} × {what}")).collect();
        f.write_str(&each.join(", "))
    }
}
