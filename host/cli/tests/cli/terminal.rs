//! Output on a terminal, read back from one.

use std::{
    io::{Read as _, Write as _},
    num::NonZero,
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
};

use vt100::Parser;

use crate::{bench::Bench, stored::approval};

/// Frames of the spinner.
const SPINNER: [&str; 10] = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];
const ROWS: NonZero<u16> = NonZero::new(24).unwrap();
const COLUMNS: NonZero<u16> = NonZero::new(40).unwrap();

/// A command on a terminal of that size, which `script` gives it.
struct Terminal {
    child: Child,
    keys: ChildStdin,
    output: ChildStdout,
    shown: Parser,
}

impl Terminal {
    fn open(bench: &Bench, arguments: &[&str]) -> Self {
        Self::open_in(bench, arguments, |command| format!("exec {command}"))
    }

    /// The same within a line of the shell.
    fn open_in(bench: &Bench, arguments: &[&str], line: impl FnOnce(&str) -> String) -> Self {
        let command = bench.command(arguments);
        let words = [command.get_program()].into_iter().chain(command.get_args());
        let words: Vec<_> = words.map(|word| format!("'{}'", word.to_str().unwrap())).collect();
        let line = format!("stty rows {ROWS} cols {COLUMNS}; {}", line(&words.join(" ")));
        let mut script = Command::new("script");
        script.args(["-qefc", &line, "/dev/null"]).current_dir(bench.path(""));
        for (name, value) in command.get_envs() {
            match value {
                Some(value) => script.env(name, value),
                None => script.env_remove(name),
            };
        }
        script.env("SHELL", "/bin/sh").env("TERM", "xterm-256color");
        let mut child = script.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let (keys, output) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        Self { child, keys, output, shown: Parser::new(ROWS, COLUMNS, 200) }
    }

    /// Reads once; whether there was anything.
    fn read(&mut self) -> bool {
        let mut buffer = [0; 4096];
        let count = self.output.read(&mut buffer).unwrap_or(0);
        self.shown.process(buffer.get(..count).unwrap());
        count > 0
    }

    fn until(&mut self, text: &str) {
        while !self.page().contains(text) {
            assert!(self.read(), "it ended: {}", self.page());
        }
    }

    fn press(&mut self, key: u8) {
        self.keys.write_all(&[key]).unwrap();
    }

    fn page(&self) -> String {
        self.shown.screen().contents()
    }

    /// Its exit status, and what is left on the screen.
    fn end(mut self) -> (i32, String) {
        while self.read() {}
        let status = self.child.wait().unwrap().code().unwrap_or(-1);
        (status, self.page())
    }
}

const CTRL_C: u8 = 3;

fn moving(page: &str) -> Vec<&str> {
    page.lines().filter(|line| SPINNER.iter().any(|glyph| line.contains(glyph))).collect()
}

/// A dag of tasks with long names that sleep.
fn sleepers(bench: &Bench) {
    bench.write(
        "sleepers.yaml",
        "apiVersion: aether/v1\nkind: Workflow\nmetadata: { name: a-workflow-whose-name-takes-a-line-of-its-own }\nspec:\n  \
         entrypoint: main\n  templates:\n    \
           - dag:\n        name: main\n        tasks:\n          \
             - { name: the-first-of-two-tasks-with-long-names, template: work }\n          \
             - { name: the-second-of-two-tasks-with-long-names, template: work }\n    \
           - task: { name: work, executor: { type: sleep } }\n",
    );
}

#[test]
fn nothing_stale_is_left_of_a_run_that_is_cancelled() {
    let bench = Bench::new();
    sleepers(&bench);
    let mut terminal = Terminal::open(&bench, &["run", "sleepers.yaml"]);
    terminal.until("the-second-of");
    terminal.press(CTRL_C);
    let (status, page) = terminal.end();
    assert_eq!((status, moving(&page)), (130, vec![]), "{page}");
    assert_eq!(page.matches("×   the-first").count(), 1, "{page}");
}

#[test]
fn a_second_interrupt_leaves_the_tree() {
    let bench = Bench::new();
    sleepers(&bench);
    let mut terminal = Terminal::open(&bench, &["run", "sleepers.yaml", "--store", "runs.db"]);
    terminal.until("the-second-of");
    terminal.press(CTRL_C);
    terminal.press(CTRL_C);
    let (status, page) = terminal.end();
    assert_eq!((status, moving(&page)), (130, vec![]), "{page}");
    assert_eq!(page.matches("▸   the-first").count() + page.matches("×   the-first").count(), 1, "{page}");
}

#[test]
fn a_run_that_is_parked_leaves_its_tree_and_what_was_said() {
    let bench = Bench::new();
    approval(&bench, "1h");
    let (status, page) = Terminal::open(&bench, &["run", "release.yaml", "--store", "runs.db"]).end();
    assert_eq!((status, moving(&page)), (6, vec![]), "{page}");
    assert_eq!(page.matches("‖   wait-extern…").count(), 1, "{page}");
}

/// A line of the shell that writes how the terminal is before and after a command, and what the command ended with.
fn compared(command: &str) -> String {
    format!(
        "trap : INT; stty -a > before; echo 'what was there'; {command}; echo \"status $?\"; stty -a > after"
    )
}

/// Asserts that a terminal is as it was, and shows what it did.
fn assert_as_it_was(bench: &Bench, page: &str, status: u8) {
    let said = |name| std::fs::read_to_string(bench.path(name)).unwrap();
    assert_eq!(said("before"), said("after"));
    assert_eq!(page.trim_end(), format!("what was there\nstatus {status}"), "{page}");
}

/// R-L50: cut to the width, scrolled, sorted anew; and gone after `q`.
#[test]
fn top_takes_the_terminal_and_gives_it_back() {
    let bench = Bench::new();
    approval(&bench, "1h");
    for _ in 0..2 {
        bench.phasm(&["run", "release.yaml", "--store", "runs.db"]);
    }
    let mut terminal = Terminal::open_in(&bench, &["top", "--store", "runs.db"], compared);
    terminal.until("the busiest first");
    assert!(terminal.shown.screen().alternate_screen() && terminal.shown.screen().hide_cursor());
    let page = terminal.page();
    assert!(page.contains("2 fo…") && page.contains("RUN "), "{page}");
    assert!(page.lines().all(|line| line.chars().count() <= usize::from(u16::from(COLUMNS))), "{page}");
    assert!(page.contains('…'), "{page}");
    terminal.press(b's');
    terminal.until("the oldest first");
    terminal.press(b'q');
    let (status, page) = terminal.end();
    assert_eq!(status, 0);
    assert_as_it_was(&bench, &page, 0);
}

/// R-L50: so it is after Ctrl-C, and after SIGTERM.
#[test]
fn whatever_ends_top_the_terminal_is_as_it_was() {
    let bench = Bench::new();
    approval(&bench, "1h");
    bench.phasm(&["run", "release.yaml", "--store", "runs.db"]);
    let mut terminal = Terminal::open_in(&bench, &["top", "--store", "runs.db"], compared);
    terminal.until("the busiest");
    terminal.press(CTRL_C);
    assert_as_it_was(&bench, &terminal.end().1, 130);
    let with_pid = |command: &str| compared(&format!("sh -c 'echo $$ > pid; exec \"$@\"' sh {command}"));
    let mut terminal = Terminal::open_in(&bench, &["top", "--store", "runs.db"], with_pid);
    terminal.until("the busiest");
    let pid = std::fs::read_to_string(bench.path("pid")).unwrap();
    assert!(Command::new("kill").arg(pid.trim()).status().unwrap().success());
    assert_as_it_was(&bench, &terminal.end().1, 143);
}

/// R-L50: a terminal that becomes narrower or higher is drawn on anew.
#[test]
fn top_is_drawn_anew_on_another_size() {
    let bench = Bench::new();
    approval(&bench, "1h");
    bench.phasm(&["run", "release.yaml", "--store", "runs.db"]);
    let later = |command: &str| format!("mkfifo go; (read _ < go; stty cols 100 < /dev/tty) & {command}");
    let mut terminal = Terminal::open_in(&bench, &["top", "--store", "runs.db"], later);
    terminal.until("the busiest");
    assert!(!terminal.page().contains("WAITS FOR"), "{}", terminal.page());
    terminal.shown.screen_mut().set_size(ROWS, NonZero::new(100).unwrap());
    bench.write("go", "\n");
    terminal.until("WAITS FOR");
    terminal.press(b'q');
    assert_eq!(terminal.end().0, 0);
}
