//! The files that sources were compiled from, which clang lists as rules of make.

use std::path::{Path, PathBuf};

/// The files of a rule, absolute; `folder` is where clang ran.
pub(super) fn of_rule(text: &str, folder: &Path) -> Vec<PathBuf> {
    let text = text.replace("\\\n", " ");
    let rule = text.split_once(": ").map_or("", |(_, sources)| sources);
    let (mut files, mut file) = (Vec::new(), String::new());
    let mut chars = rule.chars().peekable();
    while let Some(char) = chars.next() {
        match (char, chars.peek()) {
            ('\\', Some(' ' | '#')) | ('$', Some('$')) => file.extend(chars.next()),
            (blank, _) if blank.is_whitespace() => end(&mut files, &mut file, folder),
            (other, _) => file.push(other),
        }
    }
    end(&mut files, &mut file, folder);
    files
}

fn end(files: &mut Vec<PathBuf>, file: &mut String, folder: &Path) {
    if !file.is_empty() {
        files.push(folder.join(std::mem::take(file)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rule_has_files_with_blanks_and_signs() {
        let rule = "/o/a\\ b.o: greet.c \\\n  /usr/in\\ clude/phasm.h \\\n  a$$b.h c\\#.h\n";
        let expected =
            ["/here/greet.c", "/usr/in clude/phasm.h", "/here/a$b.h", "/here/c#.h"].map(PathBuf::from);
        assert_eq!(of_rule(rule, Path::new("/here")), expected);
        assert!(of_rule("", Path::new("/here")).is_empty());
    }
}
