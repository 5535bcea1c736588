//! Errors of the tools, in words and places of the author.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

/// Names that scripts know from browsers and Node.js, and that the engine has not.
const MISSING: [(&str, &str); 5] = [
    ("fetch", "`http.get` of phasm-sdk sends requests"),
    ("process", "`config` of the call has settings"),
    ("setTimeout", "an attempt that waits holds its place; a task's `retry` and `delay` wait without one"),
    ("URL", "`http` of phasm-sdk takes addresses as text"),
    ("require", "`import` at the top of a file loads packages"),
];

/// Where the lines of a bundle come from.
#[derive(Debug, Default, Deserialize, Serialize)]
pub(super) struct Lines {
    files: Vec<String>,
    /// First line of a part in the bundle, its file, and its line there.
    parts: Vec<(u32, usize, u32)>,
}

impl Lines {
    pub(super) fn read(json: &str) -> Option<Self> {
        serde_json::from_str(json).ok()
    }

    /// For the SDK, which names lines in traces.
    pub(super) fn json(&self) -> String {
        serde_json::to_string(self).unwrap_or_else(|_| "null".to_owned())
    }

    /// A text with places of the bundle replaced by those of the files.
    pub(super) fn traced(&self, said: &str) -> String {
        let mut parts = said.split("/bundle.mjs:");
        let first = parts.next().unwrap_or_default().to_owned();
        parts.fold(first, |mut text, rest| {
            let digits = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
            let (line, after) = rest.split_at(digits);
            match line.parse().ok().and_then(|line| self.place(line)) {
                Some(place) => {
                    text.push_str(&place);
                    // The column is the bundle's.
                    text.push_str(after.trim_start_matches(|c: char| c == ':' || c.is_ascii_digit()));
                }
                None => {
                    text.push_str("bundle.mjs:");
                    text.push_str(rest);
                }
            }
            text
        })
    }

    fn place(&self, line: u32) -> Option<String> {
        let after = self.parts.partition_point(|(first, ..)| *first <= line);
        let (first, file, original) = self.parts.get(after.checked_sub(1)?)?;
        match self.files.get(*file)?.as_str() {
            // Lines of the SDK have no file.
            "" => Some("phasm-sdk".to_owned()),
            file => Some(format!("{file}:{}", original + (line - first))),
        }
    }
}

/// An error with advice where a script uses something that a component has not.
pub(super) fn explained(said: &str) -> String {
    let mut advice: Vec<String> = MISSING
        .iter()
        .filter(|(name, _)| {
            said.contains(&format!("Cannot find name '{name}'"))
                || said.contains(&format!("{name} is not defined"))
        })
        .map(|(name, instead)| format!("there is no `{name}` in a component: {instead}"))
        .collect();
    if said.contains("is built into node") || said.contains("\"node:") {
        advice.push("there are no modules of Node.js in a component: it has ES2023, phasm-sdk and packages that need no more".to_owned());
    }
    advice.extend(missing_packages(said));
    // Advice of esbuild and TypeScript that would make it build, and fail when it runs.
    let is_misleading =
        |line: &&str| ["--platform=node", "You can mark the path"].iter().any(|advice| line.contains(advice));
    let kept = said.lines().filter(|line| !is_misleading(line));
    let lines = kept.map(|line| line.split(" Do you need to ").next().unwrap_or_default());
    let said = lines.collect::<Vec<_>>().join("\n");
    let advice: String = advice.iter().map(|advice| format!("\n\n{advice}")).collect();
    format!("{}{advice}", said.trim_end())
}

/// Advice for packages that an import does not find.
fn missing_packages(said: &str) -> BTreeSet<String> {
    let named = [("Could not resolve \"", '"'), ("Cannot find module '", '\'')];
    let found = named.iter().flat_map(|(before, after)| {
        said.split(before).skip(1).filter_map(|rest| rest.split_once(*after)).map(|(name, _)| name)
    });
    // A path is a file of the author, and modules of Node.js have advice of their own.
    let is_package = |name: &&str| {
        !name.starts_with(['.', '/']) && !name.contains(':') && !said.contains("is built into node")
    };
    let advice = |name| format!("the package `{name}` is not installed: `npm install {name}` adds it");
    found.filter(is_package).map(advice).collect()
}

/// A text without colours.
pub(super) fn plain(coloured: &str) -> String {
    let mut parts = coloured.split("\u{1b}[");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |mut text, part| {
        text.push_str(part.split_once(|c: char| c.is_ascii_alphabetic()).map_or("", |(_, text)| text));
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_of_the_bundle_are_those_of_the_files() {
        let lines = Lines::read(r#"{"files":["","greet.ts"],"parts":[[2,0,1],[10,1,4],[20,1,30]]}"#).unwrap();
        let said =
            "no\n    at go (/bundle.mjs:11:7)\n    at <anonymous> (/bundle.mjs:25:1)\n    at /bundle.mjs:1:1";
        assert_eq!(
            lines.traced(said),
            "no\n    at go (greet.ts:5)\n    at <anonymous> (greet.ts:35)\n    at bundle.mjs:1:1"
        );
    }

    #[test]
    fn advice_fits_a_component() {
        let typescript = "a.ts:1:1 - error TS2304: Cannot find name 'fetch'. Do you need to change your target library? Try";
        let said = explained(typescript);
        assert!(
            said.starts_with("a.ts:1:1 - error TS2304: Cannot find name 'fetch'.\n\nthere is no `fetch`"),
            "{said}"
        );
        let esbuild = "[ERROR] Could not resolve \"fs\"\n\n  The package \"fs\" is built into node. Use \"--platform=node\"";
        let said = explained(esbuild);
        assert!(said.ends_with("packages that need no more") && !said.contains("--platform"), "{said}");
        let typescript = "a.ts:1:1 - error TS2591: Cannot find name 'node:fs'. Do you need to install type\n1 import \"node:fs\"";
        let said = explained(typescript);
        assert!(said.starts_with("a.ts:1:1 - error TS2591: Cannot find name 'node:fs'.\n1 import"), "{said}");
        let esbuild = "[ERROR] Could not resolve \"yaml\"\n[ERROR] Could not resolve \"./x.js\"\n  You can mark the path";
        let said = explained(esbuild);
        assert!(
            said.ends_with("\n\nthe package `yaml` is not installed: `npm install yaml` adds it"),
            "{said}"
        );
        assert_eq!(explained("syntax error\n"), "syntax error");
    }

    #[test]
    fn a_text_loses_its_colours() {
        assert_eq!(plain("\u{1b}[96ma.ts\u{1b}[0m:\u{1b}[93m1\u{1b}[0m x"), "a.ts:1 x");
    }
}
