//! CSV. With a header a row is an object, without one a list; all cells are texts.

use std::collections::BTreeSet;

use csv::{ReaderBuilder, StringRecord, WriterBuilder};
use phasm_sdk::prelude::*;

use super::{Format, position};
use crate::{Task, node::Node};

/// The delimiter as the library wants it.
pub(super) fn delimiter(task: &Task) -> Result<u8> {
    match task.delimiter.as_bytes() {
        [byte] if byte.is_ascii() && !b"\"\r\n".contains(byte) => Ok(*byte),
        _ => {
            let given = &task.delimiter;
            let message = format!(
                "input `delimiter`: expected one ASCII character, no quote or line end, got {given:?}"
            );
            Err(Outcome::error(message).kind("input").retryable(false))
        }
    }
}

pub(super) fn parse(text: &str, delimiter: u8, header: bool) -> Result<Node> {
    let mut reader =
        ReaderBuilder::new().delimiter(delimiter).has_headers(header).from_reader(text.as_bytes());
    let malformed = |why: csv::Error| {
        let offset = why.position().map_or(0, |at| usize::try_from(at.byte()).unwrap_or(usize::MAX));
        let (line, column) = position(text, offset);
        Format::Csv.malformed(reason(&why), line, column)
    };
    let names = if header { Some(names(reader.headers().map_err(malformed)?)?) } else { None };
    let rows: Result<Vec<Node>> =
        reader.records().map(|row| Ok(node(&row.map_err(malformed)?, names.as_deref()))).collect();
    rows.map(Node::List)
}

fn reason(why: &csv::Error) -> String {
    if let csv::ErrorKind::UnequalLengths { expected_len, len, .. } = why.kind() {
        return format!("a row of {len} cells among rows of {expected_len}");
    }
    why.to_string()
}

/// The columns' names, no two alike.
fn names(header: &StringRecord) -> Result<Vec<String>> {
    let mut known = BTreeSet::new();
    if let Some(twice) = header.iter().find(|name| !known.insert(*name)) {
        return Err(Format::Csv.malformed(format!("the column `{twice}` occurs twice"), 1, 1));
    }
    Ok(header.iter().map(str::to_owned).collect())
}

fn node(row: &StringRecord, names: Option<&[String]>) -> Node {
    let cells = row.iter().map(|cell| Node::Text(cell.to_owned()));
    match names {
        Some(names) => Node::Object(names.iter().cloned().zip(cells).collect()),
        None => Node::List(cells.collect()),
    }
}

pub(super) fn render(node: &Node, delimiter: u8, header: bool) -> Result<String> {
    let Node::List(rows) = node else {
        return Err(Format::Csv.unfit("at the top there must be a list of objects or lists"));
    };
    let columns = columns(rows);
    let mut writer = WriterBuilder::new().delimiter(delimiter).flexible(true).from_writer(Vec::new());
    if header && !columns.is_empty() {
        writer.write_record(&columns)?;
    }
    for (at, row) in rows.iter().enumerate() {
        let cells = cells(row, &columns)
            .or_failed(format!("CSV cannot hold the value: [{at}] is no object or list"))?;
        writer.write_record(cells)?;
    }
    let bytes = writer.into_inner().or_error("cannot write CSV")?;
    Ok(String::from_utf8(bytes)?)
}

/// The keys of all objects, in the order they first occur.
fn columns(rows: &[Node]) -> Vec<&str> {
    let mut known = BTreeSet::new();
    let objects =
        rows.iter().filter_map(|row| if let Node::Object(fields) = row { Some(fields) } else { None });
    objects.flatten().map(|(key, _)| key.as_str()).filter(|key| known.insert(*key)).collect()
}

fn cells(row: &Node, columns: &[&str]) -> Option<Vec<String>> {
    match row {
        Node::List(nodes) => Some(nodes.iter().map(cell).collect()),
        Node::Object(fields) => {
            let value = |column: &&str| {
                fields.iter().find(|(key, _)| key == column).map_or_else(String::new, |(_, v)| cell(v))
            };
            Some(columns.iter().map(value).collect())
        }
        Node::Null | Node::Bool(_) | Node::Unsigned(_) | Node::Signed(_) | Node::Float(_) | Node::Text(_) => {
            None
        }
    }
}

/// A text as it is, null as nothing, all else as compact JSON.
fn cell(node: &Node) -> String {
    match node {
        Node::Text(text) => text.clone(),
        Node::Null => String::new(),
        Node::Bool(_)
        | Node::Unsigned(_)
        | Node::Signed(_)
        | Node::Float(_)
        | Node::List(_)
        | Node::Object(_) => Json::of(node).map(Json::into_text).unwrap_or_default(),
    }
}
