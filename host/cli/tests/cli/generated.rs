//! Completions of shells, and manual pages.

use std::{fs, process::Command};

use crate::bench::Bench;

/// R-L29: bash takes the script, and completes commands and options by it.
#[test]
fn a_shell_completes_commands_and_options() {
    let bench = Bench::new();
    let script = bench.phasm(&["completions", "bash"]);
    assert_eq!((script.status, script.stderr.as_str()), (0, ""), "{script:?}");
    bench.write("phasm.bash", &script.stdout);
    let complete = |words: &str, word: &str| {
        let count = words.split(' ').count() - 1;
        let asked = format!(
            "source phasm.bash; COMP_WORDS=({words}); COMP_CWORD={count}; _phasm phasm '{word}' ''; echo \"${{COMPREPLY[@]}}\""
        );
        let ran = Command::new("bash").args(["-c", &asked]).current_dir(bench.path("")).output().unwrap();
        String::from_utf8(ran.stdout).unwrap().trim().to_owned()
    };
    assert_eq!(complete("phasm val", "val"), "validate");
    assert_eq!(complete("phasm run --res", "--res"), "--resume");
    // R-L44: names of examples, too.
    assert_eq!(complete("phasm examples nig", "nig"), "nightly-alert");
    for shell in ["zsh", "fish", "elvish", "powershell"] {
        let script = bench.phasm(&["completions", shell]);
        assert!(script.status == 0 && script.stdout.contains("validate"), "{script:?}");
    }
}

/// R-L29: every command has a page, which tells its options.
#[test]
fn every_command_has_a_page() {
    let bench = Bench::new();
    let top = bench.phasm(&["man"]);
    assert!(top.status == 0 && top.stdout.contains(".TH phasm 1"), "{top:?}");
    let all = bench.phasm(&["man", "pages/man1"]);
    let count = fs::read_dir(bench.path("pages/man1")).unwrap().count();
    assert_eq!((all.status, all.stderr), (0, format!("{count} pages are in pages/man1\n")));
    for (page, told) in [("phasm-run", "\\-\\-resume"), ("phasm-plugin-add", "phasm plugin add")] {
        let text = fs::read_to_string(bench.path(&format!("pages/man1/{page}.1"))).unwrap();
        assert!(text.contains(told), "{page}: {text}");
    }
    let refused = bench.phasm(&["man", "plugins/echo.wasm"]);
    assert!(refused.status == 2 && refused.stderr.contains("cannot be written to"), "{refused:?}");
}
