//! How much one evaluation may do, and how large what it makes may become.

use std::io;

use crate::value::Value;

/// The largest text an operation may make, in bytes.
pub(super) const MAX_TEXT: usize = 16 << 20;

/// The longest list an operation may make.
pub(super) const MAX_ITEMS: usize = 1 << 20;

/// Bytes and elements that one evaluation may look at or make in all.
const MAX_WORK: i64 = 64 << 20;

/// How deeply a value that an expression builds may nest: what is journaled must be readable again.
pub(super) const MAX_VALUE_DEPTH: usize = 100;

/// Remaining work that an evaluation may do. Each operation takes its cost from here before it starts, and leaves a doubt here.
#[derive(Debug, Default)]
pub(super) struct Budget {
    spent: i64,
    doubt: Option<String>,
    emptied: usize,
}

impl Budget {
    pub(super) fn resume(spent: i64) -> Self {
        Self { spent, ..Self::default() }
    }

    /// Notes that the operation has a result only because every operation has one.
    pub(super) fn doubt(&mut self, about: String) {
        self.doubt = Some(about);
    }

    /// Notes that a null became empty text.
    pub(super) fn empty(&mut self) {
        self.emptied += 1;
    }

    pub(super) fn emptied(&self) -> usize {
        self.emptied
    }

    pub(super) fn take_doubt(&mut self) -> Option<String> {
        self.doubt.take()
    }

    pub(super) fn spent(&self) -> i64 {
        self.spent
    }

    /// Takes `work` bytes or elements off.
    ///
    /// # Errors
    /// When the evaluation has done too much.
    pub(super) fn spend(&mut self, work: usize) -> Result<(), String> {
        self.spent = self.spent.saturating_add(i64::try_from(work).unwrap_or(i64::MAX));
        if self.spent > MAX_WORK {
            Err("the expression does too much work on large values".to_owned())
        } else {
            Ok(())
        }
    }

    /// Takes a text of `bytes` off.
    ///
    /// # Errors
    /// When it is too large, alone or with what was spent before.
    pub(super) fn text(&mut self, bytes: usize) -> Result<(), String> {
        if bytes > MAX_TEXT {
            return Err(format!("the text made would have {bytes} bytes; at most {MAX_TEXT} are allowed"));
        }
        self.spend(bytes)
    }

    /// Appends `more` to a text under construction.
    ///
    /// # Errors
    /// Fails like [`Budget::text`].
    pub(super) fn append(&mut self, text: &mut String, more: &str) -> Result<(), String> {
        let bytes = text.len() + more.len();
        if bytes > MAX_TEXT {
            return self.text(bytes);
        }
        text.push_str(more);
        self.spend(more.len())
    }

    /// Takes a list of `items` off.
    ///
    /// # Errors
    /// When it is too long, alone or with what was spent before.
    pub(super) fn items(&mut self, items: usize) -> Result<(), String> {
        if items > MAX_ITEMS {
            return Err(format!(
                "the list made would have {items} elements; at most {MAX_ITEMS} are allowed"
            ));
        }
        self.spend(items.saturating_mul(size_of::<Value>()))
    }
}

/// Compact JSON, written no further than the limit on texts.
///
/// # Errors
/// When it would be too large.
pub(super) fn json(value: &Value) -> Result<String, String> {
    let mut text = BoundedBuffer(Vec::new());
    match serde_json::to_writer(&mut text, value) {
        Ok(()) => String::from_utf8(text.0).map_err(|error| error.to_string()),
        Err(_) => Err(format!("the JSON text made would have more than the {MAX_TEXT} bytes allowed")),
    }
}

/// A buffer that refuses to grow past the limit on texts.
struct BoundedBuffer(Vec<u8>);

impl io::Write for BoundedBuffer {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.0.len() + bytes.len() > MAX_TEXT {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        self.0.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Checks a value that was built from shared parts: its memory is small even where its JSON text is not.
///
/// # Errors
/// When it is too large or too deep to be kept.
pub(super) fn check_built(value: &Value) -> Result<(), String> {
    let mut left = MAX_TEXT;
    weigh(value, MAX_VALUE_DEPTH, &mut left)
}

fn weigh(value: &Value, depth: usize, left: &mut usize) -> Result<(), String> {
    let own = match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => 1,
        Value::String(text) => text.len() + 1,
        Value::Array(items) => items.len() + 1,
        Value::Object(map) => map.len() + 1,
    };
    *left = left
        .checked_sub(own)
        .ok_or_else(|| format!("the value made is too large; at most {MAX_TEXT} bytes are allowed"))?;
    let mut inside = |part: &Value| match depth.checked_sub(1) {
        Some(depth) => weigh(part, depth, left),
        None => Err(format!("the value made nests too deeply; at most {MAX_VALUE_DEPTH} levels are allowed")),
    };
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Ok(()),
        Value::Array(items) => items.iter().try_for_each(inside),
        Value::Object(map) => map.values().try_for_each(&mut inside),
    }
}
