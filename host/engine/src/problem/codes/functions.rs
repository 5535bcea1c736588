//! Functions of a document (P08x).

super::entries! {
    FUNCTION "P080" "Fault in a function",
        "spec.functions holds `fn` definitions of Rhai: let, if, switch, loops, texts, lists and maps; operators and filters \
         have the same meaning as in expressions. A function sees its parameters only, and calls filters and the other \
         functions of the file.",
        "functions: |\n  fn is_late(code) { code == limit }\ntemplates:\n- task: {name: main, executor: {type: echo}, phaseConditions: {failed: is_late(code)}}" =>
        "functions: |\n  fn is_late(code) { code == 4 }\ntemplates:\n- task: {name: main, executor: {type: echo}, phaseConditions: {failed: is_late(code)}}";
}
