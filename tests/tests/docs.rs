//! The documentation's examples are accepted by the code.
#![expect(clippy::unwrap_used, reason = "tests")]

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

use phasm::{Value, reader};
use phasm_engine::plan::{Draft, Executors};

fn text_of(path: &str) -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(path)).unwrap()
}

/// The YAML blocks of a page.
fn blocks(page: &str) -> Vec<String> {
    let text = text_of(page);
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
        let plan = Draft::read(&reader::read("README.yaml", &document).unwrap())
            .plan(&Executors::any(), &Value::Null)
            .unwrap();
        assert_eq!(plan.warnings, []);
    }
}

/// Every whole workflow on the page has neither problems nor warnings.
#[test]
fn the_workflows_on_the_page_are_valid() {
    let is_whole = |block: &String| block.contains("\napiVersion: ");
    let documents: Vec<String> =
        blocks("host/docs/learn/workflows.md").into_iter().filter(is_whole).collect();
    assert_eq!(documents.len(), 5);
    for document in documents {
        let plan = Draft::read(&reader::read("workflows.yaml", &document).unwrap())
            .plan(&Executors::any(), &Value::Null)
            .unwrap();
        assert_eq!(plan.warnings, []);
    }
}

/// Every spelling of `retry` on the page is one.
#[test]
fn the_spellings_of_retry_are_valid() {
    let spellings: Vec<String> = blocks("host/docs/learn/workflows.md")
        .iter()
        .flat_map(|block| block.lines())
        .filter(|line| line.starts_with("retry: "))
        .map(str::to_owned)
        .collect();
    assert_eq!(spellings.len(), 3);
    for retry in spellings {
        let document = format!(
            "apiVersion: phasm/v1\nkind: Workflow\nmetadata: {{ name: w }}\nspec:\n  entrypoint: main\n  templates:\n    \
             - task: {{ name: work, executor: {{ type: echo }} }}\n    - dag:\n        name: main\n        tasks:\n          \
             - name: fetch\n            template: work\n            {retry}\n"
        );
        let plan = Draft::read(&reader::read("retry.yaml", &document).unwrap())
            .plan(&Executors::any(), &Value::Null);
        assert!(plan.is_ok(), "{retry}: {plan:?}");
    }
}

/// The lines for editors name the file that its command writes, and leave the document what it is.
#[test]
fn the_lines_for_editors_fit_together() {
    let page = text_of("host/docs/how-to/editor.md");
    let file = page.split("phasm schema > ").nth(1).and_then(|rest| rest.lines().next()).unwrap();
    let line = page.lines().find(|line| line.starts_with("# yaml-language-server:")).unwrap();
    assert_eq!(line, format!("# yaml-language-server: $schema={file}"));
    let settings = page.split("```json\n").nth(1).and_then(|rest| rest.split("```").next()).unwrap();
    let settings: serde_json::Value = serde_json::from_str(settings).unwrap();
    assert_eq!(*settings.pointer("/json.schemas/0/url").unwrap(), format!("./{file}"));
    let of_yaml = settings.get("yaml.schemas").unwrap();
    assert!(of_yaml.get(format!("./{file}")).is_some_and(serde_json::Value::is_array));
    let document = blocks("README.md").into_iter().find(|block| block.contains("apiVersion")).unwrap();
    assert!(
        Draft::read(&reader::read("x.yaml", &format!("{line}\n{document}")).unwrap())
            .plan(&Executors::any(), &Value::Null)
            .is_ok()
    );
}

/// The example without the SDK fits the WIT and the manifest's reader. That it builds and runs was tried by hand: it takes 385 MB of
/// packages and a minute.
#[test]
fn the_executor_in_javascript_fits_the_world() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let read = |path: &str| fs::read_to_string(root.join(path)).unwrap();
    let (wit, script) = (read("wit/executor.wit"), read("host/examples/javascript/greet.js"));
    let (names, from) = script.split_once("import { ").unwrap().1.split_once(" } from '").unwrap();
    let (interface, version) = from.split_once('\'').unwrap().0.split_once('@').unwrap();
    assert!(wit.contains(&format!("package phasm:executor@{version};")), "{version}");
    let host = wit.split_once("interface host {").unwrap().1.split_once("\n}").unwrap().0;
    assert_eq!(interface, "phasm:executor/host");
    for name in names.split(", ") {
        assert!(host.contains(&format!("  {name}: func(")), "{name}");
    }
    assert!(script.contains("export function execute(call) {"));
    assert!(wit.contains("execute: func("));
    for field in ["inputs", "config"] {
        assert!(
            script.contains(&format!("call.{field}")) && wit.contains(&format!("    {field}: ")),
            "{field}"
        );
    }
    for field in ["code", "message", "outputs", "detail"] {
        let written = script.contains(&format!("    {field},")) || script.contains(&format!("    {field}: "));
        assert!(written && wit.contains(&format!("    {field}: ")), "{field}");
    }
    let beside = root.join("host/examples/javascript/greet.wasm");
    let manifest = phasm::plugins::Manifest::of(b"", Some(&beside)).unwrap();
    assert!(!manifest.inputs.is_null() && !manifest.outputs.is_null());
}

/// The pages that people are sent to.
fn pages() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut folders = vec![root.join("host/docs"), root.join("host/examples")];
    let mut pages =
        vec![root.join("README.md"), root.join("plugin-sdk/README.md"), root.join("tests/fuzz/README.md")];
    while let Some(folder) = folders.pop() {
        for path in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "md") {
                pages.push(path);
            }
        }
    }
    let plugins =
        fs::read_dir(root.join("plugins")).unwrap().map(|entry| entry.unwrap().path().join("README.md"));
    pages.extend(plugins.filter(|page| page.is_file()));
    pages
}

/// A page without its blocks of code.
fn prose(page: &Path) -> String {
    fs::read_to_string(page).unwrap().split("```").step_by(2).collect()
}

/// A page of the four rooms without the parts that are generated: code, tables of the schema, and whole catalogues.
fn written_by_hand(page: &Path) -> String {
    if page.ends_with("reference/help.md") || page.ends_with("reference/problems.md") {
        return String::new();
    }
    let text = fs::read_to_string(page).unwrap();
    let mut parts = text.split("\n<!-- ");
    let first = parts.next().unwrap().to_owned();
    let written = parts.map(|part| part.strip_prefix("end -->").unwrap_or_default());
    written.fold(first, |text, part| text + part)
}

/// Sentences with more words than are read at once; code and a link count as a word or two.
fn long_sentences(text: &str) -> Vec<String> {
    let prose: String = text.split("```").step_by(2).collect();
    let plain: String =
        prose.split('`').enumerate().map(|(at, part)| if at % 2 == 0 { part } else { "code" }).collect();
    let lines = plain.lines().filter(|line| !line.starts_with(['#', '|']));
    let sentences = lines.flat_map(|line| line.split(". "));
    sentences.filter(|sentence| sentence.split_whitespace().count() > 32).map(str::to_owned).collect()
}

/// Where a page's links lead; what looks like one in code is none.
fn links(page: &Path) -> Vec<String> {
    let prose = prose(page);
    let targets = prose.split("](").skip(1).filter_map(|rest| rest.split([')', ' ']).next());
    targets.filter(|target| !target.contains(['[', ']', '`'])).map(str::to_owned).collect()
}

/// Returns the link targets of a page: its headings, and the anchors it sets.
fn anchors(page: &Path) -> BTreeSet<String> {
    let prose = prose(page);
    let kept = |c: &char| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_');
    let slug = |heading: &str| {
        heading.trim().to_lowercase().chars().filter(kept).collect::<String>().replace(' ', "-")
    };
    let headings =
        prose.lines().filter(|line| line.starts_with('#')).map(|line| slug(line.trim_start_matches('#')));
    let set = prose.split("<a id=\"").skip(1).filter_map(|rest| rest.split('"').next()).map(str::to_owned);
    headings.chain(set).collect()
}

/// Whether a link on `page` leads somewhere in the repository, or out of it.
fn leads_somewhere(page: &Path, link: &str) -> bool {
    if link.contains("://") {
        return true;
    }
    let (file, anchor) = link.split_once('#').unwrap_or((link, ""));
    let target = if file.is_empty() { page.to_owned() } else { page.parent().unwrap().join(file) };
    target.exists() && (anchor.is_empty() || anchors(&target).contains(anchor))
}

/// Every relative link leads to a file that is there, and to a heading in it.
#[test]
fn every_link_leads_somewhere() {
    let links: Vec<_> = pages()
        .into_iter()
        .flat_map(|page| links(&page).into_iter().map(move |link| (page.clone(), link)))
        .collect();
    assert!(links.len() > 200, "only {} links were found", links.len());
    let broken: Vec<_> = links.iter().filter(|(page, link)| !leads_somewhere(page, link)).collect();
    assert!(broken.is_empty(), "{broken:#?}");
}

/// A page has one task or is one reference, and its sentences are short.
#[test]
fn pages_and_sentences_are_short() {
    let rooms = ["learn", "how-to", "reference", "understand"];
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../host/docs");
    let pages: Vec<_> = pages()
        .into_iter()
        .filter(|page| rooms.iter().any(|room| page.starts_with(docs.join(room))))
        .collect();
    assert!(pages.len() > 80, "only {} pages were found", pages.len());
    let written: Vec<_> = pages.iter().map(|page| (page, written_by_hand(page))).collect();
    let long_pages: Vec<_> =
        written.iter().filter(|(_, text)| text.lines().count() > 265).map(|(page, _)| page).collect();
    assert!(long_pages.is_empty(), "split these pages: {long_pages:#?}");
    let long: Vec<_> = written
        .iter()
        .flat_map(|(page, text)| long_sentences(text).into_iter().map(move |sentence| (page, sentence)))
        .collect();
    assert!(long.is_empty(), "split these sentences: {long:#?}");
}

#[test]
fn long_sentences_are_found() {
    let short = format!("{} `a b c`.", "word ".repeat(31));
    assert_eq!(long_sentences(&format!("{short} {short}\n```\n{short} and more\n```\n")), [""; 0]);
    assert_eq!(long_sentences(&format!("{short}\n\nMore {short}")).len(), 1);
}

/// The book's summary has every page once, and nothing else.
#[test]
fn every_page_is_in_the_summary() {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../host/docs");
    let mut listed: Vec<PathBuf> =
        links(&docs.join("SUMMARY.md")).into_iter().map(|link| docs.join(link)).collect();
    let mut written: Vec<PathBuf> = pages()
        .into_iter()
        .filter(|page| page.starts_with(&docs) && *page != docs.join("SUMMARY.md"))
        .collect();
    listed.sort();
    written.sort();
    let missing: Vec<_> = written.iter().filter(|page| !listed.contains(page)).collect();
    assert!(missing.is_empty(), "not in SUMMARY.md: {missing:#?}");
    let stray: Vec<_> = listed.iter().filter(|page| !written.contains(page)).collect();
    assert!(stray.is_empty(), "in SUMMARY.md, and no page: {stray:#?}");
    let twice: Vec<_> = listed.array_windows().filter(|[one, next]| one == next).collect();
    assert!(twice.is_empty(), "twice in SUMMARY.md: {twice:#?}");
}

#[test]
fn broken_links_are_found() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../README.md");
    for (link, leads) in [
        ("LICENSE", true),
        ("host/docs/reference/stored-runs.md#running-again", true),
        ("#as-a-library", true),
        ("#as-no-library", false),
        ("host/docs/reference/stored-runs.md#running-against", false),
        ("host/docs/clay.md", false),
    ] {
        assert_eq!(leads_somewhere(&page, link), leads, "{link}");
    }
}

/// Items that the library re-exports from the crates below it are documented in its own pages.
#[test]
fn the_librarys_pages_hold_the_types_of_the_crates_below() {
    let text = text_of("host/src/lib.rs");
    let lines = || text.lines();
    let taken: Vec<_> =
        lines().zip(lines().skip(1)).filter(|(_, line)| line.starts_with("pub use phasm_")).collect();
    assert!(taken.len() >= 3, "{taken:?}");
    assert!(taken.iter().all(|(before, _)| *before == "#[doc(inline)]"), "{taken:?}");
    // They are there at the root as well, as `Value` is above.
    type Taken = (phasm::Map, phasm::Outcome, phasm::Phase, phasm::Plan, phasm::RunView, phasm::TaskView);
    let _: Option<(Taken, phasm::Problem, phasm::Problems, phasm::Output)> = None;
}

/// The README says what else there is, and what is not there yet.
#[test]
fn the_readme_says_why_not_something_else_and_what_is_not_there() {
    let readme = text_of("README.md");
    let part = |heading: &str| {
        let (_, rest) = readme.split_once(&format!("\n{heading}\n")).unwrap();
        rest.split("\n## ").next().unwrap().to_owned()
    };
    let (others, limits) = (part("## How it compares"), part("## Limits"));
    for other in ["a shell script", "Argo Workflows", "Temporal"] {
        assert!(others.contains(&format!("\n| {other}")), "{other}");
    }
    for absent in [
        "HTTP requests and TCP connections only",
        "One host per file",
        "tenants",
        "No artifacts",
        "kept until",
    ] {
        assert!(limits.contains(absent), "{absent}");
    }
}
