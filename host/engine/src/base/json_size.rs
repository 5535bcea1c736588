//! Sizes of JSON texts.

use std::io::{self, Write};

use serde::Serialize;

/// Counts bytes up to a limit.
struct Counter {
    bytes: usize,
    most: usize,
}

impl Write for Counter {
    fn write(&mut self, text: &[u8]) -> io::Result<usize> {
        self.bytes = self.bytes.saturating_add(text.len());
        if self.bytes > self.most {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        Ok(text.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Returns the size of the compact JSON text of a value; none if that has more than `most` bytes. Nothing is counted beyond: the
/// text of a value whose parts are shared may be much larger than the value.
#[must_use]
pub fn json_size(value: &impl Serialize, most: usize) -> Option<usize> {
    let mut counter = Counter { bytes: 0, most };
    serde_json::to_writer(&mut counter, value).ok().map(|()| counter.bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::Value;

    #[test]
    fn a_size_is_that_of_the_text() {
        for text in [r#"{"a":[1,2.5,null,true,"\n\u0001ü"]}"#, "[]", "\"\""] {
            let value = Value::from_json(text).unwrap();
            let size = value.to_json().len();
            assert_eq!(json_size(&value, size), Some(size));
            assert_eq!(json_size(&value, size - 1), None);
        }
    }

    /// Sixty lists of two whose elements are one another would have 2^60 elements.
    #[test]
    fn counting_ends_at_the_limit() {
        let mut value = Value::from("x");
        for _ in 0..60 {
            value = vec![value.clone(), value].into();
        }
        assert_eq!(json_size(&value, 1 << 20), None);
    }
}
