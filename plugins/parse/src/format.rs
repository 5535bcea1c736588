//! The formats, each in both directions.

mod csv;
mod json;
mod number;
mod toml;
mod yaml;

use std::fmt::Display;

use phasm_sdk::prelude::*;

use crate::{Task, node::Node};

inputs! {
    /// Format of a text.
    #[derive(Clone, Copy, Debug)]
    pub enum Format {
        /// RFC 8259.
        Json = "json",
        /// TOML 1.1.
        Toml = "toml",
        /// YAML 1.2, one document.
        Yaml = "yaml",
        /// RFC 4180, with any delimiter.
        Csv = "csv",
    }
}

impl Format {
    fn name(self) -> &'static str {
        match self {
            Self::Json => "JSON",
            Self::Toml => "TOML",
            Self::Yaml => "YAML",
            Self::Csv => "CSV",
        }
    }

    /// Code 2: the text does not parse.
    fn malformed(self, why: impl Display, line: usize, column: usize) -> Outcome {
        let message = format!("the text is not {}: {why} at line {line}, column {column}", self.name());
        Outcome::failed(message).kind("parse").retryable(false)
    }

    /// Code 2: a number of the text would become another one.
    fn lossy(self, text: &str, at: usize, number: &str) -> Outcome {
        let (line, column) = position(text, at);
        let why = phasm_sdk::number::complaint(number);
        let message =
            format!("{why}; write it in quotes, at line {line}, column {column} of the {}", self.name());
        Outcome::failed(message).kind("parse").retryable(false)
    }

    /// Code 2: the format cannot hold the value.
    fn unfit(self, why: impl Display) -> Outcome {
        Outcome::failed(format!("{} cannot hold the value: {why}", self.name()))
            .kind("render")
            .retryable(false)
    }
}

pub(crate) fn parse(text: &str, task: &Task) -> Result<Json> {
    let node = match task.format {
        Format::Json => return json::parse(text),
        Format::Toml => toml::parse(text)?,
        Format::Yaml => yaml::parse(text)?,
        Format::Csv => csv::parse(text, csv::delimiter(task)?, task.header)?,
    };
    if let Some((at, lost)) = number::lost(text, &node) {
        return Err(task.format.lossy(text, at, lost));
    }
    Json::of(&node).or_error("the value cannot be written as JSON")
}

pub(crate) fn render(value: &Json, task: &Task) -> Result<String> {
    let node: Node = value.parse().or_error("input `value`")?;
    match task.format {
        Format::Json => json::render(&node, task.pretty),
        Format::Toml => toml::render(&node),
        Format::Yaml => yaml::render(&node),
        Format::Csv => csv::render(&node, csv::delimiter(task)?, task.header),
    }
}

/// Line and column, both from 1, of the byte at `offset`.
fn position(text: &str, offset: usize) -> (usize, usize) {
    let before = text.get(..offset).unwrap_or(text);
    let line_start = before.rfind('\n').map_or(0, |at| at + 1);
    (before.matches('\n').count() + 1, before.get(line_start..).unwrap_or("").chars().count() + 1)
}
