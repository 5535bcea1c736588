//! The editor: marks, completion, hints and the graph, with the keyboard alone.

use serde_json::{Value, json};

use super::{
    Visit, component,
    driver::{
        Browser,
        keys::{CONTROL, DOWN, END, ENTER, ESCAPE, TAB},
    },
    nothing_was_wrong,
    site::Site,
    watch_for_errors,
};

/// The text that people write, as an expression of a script.
pub(crate) const TEXT: &str = "document.querySelector('#text')?.shadowRoot.querySelector('.cm-content')";

/// An element of the editor, as an expression of a script.
pub(crate) fn in_text(selector: &str) -> String {
    format!("document.querySelector('#text')?.shadowRoot.querySelector({})", json!(selector))
}

/// Replaces the text, as one who pastes another does.
pub(crate) fn type_document(browser: &Browser, text: &str) {
    browser.until(TEXT);
    browser.run(&format!("{TEXT}.focus()"));
    browser.press_with(CONTROL, 'a');
    browser.run(&format!(
        "const data = new DataTransfer(); data.setData('text/plain', {}); \
         {TEXT}.dispatchEvent(new ClipboardEvent('paste', {{ clipboardData: data, bubbles: true, cancelable: true }}))",
        json!(text)
    ));
}

/// The text that the form sends.
fn sent(browser: &Browser) -> String {
    browser.run("return document.querySelector('#document').value").as_str().unwrap().to_owned()
}

/// Waits until completions are offered, and long enough for them to be taken.
fn until_offered(browser: &Browser, label: &str) {
    browser.run("delete window.offered");
    let offered = in_text(".cm-tooltip-autocomplete:not(.cm-tooltip-autocomplete-disabled)");
    browser.until(&format!(
        "{offered}.innerText.includes({}) && (window.offered ??= performance.now()) + 100 < performance.now()",
        json!(label)
    ));
}

const HELLO: &str = "apiVersion: phasm/v1\nkind: Workflow\nmetadata: { name: hello }\nspec:\n  entrypoint: main\n  templates:\n    \
                     - dag:\n        name: main\n        tasks:\n          - name: greet\n            executor: { type: work }\n";

/// R-A116: fields and values are completed by keys alone, and the run is submitted.
#[test]
fn a_workflow_is_written_with_keys() {
    let Some(visit) = Visit::begin() else { return };
    let browser = &visit.browser;
    visit.go("/submit");
    watch_for_errors(browser);
    browser.until(TEXT);
    // The policy lets the styles through.
    assert_eq!(
        browser.run("return document.querySelector('#text').shadowRoot.querySelectorAll('style').length"),
        0
    );
    assert_eq!(browser.run(&format!("return getComputedStyle({TEXT}).whiteSpace")), "break-spaces");
    browser.click("label[for=document]");
    browser.press_with(CONTROL, 'a');
    browser.press("apiVersion: phasm/v1");
    browser.press(ENTER);
    browser.press_with(CONTROL, ' ');
    until_offered(browser, "metadata");
    visit.check();
    browser.press("ki");
    until_offered(browser, "kind");
    browser.press(ENTER);
    until_offered(browser, "CronWorkflow");
    assert!(sent(browser).ends_with("\nkind: "), "{}", sent(browser));
    browser.press(DOWN);
    browser.press(ENTER);
    assert!(sent(browser).ends_with("\nkind: CronWorkflow"), "{}", sent(browser));
    browser.until_says("Write a schedule");
    // Enter keeps the indentation, and Escape with Tab leaves.
    type_document(browser, HELLO);
    browser.press("          - name: bye");
    browser.press(ENTER);
    browser.press("template: main");
    assert!(
        sent(browser).ends_with("          - name: bye\n            template: main"),
        "{}",
        sent(browser)
    );
    browser.press(ESCAPE);
    browser.press(ESCAPE);
    browser.press(TAB);
    assert_ne!(browser.run("return document.activeElement.id"), "text");
    type_document(browser, HELLO);
    browser.until_says("Submit a run of hello");
    nothing_was_wrong(browser);
    browser.click("button[value=submit]");
    browser.until("document.querySelector('#title').innerText.includes('Succeeded')");
}

/// R-A116: an error is marked where it is, the graph of the last good text stays meanwhile, and both are up to date after each check.
#[test]
fn the_graph_and_the_marks_follow_the_text() {
    let Some(visit) = Visit::begin() else { return };
    let browser = &visit.browser;
    visit.go("/submit");
    browser.until("document.querySelector('#plan svg').textContent.includes('greet')");
    browser.until(TEXT);
    watch_for_errors(browser);
    visit.check();
    type_document(browser, &HELLO.replace("executor:", "executer:"));
    browser.until(&in_text(".cm-lint-marker-error"));
    browser.until(&in_text(".cm-lintRange-error"));
    let marked = browser.run(&format!("return {}.innerText", in_text(".cm-lintRange-error")));
    assert_eq!(marked, "executer");
    browser.until("document.querySelector('#plan.outdated svg')");
    browser.until_says("This graph is of the last text without errors.");
    visit.check();
    type_document(browser, &HELLO.replace("greet", "welcome"));
    browser.until("document.querySelector('#plan:not(.outdated) svg').textContent.includes('welcome')");
    browser.until(&format!("!{}", in_text(".cm-lint-marker-error")));
    // A text of 100 KB is drawn as far as it is seen.
    let many: String =
        (0..2000).map(|n| format!("          - {{ name: t{n}, executor: {{ type: work }} }}\n")).collect();
    type_document(browser, &format!("{HELLO}{many}"));
    browser.until("document.querySelector('#plan svg').textContent.includes('more')");
    let lines =
        browser.run("return document.querySelector('#text').shadowRoot.querySelectorAll('.cm-line').length");
    assert!(lines.as_u64().unwrap() < 200, "{lines}");
    nothing_was_wrong(browser);
    // An example replaces a typed text after a question.
    browser.click(".examples summary");
    visit.check();
    browser.click("a[href='/submit?example=loop']");
    browser.until_says("Submit a run of regions");
}

/// Moves the pointer onto a word of the text.
fn point_at(browser: &Browser, word: &str) {
    browser.run(&format!(
        "const found = [...{TEXT}.querySelectorAll('.cm-line span')].find((one) => one.textContent === {}); \
         const at = found.getBoundingClientRect(); \
         const place = {{ clientX: at.x + at.width / 2, clientY: at.y + at.height / 2, bubbles: true }}; \
         found.dispatchEvent(new MouseEvent('mousemove', place));",
        json!(word)
    ));
}

/// Names of executors and their inputs are completed, and a field is explained under the pointer.
#[test]
fn executors_are_completed_and_fields_explained() {
    let Some(visit) = Visit::of(Site::with_library) else { return };
    let browser = &visit.browser;
    visit.go("/plugins");
    let says = json!({ "name": "greet", "version": "1.0.0", "description": "Writes a greeting",
        "inputs": { "type": "object", "properties": { "who": { "type": "string", "description": "The name to greet" } } } });
    browser.fill_in("#component", &component(&visit.site, &says));
    browser.click("form.sheet button");
    browser.until_says("A step that uses it");
    visit.go("/submit");
    let (start, _) = HELLO.split_once("executor:").unwrap();
    type_document(browser, &format!("{start}exec"));
    watch_for_errors(browser);
    browser.press_with(CONTROL, ' ');
    until_offered(browser, "executor");
    browser.press(ENTER);
    browser.press("type: gr");
    until_offered(browser, "greet");
    browser.until(&format!("{}.innerText.includes('Writes a greeting')", in_text(".cm-completionInfo")));
    browser.press(ENTER);
    browser.press(END);
    browser.press(ENTER);
    browser.press("inputs: { w");
    until_offered(browser, "who");
    visit.check();
    browser.press(ENTER);
    assert!(
        sent(browser).ends_with("executor: { type: greet }\n            inputs: { who: }"),
        "{}",
        sent(browser)
    );
    for (field, about) in [("entrypoint", "Name of the template"), ("who", "The name to greet")] {
        point_at(browser, field);
        browser.until(&format!("{}.innerText.includes({})", in_text(".cm-about"), json!(about)));
    }
    visit.check();
    nothing_was_wrong(browser);
}

/// Returns the result of an expression with the modules of completion and the schema; `|` in a text is the cursor.
fn completed(browser: &Browser, expression: &str) -> Value {
    browser.run_async(&format!(
        "const done = arguments[0]; (async () => {{ const {{ placeOf }} = await import('/assets/place.js'); \
         const {{ completions, descriptionOf }} = await import('/assets/completion.js'); \
         const schema = await (await fetch('/assets/workflow.schema.json')).json(); \
         const at = (text) => placeOf(text.replace('|', ''), text.indexOf('|')); return {expression}; }})().then(done, (error) => done(String(error)))"
    ))
}

/// The path to the cursor is found in blocks, brackets and JSON, finished or not.
#[test]
fn the_place_of_the_cursor_is_found() {
    let Some(visit) = Visit::begin() else { return };
    visit.go("/submit");
    for (text, place) in [
        ("|", "word "),
        ("kind: Work|", "value kind"),
        ("spec:\n  |", "word spec"),
        ("spec:\n  entrypoint: a\n  te|", "key spec"),
        ("spec:\n  te|\n  entrypoint: a", "key spec"),
        (
            "spec:\n  templates:\n    - dag:\n        tasks:\n          - name: a\n            |",
            "key spec/templates/0/dag/tasks/0",
        ),
        (
            "spec:\n  templates:\n  - dag:\n      tasks:\n      - name: a\n      - name: b\n        executor: { type: e|, config: {} }",
            "value spec/templates/0/dag/tasks/1/executor/type",
        ),
        ("a:\n  - b: 1\n  |\n  - c: 2", "item a/1"),
        ("a:\n  - |", "word a/0"),
        ("a:\n- b\n|", "key "),
        ("a: { b: [x, { c| ", "key a/b/1"),
        ("a: { b: { c: 1 }, | }", "key a"),
        ("{\n  \"a\": {\n    \"b\": \"x|\"\n  }\n}", "value a/b"),
        ("a: [\n  x,\n  y|\n]\nb: 1", "value a/1"),
        ("a: \"x: #|\"", "value a"),
        ("a: 1 # c|", "null"),
        ("a:\n  b: >\n    text |\n  c: 1", "null"),
        ("a:\n  x: http://|", "value a/x"),
    ] {
        let script = format!(
            "((place) => place ? `${{place.kind}} ${{place.keys.join('/')}}` : 'null')(at({}))",
            json!(text)
        );
        assert_eq!(completed(&visit.browser, &script), place, "{text}");
    }
}

/// Completions are the fields, words and names that fit, by the schema and the text.
#[test]
fn completions_fit_the_schema() {
    let Some(visit) = Visit::begin() else { return };
    visit.go("/submit");
    let tasks = "apiVersion: phasm/v1\nkind: Workflow\nspec:\n  templates:\n    - loop: { name: all, body: | }\n    - dag:\n        name: main\n        tasks:\n";
    let dag = tasks.replace(" |", "");
    for (text, some, none) in [
        ("|".to_owned(), &["apiVersion", "kind", "metadata", "spec"][..], &["entrypoint"][..]),
        ("kind: |".to_owned(), &["Workflow", "CronWorkflow"], &["spec"]),
        ("kind: Workflow\nspec:\n  |".to_owned(), &["entrypoint", "templates"], &["schedule"]),
        ("kind: CronWorkflow\nspec:\n  |".to_owned(), &["schedule", "workflowSpec"], &["entrypoint"]),
        (
            "kind: CronWorkflow\nspec:\n  concurrencyPolicy: |".to_owned(),
            &["Allow", "Forbid", "Replace"],
            &[],
        ),
        ("spec:\n  entrypoint: a\n  |".to_owned(), &["templates"], &["entrypoint"]),
        ("spec:\n  templates:\n    - |".to_owned(), &["dag", "loop", "pipeline", "task"], &["name"]),
        ("spec:\n  templates:\n    - dag: {}\n      |".to_owned(), &[], &["loop", "task"]),
        (tasks.to_owned(), &["all", "main"], &["a"]),
        (
            format!("{dag}          - name: a\n          - name: b\n            dependencies: [|]"),
            &["a"],
            &["b"],
        ),
        (
            format!("{dag}          - name: a\n            continueOn: {{ failed: |"),
            &["true", "false"],
            &["a"],
        ),
        (
            format!("{dag}          - name: a\n            template: x\n            |"),
            &["arguments", "when"],
            &["executor", "inputs", "name"],
        ),
        (format!("{dag}          - name: a\n            executor: {{ type: |"), &["echo"], &["type"]),
        (
            format!("{dag}          - name: a\n            retry:\n              |"),
            &["attempts", "delay", "when", "limit"],
            &["name"],
        ),
        // An older word is no choice beside the one that is written, and the older dialect has only those.
        (
            format!(
                "{dag}          - name: a\n            retry:\n              attempts: 3\n              |"
            ),
            &["delay", "when"],
            &["attempts", "limit", "maxAttempts"],
        ),
        (
            format!("{dag}          - name: a\n            retry:\n              |")
                .replace("phasm/v1", "aether/v1"),
            &["limit", "maxAttempts", "exponentialBackoff"],
            &["attempts", "backoff", "when"],
        ),
        (format!("{dag}          - name: a\n            retry: {{ delay: |"), &["2s", "30s"], &["attempts"]),
        (format!("{dag}          |"), &["name", "executor"], &["tasks"]),
    ] {
        let script =
            format!("completions(schema, at({}), [{{ name: 'echo' }}]).map((one) => one.label)", json!(text));
        let found = completed(&visit.browser, &script);
        let has = |label: &&str| found.as_array().unwrap().iter().any(|one| one == *label);
        assert!(some.iter().all(&has) && !none.iter().any(has), "{text}\n{found}");
    }
    let older = format!("{dag}          - name: a\n            retry:\n              |");
    let script = format!(
        "Object.fromEntries(completions(schema, at({}), []).filter((one) => one.instead).map((one) => [one.label, one.instead]))",
        json!(older)
    );
    let instead = completed(&visit.browser, &script);
    assert_eq!(
        instead,
        json!({ "limit": "attempts", "maxAttempts": "attempts", "exponentialBackoff": "backoff", "expression": "when" })
    );
    let said =
        completed(&visit.browser, "descriptionOf(schema, at('kind: CronWorkflow\\nspec:\\n  schedule|: x'))");
    assert!(said.as_str().unwrap().starts_with("Minute, hour, day"), "{said}");
}
