//! What the documentation shows is what the code accepts.
#![expect(clippy::unwrap_used, reason = "tests")]

use std::{fs, path::Path};

use phasm::reader;
use phasm_engine::plan::Plan;

/// The YAML blocks of a page.
fn blocks(page: &str) -> Vec<String> {
    let text = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(page)).unwrap();
    let found = text.split("```yaml\n").skip(1).filter_map(|rest| rest.split("```").next());
    found.map(str::to_owned).collect()
}

/// The README's first workflow has neither problems nor warnings.
#[test]
fn the_first_workflow_is_valid() {
    let documents: Vec<String> =
        blocks("README.md").into_iter().filter(|block| block.contains("apiVersion")).collect();
    assert_eq!(documents.len(), 1);
    for document in documents {
        let plan = Plan::build(&reader::read("README.yaml", &document).unwrap(), &()).unwrap();
        assert_eq!(plan.warnings, []);
    }
}

/// Every whole workflow on the page has neither problems nor warnings.
#[test]
fn the_workflows_on_the_page_are_valid() {
    let is_whole = |block: &String| block.starts_with("apiVersion") && !block.contains("templates: []");
    let documents: Vec<String> = blocks("host/docs/workflows.md").into_iter().filter(is_whole).collect();
    assert_eq!(documents.len(), 4);
    for document in documents {
        let plan = Plan::build(&reader::read("workflows.yaml", &document).unwrap(), &()).unwrap();
        assert_eq!(plan.warnings, []);
    }
}

/// Every spelling of `retry` on the page is one.
#[test]
fn the_spellings_of_retry_are_valid() {
    let spellings: Vec<String> = blocks("host/docs/workflows.md")
        .iter()
        .flat_map(|block| block.lines())
        .filter(|line| line.starts_with("retry: "))
        .map(str::to_owned)
        .collect();
    assert_eq!(spellings.len(), 4);
    for retry in spellings {
        let document = format!(
            "apiVersion: aether/v1\nkind: Workflow\nmetadata: {{ name: w }}\nspec:\n  entrypoint: main\n  templates:\n    \
             - task: {{ name: work, executor: {{ type: echo }} }}\n    - dag:\n        name: main\n        tasks:\n          \
             - name: fetch\n            template: work\n            {retry}\n"
        );
        let plan = Plan::build(&reader::read("retry.yaml", &document).unwrap(), &());
        assert!(plan.is_ok(), "{retry}: {plan:?}");
    }
}

/// The README's lines for editors name the file that its command writes, and leave the document what it is.
#[test]
fn the_lines_for_editors_fit_together() {
    let page = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../README.md")).unwrap();
    let file = page.split("phasm schema > ").nth(1).and_then(|rest| rest.lines().next()).unwrap();
    let line = page.lines().find(|line| line.starts_with("# yaml-language-server:")).unwrap();
    assert_eq!(line, format!("# yaml-language-server: $schema={file}"));
    let settings = page.split("```json\n").nth(1).and_then(|rest| rest.split("```").next()).unwrap();
    let settings: serde_json::Value = serde_json::from_str(settings).unwrap();
    assert_eq!(*settings.pointer("/json.schemas/0/url").unwrap(), format!("./{file}"));
    let of_yaml = settings.get("yaml.schemas").unwrap();
    assert!(of_yaml.get(format!("./{file}")).is_some_and(serde_json::Value::is_array));
    let document = blocks("README.md").into_iter().find(|block| block.contains("apiVersion")).unwrap();
    assert!(Plan::build(&reader::read("x.yaml", &format!("{line}\n{document}")).unwrap(), &()).is_ok());
}
