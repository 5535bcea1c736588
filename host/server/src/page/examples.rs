//! Examples to begin with.

use maud::{Markup, html};

use crate::auth::caller::Caller;

/// A workflow file to begin with.
pub(super) struct Example {
    /// Name in the address.
    name: &'static str,
    title: &'static str,
    /// One line about it.
    about: &'static str,
    text: &'static str,
}

/// The example that a new user sees.
pub(super) const FIRST: Example = Example {
    name: "hello",
    title: "A greeting",
    about: "One task, which returns a text with a parameter.",
    text: include_str!("assets/hello.yaml"),
};

const EXAMPLES: [Example; 7] = [
    FIRST,
    Example {
        name: "loop",
        title: "A loop",
        about: "A task for each item of a list, two at a time, and a table of the results.",
        text: include_str!("assets/loop.yaml"),
    },
    Example {
        name: "http",
        title: "An HTTP request with retry",
        about: "Asks an API, again after temporary errors, and selects a part of the response.",
        text: include_str!("assets/http.yaml"),
    },
    Example {
        name: "tolerate",
        title: "A tolerated failure",
        about: "The run continues after a task that may fail, and reports how that task ended.",
        text: include_str!("assets/tolerate.yaml"),
    },
    Example {
        name: "approval",
        title: "An approval",
        about: "The run waits until a person approves, up to a week.",
        text: include_str!("assets/approval.yaml"),
    },
    Example {
        name: "poll",
        title: "A pipeline that polls",
        about: "Starts a job elsewhere, and asks every ten seconds until it is done.",
        text: include_str!("assets/poll.yaml"),
    },
    Example {
        name: "schedule",
        title: "A schedule",
        about: "A run at half past seven on each working day.",
        text: include_str!("assets/schedule.yaml"),
    },
];

/// Returns the example with a name.
pub(super) fn named(name: &str) -> Option<&'static Example> {
    EXAMPLES.iter().find(|example| example.name == name)
}

/// Returns the text of an example, in a namespace that the caller may use.
pub(super) fn for_caller(caller: &Caller, example: &Example) -> String {
    match caller.namespaces.first().filter(|_| !caller.sees("default")) {
        Some(own) => example.text.replacen("metadata: { ", &format!("metadata: {{ namespace: {own}, "), 1),
        None => example.text.to_owned(),
    }
}

/// A list of the examples.
pub(super) fn gallery() -> Markup {
    html! {
        details class="examples" {
            summary { "Examples" }
            ul {
                @for Example { name, title, about, .. } in &EXAMPLES {
                    li { a href={ "/submit?example=" (name) } { (title) } p class="help" { (about) } }
                }
            }
            p class="help" { "Their executors come with Phasm. HTTP requests need a grant in the configuration." }
        }
    }
}

#[cfg(test)]
mod tests {
    use phasm::{
        Value,
        engine::plan::{Draft, Executors},
        reader,
    };

    use super::*;

    /// Every example is a workflow file of today, without errors and warnings.
    #[test]
    fn every_example_is_valid() {
        for Example { name, text, .. } in &EXAMPLES {
            let tree = reader::read("example.yaml", text).unwrap_or_else(|found| panic!("{name}: {found:?}"));
            let plan = Draft::read(&tree).plan(&Executors::any(), &Value::Null);
            let plan = plan.unwrap_or_else(|found| panic!("{name}: {found:?}"));
            assert!(plan.warnings.is_empty(), "{name}: {:?}", plan.warnings);
            assert!(text.starts_with("apiVersion: phasm/v1\n") && text.contains("metadata: { "), "{name}");
        }
    }
}
