//! The pages of the reference: their tables are the schema's, their examples are valid, and they are complete.
//! `PHASM_ACCEPT=1` rewrites the tables.
#![expect(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]

mod api;
mod configuration;
mod dialect;
mod render;

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
};

use phasm::reader;
use phasm_engine::{
    document,
    plan::{Draft, Executors},
};
use serde_json::Value;

use self::render::Renderer;

/// Marks before and behind an object's fields.
const START: &str = "<!-- fields of ";
const END: &str = "<!-- end -->";

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../host/docs/reference/fields")
}

/// Every page by its file's name.
fn pages() -> BTreeMap<String, String> {
    let entries = fs::read_dir(folder()).unwrap().map(|entry| entry.unwrap().path());
    let named = entries.map(|path| {
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        (name, fs::read_to_string(path).unwrap())
    });
    named.collect()
}

/// The objects whose fields a page shows.
fn objects(page: &str) -> impl Iterator<Item = &str> {
    page.split(START).skip(1).map(|rest| rest.split_once(" -->").unwrap().0)
}

/// The objects that the schema has, without the variants of `aether/v1`.
fn objects_of(schema: &Value) -> BTreeMap<&str, &Value> {
    let defs = schema["$defs"].as_object().unwrap().iter().map(|(name, object)| (name.as_str(), object));
    defs.filter(|(name, object)| !name.ends_with("-aether") && object["properties"].is_object()).collect()
}

/// The page with its tables as they should be.
fn rendered(page: &str, objects: &BTreeMap<&str, &Value>, renderer: &Renderer<'_>) -> String {
    let mut parts = page.split(START);
    let mut text = parts.next().unwrap().to_owned();
    for part in parts {
        let (name, rest) = part.split_once(" -->").unwrap();
        let (_, rest) = rest.split_once(END).unwrap_or_else(|| panic!("`{START}{name}` has no end"));
        let object = objects.get(name).unwrap_or_else(|| panic!("the schema has no object `{name}`"));
        text += &format!("{START}{name} -->\n{}{END}{rest}", renderer.table(object));
    }
    text
}

#[test]
fn every_page_has_exactly_the_fields_of_the_schema() {
    let (schema, pages) = (document::schema(), pages());
    let mut shown = BTreeMap::new();
    for (file, page) in &pages {
        for object in objects(page) {
            assert_eq!(shown.insert(object.to_owned(), file.clone()), None, "`{object}` is on two pages");
        }
    }
    let renderer = Renderer { pages: &shown };
    let objects = objects_of(&schema);
    assert!(
        shown.keys().map(String::as_str).eq(objects.keys().copied()),
        "{shown:?} are shown, not {objects:?}"
    );
    for (file, page) in &pages {
        let expected = rendered(page, &objects, &renderer);
        if std::env::var_os("PHASM_ACCEPT").is_some() {
            fs::write(folder().join(file), &expected).unwrap();
        } else {
            assert!(*page == expected, "{file} is stale; run this test with PHASM_ACCEPT=1");
        }
    }
}

/// R-R13: examples have the recommended spellings.
#[test]
fn every_page_has_an_example_without_problems() {
    for (file, page) in pages() {
        let blocks: Vec<_> =
            page.split("```yaml\n").skip(1).filter_map(|rest| rest.split("```").next()).collect();
        assert!(file == "README.md" || !blocks.is_empty(), "{file} has no example");
        for block in blocks {
            let tree = reader::read(&file, block).unwrap_or_else(|problems| panic!("{file}: {problems:#?}"));
            let plan = Draft::read(&tree)
                .plan(&Executors::any(), &phasm_engine::value::Value::Null)
                .unwrap_or_else(|problems| panic!("{file}: {problems:#?}"));
            assert_eq!(plan.warnings, [], "{file}");
            let older = ["maxAttempts:", "limit:", "exponentialBackoff:"].map(|older| block.contains(older));
            assert_eq!(older, [false; 3], "{file} has an older spelling of `retry`");
        }
    }
}

/// Links lead to a page, and from the index to every page.
#[test]
fn links_lead_somewhere() {
    let pages = pages();
    for (file, page) in &pages {
        for link in links(page) {
            let target = link.split('#').next().unwrap();
            assert!(folder().join(target).exists(), "{file}: {link}");
        }
    }
    let linked: BTreeSet<_> = links(&pages["README.md"]).collect();
    let missing: Vec<_> =
        pages.keys().filter(|file| *file != "README.md" && !linked.contains(file.as_str())).collect();
    assert!(missing.is_empty(), "the index does not link {missing:?}");
}

fn links(page: &str) -> impl Iterator<Item = &str> {
    page.split("](").skip(1).filter_map(|rest| rest.split(')').next())
}
