//! Cargo's dep-info: a makefile rule, `artefact: source source …`, in which a backslash keeps a blank inside a path.

use std::path::PathBuf;

/// The sources of the first rule; `None` when there is none.
pub(super) fn sources(text: &str) -> Option<Vec<PathBuf>> {
    let rule = text.lines().find(|line| !line.trim().is_empty())?;
    // A Windows path has a colon too, but no blank after it.
    let (_, sources) = rule.split_once(": ").or_else(|| rule.strip_suffix(':').map(|target| (target, "")))?;
    Some(words(sources))
}

fn words(text: &str) -> Vec<PathBuf> {
    let (mut words, mut word) = (Vec::new(), String::new());
    let mut chars = text.chars().peekable();
    while let Some(char) = chars.next() {
        match char {
            '\\' if chars.peek() == Some(&' ') => word.extend(chars.next()),
            ' ' => end_word(&mut words, &mut word),
            other => word.push(other),
        }
    }
    end_word(&mut words, &mut word);
    words
}

fn end_word(words: &mut Vec<PathBuf>, word: &mut String) {
    if !word.is_empty() {
        words.push(PathBuf::from(std::mem::take(word)));
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::sources;

    #[test]
    fn a_rule_lists_its_sources() {
        let rows: [(&str, Option<&[&str]>); 9] = [
            ("/t/a.wasm: /s/lib.rs\n", Some(&["/s/lib.rs"])),
            (
                "/t/a.wasm: /s/lib.rs /s/b.rs /sdk/src/lib.rs\n",
                Some(&["/s/lib.rs", "/s/b.rs", "/sdk/src/lib.rs"]),
            ),
            (
                r"/my\ t/a.wasm: /my\ s/lib.rs /s/two\ \ blanks.rs",
                Some(&["/my s/lib.rs", "/s/two  blanks.rs"]),
            ),
            (r"C:\t\a.wasm: C:\s\lib.rs C:\my\ s\b.rs", Some(&[r"C:\s\lib.rs", r"C:\my s\b.rs"])),
            ("\n/t/a: /s/ünï.rs\n/t/b: /other.rs\n", Some(&["/s/ünï.rs"])),
            ("/t/a:  /s/a.rs   /s/b.rs \n", Some(&["/s/a.rs", "/s/b.rs"])),
            ("/t/a:\n", Some(&[])),
            ("", None),
            ("no rule\n", None),
        ];
        for (text, expected) in rows {
            let expected =
                expected.map(|paths| paths.iter().map(|path| Path::new(path).to_path_buf()).collect());
            assert_eq!(sources(text), expected, "{text:?}");
        }
    }
}
