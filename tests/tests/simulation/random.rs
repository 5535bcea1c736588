//! One seed is a whole simulation.

use phasm_engine::{
    event::Dispatch,
    outcome::{Outcome, Output},
    usage::ResourceUsage,
};
use phasm_tests::world::{Act, Script};
use serde_json::{Value as Json, json};

/// Splitmix64.
#[derive(Clone)]
pub(crate) struct Random(pub(crate) u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub(crate) fn below(&mut self, limit: u64) -> u64 {
        self.next() % limit
    }

    pub(crate) fn chance(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }

    pub(crate) fn one_of<'a>(&mut self, list: &[&'a str]) -> &'a str {
        list.get(usize::try_from(self.below(list.len() as u64)).unwrap_or(0)).copied().unwrap_or_default()
    }

    /// Adds `key` to an object, in so many cases of a hundred.
    pub(crate) fn maybe(
        &mut self,
        percent: u64,
        object: &mut Json,
        key: &str,
        value: impl FnOnce(&mut Self) -> Json,
    ) {
        if self.chance(percent) {
            let value = value(self);
            if let Some(object) = object.as_object_mut() {
                object.insert(key.to_owned(), value);
            }
        }
    }
}

/// An executor that does anything: succeeds, fails, hangs, suspends, returns odd codes.
impl Script for Random {
    fn act(&mut self, _path: &str, dispatch: &Dispatch) -> Act {
        self.answer(&dispatch.task_name, dispatch.fence.attempt)
    }
}

impl Random {
    pub(crate) fn answer(&mut self, task: &str, attempt: u32) -> Act {
        let code = match self.below(40) {
            0..27 => 0,
            27..30 => 1,
            30..33 => 2,
            33..36 => 3,
            36..38 => 4,
            38 => 99,
            _ => -1,
        };
        let takes = (!self.chance(3)).then(|| self.below(100));
        let outputs =
            vec![Output::new("n", self.below(4).cast_signed()), Output::new("items", json!([1, { "x": 2 }]))];
        let detail = self.chance(30).then(|| {
            json!({ "http": { "status": 429 }, "error": { "kind": "busy", "retryable": true } }).into()
        });
        let message = format!("{task} of attempt {attempt}").into();
        let metered = ResourceUsage { cpu_us: attempt.into(), pages: 1, ..ResourceUsage::default() };
        let outcome = Outcome { code, message, outputs, detail, metered };
        Act { start_after: self.below(3) * 10, takes, outcome }
    }
}
