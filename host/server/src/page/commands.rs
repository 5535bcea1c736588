//! Commands that do what a page shows, to be copied.

use maud::{Markup, html};
use phasm::engine::run::Run;

use crate::client::segment;

/// The commands about a run: with `phasm`, and with `curl`. `url` is the server's address; with a key they need it, too.
pub(super) fn of_run(run: &Run, url: &str, has_key: bool) -> Markup {
    let id = run.id();
    let key = if has_key { " -H \"Authorization: Bearer $PHASM_KEY\"" } else { "" };
    let badge = format!("{url}/v1/workflows/{}/badge.svg", segment(&run.plan().name));
    let state = ("State, as JSON", format!("curl '{url}/v1/runs/{id}'{key}"));
    let lines = if run.phase().is_terminal() {
        vec![
            ("Everything about it", format!("phasm get {id} --server {url}")),
            ("Run it again", format!("phasm rerun {id} --server {url}")),
            state,
        ]
    } else {
        vec![
            ("Follow it", format!("phasm watch {id} --server {url}")),
            ("Cancel it", format!("phasm cancel {id} --server {url}")),
            state,
            ("Wait for its end, a minute at most", format!("curl '{url}/v1/runs/{id}?wait=1m'{key}")),
        ]
    };
    let shared =
        [("Link", format!("{url}/runs/{id}")), ("Badge of the last run of this workflow that ended", badge)];
    html! {
        details class="commands" {
            summary { "Link, badge and commands" }
            @for (words, line) in lines.iter().chain(&shared) { p class="help" { (words) } pre tabindex="0" data-copy { (line) } }
            @if has_key { p class="help" { "with a key in " code { "PHASM_KEY" } } }
        }
    }
}
