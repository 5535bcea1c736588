//! Values that inputs and arguments get (P05x).

super::entries! {
    NO_SOURCE "P050" "Input without a value",
        "Each declared input needs an argument at every call, or a value, valueFrom or default where it is declared.",
        "- {name: get, template: fetch}  # which declares the input url" =>
        "- {name: get, template: fetch, arguments: {parameters: [{name: url, value: \"https://example.org\"}]}}";
    UNKNOWN_ARGUMENT "P051" "Parameter that the workflow does not have",
        "Only parameters that spec.arguments declares can be given to a run.",
        "-p colour=red" => "-p color=red";
    MISSING_ARGUMENT "P052" "Parameter without a value",
        "The parameter has neither a value nor a default in the workflow file, so the run must be given one.",
        "phasm run audit.yaml" => "phasm run audit.yaml -p source=main";
    UNBOUND_ARGUMENT "P053" "Parameter whose value cannot be calculated",
        "A value in spec.arguments is calculated when a run starts, from workflow, system, vars and the parameters declared before it.",
        "{name: a, value: \"{{ workflow.parameters.b + 1 }}\"}  # b is null" => "{name: a, value: 1}";
    UNBOUND_SETTING "P054" "Setting whose value cannot be calculated",
        "A timeout, delay or count that is an expression is calculated once, when a run is submitted, from the workflow's \
         parameters.",
        "apiVersion: phasm/v1\nkind: Workflow\nmetadata: {name: nightly}\nspec:\n  entrypoint: main\n  parameters: {minutes: \"5\"}\n  \
         timeout: \"{{ workflow.parameters.minutes * 2 }}m\"\n  templates: [{task: {name: main, executor: {type: echo}}}]" =>
        "apiVersion: phasm/v1\nkind: Workflow\nmetadata: {name: nightly}\nspec:\n  entrypoint: main\n  parameters: {minutes: 5}\n  \
         timeout: \"{{ workflow.parameters.minutes * 2 }}m\"\n  templates: [{task: {name: main, executor: {type: echo}}}]";
}
