//! From the filter's text to something that runs.

use jaq_core::{
    Compiler, compile, data,
    load::{self, Arena, File, Loader, span},
};
use jaq_json::Val;
use phasm_sdk::prelude::*;

/// A filter whose only data are its definitions.
pub(crate) type Filter = jaq_core::Filter<data::JustLut<Val>>;

/// Compiles the filter, with the standard definitions and `variables` (`$name`) in scope.
pub(crate) fn compile(code: &str, variables: &[String]) -> Result<Filter> {
    let definitions = jaq_core::defs().chain(jaq_std::defs()).chain(jaq_json::defs());
    let functions = jaq_core::funs().chain(jaq_std::funs()).chain(jaq_json::funs());
    let arena = Arena::default();
    let modules = Loader::new(definitions)
        .load(&arena, File { code, path: () })
        .map_err(|errors| problem(code, errors.iter().flat_map(|(_, error)| of_loading(error))))?;
    Compiler::default()
        .with_funs(functions)
        .with_global_vars(variables.iter().map(String::as_str))
        .compile(modules)
        .map_err(|errors| problem(code, errors.iter().flat_map(|(_, errors)| of_compiling(errors))))
}

/// A message, and the part of the code that it is about.
type Fault<'a> = (String, &'a str);

fn of_loading<'a>(error: &load::Error<&'a str>) -> Vec<Fault<'a>> {
    let expected = |what: &str, found: &'a str| (format!("expected {what}, got {}", shown(found)), found);
    match error {
        load::Error::Io(errors) => {
            errors.iter().map(|(path, why)| (format!("cannot load a module: {why}"), *path)).collect()
        }
        load::Error::Lex(errors) => {
            errors.iter().map(|(what, found)| expected(what.as_str(), found)).collect()
        }
        load::Error::Parse(errors) => {
            errors.iter().map(|(what, found)| expected(what.as_str(), found)).collect()
        }
    }
}

fn of_compiling<'a>(errors: &[compile::Error<&'a str>]) -> Vec<Fault<'a>> {
    let fault = |(name, undefined): &compile::Error<&'a str>| {
        let arity = if let compile::Undefined::Filter(arity) = undefined {
            format!("/{arity}")
        } else {
            String::new()
        };
        (format!("the {} `{name}{arity}` is not defined", undefined.as_str()), *name)
    };
    errors.iter().map(fault).collect()
}

fn shown(found: &str) -> String {
    match found.lines().next() {
        None => "the end".to_owned(),
        Some(line) => format!("`{}`", line.chars().take(40).collect::<String>()),
    }
}

/// Code 3, with every fault and where it is.
fn problem<'a>(code: &str, faults: impl Iterator<Item = Fault<'a>>) -> Outcome {
    let faults: Vec<String> = faults
        .map(|(what, part)| {
            let (line, column) = position(code, span(code, part).start);
            format!("{what} at line {line}, column {column}")
        })
        .collect();
    Outcome::error(format!("the filter does not compile: {}", faults.join("; ")))
        .kind("filter")
        .retryable(false)
}

/// Line and column, both from 1.
fn position(code: &str, offset: usize) -> (usize, usize) {
    let before = code.get(..offset).unwrap_or(code);
    let line = before.rsplit('\n').next().unwrap_or("");
    (before.matches('\n').count() + 1, line.chars().count() + 1)
}
