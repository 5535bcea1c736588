//! Badges: the phase of the latest run that has ended, as a small picture for a README.

use std::sync::Arc;

use axum::{
    http::{HeaderValue, header},
    response::{IntoResponse as _, Response},
};
use maud::html;
use phasm::{
    Phase,
    catalog::SCHEDULE_LABEL,
    engine::text,
    store::{Filter, ReadStore, StoreError},
};

use super::{get::tagged, list::MAX_SCANNED_RUNS};
use crate::{problem_response::ProblemResponse, request::RequestContext};

/// The namespace without a parameter.
const DEFAULT_NAMESPACE: &str = "default";
/// Rows that are read at once.
const BATCH_ROWS: usize = 100;
/// Longest label, in characters.
const MAX_LABEL_CHARS: usize = 64;
/// The picture loads nothing.
const POLICY: &str = "default-src 'none'; frame-ancestors 'none'";

/// Responds with the badge of a workflow.
pub(crate) async fn of_workflow(context: RequestContext) -> Result<Response, ProblemResponse> {
    let workflow = Some(context.segment("name").into());
    badge(context, Filter { workflow, ..Filter::default() }).await
}

/// Responds with the badge of a schedule.
pub(crate) async fn of_schedule(context: RequestContext) -> Result<Response, ProblemResponse> {
    let label = Some((SCHEDULE_LABEL.into(), context.segment("name").into()));
    badge(context, Filter { label, ..Filter::default() }).await
}

async fn badge(mut context: RequestContext, filter: Filter) -> Result<Response, ProblemResponse> {
    let namespace = context.query.text("namespace").unwrap_or_else(|| DEFAULT_NAMESPACE.to_owned());
    let label = context.query.text("label").filter(|label| !label.is_empty());
    context.query.done()?;
    // A namespace that the caller cannot see has no runs.
    let phase = match context.caller.sees(&namespace) {
        true => latest(&**context.app.host.store(), &namespace.into(), filter).await?,
        false => None,
    };
    let label = label.unwrap_or_else(|| context.segment("name").to_owned());
    let mut response = draw(&label, phase).into_response();
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("image/svg+xml"));
    headers.insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY));
    tagged(&context, response).await
}

/// The phase of the latest run that has ended, among the newest runs of a namespace.
async fn latest(
    store: &dyn ReadStore,
    namespace: &Arc<str>,
    filter: Filter,
) -> Result<Option<Phase>, StoreError> {
    let scanned = store.numbers(namespace, i64::MAX.unsigned_abs(), MAX_SCANNED_RUNS as usize).await?;
    let Some(from) = scanned.last().copied() else { return Ok(None) };
    let mut filter = Filter { namespaces: vec![Arc::clone(namespace)], from, ..filter };
    loop {
        let rows = store.list(filter.clone(), BATCH_ROWS).await?;
        let ended = rows.iter().find(|row| !row.status.open && row.damaged.is_none());
        let last = rows.last().filter(|_| ended.is_none() && rows.len() == BATCH_ROWS);
        match last {
            Some(last) => filter.before = Some(last.number),
            None => return Ok(ended.map(|row| row.status.phase)),
        }
    }
}

/// A badge with a text and a phase. Its size follows from its texts.
fn draw(label: &str, phase: Option<Phase>) -> String {
    let (label, word) = (shown(label), phase.map_or("no runs", Phase::as_str));
    let (left, right) = (text_width(&label), text_width(word));
    let (begin, width) = (left + 12, left + right + 24);
    let title = format!("{label}: {word}");
    let part = |x: usize, length: usize, text: &str| {
        html! { text x=(x) y="14" textLength=(length) lengthAdjust="spacingAndGlyphs" { (text) } }
    };
    let picture = html! {
        svg xmlns="http://www.w3.org/2000/svg" width=(width) height="20" viewBox={ "0 0 " (width) " 20" } role="img" aria-label=(title) {
            title { (title) }
            clipPath id="corners" { rect width=(width) height="20" rx="3" {} }
            g clip-path="url(#corners)" {
                rect width=(begin) height="20" fill="#3f4756" {}
                rect x=(begin) width=(right + 12) height="20" fill=(phasm_graph::colour(phase.unwrap_or(Phase::Created))) {}
            }
            g fill="#ffffff" font-family="Verdana, DejaVu Sans, sans-serif" font-size="11" {
                (part(6, left, &label))
                (part(begin + 6, right, word))
            }
        }
    };
    picture.into_string()
}

/// The label as it can be shown: a long one is cut, and invisible characters are replaced.
fn shown(label: &str) -> String {
    let is_shown = |c: char| !text::is_hidden(c) && !matches!(c, '\u{fffe}' | '\u{ffff}');
    let visible = |c: char| if is_shown(c) { c } else { '\u{fffd}' };
    let mut shown: String = label.chars().take(MAX_LABEL_CHARS).map(visible).collect();
    if label.chars().nth(MAX_LABEL_CHARS).is_some() {
        shown.push('…');
    }
    shown
}

/// The width of a text in pixels, about.
fn text_width(text: &str) -> usize {
    let tenths = |c: char| match c {
        'i' | 'j' | 'l' | 'I' | '.' | ',' | ':' | ';' | '\'' | '|' | '!' | ' ' | '(' | ')' | '[' | ']' => 42,
        'f' | 'r' | 't' | '-' | '/' => 48,
        'm' | 'w' | 'M' | 'W' | '@' | '%' => 105,
        'a'..='z' | '0'..='9' | '_' => 68,
        c if c.is_ascii() => 78,
        _ => 110,
    };
    text.chars().map(tenths).sum::<usize>().div_ceil(10)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_label_is_text() {
        let drawn = draw("<script>\"&'\u{1}\u{202e}", Some(Phase::Succeeded));
        assert!(!drawn.contains("<script") && drawn.contains("&lt;script&gt;&quot;&amp;"), "{drawn}");
        assert!(!drawn.contains(['\u{1}', '\u{202e}']), "{drawn}");
    }

    #[test]
    fn the_width_follows_from_the_texts() {
        let width = |label: &str| {
            let drawn = draw(label, None);
            let width = drawn.split("width=\"").nth(1).unwrap().split('"').next().unwrap();
            width.parse::<usize>().unwrap()
        };
        assert!(width("w") < width("nightly") && width("nightly") < width("nightly audit"));
        assert_eq!(width(&"w".repeat(65)), width(&"w".repeat(1000)));
    }
}
