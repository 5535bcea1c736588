//! Rows, from lists of objects and from CSV text.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
};

use format::{ReaderBuilder, WriterBuilder};
use phasm_sdk::{
    number,
    prelude::*,
    serde::{
        Deserialize, Deserializer, Serialize, Serializer,
        de::{Error, MapAccess, Visitor},
        ser::SerializeMap,
    },
};

use crate::{Task, failure};

/// Cells of a row by column; each is a JSON value as it came.
#[derive(Clone, Debug, Default)]
pub(crate) struct Row(pub(crate) Vec<(String, Json)>);

/// Rows, and the columns that any of them has, in the order they first occur.
#[derive(Clone, Debug, Default)]
pub(crate) struct Table {
    pub(crate) columns: Vec<String>,
    pub(crate) rows: Vec<Row>,
}

impl Row {
    pub(crate) fn get(&self, column: &str) -> Option<&Json> {
        self.0.iter().find(|(name, _)| name == column).map(|(_, cell)| cell)
    }
}

impl Table {
    pub(crate) fn of(rows: Vec<Row>, columns: Vec<String>) -> Self {
        let mut known: BTreeSet<String> = columns.iter().cloned().collect();
        let mut all = columns;
        for (name, _) in rows.iter().flat_map(|row| &row.0) {
            if !known.contains(name) {
                known.insert(name.clone());
                all.push(name.clone());
            }
        }
        Self { columns: all, rows }
    }

    /// Returns an error for each column that no row has, unless there are no columns at all: no rows have none.
    pub(crate) fn missing<'c>(&self, input: &str, columns: impl IntoIterator<Item = &'c str>) -> Vec<String> {
        if self.columns.is_empty() {
            return Vec::new();
        }
        let known: Vec<String> = self.columns.iter().take(30).map(|name| format!("`{name}`")).collect();
        columns
            .into_iter()
            .filter(|column| !self.columns.iter().any(|known| known == column))
            .map(|column| {
                format!(
                    "input `{input}`: there is no column `{column}`; expected one of {}",
                    known.join(", ")
                )
            })
            .collect()
    }
}

/// Code 3 with all problems, if there is one.
pub(crate) fn check(problems: &[String]) -> Result<()> {
    if problems.is_empty() { Ok(()) } else { Err(failure::input(problems.join("; "))) }
}

impl Serialize for Row {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        self.0.iter().try_for_each(|(name, cell)| map.serialize_entry(name, cell))?;
        map.end()
    }
}

impl Serialize for Table {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(&self.rows)
    }
}

impl<'de> Deserialize<'de> for Row {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(RowVisitor)
    }
}

struct RowVisitor;

impl<'de> Visitor<'de> for RowVisitor {
    type Value = Row;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Row, A::Error> {
        let mut cells = BTreeMap::new();
        let mut order = Vec::new();
        while let Some((name, cell)) = map.next_entry::<String, Json>()? {
            if cells.insert(name.clone(), cell).is_some() {
                return Err(A::Error::custom(format!("the column `{name}` occurs twice")));
            }
            order.push(name);
        }
        Ok(Row(order.into_iter().filter_map(|name| cells.remove_entry(&name)).collect()))
    }
}

/// Reads the rows of one side from the input that is given.
pub(crate) fn read(
    list_name: &str,
    text_name: &str,
    list: Option<&Json>,
    text: Option<&str>,
    task: &Task,
) -> Result<Table> {
    match (list, text) {
        (Some(list), None) => of_list(list_name, list, task.max_rows),
        (None, Some(text)) => of_text(text_name, text, delimiter(task)?, task.max_rows),
        (None, None) => Err(failure::input(format!(
            "inputs `{list_name}` and `{text_name}` are missing; expected one of them, with the rows"
        ))),
        (Some(_), Some(_)) => Err(failure::input(format!(
            "inputs `{list_name}` and `{text_name}`: expected one of them, got both"
        ))),
    }
}

fn of_list(name: &str, list: &Json, max_rows: usize) -> Result<Table> {
    let rows: Vec<Json> = list.parse().map_err(|_| {
        failure::input(format!("input `{name}`: expected a list of objects, got {}", shown(list)))
    })?;
    if rows.len() > max_rows {
        return Err(failure::too_many(&format!("`{name}` has"), max_rows));
    }
    let mut faults = failure::Faults::default();
    let mut read = Vec::with_capacity(rows.len());
    for (at, row) in rows.iter().enumerate() {
        if let Some((_, lost)) = number::lost(row.as_str()) {
            faults.push(|| format!("`{name}[{at}]`: {}; write it in quotes", number::complaint(lost)));
        }
        match row.parse::<Row>() {
            Ok(row) => read.push(row),
            Err(why) if why.is_data() && row.as_str().trim_start().starts_with('{') => {
                faults.push(|| format!("`{name}[{at}]`: {}", message(&why)));
            }
            Err(_) => faults.push(|| format!("`{name}[{at}]`: expected an object, got {}", shown(row))),
        }
    }
    faults.result()?;
    Ok(Table::of(read, Vec::new()))
}

/// An error's message without its place, which is one in the text of the row.
fn message(why: &impl fmt::Display) -> String {
    let text = why.to_string();
    text.split(" at line ").next().unwrap_or_default().to_owned()
}

/// The beginning of a value.
pub(crate) fn shown(json: &Json) -> String {
    const MAX_CHARS: usize = 40;
    let mut shown: String = json.as_str().chars().take(MAX_CHARS).collect();
    if shown.len() < json.as_str().len() {
        shown.push('…');
    }
    shown
}

fn delimiter(task: &Task) -> Result<u8> {
    match task.delimiter.as_bytes() {
        [byte] if byte.is_ascii() && !b"\"\r\n".contains(byte) => Ok(*byte),
        _ => Err(failure::input(format!(
            "input `delimiter`: expected one ASCII character, no quote or line end, got {:?}",
            task.delimiter
        ))),
    }
}

fn of_text(input: &str, text: &str, delimiter: u8, max_rows: usize) -> Result<Table> {
    let malformed = |why: String, line: u64| {
        failure::rows("parse", format!("input `{input}` is not CSV: {why} at line {line}"))
    };
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut reader = ReaderBuilder::new().delimiter(delimiter).from_reader(text.as_bytes());
    let header = reader.headers().map_err(|why| malformed(why.to_string(), 1))?.clone();
    let mut known = BTreeSet::new();
    if let Some(twice) = header.iter().find(|name| !known.insert(*name)) {
        return Err(malformed(format!("the column `{twice}` occurs twice"), 1));
    }
    let columns: Vec<String> = header.iter().map(str::to_owned).collect();
    let mut rows = Vec::new();
    for record in reader.records() {
        let record = record.map_err(|why| {
            let line = why.position().map_or(1, format::Position::line);
            if let format::ErrorKind::UnequalLengths { expected_len, len, .. } = why.kind() {
                return malformed(format!("a row of {len} cells among rows of {expected_len}"), line);
            }
            malformed(why.to_string(), line)
        })?;
        if rows.len() >= max_rows {
            return Err(failure::too_many(&format!("`{input}` has"), max_rows));
        }
        let cells: Result<Vec<_>, _> =
            columns.iter().zip(&record).map(|(name, cell)| Ok((name.clone(), Json::of(cell)?))).collect();
        rows.push(Row(cells.map_err(|why: phasm_sdk::serde_json::Error| Outcome::from(why))?));
    }
    Ok(Table::of(rows, columns))
}

/// The rows as CSV text: a text as it is, null and what is absent as nothing, all else as JSON.
pub(crate) fn render(table: &Table, task: &Task) -> Result<String> {
    let mut writer = WriterBuilder::new().delimiter(delimiter(task)?).from_writer(Vec::new());
    if !table.columns.is_empty() {
        writer.write_record(&table.columns)?;
    }
    for row in &table.rows {
        writer.write_record(table.columns.iter().map(|column| {
            row.get(column).filter(|cell| !cell.is_null()).map_or_else(String::new, |cell| {
                cell.parse::<String>().unwrap_or_else(|_| cell.as_str().to_owned())
            })
        }))?;
    }
    Ok(String::from_utf8(writer.into_inner().or_error("cannot write CSV")?)?)
}
