//! The paths and comparisons an expression reports.

use std::cell::RefCell;

use super::*;

/// The reads as `path@offset`.
fn reads(text: &str) -> Vec<String> {
    let shown = |read: &Read| format!("{}@{}", read.path.join("/"), read.offset);
    compiled(text).reads().iter().map(shown).collect()
}

#[test]
fn every_constant_path_is_reported_where_it_stands() {
    let rows: [(&str, &[&str]); 24] = [
        ("1 + 2", &[]),
        ("'a.b'", &[]),
        ("code", &["code@0"]),
        ("  tasks.a.phase", &["tasks/a/phase@2"]),
        ("tasks.a.outputs.parameters.x", &["tasks/a/outputs/parameters/x@0"]),
        ("tasks['wait-external'].phase", &["tasks/wait-external/phase@0"]),
        ("tasks[\"a b\"]['c']", &["tasks/a b/c@0"]),
        ("loop.index-1", &["loop/index-1@0"]),
        ("loop.index - 1", &["loop/index@0"]),
        ("tasks.in.phase", &["tasks/in/phase@0"]),
        ("x.not.and.or.true.null", &["x/not/and/or/true/null@0"]),
        ("a.1.2b", &["a/1/2b@0"]),
        ("a . b", &["a/b@0"]),
        ("list[0].name", &["list@0"]),
        ("inputs.parameters.list[loop.index].name", &["inputs/parameters/list@0", "loop/index@23"]),
        ("tasks[name].phase", &["tasks@0", "name@6"]),
        ("a.lower()", &["a@0"]),
        ("a.b | default(c.d)", &["a/b@0", "c/d@14"]),
        ("a.b.lower().c", &["a/b@0"]),
        ("{{ a.b }}", &["a/b@3"]),
        ("a && a || b", &["a@0", "a@5", "b@10"]),
        ("[a, {'k': b.c}]", &["a@1", "b/c@10"]),
        ("false && a.b", &["a/b@9"]),
        ("_prev.x ? _task : iter.page", &["_prev/x@0", "_task@10", "iter/page@18"]),
    ];
    for (text, expected) in rows {
        assert_eq!(reads(text), expected, "{text}");
    }
}

#[test]
fn a_path_ends_where_its_last_segment_does() {
    let rows: [(&str, &[&str]); 5] = [
        ("a.b == c", &["a.b", "c"]),
        ("tasks['a b'] . phase | lower", &["tasks['a b'] . phase"]),
        ("list[0].name", &["list"]),
        ("x.lower() + {{ y.z }}", &["x", "y.z"]),
        ("tasks[name].phase", &["tasks", "name"]),
    ];
    for (text, expected) in rows {
        let found: Vec<_> = compiled(text).reads().iter().map(|read| &text[read.offset..read.end]).collect();
        assert_eq!(found, expected, "{text}");
    }
}

/// The comparisons as `path literal@offset`.
fn comparisons(text: &str) -> Vec<String> {
    let expr = compiled(text);
    let path = |c: &Comparison| expr.reads()[c.read].path.join("/");
    expr.comparisons().iter().map(|c| format!("{} {}@{}", path(c), c.literal, c.offset)).collect()
}

#[test]
fn comparisons_with_literals_are_reported() {
    let rows: [(&str, &[&str]); 14] = [
        ("inputs.parameters.mode == 'fast'", &[r#"inputs/parameters/mode "fast"@23"#]),
        ("'fast' != mode", &[r#"mode "fast"@7"#]),
        ("mode in ['a', 'b']", &[r#"mode "a"@5"#, r#"mode "b"@5"#]),
        ("mode not in ['a', 2]", &[r#"mode "a"@5"#, "mode 2@5"]),
        ("code == -1", &["code -1@5"]),
        ("(mode) == ('x')", &[r#"mode "x"@7"#]),
        ("a == 1 && b != null", &["a 1@2", "b null@12"]),
        ("not (a == 1)", &["a 1@7"]),
        ("a == b", &[]),
        ("a < 1", &[]),
        ("'x' in a", &[]),
        ("a | lower == 'x'", &[]),
        ("a[0] == 'x'", &[]),
        ("1 == 1", &[]),
    ];
    for (text, expected) in rows {
        assert_eq!(comparisons(text), expected, "{text}");
    }
}

/// An environment that notes what it is asked.
struct Asked(RefCell<Vec<String>>);

impl Env for Asked {
    fn get(&self, path: &[Arc<str>]) -> Value {
        self.0.borrow_mut().push(path.join("/"));
        1.into()
    }
}

#[test]
fn every_distinct_path_is_asked_once() {
    let env = Asked(RefCell::default());
    let expr = compiled("a.b + a.b + a['b'] * c == 2 or a.c == 1");
    assert_eq!(expr.test(&env, &mut Doubts::default()), Ok(true));
    assert_eq!(*env.0.borrow(), ["a/b", "c", "a/c"]);
}

#[test]
fn the_source_is_kept() {
    assert_eq!(compiled("  {{ a  }} ").source(), "  {{ a  }} ");
}
