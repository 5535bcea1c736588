//! Expressions and what they refer to (P04x).

super::entries! {
    EXPRESSION "P040" "Invalid expression",
        "All expressions have the same language: literals, paths, operators and filters.",
        "when: tasks.a.code = 0" => "when: tasks.a.code == 0";
    NOT_VISIBLE "P041" "Variable that does not exist here",
        "The variables of an expression depend on its place: workflow, system and vars everywhere; inputs and tasks of its own \
         level only; loop inside a loop; outcome in policy rules; hook in hooks.",
        "task: {name: main, executor: {type: echo, config: {path: \"{{ tasks.fetch.outputs.parameters.path }}\"}}}" =>
        "task:\n  name: main\n  executor: {type: echo, config: {path: \"{{ inputs.parameters.path }}\"}}\n  inputs: {parameters: [{name: path, default: /}]}";
    NOT_UPSTREAM "P042" "Task that may not have run yet",
        "A task sees the results of the tasks that it depends on, directly or through others; any other task may be unfinished \
         when it starts.",
        "- {name: a, template: work}\n- {name: b, template: work, when: tasks.a.code == 0}" =>
        "- {name: a, template: work}\n- {name: b, template: work, dependencies: [a], when: tasks.a.code == 0}";
    UNDECLARED_OUTPUT "P043" "Output that is not declared",
        "The task declares its outputs, or is a dag, which passes declared outputs only; this one would always be null.",
        "- {name: a, executor: {type: echo}, outputs: {parameters: [{name: body}]}}\n- {name: b, template: work, dependencies: [a], when: tasks.a.outputs.parameters.text == 'x'}" =>
        "- {name: a, executor: {type: echo}, outputs: {parameters: [{name: body}]}}\n- {name: b, template: work, dependencies: [a], when: tasks.a.outputs.parameters.body == 'x'}";
    UNDECLARED_INPUT "P044" "Parameter that is not declared",
        "inputs.parameters and workflow.parameters hold declared parameters; this one would always be null.",
        "executor: {type: echo, config: {url: \"{{ inputs.parameters.link }}\"}}\ninputs: {parameters: [{name: url, value: x}]}" =>
        "executor: {type: echo, config: {url: \"{{ inputs.parameters.url }}\"}}\ninputs: {parameters: [{name: url, value: x}]}";
    HYPHEN "P045" "Hyphen that belongs to the name",
        "A hyphen directly between two characters of a name is part of it; for a minus put spaces around it.",
        "loop: {name: main, body: work, repeatCondition: loop.index-1 < 3, maxIterations: 9}" =>
        "loop: {name: main, body: work, repeatCondition: loop.index - 1 < 3, maxIterations: 9}";
    REFERENCE "P046" "Reference of the wrong form",
        "valueFrom.parameter names one value by its path; calculations go into valueFrom.expression.",
        "executor: {type: echo}\ninputs: {parameters: [{name: n, valueFrom: {parameter: workflow.parameters.region + '-1'}}]}" =>
        "executor: {type: echo}\ninputs: {parameters: [{name: n, valueFrom: {expression: workflow.parameters.region + '-1'}}]}";
    UNKNOWN_SIBLING "P047" "Reference to a task that does not exist",
        "`tasks.<name>` names tasks of the same dag or pipeline, in a container's outputs and conditions its own tasks.",
        "- {name: fetch, template: work}\n- {name: b, template: work, dependencies: [fetch], when: tasks.fetsh.code == 0}" =>
        "- {name: fetch, template: work}\n- {name: b, template: work, dependencies: [fetch], when: tasks.fetch.code == 0}";
    UNKNOWN_MEMBER "P048" "Member that does not exist",
        "The object has the members that the message lists, and no others.",
        "when: tasks.a.status == 'Failed'" =>
        "when: tasks.a.phase == 'Failed'";
    IMPOSSIBLE_VALUE "P049" "Operation on values that never fit it",
        "The parameter's type, or its enum, leaves this value out. Values of different types are never equal and have no order, a sum or an \
         element; a filter takes values of some types, and a condition is true or false; `x | float` makes a number of a text, `x | string` a text of a number.",
        "task:\n  name: main\n  executor: {type: echo}\n  inputs: {parameters: [{name: level, enum: [low, high], value: low}]}\n  phaseConditions: {failed: inputs.parameters.level == 'hihg'}" =>
        "task:\n  name: main\n  executor: {type: echo}\n  inputs: {parameters: [{name: level, enum: [low, high], value: low}]}\n  phaseConditions: {failed: inputs.parameters.level == 'high'}";
}
