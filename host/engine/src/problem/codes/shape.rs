//! The form of a document (P01x): which fields there are and what they hold.

super::entries! {
    OTHER_DIALECT "P009" "Spelling of another dialect",
        "Files of `phasm/v1` may write what files of `aether/v1` write in another way; the page on dialects has the table.",
        "retry: {attempts: 3}" => "retry: {limit: 2}";
    WRONG_TYPE "P010" "Value of the wrong type",
        "A field holds text, a number, true or false, a list or an object, never another kind. null is a value of its own: leave \
         a field out instead of setting it to null.",
        "retry: 3" => "retry: {limit: 3}";
    UNKNOWN_FIELD "P011" "Field that does not exist",
        "Unknown fields are refused, so that a typing error is not silently ignored.",
        "retry: {limt: 3}" => "retry: {limit: 3}";
    DUPLICATE_KEY "P012" "Key that occurs twice",
        "An object has each key once; only one of two equal keys could count.",
        "timeout: 5m\ntimeout: 10m" => "timeout: 10m";
    MISSING_FIELD "P013" "Field that is missing",
        "The object makes no sense without this field.",
        "metadata: {}" => "metadata: {name: nightly}";
    UNKNOWN_WORD "P014" "Word that is not one of the allowed ones",
        "The field takes one of a few words, written exactly as listed.",
        "loop: {name: main, body: work, items: [1, 2], aggregate: {strategy: all}}" =>
        "loop: {name: main, body: work, items: [1, 2], aggregate: {strategy: list}}";
    OUT_OF_RANGE "P015" "Number out of range",
        "The field takes numbers within the bounds that the message names.",
        "priority: 5000" => "priority: 900";
    NOT_EXACTLY_ONE "P016" "Not exactly one of several fields",
        "These fields exclude each other, and one of them is needed.",
        "- {name: build, template: work, executor: {type: echo}}" =>
        "- {name: build, template: work}";
    EMPTY "P017" "Empty list or text",
        "The list needs at least one element, the text at least one character to make sense.",
        "dag: {name: main, tasks: []}" => "dag: {name: main, tasks: [{name: a, template: work}]}";
    NOT_ALLOWED "P018" "Field that may not stand here",
        "The field exists, but not in this kind of object; it would have no effect.",
        "- {name: build, template: work, inputs: {parameters: []}}" =>
        "- {name: build, template: work, arguments: {parameters: []}}";
    INVALID_NAME "P019" "Name of the wrong form",
        "Names of workflows, templates and tasks are lower-case letters, digits and inner hyphens, at most 63 characters; labels of \
         pipeline tasks also allow `_`. Names of parameters are letters, digits, `_` and, not first, `-`.",
        "- {name: Fetch Page, template: work}" =>
        "- {name: fetch-page, template: work}";
}
