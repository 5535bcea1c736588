//! Check of a built command: the C library that it needs, and paths of the machine that built it.

use std::{env, fs, path::Path, process::Command};

use memchr::memmem;

use crate::{C_LIBRARY, DistResult, build::Places, c_library, run};

/// Bytes of a path that an error shows.
const SHOWN: usize = 100;

/// Fails if the command needs a newer C library than packages promise, or contains a path of this machine.
pub(crate) fn command(binary: &Path, places: &Places) -> DistResult {
    let mut errors = Vec::new();
    if c_library(binary)? > C_LIBRARY {
        let symbols = run(Command::new("readelf").args(["--dyn-syms", "--wide"]).arg(binary))?;
        errors.extend(newer(&symbols).into_iter().map(|symbol| {
            format!("{}: needs {symbol}, expected nothing newer than GLIBC_2.{C_LIBRARY}; build it with `phasm-dist build`", binary.display())
        }));
    }
    errors.extend(paths(binary, places)?);
    if errors.is_empty() { Ok(()) } else { Err(errors.join("\n").into()) }
}

/// Fails if a component contains a path of this machine.
pub(crate) fn component(file: &Path, places: &Places) -> DistResult {
    let errors = paths(file, places)?;
    if errors.is_empty() { Ok(()) } else { Err(errors.join("\n").into()) }
}

/// Symbols that came with a newer C library, from what `readelf --dyn-syms` prints.
fn newer(symbols: &str) -> Vec<&str> {
    let words = symbols.split_whitespace();
    words
        .filter(|word| {
            let version = word.split_once("@GLIBC_2.").map(|(_, version)| version);
            let minor = version.and_then(|version| version.split('.').next()?.parse::<u32>().ok());
            minor.is_some_and(|minor| minor > C_LIBRARY)
        })
        .collect()
}

/// Errors about paths of this machine in `file`: those of the build, and those of the user's home.
fn paths(file: &Path, places: &Places) -> DistResult<Vec<String>> {
    let content = fs::read(file).map_err(|error| format!("{}: {error}", file.display()))?;
    let mut folders: Vec<String> = places.renamed().into_iter().map(|(folder, _)| folder).collect();
    folders.extend(env::var("HOME").ok().filter(|home| home.len() > 1));
    folders.sort();
    folders.dedup();
    let mut errors = Vec::new();
    for folder in folders {
        // With the slash, as a folder may be the beginning of a word.
        let needle = format!("{}/", folder.trim_end_matches('/'));
        let found: Vec<usize> = memmem::find_iter(&content, needle.as_bytes()).collect();
        if let Some(first) = found.first() {
            let shown = content.get(*first..).unwrap_or_default().iter().take(SHOWN);
            let shown: Vec<u8> = shown.copied().take_while(|byte| byte.is_ascii_graphic()).collect();
            errors.push(format!(
                "{}: contains paths of this machine ({} below {folder}), such as {}; expected none, as the same source is to give the same file",
                file.display(),
                found.len(),
                String::from_utf8_lossy(&shown)
            ));
        }
    }
    Ok(errors)
}

#[cfg(test)]
mod tests {
    use std::process;

    use super::*;
    use crate::folder;

    /// R-L73: symbols of a newer C library are found and named.
    #[test]
    fn newer_symbols_are_named() {
        let symbols = "  1: 0 FUNC GLOBAL DEFAULT UND pthread_create@GLIBC_2.34 (2)\n  2: 0 FUNC GLOBAL DEFAULT UND \
                       memcpy@GLIBC_2.14 (3)\n  3: 0 FUNC WEAK DEFAULT UND gnu_get_libc_version@GLIBC_2.2.5 (4)\n";
        assert_eq!(newer(symbols), ["pthread_create@GLIBC_2.34"]);
    }

    /// R-L73: a path of the checkout in a file is an error that shows it.
    #[test]
    fn paths_of_the_checkout_are_found() {
        let dir = env::temp_dir().join(format!("phasm-dist-check-{}", process::id()));
        folder::make_empty(&dir).unwrap();
        let places = Places { checkout: dir.join("checkout"), target: dir.join("target") };
        let leaking = format!("\0text\0{}/host/src/lib.rs\0", places.checkout.display());
        for (content, is_clean) in [(leaking.as_str(), false), ("\0/phasm/host/src/lib.rs\0", true)] {
            let file = dir.join("file");
            folder::write(&file, content.as_bytes(), 0o644).unwrap();
            let done = component(&file, &places);
            assert_eq!(done.is_ok(), is_clean, "{content:?}");
            if let Err(error) = done {
                assert!(error.to_string().contains("/checkout/host/src/lib.rs"), "{error}");
            }
        }
        fs::remove_dir_all(&dir).unwrap();
    }
}
