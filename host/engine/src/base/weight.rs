//! How much room values take where they are kept.

use std::sync::Arc;

use super::value::Value;

/// Upper bound of a number's bytes, and of the bytes around a text.
const MAX_SCALAR_BYTES: usize = 12;

/// A text of fewer bytes is not looked up.
const MIN_SHARED_BYTES: usize = 64;

/// Where values are that were met. Most steps meet few, and looking through those costs less than hashing.
#[derive(Debug, Default)]
#[expect(clippy::disallowed_types, reason = "it is asked, and never gone through")]
struct AddressSet {
    few: [usize; 16],
    count: usize,
    more: std::collections::HashSet<usize>,
}

impl AddressSet {
    /// Whether it is met for the first time.
    fn insert(&mut self, place: *const ()) -> bool {
        let address = place.addr();
        if self.few.iter().take(self.count).any(|known| *known == address) {
            return false;
        }
        if let Some(free) = self.few.get_mut(self.count) {
            *free = address;
            self.count += 1;
            return true;
        }
        self.more.insert(address)
    }

    fn clear(&mut self) {
        self.count = 0;
        self.more.clear();
    }
}

/// At most how many bytes values and texts take in a record of a journal: what several share is counted once.
#[derive(Debug, Default)]
pub struct Weight {
    bytes: usize,
    /// Texts, arrays and objects so far, by where they are.
    known: AddressSet,
}

impl Weight {
    /// All so far.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// One more text.
    pub fn add_text(&mut self, text: &Arc<str>) {
        let is_known = text.len() >= MIN_SHARED_BYTES && !self.known.insert(Arc::as_ptr(text).cast());
        self.bytes = self.bytes.saturating_add(if is_known {
            MAX_SCALAR_BYTES
        } else {
            MAX_SCALAR_BYTES + text.len()
        });
    }

    /// One more value.
    pub fn add(&mut self, value: &Value) {
        // Most are scalars, and need no room.
        let (mut first, mut left) = (Some(value), Vec::new());
        while let Some(value) = first.take().or_else(|| left.pop()) {
            match value {
                Value::Null | Value::Bool(_) | Value::Number(_) => self.bytes += MAX_SCALAR_BYTES,
                Value::String(text) => self.add_text(text),
                Value::Array(items) => {
                    self.bytes += MAX_SCALAR_BYTES;
                    if !items.is_empty() && self.known.insert(Arc::as_ptr(items).cast()) {
                        left.extend(items.iter());
                    }
                }
                Value::Object(members) => {
                    self.bytes += MAX_SCALAR_BYTES;
                    if !members.is_empty() && self.known.insert(Arc::as_ptr(members).cast()) {
                        members.keys().for_each(|key| self.add_text(key));
                        left.extend(members.values());
                    }
                }
            }
        }
    }

    /// Adds a text that is embedded as JSON: counted in full, even if others share it.
    pub fn add_json_text(&mut self, text: &str) {
        // Whatever has to be escaped takes six bytes at most.
        let escaped = text.bytes().filter(|byte| *byte < b' ' || matches!(byte, b'"' | b'\\')).count();
        self.bytes = self.bytes.saturating_add(MAX_SCALAR_BYTES + text.len() + 5 * escaped);
    }

    /// One more value that is written as JSON, counted up to where all is more than `most`.
    pub fn add_json(&mut self, value: &Value, most: usize) {
        let mut left = vec![value];
        while self.bytes <= most
            && let Some(value) = left.pop()
        {
            match value {
                Value::Null | Value::Bool(_) | Value::Number(_) => self.bytes += 2 * MAX_SCALAR_BYTES,
                Value::String(text) => self.add_json_text(text),
                Value::Array(items) => {
                    // Elements count when they are met, and before: what repeats itself over and over is not gathered.
                    self.bytes += 2 * MAX_SCALAR_BYTES * (1 + items.len());
                    left.extend(items.iter());
                }
                Value::Object(members) => {
                    self.bytes += 2 * MAX_SCALAR_BYTES * (1 + members.len());
                    members.keys().for_each(|key| self.add_json_text(key));
                    left.extend(members.values());
                }
            }
        }
    }

    /// Takes back what was added since there were `bytes`; what is added next is counted though it was counted before.
    pub fn take_back(&mut self, bytes: usize) {
        self.bytes = bytes;
        self.known.clear();
    }
}
