//! Rows as JSON.

use fallible_iterator::FallibleIterator as _;
use phasm_sdk::{Json, serde_json};
use postgres_protocol::message::backend::DataRowBody;

use crate::{fault::Fault, form::Form};

/// Limits of a result.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    pub(crate) rows: u32,
    pub(crate) bytes: u64,
}

impl Limits {
    pub(crate) fn too_many_rows(self) -> Fault {
        Fault::TooLarge(format!(
            "the statement returns more than {} rows; `maxRows` sets the limit, and `LIMIT` makes them fewer",
            self.rows
        ))
    }

    fn too_many_bytes(self) -> Fault {
        Fault::TooLarge(format!("the rows have more than {} bytes; `maxBytes` sets the limit", self.bytes))
    }
}

/// A column of a result.
#[derive(Debug)]
pub(crate) struct Column {
    name: String,
    form: Form,
    type_name: String,
}

impl Column {
    pub(crate) fn new(name: &str, oid: u32) -> Self {
        let (form, type_name) = Form::of(oid);
        Self { name: name.to_owned(), form, type_name }
    }
}

/// Result of a statement.
#[derive(Debug)]
pub(crate) struct Table {
    columns: Option<Vec<Column>>,
    rows: String,
    count: u64,
    command: String,
}

impl Table {
    pub(crate) fn of(mut columns: Vec<Column>) -> Self {
        make_distinct(&mut columns);
        Self { columns: Some(columns), ..Self::without_rows() }
    }

    pub(crate) fn without_rows() -> Self {
        Self { columns: None, rows: String::new(), count: 0, command: String::new() }
    }

    pub(crate) fn has_rows(&self) -> bool {
        self.columns.is_some()
    }

    /// Adds a row; `size` counts the bytes of all results.
    pub(crate) fn add(&mut self, row: &DataRowBody, limits: Limits, size: &mut u64) -> Result<(), Fault> {
        self.count += 1;
        if self.count > u64::from(limits.rows) {
            return Err(limits.too_many_rows());
        }
        let before = self.rows.len();
        self.rows.push_str(if self.rows.is_empty() { "{" } else { ",{" });
        let columns = self.columns.as_deref().unwrap_or_default();
        let mut ranges = row.ranges();
        for (at, column) in columns.iter().enumerate() {
            if at > 0 {
                self.rows.push(',');
            }
            self.rows.push_str(&quoted(&column.name));
            self.rows.push(':');
            match ranges.next()?.flatten() {
                None => self.rows.push_str("null"),
                Some(range) => {
                    let bytes = row.buffer().get(range).unwrap_or_default();
                    let text = std::str::from_utf8(bytes)
                        .map_err(|_| Fault::Protocol(format!("column `{}` is not UTF-8", column.name)))?;
                    let written = column.form.write(text, &mut self.rows);
                    written.map_err(|why| Fault::Value(format!("column `{}`: {why}", column.name)))?;
                }
            }
        }
        self.rows.push('}');
        *size += (self.rows.len() - before) as u64;
        if *size > limits.bytes { Err(limits.too_many_bytes()) } else { Ok(()) }
    }

    /// Takes the server's words for a statement that ended: `INSERT 0 3`, `CREATE TABLE`.
    pub(crate) fn end(&mut self, tag: &str) {
        let words: Vec<&str> = tag.split(' ').collect();
        let is_number = |word: &&&str| word.bytes().all(|byte| byte.is_ascii_digit());
        if let Some(count) = words.last().filter(is_number).and_then(|word| word.parse().ok()) {
            self.count = count;
        }
        self.command =
            words.iter().take_while(|word| !is_number(word)).copied().collect::<Vec<_>>().join(" ");
    }

    pub(crate) fn command(&self) -> &str {
        &self.command
    }

    pub(crate) fn row_count(&self) -> u64 {
        self.count
    }

    pub(crate) fn rows(&self) -> Json {
        Json::from_text(format!("[{}]", self.rows))
    }

    pub(crate) fn columns(&self) -> Json {
        let columns = self.columns.as_deref().unwrap_or_default().iter();
        let columns = columns.map(|column| {
            format!(r#"{{"name":{},"type":{}}}"#, quoted(&column.name), quoted(&column.type_name))
        });
        Json::from_text(format!("[{}]", columns.collect::<Vec<_>>().join(",")))
    }

    pub(crate) fn to_json(&self) -> String {
        let head = format!(r#""command":{},"rowCount":{}"#, quoted(&self.command), self.count);
        if self.has_rows() {
            format!(r#"{{{head},"rows":{},"columns":{}}}"#, self.rows(), self.columns())
        } else {
            format!("{{{head}}}")
        }
    }
}

/// Numbers columns whose names are taken: `a`, `a_2`.
fn make_distinct(columns: &mut [Column]) {
    for at in 0..columns.len() {
        let (before, rest) = columns.split_at_mut(at);
        let Some(column) = rest.first_mut() else { return };
        let is_taken = |name: &str| before.iter().any(|other| other.name == name);
        let mut number = 2;
        let mut name = column.name.clone();
        while is_taken(&name) {
            name = format!("{}_{number}", column.name);
            number += 1;
        }
        column.name = name;
    }
}

pub(crate) fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}
