//! From events of the parser to HTML.

use std::fmt;

use phasm_sdk::prelude::*;
use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd, html};

use crate::{
    RawHtml, Task,
    links::{BlockList, is_allowed},
};

/// The HTML of the text, and addresses that were left out.
pub(crate) fn render(task: &Task) -> Result<(String, Vec<String>)> {
    let options = if task.extensions {
        Options::ENABLE_TABLES
            | Options::ENABLE_TASKLISTS
            | Options::ENABLE_STRIKETHROUGH
            | Options::ENABLE_FOOTNOTES
    } else {
        Options::empty()
    };
    let mut filter = Filter { task, open: Vec::new(), blocked: BlockList::default() };
    let events = Parser::new_ext(&task.text, options).filter_map(|event| filter.pass(event));
    let mut text = TextBuffer { text: String::new(), limit: task.max_bytes };
    if html::write_html_fmt(&mut text, events).is_err() {
        let message =
            format!("the HTML would be larger than {} bytes; `maxBytes` sets the limit", text.limit);
        return Err(Outcome::failed(message).kind("too-large").retryable(false));
    }
    Ok((text.text, filter.blocked.into_list()))
}

/// Leaves out what a page must not have.
struct Filter<'t> {
    task: &'t Task,
    /// For each open link or image whether it is in the result.
    open: Vec<bool>,
    blocked: BlockList,
}

impl Filter<'_> {
    fn pass<'e>(&mut self, event: Event<'e>) -> Option<Event<'e>> {
        if let Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) = &event {
            let allowed = is_allowed(dest_url, &self.task.schemes);
            self.open.push(allowed);
            if !allowed {
                self.blocked.add(dest_url);
                return None;
            }
        } else if let Event::End(TagEnd::Link | TagEnd::Image) = &event {
            return (self.open.pop() != Some(false)).then_some(event);
        }
        if self.task.html == RawHtml::Keep {
            return Some(event);
        }
        if let Event::Html(text) | Event::InlineHtml(text) = event {
            return (self.task.html == RawHtml::Escape).then_some(Event::Text(text));
        }
        Some(if let Event::Start(Tag::HtmlBlock) = &event {
            Event::Start(Tag::Paragraph)
        } else if let Event::End(TagEnd::HtmlBlock) = &event {
            Event::End(TagEnd::Paragraph)
        } else {
            event
        })
    }
}

/// A text that does not grow beyond a limit.
struct TextBuffer {
    text: String,
    limit: usize,
}

impl fmt::Write for TextBuffer {
    fn write_str(&mut self, part: &str) -> fmt::Result {
        if self.text.len().saturating_add(part.len()) > self.limit {
            return Err(fmt::Error);
        }
        self.text.push_str(part);
        Ok(())
    }
}
