//! The pages about the configuration: their tables are the schema's, their examples are valid.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use phasm::config::{self, Config};

use crate::{START, objects, render::Renderer, rendered};

/// The pages that share the tables of the configuration.
const PAGES: [&str; 3] = ["configuration.md", "grants.md", "limits.md"];

fn path(file: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../host/docs/reference").join(file)
}

fn page(file: &str) -> String {
    fs::read_to_string(path(file)).unwrap()
}

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
fn the_pages_have_exactly_the_fields_of_the_schema() {
    let schema = config::schema();
    let defs = schema["$defs"].as_object().unwrap().iter().map(|(name, object)| (name.as_str(), object));
    let all: BTreeMap<_, _> = defs.chain([("configuration", &schema)]).collect();
    let tables: BTreeMap<_, _> =
        all.into_iter().filter(|(_, object)| object["properties"].is_object()).collect();
    let shown: Vec<_> = PAGES
        .into_iter()
        .flat_map(|file| anchors(&page(file)).into_iter().map(move |(object, anchor)| (object, file, anchor)))
        .collect();
    let mut names: Vec<&str> = shown.iter().map(|(object, ..)| object.as_str()).collect();
    names.sort_unstable();
    assert!(names.iter().eq(tables.keys()), "{names:?} are shown, not {:?}", tables.keys());
    for file in PAGES {
        let link = |of: &str, anchor: &str| {
            if of == file { anchor.to_owned() } else { format!("{of}{anchor}") }
        };
        let mut pages: BTreeMap<_, _> =
            shown.iter().map(|(object, of, anchor)| (object.clone(), link(of, anchor))).collect();
        for form in ["duration", "timeout"] {
            pages.insert(form.to_owned(), "fields/README.md#durations".to_owned());
        }
        let expected = rendered(&page(file), &tables, &Renderer { pages: &pages });
        if std::env::var_os("PHASM_ACCEPT").is_some() {
            fs::write(path(file), &expected).unwrap();
        } else {
            assert!(page(file) == expected, "{file} is stale; run this test with PHASM_ACCEPT=1");
        }
    }
}

#[test]
fn the_examples_are_without_problems() {
    for file in PAGES {
        let page = page(file);
        let blocks: Vec<_> =
            page.split("```toml\n").skip(1).filter_map(|rest| rest.split("```").next()).collect();
        assert!(!blocks.is_empty(), "{file} has no example");
        for block in blocks {
            let read = Config::parse(block, Path::new(env!("CARGO_MANIFEST_DIR")));
            assert!(read.is_ok(), "{file}: {block}\n{:?}", read.err());
        }
    }
}
