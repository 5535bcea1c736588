//! Functions of the database, by the store format whose hosts call them.
//!
//! Each function has the number of a format in its name, so that hosts of two formats use one database, each with its own functions.
//! Statements name functions without the number, which is added before they are sent.

use std::{borrow::Cow, collections::BTreeSet, sync::LazyLock};

use super::super::migration::FORMAT;

/// Functions of this format, as they are written.
pub(super) const SOURCE: &str = include_str!("functions.sql");

static NAMES: LazyLock<BTreeSet<&str>> = LazyLock::new(|| {
    let names = SOURCE.split("CREATE FUNCTION ").skip(1).filter_map(|rest| rest.split_once('('));
    names.map(|(name, _)| name).collect()
});

/// Returns the statements that create the functions that hosts of a format call. Those of format 2 are the same as those of this one.
pub(super) fn source(format: i64) -> String {
    of_format(SOURCE, format).replace("$FORMAT", &format.to_string())
}

/// Returns a statement in which each function has the number of this format in its name.
pub(in super::super) fn numbered(sql: &str) -> Cow<'_, str> {
    of_format(sql, FORMAT)
}

fn of_format(sql: &str, format: i64) -> Cow<'_, str> {
    let mut numbered = String::new();
    let mut rest = sql;
    while let Some(at) = rest.find('(') {
        let (before, after) = rest.split_at(at);
        let is_part = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
        let length = before.bytes().rev().take_while(|byte| is_part(*byte)).count();
        let name = before.get(before.len() - length..).unwrap_or_default();
        numbered.push_str(before);
        if NAMES.contains(name) {
            numbered.push_str(&format!("_{format}"));
        }
        numbered.push('(');
        rest = after.get(1..).unwrap_or_default();
    }
    if numbered.len() + rest.len() == sql.len() {
        return Cow::Borrowed(sql);
    }
    numbered.push_str(rest);
    Cow::Owned(numbered)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_functions_of_the_store_get_a_number() {
        let sql = "SELECT * FROM append_records($1), max(seq) FROM runs WHERE clock() > 1";
        let expected = format!(
            "SELECT * FROM append_records_{FORMAT}($1), max(seq) FROM runs WHERE clock_{FORMAT}() > 1"
        );
        assert_eq!(numbered(sql), expected);
        assert!(matches!(numbered("SELECT max(seq) FROM runs"), Cow::Borrowed(_)));
        assert!(NAMES.contains("share_work") && !NAMES.contains("row_checksum"), "{NAMES:?}");
    }
}
