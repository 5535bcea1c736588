//! How much one evaluation may do.

/// The largest text an operation may make, in bytes.
pub(super) const MAX_TEXT: usize = 16 << 20;

/// The longest list an operation may make.
pub(super) const MAX_ITEMS: usize = 1 << 20;

/// Bytes and elements that one evaluation may look at or make in all.
const MAX_WORK: i64 = 256 << 20;

/// What is left of an evaluation's work: no operation costs more than it says here first.
#[derive(Debug, Default)]
pub(super) struct Budget {
    spent: i64,
}

impl Budget {
    pub(super) fn resume(spent: i64) -> Self {
        Self { spent }
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

    /// Appends `more` to a text being made.
    ///
    /// # Errors
    /// As for [`Budget::text`].
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
        self.spend(items.saturating_mul(size_of::<crate::value::Value>()))
    }
}
