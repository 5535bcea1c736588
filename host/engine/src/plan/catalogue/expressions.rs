//! Expressions and what they refer to (P04x).

super::entries! {
    EXPRESSION "P040" "Text that is no expression",
        "Expressions are one language everywhere: literals, paths, operators and filters.",
        "when: tasks.a.code = 0" => "when: tasks.a.code == 0";
    NOT_VISIBLE "P041" "Name that cannot be seen here",
        "What an expression sees depends on where it stands: workflow, system and vars everywhere; inputs and tasks of its own level \
         only; loop inside a loop; outcome in policy rules; hook in hooks.",
        "config: {path: \"{{ tasks.fetch.outputs.parameters.path }}\"}  # in a task template" =>
        "config: {path: \"{{ inputs.parameters.path }}\"}";
    NOT_UPSTREAM "P042" "Task that may not have run yet",
        "A task sees the results of what it depends on, directly or through others; anything else may be unfinished when it starts.",
        "- {name: b, template: x, when: \"tasks.a.code == 0\"}" =>
        "- {name: b, template: x, dependencies: [a], when: \"tasks.a.code == 0\"}";
    UNDECLARED_OUTPUT "P043" "Output that is not declared",
        "The task declares its outputs, or is a dag, which passes declared outputs only; this one would always be null.",
        "outputs: {parameters: [{name: body}]}  # and elsewhere tasks.fetch.outputs.parameters.text" =>
        "tasks.fetch.outputs.parameters.body";
    UNDECLARED_INPUT "P044" "Parameter that is not declared",
        "inputs.parameters and workflow.parameters hold what is declared; this one would always be null.",
        "config: {url: \"{{ inputs.parameters.link }}\"}  # the template declares url" =>
        "config: {url: \"{{ inputs.parameters.url }}\"}";
    HYPHEN "P045" "Hyphen that belongs to the name",
        "A hyphen directly between two characters of a name is part of it; for a minus put spaces around it.",
        "{{ loop.index-1 }}" => "{{ loop.index - 1 }}";
    REFERENCE "P046" "Reference of the wrong form",
        "valueFrom.parameter names one value by its path; calculations go into valueFrom.expression.",
        "valueFrom: {parameter: inputs.parameters.n + 1}" => "valueFrom: {expression: inputs.parameters.n + 1}";
    UNKNOWN_SIBLING "P047" "Reference to a task that does not exist",
        "`tasks.<name>` names tasks of the same dag or pipeline, in a container's outputs and conditions its own tasks.",
        "when: tasks.fetsh.code == 0" => "when: tasks.fetch.code == 0";
    UNKNOWN_MEMBER "P048" "Member that does not exist",
        "The object has the members that the message lists, and no others.",
        "when: tasks.fetch.status == 'Failed'" => "when: tasks.fetch.phase == 'Failed'";
    IMPOSSIBLE_VALUE "P049" "Comparison with a value that the parameter never has",
        "The parameter's type, or its enum, leaves this value out, and values of different types are never equal.",
        "inputs: {parameters: [{name: level, enum: [low, high], value: low}]}\nphaseConditions: {failed: inputs.parameters.level == 'hi'}" =>
        "inputs: {parameters: [{name: level, enum: [low, high], value: low}]}\nphaseConditions: {failed: inputs.parameters.level == 'high'}";
}
