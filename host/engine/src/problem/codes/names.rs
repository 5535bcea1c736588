//! Names and how templates and tasks hang together (P02x).

super::entries! {
    UNKNOWN_TEMPLATE "P020" "Template that does not exist",
        "A task, loop, hook or the entrypoint calls a template that spec.templates does not define.",
        "entrypoint: mian" => "entrypoint: main";
    DUPLICATE_NAME "P021" "Name that is taken",
        "Templates, the tasks of a dag or pipeline and the parameters of a list are found by name; a name stands for one of them.",
        "- {name: a, template: work}\n- {name: a, template: work}" =>
        "- {name: a, template: work}\n- {name: b, template: work}";
    UNKNOWN_TASK "P022" "Task that does not exist",
        "Dependencies, entrypoints and jumps name tasks of the same dag or pipeline.",
        "- {name: a, template: work}\n- {name: b, template: work, dependencies: [aa]}" =>
        "- {name: a, template: work}\n- {name: b, template: work, dependencies: [a]}";
    CYCLE "P023" "Tasks that wait for each other",
        "Each task of the cycle waits for the next, so none could ever start. Remove one of the dependencies.",
        "- {name: a, template: work, dependencies: [b]}\n- {name: b, template: work, dependencies: [a]}" =>
        "- {name: a, template: work}\n- {name: b, template: work, dependencies: [a]}";
    RECURSION "P024" "Template that reaches itself",
        "A template that calls itself, directly or through others, would never end. Repeat with a loop and repeatCondition.",
        "dag: {name: main, tasks: [{name: again, template: main}]}" =>
        "loop: {name: main, body: work, repeatCondition: loop.index < 9, maxIterations: 10}";
    TOO_DEEP "P025" "Tasks nested too deeply",
        "The deepest task lies below spec.maxNestedDepth levels of dags, loops, pipelines and wrappers; the entrypoint is level 0.",
        "maxNestedDepth: 1\ntemplates:\n- dag: {name: main, tasks: [{name: a, template: part}]}\n- dag: {name: part, tasks: [{name: b, template: work}]}" =>
        "maxNestedDepth: 2\ntemplates:\n- dag: {name: main, tasks: [{name: a, template: part}]}\n- dag: {name: part, tasks: [{name: b, template: work}]}";
    OUTSIDE_ENTRYPOINTS "P026" "Dependency outside the entrypoints",
        "With dag.entrypoints only tasks that are reachable from them exist; a task cannot wait for one that does not.",
        "dag:\n  name: main\n  entrypoints: [a]\n  tasks:\n  - {name: a, template: work}\n  - {name: b, template: work}\n  - {name: c, template: work, dependencies: [a, b]}" =>
        "dag:\n  name: main\n  entrypoints: [a, b]\n  tasks:\n  - {name: a, template: work}\n  - {name: b, template: work}\n  - {name: c, template: work, dependencies: [a, b]}";
    NOT_A_TASK "P027" "Template of the wrong kind",
        "Hooks call task templates with an executor; a wrapper calls a dag, loop or pipeline.",
        "hooks: {onExit: {template: part}}  # a dag" =>
        "hooks: {onExit: {template: work}}  # a task";
    CONTAINER_CALL "P028" "Field that a dag, loop or pipeline does not take",
        "A dag, loop or pipeline has tasks with retry and timeouts of their own; the call itself takes only dependencies, arguments, \
         when, timeout, continueOn, phaseConditions and hooks. To run it again as a whole, wrap it in a task template.",
        "- {name: all, template: part, retry: {limit: 2}}" =>
        "- {name: all, template: part-again, retry: {limit: 2}}\n# with the template\n# task: {name: part-again, template: part}";
    RESERVED_LABEL "P029" "Label that expressions already use",
        "Tasks of a pipeline are visible under their label, which must therefore differ from the other names in expressions.",
        "pipeline: {name: main, tasks: [{name: outcome, template: work}]}" =>
        "pipeline: {name: main, tasks: [{name: result, template: work}]}";
}
