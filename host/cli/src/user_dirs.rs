//! Directories of the user that the XDG rules name.

use std::{env, ffi::OsString, path::PathBuf};

/// Directory of the user's plugins, library and keys: `$XDG_DATA_HOME/phasm`, else `~/.local/share/phasm`.
pub(super) fn data_dir() -> Option<PathBuf> {
    user_dir(None, "XDG_DATA_HOME", ".local/share", |name| env::var_os(name))
}

/// Directory of files that can be made again: `$PHASM_CACHE_DIR`, else `$XDG_CACHE_HOME/phasm`, else `~/.cache/phasm`.
pub(super) fn cache_dir() -> Option<PathBuf> {
    user_dir(Some("PHASM_CACHE_DIR"), "XDG_CACHE_HOME", ".cache", |name| env::var_os(name))
}

fn user_dir(
    own: Option<&str>,
    xdg: &str,
    at_home: &str,
    var: impl Fn(&str) -> Option<OsString>,
) -> Option<PathBuf> {
    let set = |name: &str| var(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    if let Some(own) = own.and_then(set) {
        return std::path::absolute(own).ok();
    }
    // Relative paths are ignored, as the XDG rules ask.
    let base = set(xdg).filter(|dir| dir.is_absolute()).or_else(|| Some(set("HOME")?.join(at_home)))?;
    Some(base.join("phasm"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_variable_that_is_set_decides() {
        type Row<'a> = (&'a [(&'a str, &'a str)], Option<&'a str>);
        let rows: [Row<'_>; 6] = [
            (&[("PHASM_CACHE_DIR", "/own"), ("XDG_CACHE_HOME", "/xdg"), ("HOME", "/h")], Some("/own")),
            (&[("XDG_CACHE_HOME", "/xdg"), ("HOME", "/h")], Some("/xdg/phasm")),
            (&[("XDG_CACHE_HOME", "relative"), ("HOME", "/h")], Some("/h/.cache/phasm")),
            (&[("PHASM_CACHE_DIR", ""), ("HOME", "/h")], Some("/h/.cache/phasm")),
            (&[("HOME", "")], None),
            (&[], None),
        ];
        for (set, expected) in rows {
            let var = |name: &str| {
                set.iter().find(|(known, _)| *known == name).map(|(_, value)| OsString::from(value))
            };
            let found = user_dir(Some("PHASM_CACHE_DIR"), "XDG_CACHE_HOME", ".cache", var);
            assert_eq!(found, expected.map(PathBuf::from), "{set:?}");
        }
    }
}
