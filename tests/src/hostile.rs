//! Cases of `tests/hostile`: a guest as text, headed by lines `;;! …` of TOML that say what it does and what must come of it.

use std::{fs, io, path::Path};

/// A case as it stands in its file.
#[derive(Clone, Debug)]
pub struct CaseFile {
    /// Name of the file, without `.wat`.
    pub name: String,
    /// TOML of the header.
    pub header: String,
    /// Text of the guest.
    pub guest: String,
}

/// Reads every case of a folder, by name. Files without a header are parts of cases.
///
/// # Errors
/// A file cannot be read.
pub fn cases(folder: &Path) -> io::Result<Vec<CaseFile>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let name = path.file_stem().and_then(|name| name.to_str()).unwrap_or_default();
        if path.extension().is_some_and(|extension| extension == "wat") {
            found.extend(parse(name, &fs::read_to_string(&path)?));
        }
    }
    found.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(found)
}

fn parse(name: &str, text: &str) -> Option<CaseFile> {
    let mut header = String::new();
    let mut rest = text;
    while let Some((line, behind)) = rest.strip_prefix(";;!").and_then(|line| line.split_once('\n')) {
        header.push_str(line.strip_prefix(' ').unwrap_or(line));
        header.push('\n');
        rest = behind;
    }
    (!header.is_empty()).then(|| CaseFile { name: name.to_owned(), header, guest: rest.to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_is_told_from_the_guest() {
        let case = parse("a", ";;! x = 1\n;;!\n;;!  # y\n;; z\n(module)\n;;! w\n")
            .map(|case| (case.header, case.guest));
        assert_eq!(case, Some(("x = 1\n\n # y\n".to_owned(), ";; z\n(module)\n;;! w\n".to_owned())));
        assert!(parse("a", ";; z\n(module)\n").is_none());
    }
}
