//! The page about the HTTP API: its table has every route of the OpenAPI description.

use std::{fmt::Write as _, fs, path::Path};

const START: &str = "<!-- routes -->\n";
const END: &str = "<!-- end -->";

/// The table of all routes, by path.
fn table() -> String {
    let description = phasm_server::api_description();
    let mut table = "| request | effect | role |\n|---|---|---|\n".to_owned();
    for (path, methods) in description["paths"].as_object().unwrap() {
        for (method, operation) in methods.as_object().unwrap() {
            let (method, effect) = (method.to_uppercase(), operation["summary"].as_str().unwrap());
            let role = operation["x-role"].as_str().map_or_else(String::new, |role| format!("`{role}`"));
            writeln!(table, "| `{method} {path}` | {effect} | {role} |").unwrap();
        }
    }
    table
}

/// R-A87: no route is left out.
#[test]
fn the_page_has_every_route() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../host/docs/reference/api.md");
    let page = fs::read_to_string(&path).unwrap();
    let (before, rest) = page.split_once(START).unwrap();
    let (_, after) = rest.split_once(END).unwrap();
    let expected = format!("{before}{START}{}{END}{after}", table());
    if std::env::var_os("PHASM_ACCEPT").is_some() {
        fs::write(&path, &expected).unwrap();
    } else {
        assert!(page == expected, "api.md is stale; run this test with PHASM_ACCEPT=1");
    }
}
