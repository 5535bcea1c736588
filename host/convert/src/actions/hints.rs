//! Advice for fields without a counterpart.

/// Returns advice for a field by its name.
pub(crate) fn hint(name: &str) -> Option<&'static str> {
    Some(match name {
        "on"
        | "push"
        | "pull_request"
        | "workflow_run"
        | "release"
        | "issues"
        | "repository_dispatch"
        | "pull_request_target" => "let a webhook submit the run through the HTTP API",
        "workflow_call" => "call a template of the same file",
        "cron" => "a workflow has one schedule; write another file for each further one",
        "runs-on" | "container" | "services" | "shell" | "image" => {
            "there are no runners: a step is a WebAssembly component in a sandbox"
        }
        "permissions" | "secrets" | "environment" => "the operator's configuration has grants and secrets",
        "concurrency" | "group" | "cancel-in-progress" => {
            "write `concurrencyPolicy` in a schedule; there are no locks between runs"
        }
        "defaults" | "run-name" => "write it where it is needed",
        "name" => "a task has one name; this one's is made of its id",
        "fail-fast" => "write `continueOn` on the loop",
        "matrix" => "write `itemsFrom` on the loop, an expression that gives a list of objects",
        "max-parallel" => "write `concurrency` on the loop",
        "timeout-minutes" => "write `timeout`",
        "continue-on-error" => "write `continueOn`, with `true` and `false` only",
        "if" => "write `when`, or a hook `onFailure` or `onExit` for work after a failure",
        "env" => "write inputs",
        _ => return None,
    })
}
