//! The workflow file of a run as it was submitted, without its comments.

use maud::{Markup, html};
use phasm::engine::{event::TaskId, run::Run};

use super::yaml::yaml;

/// The file with numbers of lines; the lines that name the selected task are marked.
pub(super) fn draw(run: &Run, selected: Option<TaskId>) -> Markup {
    let text = yaml(&run.plan().document.value());
    let name = selected.and_then(|id| run.task(id)).map(|task| run.node(task).name.to_string());
    let is_marked = |line: &str| {
        let named = line.trim_start().trim_start_matches("- ").strip_prefix("name: ");
        named.is_some_and(|named| name.as_deref().is_some_and(|name| named.trim_matches('"') == name))
    };
    html! {
        p class="help" { "Comments and the order of fields are not kept." }
        ol class="code numbered" tabindex="0" aria-label="The workflow file" {
            @for line in text.lines() {
                li class=[is_marked(line).then_some("marked")] { code { (line) } }
            }
        }
    }
}
