//! Mistakes in the text itself: each is told where it was made, and what to write.

use super::{super::*, lines};

/// Asserts that `text` has one problem, P001, at `line:column`, whose message and hint say this.
#[track_caller]
fn tells(name: &str, text: &str, at: &str, message: &str, hint: &str) {
    let problems = read(name, text).expect_err(text);
    let [problem] = problems.as_slice() else { panic!("{text}\n{problems:#?}") };
    let found = (problem.code, format!("{}:{}", problem.line, problem.column));
    assert_eq!(found, ("P001", at.to_owned()), "{text}\n{problem:#?}");
    assert!(problem.message.contains(message), "{text}\n{problem:#?}");
    assert_eq!(problem.hint.as_deref(), Some(hint), "{text}");
}

#[track_caller]
fn yaml(text: &str, at: &str, message: &str, hint: &str) {
    tells("x.yaml", text, at, &format!("not valid YAML: {message}"), hint);
}

/// R-W13.
#[test]
fn tabs() {
    let message = "a tab in the indentation; expected spaces";
    let tasks = "tasks:\n- name: b\n";
    yaml(&format!("{tasks}\texecutor: x\n"), "3:1", message, "begin the line with 2 spaces instead");
    yaml(
        &format!("{tasks}  executor:\n\t  type: x\n"),
        "4:1",
        message,
        "begin the line with 4 spaces instead",
    );
    yaml("a: |\n\ttext\n", "2:1", message, "begin the line with 2 spaces instead");
}

/// R-W13.
#[test]
fn colons() {
    yaml(
        "spec:\n  entrypoint:main\n  templates: []\n",
        "2:3",
        "no space behind the colon of `entrypoint:main`; expected a key and its value",
        "write `entrypoint: main`",
    );
    yaml("tasks:\n- name:b\n  when: c\n", "2:3", "no space behind the colon of `name:b`", "write `name: b`");
    yaml("tasks:\n-name: b\n- name: c\n", "2:1", "a dash without a space behind it", "write `- name: b`");
    yaml(
        "spec:\n  entrypoint main\n  x: []\n",
        "2:3",
        "no colon in `entrypoint main`",
        "write `entrypoint: main`",
    );
    yaml("spec:\n  templates\n  - dag: 1\n", "2:3", "no colon in `templates`", "write `templates:`");
    yaml(
        "a: see: this # x\n",
        "1:7",
        "a second `: ` in this line",
        "put the text in quotes: `a: \"see: this\"`",
    );
    yaml(
        "tasks: - a\n- b\n",
        "1:8",
        "a list in the line of its key",
        "end the line behind `tasks:` and begin each element on a line of its own with `- `",
    );
    yaml("a:\n- b\nc\n- d\n", "3:1", "no dash in front of `c`", "write `- c`");
}

/// R-W13.
#[test]
fn columns() {
    let task = "tasks:\n- name: b\n";
    yaml(
        &format!("{task}   executor: x\n"),
        "3:4",
        "`executor` starts in column 4, and `name` above it in column 3; expected the same column",
        "remove 1 space in front of `executor`",
    );
    yaml(
        &format!("{task}  executor: x\n   timeout: 5s\n"),
        "4:4",
        "`timeout` starts in column 4, and `executor` above it in column 3",
        "remove 1 space in front of `timeout`",
    );
    yaml(
        &format!("{task}  executor: x\n timeout: 5s\n"),
        "4:2",
        "`timeout` starts in column 2, and `executor` above it in column 3",
        "add 1 space in front of `timeout`, or remove as many in front of `executor`",
    );
    yaml(
        &format!("{task}  executor: x\n - name: c\n"),
        "4:2",
        "`-` starts in column 2, and `-` above it in column 1",
        "remove 1 space in front of `-`",
    );
    yaml(
        "tasks:\n  - name: a\n  timeout: 3s\n",
        "3:3",
        "`timeout` in the column of the list's dashes",
        "write `- ` in front of it, or, if it belongs to the element above, 2 spaces",
    );
}

/// R-W13.
#[test]
fn brackets() {
    yaml(
        "- dependencies: [a\n  timeout: 5s\n- b\n",
        "1:17",
        "`[` without its `]`",
        "close it: `dependencies: [a]`",
    );
    yaml(
        "- executor: { type: echo, config: { x: 1 }\n  timeout: 5s\n",
        "1:13",
        "`{` without its `}`",
        "close it: `executor: { type: echo, config: { x: 1 } }`",
    );
    yaml("a: {\n  b: 1,\nc: 2\n", "1:4", "`{` without its `}`", "add the closing `}`");
    yaml("a: [b\n", "1:4", "`[` without its `]`", "close it: `a: [b]`");
    yaml("a: [b}\n", "1:6", "`}` where `]` belongs", "write `]`");
    let remove = "remove it, or put the text that it belongs to in quotes";
    yaml("a: { b: 1 }}\n", "1:12", "`}` closes nothing", remove);
    let commas = "separate elements with commas; put a text with `: `, `, `, brackets or braces in quotes";
    yaml("a: { b: 1 c: 2 }\n", "1:12", "something between the elements; expected `,` or `}`", commas);
}

/// R-W13.
#[test]
fn quotes() {
    let message = "text in quotes without an end; expected a closing `\"`";
    yaml("- when: \"a == 1\n  timeout: 5s\n", "1:9", message, "close it in its line: `\"a == 1\"`");
    yaml("- when: \"a == 1\n  timeout: \"5s\"\n", "1:9", message, "close it in its line: `\"a == 1\"`");
    yaml("a: \"it is\n   two lines\n   and \"more\"\n", "1:4", message, "close it in its line: `\"it is\"`");
    let message = "text ends at this `'`, and something stands behind it; expected the end of the value";
    yaml("a: 'it's'\n", "1:7", message, "write `\"it's\"`, or `'it''s'`");
    yaml("a: { text: 'it's', b: 'x' }\n", "1:15", message, "write `\"it's\"`, or `'it''s'`");
    let message = "text ends at this `\"`";
    yaml("when: \"a\" == \"b\"\n", "1:9", message, "put quotes around all of it: `'\"a\" == \"b\"'`");
    yaml("a: \"say \"hi\" now\"\n", "1:9", message, "write `'say \"hi\" now'`, or `\"say \\\"hi\\\" now\"`");
}

/// R-W13.
#[test]
fn signs() {
    let escape = "`\\U` where no such escape is; expected `\\\\` for a backslash";
    let hint = "in single quotes a backslash is itself: write `'C:\\Users'`";
    yaml("a: { dir: \"C:\\Users\" }\n", "1:14", escape, hint);
    yaml(
        "a: *.txt # x\n",
        "1:4",
        "`*.txt` begins with `*` and so is an alias",
        "put it in quotes: `\"*.txt\"`",
    );
    yaml("a: [b, *.txt]\n", "1:8", "`*.txt` begins with `*`", "put it in quotes: `\"*.txt\"`");
    yaml("a: @b\n", "1:4", "`@b` begins with a sign that is kept for YAML", "put it in quotes: `\"@b\"`");
    let braces = lines(&read("x.yaml", "a: {{ b.c }}/d\n").unwrap_err());
    let hint = "(if it is text, put all of it in quotes: `a: \"{{ b.c }}/d\"`)";
    assert!(braces[1].starts_with("P001 1:13 ") && braces[1].ends_with(hint), "{braces:#?}");
}

/// R-W13: the place and the hint come out whole whatever ends the lines and whatever stands before.
#[test]
fn other_lines_and_letters() {
    yaml("é: \"ü\r\nb: y\"\r\n", "1:4", "text in quotes without an end", "close it in its line: `\"ü\"`");
    yaml("é: \"é\" ü\n", "1:6", "text ends at this `\"`", "put quotes around all of it: `'\"é\" ü'`");
    yaml("# x\n\na: b\n# y\n\n c: d\n", "6:2", "`c` starts in column 2", "remove 1 space in front of `c`");
}

/// R-W13: a hint repeats no line of a megabyte.
#[test]
fn hints_stay_short() {
    let long = "x".repeat(1 << 20);
    for text in
        [format!("a: *{long}"), format!("a: \"{long}\" b"), format!("a: b: {long}"), format!("a: [{long}")]
    {
        for problem in read("x.yaml", &text).unwrap_err() {
            assert!(
                problem.message.len() + problem.hint.map_or(0, |hint| hint.len()) < 500,
                "{}",
                problem.message
            );
        }
    }
}

/// R-W13.
#[test]
fn json() {
    let json = |text: &str, at: &str, message: &str, hint: &str| tells("x.json", text, at, message, hint);
    json("{\"a\": 1,}", "1:9", "found '}'", "JSON allows no comma behind the last member");
    json("[1, ]", "1:5", "found ']'", "JSON allows no comma without a value behind it");
    json("{'a': 1}", "1:2", "found '\\''", "JSON keys stand in double quotes");
    json("{\"a\": 'b'}", "1:7", "found '\\''", "JSON texts stand in double quotes");
    json("{a: 1}", "1:2", "found 'a'", "JSON keys stand in double quotes");
    for text in ["// x\n{}", "# x\n{}", "/* x */ {}"] {
        json(text, "1:1", "expected a value", "JSON has no comments");
    }
    json("{\"a\": 1 // x\n}", "1:9", "found '/'", "JSON has no comments");
    json("{\"a\": 1\n \"b\": 2}", "2:2", "found '\"'", "put commas between values");
    json("{\"a\": [1\n", "2:1", "found the end of the text", "close the `[` in line 1, column 7");
    json("{\"a\": [1]\n", "2:1", "found the end of the text", "close the `{` in line 1, column 1");
    json("{\"a\":", "1:6", "found the end of the text", "close the `{` in line 1, column 1");
    json("[True]", "1:2", "`True` where a value belongs", "write `true`");
    json("[None]", "1:2", "`None` where a value belongs", "write `null`");
    json("[word]", "1:2", "`word` where a value belongs", "JSON texts stand in double quotes");
}

/// R-W13: a text that stops the parser in another way still gets a place to look at.
#[test]
fn others() {
    let hint = "look at this line and the one above it for a wrong indentation, a missing `: ` or `- `, or a quote or bracket that \
                is not closed; text with `: `, `#` or `{` in it needs quotes";
    yaml("%YAML x\n---\na: 1\n", "1:1", "this line does not fit to the ones above it", hint);
}
