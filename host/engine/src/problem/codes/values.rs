//! Values that have a meaning of their own (P03x).

super::entries! {
    DURATION "P030" "Invalid duration",
        "A duration is whole numbers with units, such as `1h 30m` or `500 ms`; a bare number is milliseconds. Units: ms, s, m, h, d \
         and their long forms.",
        "timeout: 1.5m" => "timeout: 1m 30s";
    NO_TIME "P031" "Timeout without time",
        "A timeout of zero would end everything before it starts. Leave it out to have none; spec.timeout takes `none`.",
        "timeout: 0s" => "timeout: 30s";
    TWO_RETRIES "P032" "Two ways of retrying at once",
        "Retry is written with `limit` (retries), with `maxAttempts` (attempts in all) or as policy rules; use only one of \
         them in one place.",
        "retry: {limit: 2, maxAttempts: 3}" => "retry: {limit: 2}";
    COUNT "P033" "Count that cannot be",
        "Attempts and retries are counted in whole numbers: limit 0 to 100, maxAttempts -1 (unlimited) or more, attempts 1 or more.",
        "retry: {maxAttempts: -2}" => "retry: {maxAttempts: -1}";
    LEGACY_RETRY "P034" "Retry in NoETL's legacy spelling",
        "`max_attempts` and `retry_when` were replaced by policy rules, which the hint prints.",
        "retry: {max_attempts: 5, retry_when: \"{{ status_code >= 500 }}\"}" =>
        "policy:\n  rules:\n  - when: \"{{ outcome.status == 'error' and outcome.http.status >= 500 }}\"\n    then: {do: retry, attempts: 5, backoff: exponential, delay: 1.0}\n  - when: \"{{ outcome.status == 'error' }}\"\n    then: {do: fail}\n  - else:\n      then: {do: continue}";
    WRONG_LITERAL "P035" "Value that does not fit its declared type",
        "The parameter declares a type that this value does not have. Nothing is converted.",
        "executor: {type: echo}\ninputs: {parameters: [{name: count, type: integer, value: \"3\"}]}" =>
        "executor: {type: echo}\ninputs: {parameters: [{name: count, type: integer, value: 3}]}";
    NOT_IN_ENUM "P036" "Value that is not one of the declared ones",
        "The parameter lists its values in `enum`.",
        "executor: {type: echo}\ninputs: {parameters: [{name: level, enum: [low, high], value: medium}]}" =>
        "executor: {type: echo}\ninputs: {parameters: [{name: level, enum: [low, high], value: high}]}";
    SIZE "P037" "Invalid size",
        "A size is a whole number of bytes, or one with KB, MB, GB, Ki, Mi or Gi.",
        "resources: {memory: 64 megs}" => "resources: {memory: 64Mi}";
    ELSE_RULE "P038" "Else rule of the wrong form",
        "A policy has at most one else rule, at its end, written `- else: {then: {do: …}}`.",
        "policy: {rules: [{else: {do: continue}}]}" =>
        "policy: {rules: [{else: {then: {do: continue}}}]}";
    RULE_ACTION "P039" "Key or action that a rule cannot have here",
        "Each action has keys of its own: retry has attempts, backoff and delay, jump has to. jump, break, set_iter and set_ctx exist \
         in pipelines only.",
        "policy: {rules: [{else: {then: {do: fail, attempts: 3}}}]}" =>
        "policy: {rules: [{else: {then: {do: fail}}}]}";
}
