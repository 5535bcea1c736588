//! Doubts (W0xx): they stop nothing.

super::entries! {
    MORE_WARNINGS "W000" "More warnings than are listed",
        "A thousand warnings are listed, and the search ends there.",
        "tasks: [{name: a, template: work, timeout: 1}]  # … and so on" =>
        "tasks: [{name: a, template: work, timeout: 1m}]";
    IGNORED "W001" "Field that is ignored",
        "The field is accepted because files for other engines have it; it has no effect here.",
        "resources: {cpu: 2}" => "resources: {memory: 64Mi}";
    UNKNOWN_EXECUTOR "W002" "Executor that is not installed",
        "No plugin of this type was found where the workflow file was checked. An attempt of the task ends with code 3.",
        "executor: {type: ehco}" => "executor: {type: echo}";
    TIMEOUT_SPANS_RETRIES "W003" "Timeout shared by all attempts",
        "`timeout` runs from the first dispatch through all attempts and delays: after a timeout no time is left for the retry. \
         maxRuntime bounds each attempt.",
        "timeout: 10s\nretry: {limit: 3}" => "maxRuntime: 10s\nretry: {limit: 3}";
    UNREACHABLE_TEMPLATE "W004" "Template that nothing calls",
        "The template cannot be reached from the entrypoint or a hook.",
        "templates:\n- task: {name: main, executor: {type: echo}}\n- task: {name: spare, executor: {type: echo}}" =>
        "templates:\n- task: {name: main, executor: {type: echo}}";
    UNDECLARED_ARGUMENT "W005" "Argument that the template does not declare",
        "The argument is passed on all the same; declare it as an input, or correct its name.",
        "- {name: get, template: fetch, arguments: {parameters: [{name: url, value: x}, {name: urll, value: y}]}}" =>
        "- {name: get, template: fetch, arguments: {parameters: [{name: url, value: x}]}}";
    NO_ELSE "W006" "Policy that may match nothing",
        "When no rule matches, the pipeline continues, even after an error. Write `onUnmatched: fail`, which lets errors fail \
and ok outcomes continue; an else rule covers both.",
        "policy:\n  rules:\n  - {when: outcome.code == 4, then: {do: retry}}" =>
        "policy:\n  rules:\n  - {when: outcome.code == 4, then: {do: retry}}\n  onUnmatched: fail";
    NEVER_EQUAL "W007" "Comparison that is never true, or operation that always fails",
        "The value is one of a few words, and this is none of them; or the types of these values do not fit the operator.",
        "when: tasks.a.phase == 'succeeded'" => "when: tasks.a.phase == 'Succeeded'";
    PLUGIN_DEFAULTS "W008" "Defaults of a plugin that cannot be used",
        "The plugin's manifest has an invalid retry or timeout. No task gets a default from it, and the plugin itself is refused \
         when it is loaded, so that attempts end with code 3.",
        "retry = \"often\"" => "retry = { limit = 2 }";
    EMPTY_OUTPUT "W009" "Output that never has a value",
        "A dag's outputs are made from its tasks; one without value, valueFrom and default is always null. A loop's output without \
         them is the aggregated one of this name, and null when nothing of this name is aggregated.",
        "dag: {name: main, tasks: [{name: a, template: work}], outputs: {parameters: [{name: body}]}}" =>
        "dag:\n  name: main\n  tasks: [{name: a, template: work}]\n  outputs: {parameters: [{name: body, valueFrom: {parameter: tasks.a.outputs.parameters.body}}]}";
    SECRET_READ "W010" "Secret that an expression reads",
        "The value of a secret reaches only executors, as an input; an expression, and so every placeholder, reads null in its \
         place.",
        "- name: get\n  executor: {type: echo, config: {auth: \"Bearer {{ inputs.parameters.token }}\"}}\n  inputs: {parameters: [{name: token, valueFrom: {secretKeyRef: {name: api, key: token}}}]}" =>
        "- name: get\n  executor: {type: echo}\n  inputs: {parameters: [{name: token, valueFrom: {secretKeyRef: {name: api, key: token}}}]}";
    UNREACHED_RULE "W011" "Rule that is never applied",
        "The first rule that matches decides, and when its attempts are used up the task fails; a rule after one that always \
         matches, or has the same condition, is never evaluated.",
        "policy:\n  rules:\n  - {when: outcome.code == 4, then: {do: retry}}\n  - {when: outcome.code == 4, then: {do: continue}}\n  - else: {then: {do: fail}}" =>
        "policy:\n  rules:\n  - {when: outcome.code == 4, then: {do: retry}}\n  onUnmatched: fail";
    UNREACHED_TASK "W012" "Task that never runs",
        "With dag.entrypoints only the tasks that follow from them exist. A pipeline continues in its order only from a task \
         that may continue; a task that neither that nor a jump leads to never runs.",
        "dag:\n  name: main\n  entrypoints: [a]\n  tasks: [{name: a, template: work}, {name: b, template: work}]" =>
        "dag:\n  name: main\n  entrypoints: [a]\n  tasks: [{name: a, template: work}, {name: b, template: work, dependencies: [a]}]";
    NO_EFFECT "W013" "Field without effect",
        "Without limit and maxAttempts there is one attempt, and nothing else in retry matters; neither does a delay where no retry is made, \
         nor a factor or jitter without a delay. maxDelay caps delays that grow, so it has to be above delay.",
        "retry: {delay: 5s}" => "retry: {limit: 2, delay: 5s}";
    PASSED_ON "W014" "Key that the executor gets",
        "In a labelled task `spec` holds policy, timeout, maxRuntime, maxInactivity and deadline; every other key is the executor's, \
         unchanged.",
        "pipeline: {name: main, tasks: [{fetch: {kind: echo, spec: {polcy: {rules: []}}}}]}" =>
        "pipeline: {name: main, tasks: [{fetch: {kind: echo, spec: {policy: {rules: []}}}}]}";
    ABOVE_LIMIT "W015" "More memory than the operator allows",
        "resources.memory lowers the operator's limit for a task and never raises it.",
        "resources: {memory: 4Gi}" => "resources: {memory: 32Mi}";
    BARE_NUMBER "W016" "Duration without a unit",
        "A number alone is milliseconds. Write the unit, whether you mean seconds or milliseconds.",
        "timeout: 30" => "timeout: 30s";
    UNUSED_FUNCTION "W017" "Function that nothing calls",
        "No expression of the workflow file calls it, directly or through other functions.",
        "functions: |\n  fn is_late(code) { code == 4 }" =>
        "functions: |\n  fn is_late(code) { code == 4 }\ntemplates:\n- task: {name: main, executor: {type: echo}, phaseConditions: {failed: is_late(code)}}";
    DOES_NOT_FIT "W024" "Wait that does not fit",
        "A clock or a delay is longer than a clock around it, which ends the task first: a time limit that never runs out, or a retry \
         that never begins. The default of one hour of `spec.timeout` counts, too.",
        "- {name: get, template: work, deadline: 10s, retry: {limit: 2, delay: 1m}}" =>
        "- {name: get, template: work, deadline: 5m, retry: {limit: 2, delay: 1m}}";
    FOREIGN_NOTATION "W025" "Placeholder of another tool",
        "Placeholders are written `{{ … }}`. Placeholders of other tools stay text here, also for executors that know the notation.",
        "executor: {type: echo, config: {text: \"hello ${{ workflow.name }}\"}}" =>
        "executor: {type: echo, config: {text: \"hello {{ workflow.name }}\"}}";
    UNBUILT "W026" "Executor that is not built",
        "`phasm validate` builds nothing, and the inputs and outputs of a plugin are known only once it is built. Build it with \
         `phasm plugin build FOLDER` to have the inputs and outputs of its tasks checked; `phasm run` builds it, or says that it does not.",
        "executor: {type: greet}  # plugins/greet was never built" =>
        "executor: {type: greet}  # after `phasm plugin build plugins/greet`";
    NEARLY_AN_INPUT "W027" "Input that is nearly one that the executor knows",
        "The executor takes inputs of any name, and this one is called nearly as one of its manifest that is not given. It is passed \
         on all the same; correct its name. `phasm plugin inspect` shows the inputs.",
        "- {name: ask, executor: {type: approval}, inputs: {mesage: \"Publish?\"}}" =>
        "- {name: ask, executor: {type: approval}, inputs: {message: \"Publish?\"}}";
}
