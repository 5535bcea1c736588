//! The operator's variables as roots of expressions.

use super::*;

/// A document whose `main` has this condition on a pipeline's second task, labelled `b`, before it one labelled `label`.
fn build_with(variables: &str, label: &str, when: &str) -> Result<Plan, Vec<Problem>> {
    let templates = format!(
        r#"{{"pipeline": {{"name": "main", "tasks": [
            {{"name": "{label}", "template": "work"}}, {{"name": "b", "template": "work", "when": "{when}"}}]}}}}"#
    );
    let document = Value::from_json(&document(&templates)).unwrap();
    let variables = Value::from_json(variables).unwrap();
    Draft::read(&Tree::from(&document)).plan(&Executors::any(), &variables)
}

/// R-X9, R-E2: by its own name, unless that is one of the engine's.
#[test]
fn variables_are_roots_of_their_own() {
    let variables = r#"{"office": {"town": "York"}, "hook": {"type": 1}, "loop": 1}"#;
    let rows: [(&str, &[&str]); 7] = [
        ("office.town == 'York'", &[]),
        ("vars.office.town == office.town.gate", &[]),
        ("vars.hook.type == 1 and vars.loop == 1", &[]),
        ("hook.type == 1", &["`hook` cannot be seen here"]),
        ("loop == 1", &["`loop` cannot be seen here"]),
        ("offices.town == 1", &["`offices` cannot be seen here"]),
        ("office-1 == 1", &["`office-1` is one name"]),
    ];
    for (when, expected) in rows {
        let problems = build_with(variables, "a", when).err().unwrap_or_default();
        let found: Vec<_> = problems.iter().map(|problem| problem.message.as_str()).collect();
        assert_eq!(found.len(), expected.len(), "{when}: {found:?}");
        assert!(
            found.iter().zip(expected).all(|(found, start)| found.starts_with(start)),
            "{when}: {found:?}"
        );
    }
}

/// R-X9: what an operator has defined takes no label away from an author, and no variable is one that has to be defined.
#[test]
fn labels_go_first_and_what_is_not_defined_is_a_problem() {
    assert!(build_with(r#"{"office": 1}"#, "office", "office.x == 1").is_ok());
    let unknown = build_with("{}", "a", "office.x == 1").unwrap_err();
    assert_eq!(unknown.len(), 1, "{unknown:#?}");
    let misspelt = build_with(r#"{"office": 1}"#, "a", "ofice.x == 1").unwrap_err();
    assert_eq!(misspelt[0].hint.as_deref(), Some("did you mean `office`?"), "{misspelt:#?}");
}
