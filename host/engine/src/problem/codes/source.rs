//! The text of a document (P00x), as the readers of JSON and YAML report it.

super::entries! {
    SYNTAX "P001" "Text that is neither JSON nor YAML",
        "The text cannot be read at all, so nothing behind this place was looked at. Mend it and validate again.",
        "spec:\n  entrypoint: [main" => "spec:\n  entrypoint: main";
    TOO_LARGE "P002" "Document too large",
        "A document has at most 16 MiB of text, 128 levels and two million values; what YAML aliases repeat counts each time, \
         its text included. Pass large data as files or through an executor instead.",
        "a: &a [x, x]\nb: &b [*a, *a]  # … and so on, doubling each time" => "items: [x, x]";
    UNSUPPORTED_YAML "P003" "YAML that a workflow does not use",
        "Documents are YAML 1.2 in its core schema: one document per file, no tags but the core schema's, no merge keys, no alias \
         to something around it.",
        "executor: {type: echo, config: {base: &base {x: 1}, more: {<<: *base}}}" =>
        "executor: {type: echo, config: {base: &base {x: 1}, more: *base}}";
    KEY_NOT_TEXT "P004" "Key that is not text",
        "Keys are text. YAML reads bare numbers, true, false and null as what they are; quote such a key.",
        "executor: {type: echo, config: {404: gone}}" =>
        "executor: {type: echo, config: {\"404\": gone}}";
    NUMBER_RANGE "P005" "Number that cannot be kept exactly",
        "Integers lie between -9223372036854775808 and 18446744073709551615; other numbers are finite doubles. Anything else would \
         silently become another number; write it as text.",
        "executor: {type: echo, config: {big: 18446744073709551616}}" =>
        "executor: {type: echo, config: {big: \"18446744073709551616\"}}";
}
