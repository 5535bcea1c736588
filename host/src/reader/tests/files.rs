//! A file that is no document at all gives one honest problem.

use std::io::{self, Read};

use super::super::*;

/// A stream that never ends, and says how much was taken of it.
struct Endless<'a>(&'a mut usize);

impl Read for Endless<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        buffer.fill(b' ');
        *self.0 += buffer.len();
        Ok(buffer.len())
    }
}

fn complaint(text: Result<String, Box<Problem>>) -> String {
    let Problem { code, line, column, message, hint, .. } = *text.unwrap_err();
    format!("{code} {line}:{column} {message} ({})", hint.unwrap_or_default())
}

/// R-W14.
#[test]
fn no_more_is_read_than_a_document_may_have() {
    let mut taken = 0;
    let found = complaint(text_from(Endless(&mut taken)));
    assert!(found.starts_with("P002 0:0 more than 16777216 bytes of text"), "{found}");
    assert_eq!(taken, MAX_DOCUMENT_BYTES + 1);
    assert_eq!(
        text_from(io::repeat(b' ').take(MAX_DOCUMENT_BYTES as u64)).unwrap().len(),
        MAX_DOCUMENT_BYTES
    );
}

/// R-W14.
#[test]
fn what_is_no_regular_file_is_not_opened() {
    let dir = std::env::temp_dir();
    let missing = dir.join("phasm-has-no-such-file.yaml");
    assert_eq!(complaint(text_of(&missing)), "P006 0:0 no such file; expected a file that can be read ()");
    let found = complaint(text_of(&dir));
    assert_eq!(found, "P006 0:0 a directory; expected a file that can be read (name the files in it)");
    let found = complaint(text_of(std::path::Path::new("/dev/zero")));
    assert!(found.starts_with("P006 0:0 not a regular file but a pipe or device"), "{found}");
    assert!(found.ends_with("(pass it to stdin and write `-`)"), "{found}");
}

/// R-W14.
#[test]
fn bytes_that_are_no_text() {
    let rows: [(&[u8], &str); 8] = [
        (b"\xff\xfea\0", "P007 0:0 text in UTF-16; expected text in UTF-8 (save the file as UTF-8)"),
        (b"\xfe\xff\0a", "P007 0:0 text in UTF-16;"),
        (b"a\0b\0", "P007 0:0 text in UTF-16;"),
        (b"\0a\0b", "P007 0:0 text in UTF-16;"),
        (b"\0asm\x0d\0\x01\0", "P007 0:0 a WebAssembly component;"),
        (b"\x1f\x8b\x08", "P007 0:0 an archive;"),
        (
            b"a: b\nc: d\xe9\n",
            "P007 2:5 byte 0xE9 is not UTF-8; expected text in UTF-8 (save the file as UTF-8, not as",
        ),
        (b"\xef\xbb\xbfa: \xff", "P007 1:4 byte 0xFF is not UTF-8;"),
    ];
    for (bytes, expected) in rows {
        let found = complaint(text_from(bytes));
        assert!(found.starts_with(expected), "{found}");
    }
    assert_eq!(text_from(&b"\xef\xbb\xbfa: 1"[..]).unwrap(), "\u{feff}a: 1");
    assert_eq!(text_from(&b""[..]).unwrap(), "");
}
