//! Every document there is in the repository.

use std::{
    fs,
    path::{Path, PathBuf},
};

use phasm::reader;
use phasm_engine::tree::Tree;
use serde_json::Value;

/// A document and where it comes from.
pub(crate) struct Document {
    pub(crate) name: String,
    pub(crate) value: Value,
}

pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").canonicalize().unwrap()
}

/// The documents of scenarios, examples, problems and pages, unless they cannot be read at all or repeat a key, of which
/// JSON has no opinion.
pub(crate) fn documents() -> Vec<Document> {
    let mut files = Vec::new();
    for folder in ["tests/scenarios", "tests/tests/schema", "host", "plugins", "plugin-sdk", "README.md"] {
        collect(&root().join(folder), &mut files);
    }
    files.sort();
    files.iter().flat_map(|file| of_file(file)).collect()
}

fn collect(path: &Path, found: &mut Vec<PathBuf>) {
    if path.is_dir() {
        if !path.ends_with("target") {
            fs::read_dir(path).unwrap().for_each(|entry| collect(&entry.unwrap().path(), found));
        }
    } else if path.extension().is_some_and(|ending| ["yaml", "md"].iter().any(|one| ending == *one)) {
        found.push(path.to_owned());
    }
}

fn of_file(file: &Path) -> Vec<Document> {
    let text = fs::read_to_string(file).unwrap();
    let name = file.strip_prefix(root()).unwrap().display().to_string();
    if file.extension().is_some_and(|ending| ending == "md") {
        let blocks = text.split("```yaml\n").skip(1).filter_map(|rest| rest.split("```").next());
        let documents = blocks.filter(|block| block.contains("apiVersion:"));
        return documents.filter_map(|block| document(&name, block)).collect();
    }
    document(&name, &text).into_iter().collect()
}

fn document(name: &str, text: &str) -> Option<Document> {
    let mut value: Value = (&reader::read("x.yaml", text).ok()?.to_value()).into();
    if name.starts_with("tests/scenarios") {
        value = value.get_mut("document").unwrap().take();
    }
    (!name.ends_with("P012.yaml")).then(|| Document { name: name.to_owned(), value })
}

pub(crate) fn tree(value: &Value) -> Tree {
    Tree::from(&phasm_engine::value::Value::from(value.clone()))
}
