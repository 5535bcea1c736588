//! Directories of the host whose names clients that are bound to namespaces do not learn.

use std::path::PathBuf;

use phasm::store::view::ProblemView;

/// Stands for a directory.
const ELLIPSIS: &str = "…";

/// Directories, the longest names first.
#[derive(Clone, Debug, Default)]
pub(crate) struct HiddenPaths(Vec<String>);

impl HiddenPaths {
    pub(crate) fn new(paths: &[PathBuf]) -> Self {
        let named = paths.iter().filter_map(|path| path.to_str()).map(|path| path.trim_end_matches('/'));
        let mut all: Vec<String> = named.filter(|path| path.len() > 1).map(str::to_owned).collect();
        all.sort_by_key(|path| std::cmp::Reverse(path.len()));
        all.dedup();
        Self(all)
    }

    /// Hides directories in what a problem says.
    pub(crate) fn hide_in(&self, problem: ProblemView) -> ProblemView {
        let hint = problem.hint.as_deref().map(|hint| self.hide(hint));
        ProblemView { message: self.hide(&problem.message), hint, ..problem }
    }

    /// Returns the text with an ellipsis in place of each directory.
    pub(crate) fn hide(&self, text: &str) -> String {
        self.0.iter().fold(text.to_owned(), |text, path| hide(&text, path))
    }
}

/// A name that goes on behind the path is that of another directory.
fn hide(text: &str, path: &str) -> String {
    let mut hidden = String::new();
    let mut rest = text;
    while let Some((before, behind)) = rest.split_once(path) {
        hidden.push_str(before);
        let goes_on =
            behind.starts_with(|c: char| c.is_alphanumeric() || "-_.".contains(c) && !is_end(behind));
        hidden.push_str(if goes_on { path } else { ELLIPSIS });
        rest = behind;
    }
    hidden + rest
}

/// Whether a full stop ends a sentence there.
fn is_end(behind: &str) -> bool {
    behind.strip_prefix('.').is_some_and(|rest| rest.is_empty() || rest.starts_with(char::is_whitespace))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// R-A11.
    #[test]
    fn directories_are_hidden_with_what_is_above_them() {
        let hidden =
            HiddenPaths::new(&["/srv/a/plugins".into(), "/srv/a".into(), "/".into(), "/home/x/".into()]);
        for (text, expected) in [
            ("/srv/a/plugins/x.wasm is no component", "…/x.wasm is no component"),
            ("in `/srv/a`: and /srv/a/b", "in `…`: and …/b"),
            ("/srv/abc and /srv/a-b stay", "/srv/abc and /srv/a-b stay"),
            ("it is in /srv/a. Then", "it is in …. Then"),
            ("/home/x", "…"),
            ("/v1/docs", "/v1/docs"),
        ] {
            assert_eq!(hidden.hide(text), expected);
        }
    }
}
