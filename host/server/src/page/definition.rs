//! The workflow file of a run as it was submitted, without its comments.

use std::ops::Range;

use maud::{Markup, html};
use phasm::engine::{event::TaskId, run::Run};

use super::yaml::yaml;

/// Lines that are shown of a file.
const MAX_LINES: usize = 4_000;

/// The file with numbers of lines; the lines that name the selected task are marked.
pub(super) fn draw(run: &Run, selected: Option<TaskId>) -> Markup {
    let text = yaml(&run.plan().document.value());
    let name = selected.and_then(|id| run.task(id)).map(|task| run.node(task).name.to_string());
    let is_marked = |line: &str| {
        let named = line.trim_start().trim_start_matches("- ").strip_prefix("name: ");
        named.is_some_and(|named| name.as_deref().is_some_and(|name| named.trim_matches('"') == name))
    };
    let lines: Vec<_> = text.lines().collect();
    let shown = window(lines.len(), lines.iter().position(|line| is_marked(line)));
    html! {
        p class="help" {
            "Comments and the order of fields are not kept."
            @if shown.len() < lines.len() { " Lines " (shown.start + 1) " to " (shown.end) " of " (lines.len()) "." }
        }
        ol class="code numbered" start=(shown.start + 1) tabindex="0" aria-label="The workflow file" {
            @for line in lines.get(shown).unwrap_or_default() {
                li class=[is_marked(line).then_some("marked")] { code { (line) } }
            }
        }
    }
}

/// Lines that are shown of so many: all, or those around the marked one.
fn window(lines: usize, marked: Option<usize>) -> Range<usize> {
    let last = lines.saturating_sub(MAX_LINES);
    let start = marked.map_or(0, |marked| marked.saturating_sub(MAX_LINES / 2)).min(last);
    start..lines.min(start + MAX_LINES)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_file_is_shown_around_the_marked_line() {
        assert_eq!(window(10, Some(9)), 0..10);
        assert_eq!(window(10_000, None), 0..MAX_LINES);
        assert_eq!(window(10_000, Some(5_000)), 3_000..7_000);
        assert_eq!(window(10_000, Some(9_999)), 6_000..10_000);
    }
}
