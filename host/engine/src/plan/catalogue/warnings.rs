//! Doubts (W0xx): they stop nothing.

super::entries! {
    IGNORED "W001" "Field that is ignored",
        "The field is read for the sake of documents written for other engines; it has no effect here.",
        "resources: {cpu: 2}" => "resources: {memory: 64Mi}";
    UNKNOWN_EXECUTOR "W002" "Executor that is not installed",
        "No plugin of this type is known where the document was checked. An attempt of the task ends with code 3.",
        "executor: {type: ehco}" => "executor: {type: echo}";
    TIMEOUT_SPANS_RETRIES "W003" "Timeout shared by all attempts",
        "`timeout` runs from the first dispatch through all attempts and delays: after a timeout no time is left for the retry. \
         maxRuntime bounds each attempt.",
        "timeout: 10s\nretry: {limit: 3}" => "maxRuntime: 10s\nretry: {limit: 3}";
    UNREACHABLE_TEMPLATE "W004" "Template that nothing calls",
        "The template cannot be reached from the entrypoint or a hook.",
        "templates: [{task: {name: main, executor: {type: echo}}}, {task: {name: spare, executor: {type: echo}}}]" =>
        "templates: [{task: {name: main, executor: {type: echo}}}]";
    UNDECLARED_ARGUMENT "W005" "Argument that the template does not declare",
        "It is passed on all the same; declare it as an input, or mend its name.",
        "arguments: {parameters: [{name: urll, value: x}]}" => "arguments: {parameters: [{name: url, value: x}]}";
    NO_ELSE "W006" "Policy that may match nothing",
        "When no rule matches, the pipeline continues, even after an error. Write an else rule, or `onUnmatched: fail`.",
        "rules:\n- when: outcome.code == 4\n  then: {do: retry}" =>
        "rules:\n- when: outcome.code == 4\n  then: {do: retry}\n- else: {then: {do: fail}}";
    NEVER_EQUAL "W007" "Comparison that is never true",
        "The value is one of a few words, and this is none of them.",
        "when: tasks.a.phase == 'succeeded'" => "when: tasks.a.phase == 'Succeeded'";
    PLUGIN_DEFAULTS "W008" "Defaults of a plugin that cannot be used",
        "The plugin's manifest has a retry or timeout that is none; the task runs without it.",
        "retry = \"often\"" => "retry = { limit = 2 }";
    EMPTY_OUTPUT "W009" "Output that never has a value",
        "A dag's outputs are made from its tasks; one without value, valueFrom and default is always null.",
        "outputs: {parameters: [{name: body}]}" =>
        "outputs: {parameters: [{name: body, valueFrom: {parameter: tasks.fetch.outputs.parameters.body}}]}";
}
