//! Running a compiled filter.

use jaq_core::{Ctx, Exn, Vars, data::JustLut};
use jaq_json::{Num, Val, read::parse_single};
use phasm_sdk::{number, prelude::*};

use crate::compile::Filter;

/// All values that come out.
pub(crate) fn run(filter: &Filter, input: &Json, variables: &[Json]) -> Result<Vec<Json>> {
    let variables = variables.iter().map(read).collect::<Result<Vec<_>>>()?;
    let context = Ctx::<JustLut<Val>>::new(&filter.lut, Vars::new(variables));
    let mut results = Vec::new();
    for output in filter.id.run((context, read(input)?)) {
        match output {
            Ok(value) => results.push(write(&value)?),
            Err(exception) => match ended(exception) {
                None => break,
                Some(why) => return Err(Outcome::failed(why).kind("raised").retryable(false)),
            },
        }
    }
    Ok(results)
}

fn read(json: &Json) -> Result<Val> {
    parse_single(json.as_str().as_bytes()).or_error("the input is not JSON")
}

/// jq knows values that JSON does not: code 2.
fn write(value: &Val) -> Result<Json> {
    match not_json(value) {
        None => {
            let text = value.to_string();
            match number::lost(&text) {
                None => Ok(Json::from_text(text)),
                Some((_, lost)) => {
                    let why = number::complaint(lost);
                    let message = format!("a result is no value: {why}; `tostring` makes it text");
                    Err(Outcome::failed(message).kind("not-json").retryable(false))
                }
            }
        }
        Some(what) => Err(Outcome::failed(format!("a result has {what}, which JSON has not"))
            .kind("not-json")
            .retryable(false)),
    }
}

fn not_json(value: &Val) -> Option<String> {
    match value {
        Val::Null | Val::Bool(_) | Val::TStr(_) => None,
        Val::Num(Num::Float(number)) if !number.is_finite() => Some(format!("the number {number}")),
        Val::Num(_) => None,
        Val::BStr(_) => Some("a string of bytes".to_owned()),
        Val::Arr(values) => values.iter().find_map(not_json),
        Val::Obj(fields) => fields.iter().find_map(|(key, value)| {
            if matches!(key, Val::TStr(_)) { not_json(value) } else { Some(format!("the key {key}")) }
        }),
    }
}

/// Why the filter ended early: `error(..)`, what fails by itself, a `halt` with a status. Not for a plain `halt`.
fn ended(exception: Exn<'_, Val>) -> Option<String> {
    match exception.get_err() {
        Ok(error) => Some(format!("the filter raised an error: {}", text(error.into_val()))),
        Err(exception) => match exception.get_halt() {
            Ok(0) => None,
            Ok(status) => Some(format!("the filter halted with status {status}")),
            Err(_) => Some("the filter broke out of a label that is not there".to_owned()),
        },
    }
}

/// A text without quotes, all else as JSON.
fn text(value: Val) -> String {
    let json = value.to_string();
    Json::from_text(json.as_str()).parse().unwrap_or(json)
}
