//! The page about the configuration: its tables are the schema's, its examples are valid.

use std::{collections::BTreeMap, fs, path::Path};

use phasm::config::{self, Config};

use crate::{START, objects, render::Renderer, rendered};

/// Under which heading of the page each object is, as a link.
fn anchors(page: &str) -> BTreeMap<String, String> {
    let mut heading = String::new();
    let mut found = BTreeMap::new();
    for line in page.lines() {
        if let Some(title) = line.strip_prefix("## ") {
            let kept = title.chars().filter(|c| c.is_alphanumeric() || *c == '-' || *c == ' ');
            heading = kept.collect::<String>().to_lowercase().replace(' ', "-");
        } else if line.starts_with(START) {
            found.extend(objects(line).map(|object| (object.to_owned(), format!("#{heading}"))));
        }
    }
    found
}

#[test]
fn the_page_has_exactly_the_fields_of_the_schema() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../host/docs/reference/configuration.md");
    let page = fs::read_to_string(&path).unwrap();
    let schema = config::schema();
    let defs = schema["$defs"].as_object().unwrap().iter().map(|(name, object)| (name.as_str(), object));
    let all: BTreeMap<_, _> = defs.chain([("configuration", &schema)]).collect();
    let tables = all.into_iter().filter(|(_, object)| object["properties"].is_object()).collect();
    let shown = anchors(&page);
    assert!(shown.keys().map(String::as_str).eq(BTreeMap::keys(&tables).copied()), "{shown:?}");
    let mut pages = shown;
    for form in ["duration", "timeout"] {
        pages.insert(form.to_owned(), "fields/README.md#durations".to_owned());
    }
    let expected = rendered(&page, &tables, &Renderer { pages: &pages });
    if std::env::var_os("PHASM_ACCEPT").is_some() {
        fs::write(&path, &expected).unwrap();
    } else {
        assert!(page == expected, "stale; run this test with PHASM_ACCEPT=1");
    }
}

#[test]
fn the_examples_are_without_problems() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../host/docs/reference/configuration.md");
    let page = fs::read_to_string(path).unwrap();
    let blocks: Vec<_> =
        page.split("```toml\n").skip(1).filter_map(|rest| rest.split("```").next()).collect();
    assert!(!blocks.is_empty());
    for block in blocks {
        let read = Config::parse(block, Path::new(env!("CARGO_MANIFEST_DIR")));
        assert!(read.is_ok(), "{block}\n{:?}", read.err());
    }
}
