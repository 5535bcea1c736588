//! Problems that depend on the host that runs a document: executors, their inputs and outputs, endpoints (P07x).

super::entries! {
    NOT_INSTALLED "P070" "Executor that is not installed",
        "No plugin of this name, version or digest was found, so no attempt of the task could succeed. Correct the name, or \
         add the plugin's directory (`--plugins`, or `plugins` in the configuration); `phasm plugin new NAME` starts one. `--allow-missing` runs the workflow all \
         the same: the only attempt then ends with code 3.",
        "executor: {type: ehco}" => "executor: {type: echo}";
    UNUSABLE "P071" "Executor that cannot be used",
        "There is a plugin of this name, but it is not used: it cannot be read, built or loaded; or its version is held in the \
         library until it is approved (`phasm plugin approve`); or it is not signed by a key that `[trust]` of the \
         configuration requires (`phasm plugin sign`). `phasm plugin inspect` says which. Nothing runs until the plugin is \
         usable; `--allow-missing` runs the workflow all the same: the only attempt then ends with code 3.",
        "executor: {type: broken}" => "executor: {type: echo}";
    MISSING_INPUT "P072" "Input that an executor needs",
        "The plugin's manifest says that the executor requires it (`phasm plugin inspect` shows its inputs). Write it among \
         the inputs of the task; where a template is called, among the inputs of the template, or as an argument of the call. A file of \
         `aether/v1` has lists: `inputs: {parameters: [{name: dir, value: docs}]}`.",
        "{name: words, executor: {type: count}}" =>
        "{name: words, executor: {type: count}, inputs: {dir: docs}}";
    UNFIT_INPUT "P073" "Value that an executor does not take",
        "The plugin's manifest gives the type of each input. Values that are only known when the task runs are checked before the \
         executor is called: the attempt ends with code 3.",
        "inputs: {dir: docs, top: lots}" => "inputs: {dir: docs, top: 10}";
    UNKNOWN_INPUT "P074" "Input that an executor does not have",
        "The plugin's manifest names all inputs of the executor.",
        "inputs: {dir: docs, tpo: 10}" => "inputs: {dir: docs, top: 10}";
    NEVER_RETURNED "P075" "Output that an executor never returns",
        "The plugin's manifest names all outputs of the executor; another one would always be null.",
        "outputs: {parameters: [{name: wrods}]}" => "outputs: {parameters: [{name: words}]}";
    UNKNOWN_ENDPOINT "P076" "Endpoint that is not configured",
        "Endpoints are defined in the operator's configuration: `[notify.NAME]`, whose `namespaces` have to include the \
         workflow's. `--allow-missing` runs the workflow all the same: no endpoint of that name is notified.",
        "notify: [caht]" => "notify: [chat]";
    UNKNOWN_SETTING "P077" "Setting that an executor does not have",
        "The plugin's manifest lists all settings of the executor. A misspelt one would not have its effect: the executor would \
         refuse it when the task runs.",
        "executor: {type: approval, config: {notby: [ada]}}" => "executor: {type: approval, config: {notBy: [ada]}}";
    SUSPENDING_HOOK "P078" "Hook that suspends",
        "The executor waits for a response by suspending, and a hook cannot be resumed: it would end Error each time. Call it as a \
         task.",
        "hooks: {onSuccess: {template: ask}}  # ask: {executor: {type: approval}}" =>
        "tasks: [{name: work, template: work}, {name: ask, template: ask, dependencies: [work]}]";
    NEVER_FITS "P079" "Wait for people that its run cannot keep",
        "The task waits for a response for longer than a clock that is written around it allows, so that its own time can never be \
         used up. A `spec.timeout` of active time (`{active: 1h}`, the default of `aether/v1`) does not count time in which the \
         run only waits for people; a duration does.",
        "spec: {timeout: 1h}  # and: {name: ask, executor: {type: approval}, timeout: 7d}" =>
        "spec: {timeout: 8d}  # and: {name: ask, executor: {type: approval}, timeout: 7d}";
}
