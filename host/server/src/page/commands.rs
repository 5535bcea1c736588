//! Commands that do what a page shows, to be copied.

use maud::{Markup, html};
use phasm::engine::run::Run;

/// The commands about a run: with `phasm`, and with `curl`. `url` is the server's address; with a key they need it, too.
pub(super) fn of_run(run: &Run, url: &str, has_key: bool) -> Markup {
    let id = run.id();
    let key = if has_key { " -H \"Authorization: Bearer $PHASM_KEY\"" } else { "" };
    let lines = if run.phase().is_terminal() {
        vec![
            format!("phasm get {id} --server {url}"),
            format!("phasm rerun {id} --server {url}"),
            format!("curl {url}/v1/runs/{id}{key}"),
        ]
    } else {
        vec![
            format!("phasm watch {id} --server {url}"),
            format!("phasm cancel {id} --server {url}"),
            format!("curl {url}/v1/runs/{id}?wait=1m{key}"),
        ]
    };
    html! {
        details class="commands" {
            summary { "Commands for this run" }
            @for line in &lines { pre tabindex="0" data-copy { (line) } }
            @if has_key { p class="help" { "with a key in " code { "PHASM_KEY" } } }
        }
    }
}
