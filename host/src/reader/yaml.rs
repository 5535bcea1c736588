//! YAML 1.2 in its core schema, from the parser's events.

mod builder;
mod mistake;
mod scalar;

use phasm_engine::{path::Path, problem::Problem, problem::codes::source as entries, tree::Tree};
use saphyr_parser::{Event, Parser, ScanError};

use super::{Fatal, SourceText, syntax, too_deep};
use builder::TreeBuilder;
use mistake::{Mistake, Stop};

/// Hint for a text that stops the parser in a way that no known mistake explains.
const UNEXPLAINED: &str = "look at this line and the one above it for a wrong indentation, a missing `: ` or `- `, or a quote or \
                           bracket that is not closed; text with `: `, `#` or `{` in it needs quotes";

pub(super) fn read(source: &SourceText<'_>) -> Result<Tree, Vec<Problem>> {
    let mut builder = TreeBuilder::new(source);
    let tree = first_unprintable(source).map_or_else(|| document(source, &mut builder), Err);
    builder.into_findings().finish(tree)
}

/// The only document of the text.
fn document(source: &SourceText<'_>, builder: &mut TreeBuilder<'_>) -> Result<Tree, Fatal> {
    let mut parser = Parser::new_from_str(source.text());
    let mut documents = 0;
    while let Some(event) = parser.next_event() {
        let (event, span) = event.map_err(|error| invalid(source, &error, builder.bracket()))?;
        if matches!(event, Event::DocumentStart(_)) {
            documents += 1;
            if documents == 2 {
                let span = builder.position(span);
                let message = "a second document; expected one document per file";
                builder.findings().report(
                    &entries::UNSUPPORTED_YAML,
                    &Path::root(),
                    span,
                    message,
                    "split the file",
                );
            }
        }
        // The contents of a second document are ignored.
        if documents <= 1 {
            builder.handle(event, span)?;
        }
    }
    builder
        .take_root()
        .ok_or_else(|| Box::new(syntax(source.span(0, 0), "no content; expected a workflow file")))
}

fn invalid(source: &SourceText<'_>, error: &ScanError, bracket: Option<usize>) -> Fatal {
    let at = source.byte_at(error.marker().index());
    if error.info().contains("recursion limit") {
        return too_deep(source.span(at, at));
    }
    let stop = Stop { text: source.text(), at, info: error.info(), bracket };
    Box::new(match stop.explain() {
        Some(Mistake { at, message, hint }) => {
            syntax(source.span(at.start, at.end), format!("not valid YAML: {message}")).with_hint(hint)
        }
        None => syntax(
            source.span(at, at),
            format!(
                "not valid YAML: this line does not fit to the ones above it (the reader says: {})",
                error.info()
            ),
        )
        .with_hint(UNEXPLAINED),
    })
}

/// A character that YAML does not allow; the parser would take some of them for the end.
fn first_unprintable(source: &SourceText<'_>) -> Option<Fatal> {
    let (at, c) = source.text().char_indices().find(|(_, c)| !is_printable(*c))?;
    let message = format!("control character {c:?}; expected printable text");
    Some(Box::new(
        syntax(source.span(at, at + c.len_utf8()), message)
            .with_hint("write it as an escape in double quotes"),
    ))
}

fn is_printable(c: char) -> bool {
    matches!(c, '\t' | '\n' | '\r' | ' '..='~' | '\u{85}' | '\u{a0}'..='\u{d7ff}' | '\u{e000}'..='\u{fffd}' | '\u{10000}'..)
}
