//! The text of a document (P00x), as the readers of JSON and YAML report it.

super::entries! {
    MORE_PROBLEMS "P000" "More errors than are listed",
        "A thousand errors are listed, and the search ends there. Often most of them have one cause; fix it and validate \
         again.",
        "tasks: [1, 2, 3]  # … and so on, each of them no task" =>
        "tasks: [{name: a, template: work}]";
    SYNTAX "P001" "Text that is neither JSON nor YAML",
        "The text cannot be read at all, so nothing after this place was checked. Fix it and validate again.",
        "spec:\n  entrypoint: [main" => "spec:\n  entrypoint: main";
    TOO_LARGE "P002" "Workflow file too large",
        "A workflow file has at most 16 MiB of text, 128 levels and two million values; content that YAML aliases repeat \
         counts each time, its text included. Pass large data as files or through an executor instead.",
        "a: &a [x, x]\nb: &b [*a, *a]  # … and so on, doubling each time" => "items: [x, x]";
    UNSUPPORTED_YAML "P003" "YAML that a workflow does not use",
        "Workflow files are YAML 1.2 in its core schema: one document per file, no tags but the core schema's, no merge keys, \
         no alias to a value that contains it.",
        "executor: {type: echo, config: {base: &base {x: 1}, more: {<<: *base}}}" =>
        "executor: {type: echo, config: {base: &base {x: 1}, more: *base}}";
    KEY_NOT_TEXT "P004" "Key that is not text",
        "Keys are text. YAML reads bare numbers, true, false and null as values of these types; quote such a key.",
        "executor: {type: echo, config: {404: gone}}" =>
        "executor: {type: echo, config: {\"404\": gone}}";
    NUMBER_RANGE "P005" "Number that cannot be kept exactly",
        "Integers lie between -9223372036854775808 and 18446744073709551615; other numbers are finite doubles, which \
         have about 16 digits. Anything else would silently become another number; write it as text.",
        "executor: {type: echo, config: {big: 18446744073709551616}}" =>
        "executor: {type: echo, config: {big: \"18446744073709551616\"}}";
    UNREADABLE "P006" "File that cannot be read",
        "There is no such file, it may not be read, or it is not a regular file: workflow files are read from files and, with \
         `-`, from stdin.",
        "phasm validate workflows/" => "phasm validate workflows/nightly.yaml";
    NOT_TEXT "P007" "File that is not text",
        "Workflow files are text in UTF-8, with or without a byte order mark. Editors can save as UTF-8; a plugin's component \
         is named by `executor.type` and never given as a workflow file.",
        "phasm run echo.wasm" => "phasm run greet.yaml";
    NUL "P008" "Text with U+0000",
        "The character U+0000 stands in no text: not in workflow files, parameters and responses, nor in names and forms of \
         requests. Databases do not keep it, and many programs take it for the end of a text.",
        "executor: {type: echo, config: {text: \"a\\0b\"}}" =>
        "executor: {type: echo, config: {text: \"a b\"}}";
}
