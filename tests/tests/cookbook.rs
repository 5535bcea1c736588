//! The cookbook's recipes, run as they stand on the page: a document, what its executors answer, what the run says.
#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests")]

use std::{fs, path::Path};

use phasm_tests::scenario::run_text;

/// The blocks of code of that language, in order.
fn blocks<'p>(recipe: &'p str, language: &str) -> Vec<&'p str> {
    let start = format!("```{language}\n");
    recipe.split(&*start).skip(1).filter_map(|rest| rest.split("```").next()).collect()
}

fn indented(text: &str) -> String {
    text.lines().map(|line| format!("  {line}\n")).collect()
}

/// Returns the lines that the page shows, in this order, and that a recipe's trace lacks.
fn missing(recipe: &str) -> Vec<String> {
    let [document, answers] = blocks(recipe, "yaml")[..] else {
        return vec![format!("two blocks in {recipe}")];
    };
    let expected = blocks(recipe, "text")[0];
    let scenario = format!("about: cookbook\ndocument:\n{}{answers}", indented(document));
    let trace = run_text("cookbook.yaml", &scenario).unwrap();
    let mut lines = trace.lines();
    let lacks = |line: &&str| !lines.any(|told| told.contains(*line));
    expected.lines().filter(lacks).map(|line| format!("{line}\nin\n{trace}")).collect()
}

/// R-X10 to R-X13.
#[test]
fn every_recipe_does_what_the_page_says() {
    let pages = ["cookbook.md", "functions-and-time.md"].map(|page| {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../host/docs/how-to");
        fs::read_to_string(folder.join(page)).unwrap()
    });
    let recipes: Vec<&str> = pages.iter().flat_map(|page| page.split("\n## ").skip(1)).collect();
    assert_eq!(recipes.len(), 5);
    let wrong: Vec<String> = recipes.into_iter().flat_map(missing).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
