//! The pages of the documentation, tried as they are written: their files, their commands, and the output that they show.
//!
//! A block whose first line is `# NAME` or `// NAME` is a file of that name. A line `$ COMMAND` of a `console` block is a command, and the lines
//! below it are output that it has, in this order; `…` stands for any text. A command that ends with ` &` keeps running to the
//! end of its page. `NAME=$(COMMAND)` sets a variable for the commands after it. Blocks of other languages are not run. A page with a
//! workflow file that no command of the page uses says what it needs, in a line that begins with `**Needs:**`; in the reference, in
//! explanations and in READMEs such a file is run as it stands instead.
#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "tests")]

use std::{
    fmt::Write as _,
    fs,
    io::Write as _,
    net::TcpListener,
    os::unix::{fs::symlink, process::CommandExt},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use phasm_builder::{COMPONENTIZE_QJS, ESBUILD, TYPESCRIPT};
use rustix::process::{Pid, Signal, kill_process_group};

/// How long a command may take until its output is there; an executor may have to be built first.
const PATIENCE: Duration = Duration::from_secs(600);
/// Ports of the pages, which another program may have taken where the tests run.
const PORTS: [&str; 2] = ["8484", "9000"];
/// Pages that need tools, and have tests of their own.
const WITH_TOOLS: [&str; 4] = ["how-to/c.md", "how-to/go.md", "how-to/javascript.md", "how-to/python.md"];

fn docs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs").canonicalize().unwrap()
}

/// The pages of a room.
fn pages(room: &str) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> =
        fs::read_dir(docs().join(room)).unwrap().map(|entry| entry.unwrap().path()).collect();
    found.retain(|path| path.extension().is_some_and(|extension| extension == "md"));
    found.sort();
    found
}

/// A block of code: its language and its text.
fn blocks(page: &str) -> Vec<(&str, &str)> {
    page.split("```").skip(1).step_by(2).filter_map(|block| block.split_once('\n')).collect()
}

/// Name of the file that a block is.
fn file_name(text: &str) -> Option<&str> {
    let first = text.lines().next()?;
    let name = first.strip_prefix("# ").or_else(|| first.strip_prefix("// "))?;
    (name.contains('.') && !name.contains(' ')).then_some(name)
}

/// Returns whether a text has all parts of a line in order, which `…` separates.
fn fits(line: &str, pattern: &str) -> bool {
    let mut rest = line;
    pattern.split('…').map(str::trim).all(|part| match rest.find(part) {
        Some(at) => {
            rest = rest.get(at + part.len()..).unwrap_or_default();
            true
        }
        None => false,
    })
}

/// The first expected line that an output lacks.
fn missing<'e>(output: &str, expected: &[&'e str]) -> Option<&'e str> {
    let mut lines = output.lines();
    expected.iter().find(|pattern| !lines.any(|line| fits(line, pattern))).copied()
}

/// The command as a script: it knows the variables of earlier commands, and keeps its own.
fn script(command: &str) -> String {
    let set = command.split_once("=$(").filter(|(name, _)| name.chars().all(|c| c.is_ascii_uppercase()));
    let keep = set.map_or_else(String::new, |(name, _)| format!(" && declare -p {name} >> .variables"));
    format!("[ ! -f .variables ] || . ./.variables\n{command}{keep}")
}

/// A folder in which a page is tried, and the commands that run to its end.
struct Trial {
    folder: tempfile::TempDir,
    path: String,
    ports: Vec<String>,
    background: Vec<Child>,
}

impl Trial {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let commands = folder.path().join(".commands");
        fs::create_dir(&commands).unwrap();
        symlink(env!("CARGO_BIN_EXE_phasm"), commands.join("phasm")).unwrap();
        let path = format!("{}:{}", commands.display(), std::env::var("PATH").unwrap());
        let listeners = PORTS.map(|_| TcpListener::bind("127.0.0.1:0").unwrap());
        let ports =
            listeners.iter().map(|listener| listener.local_addr().unwrap().port().to_string()).collect();
        Self { folder, path, ports, background: Vec::new() }
    }

    /// The text with ports that are free here.
    fn with_ports(&self, text: &str) -> String {
        PORTS.iter().zip(&self.ports).fold(text.to_owned(), |text, (port, free)| text.replace(port, free))
    }

    fn spawn(&self, command: &str, output: &Path) -> Child {
        let out = fs::File::create(output).unwrap();
        Command::new("bash")
            .args(["-c", &script(command)])
            .current_dir(self.folder.path())
            .env("PATH", &self.path)
            .env("PHASM_PLUGINS", docs().join("../../plugins"))
            // Packages that an earlier run has fetched are not fetched again.
            .env("npm_config_cache", docs().join("../../target/javascript/cache"))
            .env("npm_config_prefer_offline", "true")
            .env_remove("PHASM_CONFIG")
            .env_remove("PHASM_SERVER")
            .env_remove("PHASM_STORE")
            .env_remove("PHASM_KEY")
            .stdin(Stdio::null())
            .stdout(out.try_clone().unwrap())
            .stderr(out)
            .process_group(0)
            .spawn()
            .unwrap()
    }

    /// Runs a command, and returns what is wrong with it.
    fn run(&mut self, command: &str, expected: &[&str]) -> Result<(), String> {
        let output = self.folder.path().join(format!(".output-{}", self.background.len()));
        let (foreground, is_background) =
            command.strip_suffix(" &").map_or((command, false), |command| (command, true));
        let mut child = self.spawn(&self.with_ports(foreground), &output);
        let started = Instant::now();
        let expected: Vec<String> = expected.iter().map(|line| self.with_ports(line)).collect();
        let expected: Vec<&str> = expected.iter().map(String::as_str).collect();
        loop {
            let ended = child.try_wait().unwrap();
            let text = String::from_utf8_lossy(&fs::read(&output).unwrap()).into_owned();
            let lacks = missing(&text, &expected);
            let is_over = started.elapsed() > PATIENCE;
            match ended {
                Some(status) if lacks.is_none() && (status.success() || !expected.is_empty()) => {
                    return Ok(());
                }
                None if is_background && lacks.is_none() => {
                    self.background.push(child);
                    return Ok(());
                }
                None if !is_over => thread::sleep(Duration::from_millis(20)),
                ended => {
                    if ended.is_none() {
                        end(&mut child);
                    }
                    return Err(format!("$ {command}\nended {ended:?}, lacks {lacks:?} in\n{text}"));
                }
            }
        }
    }
}

/// Ends a command and what it has started.
fn end(child: &mut Child) {
    let id = Pid::from_raw(i32::try_from(child.id()).unwrap()).unwrap();
    let _ = kill_process_group(id, Signal::KILL);
    child.wait().unwrap();
}

impl Drop for Trial {
    fn drop(&mut self) {
        self.background.iter_mut().for_each(end);
    }
}

/// Tries a page, and returns what is wrong with it.
fn tried(page: &str) -> Vec<String> {
    wrong_in(&mut Trial::new(), page)
}

fn wrong_in(trial: &mut Trial, page: &str) -> Vec<String> {
    let mut wrong = Vec::new();
    for (language, text) in blocks(page) {
        if let Some(name) = file_name(text) {
            let path = trial.folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, trial.with_ports(text)).unwrap();
        }
        if language != "console" {
            continue;
        }
        for part in format!("\n{text}").split("\n$ ").skip(1) {
            let mut lines = part.lines();
            let command = lines.next().unwrap();
            let expected: Vec<&str> = lines.filter(|line| !line.trim().is_empty()).collect();
            if let Err(error) = trial.run(command, &expected) {
                wrong.push(error);
            }
        }
    }
    wrong
}

/// Returns what is wrong with the pages of a room, by page.
fn wrong_pages(room: &str) -> Vec<String> {
    let mut wrong = Vec::new();
    for path in pages(room) {
        let page = fs::read_to_string(&path).unwrap();
        let name = path.strip_prefix(docs()).unwrap().display().to_string();
        if WITH_TOOLS.contains(&name.as_str()) {
            continue;
        }
        wrong.extend(tried(&page).into_iter().map(|error| format!("{name}: {error}")));
    }
    wrong
}

#[test]
fn the_tutorial_works_as_written() {
    let wrong = wrong_pages("learn");
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

/// Pages that need tools have tests of their own.
#[test]
fn the_how_tos_work_as_written() {
    let wrong = wrong_pages("how-to");
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

/// The folder with a tool below `target`, where `.ci/run` installs it. `None` where it is not, which fails the test if
/// `PHASM_TEST_ALL` is set.
fn tool(page: &str, folder: &str, name: &str) -> Option<PathBuf> {
    let folder = docs().join("../../target").join(folder);
    if folder.join(name).exists() {
        return Some(folder.canonicalize().unwrap());
    }
    let said = format!("{page} was left out: no {name} in {}\n", folder.display());
    assert!(std::env::var_os("PHASM_TEST_ALL").is_none(), "{said}");
    std::io::stderr().write_all(said.as_bytes()).unwrap();
    None
}

/// Tries a page with the tools of a folder first on PATH.
fn works_in(page: &str, folder: &Path) {
    let text = fs::read_to_string(docs().join(page)).unwrap();
    let mut trial = Trial::new();
    trial.path = format!("{}:{}", folder.display(), trial.path);
    let wrong = wrong_in(&mut trial, &text);
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

/// Tries a page with a tool of the version that the page installs.
fn works_with(page: &str, name: &str, before_version: &str) {
    let Some(folder) = tool(page, &format!("{name}/bin"), name) else { return };
    let text = fs::read_to_string(docs().join(page)).unwrap();
    let version = text.split_once(before_version).unwrap().1.split_whitespace().next().unwrap();
    let shown = Command::new(folder.join(name)).arg("--version").output().unwrap();
    let shown = String::from_utf8(shown.stdout).unwrap();
    assert!(shown.contains(version), "the page is for {version}, and {shown} is installed");
    works_in(page, &folder);
}

/// R-L145. The page installs the tools that plugins are built with: a build would install others itself.
#[test]
fn the_page_about_javascript_works_as_written() {
    let page = "how-to/javascript.md";
    let text = fs::read_to_string(docs().join(page)).unwrap();
    let Some(folder) = tool(page, "javascript/node_modules/.bin", "componentize-qjs") else { return };
    for package in [COMPONENTIZE_QJS, ESBUILD, TYPESCRIPT] {
        assert!(text.contains(&format!(" {}@{}", package.name, package.version)), "{package:?}");
        let installed =
            fs::read_to_string(folder.join("..").join(package.name).join("package.json")).unwrap();
        assert!(installed.contains(&format!("\"version\": \"{}\"", package.version)), "{package:?}");
    }
    works_in(page, &folder);
}

#[test]
fn the_page_about_python_works_as_written() {
    works_with("how-to/python.md", "componentize-py", "componentize-py==");
}

/// R-L154, R-L157.
#[test]
fn the_page_about_go_works_as_written() {
    let page = "how-to/go.md";
    let Some(folder) = tool(page, "go/usr/lib/go-1.24/bin", "go") else { return };
    works_in(page, &folder);
}

#[test]
fn the_page_about_c_works_as_written() {
    let page = "how-to/c.md";
    let library = Path::new("/usr/lib/wasm32-wasi/libc++abi.a");
    if !library.exists() {
        let said = format!("{page} was left out: no {}\n", library.display());
        assert!(std::env::var_os("PHASM_TEST_ALL").is_none(), "{said}");
        std::io::stderr().write_all(said.as_bytes()).unwrap();
        return;
    }
    let text = fs::read_to_string(docs().join(page)).unwrap();
    let wrong = wrong_in(&mut Trial::new(), &text);
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

/// R-A18, R-A87: among others the commands of the page about the API, with curl alone.
#[test]
fn the_reference_works_as_written() {
    let wrong = wrong_pages("reference");
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

/// Every page with a workflow file either uses it in a command that is run, or says what it needs.
#[test]
fn each_how_to_is_run_or_says_what_it_needs() {
    let silent: Vec<PathBuf> = pages("how-to")
        .into_iter()
        .filter(|path| {
            let page = fs::read_to_string(path).unwrap();
            workflows(&page).any(|(_, text)| !is_used(&page, text)) && !says_its_needs(&page)
        })
        .collect();
    assert!(silent.is_empty(), "{silent:?}");
}

/// Whole workflow files of a page: language and text.
fn workflows(page: &str) -> impl Iterator<Item = (&str, &str)> {
    let is_workflow = |(language, text): &(&str, &str)| match *language {
        "yaml" => ["phasm/", "aether/"]
            .iter()
            .any(|ours| text.lines().any(|line| line.starts_with(&format!("apiVersion: {ours}")))),
        "json" => text.contains("\"apiVersion\": "),
        _ => false,
    };
    blocks(page).into_iter().filter(is_workflow)
}

/// Returns whether a command of the page that is run uses the file.
fn is_used(page: &str, text: &str) -> bool {
    let mut commands = blocks(page).into_iter().filter(|(language, _)| *language == "console");
    file_name(text).is_some_and(|name| commands.any(|(_, commands)| commands.contains(name)))
}

fn says_its_needs(page: &str) -> bool {
    page.contains("\n**Needs:** ")
}

/// READMEs, and pages of the rooms that have whole workflow files. The catalogue of errors shows wrong ones.
fn readers_pages() -> Vec<PathBuf> {
    let root = docs().join("../..");
    let mut found = vec![root.join("README.md"), root.join("plugin-sdk/README.md")];
    let mut folders = ["plugins", "host/examples"].map(|folder| root.join(folder)).to_vec();
    folders.extend(["learn", "how-to", "reference", "understand"].map(|room| docs().join(room)));
    while let Some(folder) = folders.pop() {
        for path in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
            if path.is_dir() && !path.ends_with("target") {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "md") {
                found.push(path);
            }
        }
    }
    found.retain(|path| !path.ends_with("reference/problems.md"));
    found.sort();
    found
}

/// Checks a workflow file, and runs it unless a command of its page does or the page says its needs. Returns the error.
fn workflow_error(trial: &mut Trial, page: &str, (language, text): (&str, &str)) -> Option<String> {
    let file = format!("workflow.{language}");
    fs::write(trial.folder.path().join(&file), text).unwrap();
    let (needs, used) = (says_its_needs(page), is_used(page, text));
    let mut validate = format!("phasm validate {file}");
    if needs {
        validate += " --allow-missing";
    } else if !used {
        validate += " --strict";
    }
    if let Some((_, config)) =
        blocks(page).into_iter().find(|(_, text)| file_name(text) == Some("phasm.toml"))
    {
        fs::write(trial.folder.path().join("phasm.toml"), config).unwrap();
        validate += " --config phasm.toml";
    }
    let mut commands = vec![validate];
    if !needs && !used {
        let is_schedule = text.contains("CronWorkflow");
        // Status 6: it waits for a person.
        commands.push(if is_schedule {
            format!("phasm cron next {file}")
        } else {
            format!("phasm run {file} --store runs.db || [ $? = 6 ]")
        });
    }
    commands.iter().find_map(|command| trial.run(command, &[]).err())
}

#[test]
fn every_workflow_file_is_valid_and_runs_or_its_page_says_what_it_needs() {
    let mut trial = Trial::new();
    let (mut wrong, mut count) = (Vec::new(), 0);
    for path in readers_pages() {
        let page = fs::read_to_string(&path).unwrap();
        for workflow in workflows(&page) {
            count += 1;
            let error = workflow_error(&mut trial, &page, workflow);
            wrong.extend(error.map(|error| format!("{}: {error}\n{}", path.display(), workflow.1)));
        }
    }
    assert!(count > 70, "only {count} workflow files were found");
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

#[test]
fn output_that_differs_is_found() {
    assert!(fits("hello Succeeded in 12 ms, 1 task", "hello Succeeded in … ms, 1 task"));
    assert!(!fits("hello Failed in 12 ms, 1 task", "hello Succeeded in … ms, 1 task"));
    assert_eq!(missing("a\nb\n", &["b", "a"]), Some("a"));
    let page = "```yaml\n# a.txt\nx\n```\n```console\n$ cat a.txt\nx\n$ cat a.txt\ny\n$ false\n$ A=$(cat a.txt | tail -n 1)\n\
                $ echo $A.\nx.\n$ B=$(false)\n```\n";
    assert_eq!(tried(page).len(), 3, "{:?}", tried(page));
}

/// The text of `phasm ARGUMENTS --help`.
fn help(command: &[&str]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_phasm")).args(command).arg("--help").output().unwrap();
    assert!(output.status.success(), "{command:?}: {output:?}");
    String::from_utf8(output.stdout).unwrap()
}

/// Names of the commands below the one that a help text is about.
fn commands(help: &str) -> Vec<&str> {
    let Some((_, list)) = help.split_once("\nCommands:\n") else { return Vec::new() };
    let list = list.split("\n\n").next().unwrap();
    // Lines that continue a description are indented further.
    let names = list.lines().filter_map(|line| line.strip_prefix("  ").filter(|line| !line.starts_with(' ')));
    names.filter_map(|line| line.split(' ').next()).filter(|name| *name != "help").collect()
}

fn write_help(page: &mut String, command: &[&str]) {
    let text = help(command);
    let title = ["phasm"].into_iter().chain(command.iter().copied()).collect::<Vec<_>>().join(" ");
    let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
    write!(page, "\n## {title}\n\n```text\n{}\n```\n", lines.join("\n")).unwrap();
    for name in commands(&text) {
        write_help(page, &[command, &[name]].concat());
    }
}

/// `PHASM_ACCEPT=1` rewrites the page.
#[test]
fn the_help_of_every_command_is_on_its_page() {
    let path = docs().join("reference/help.md");
    let mut page = "# Help of every command\n\nThis page is made from the command itself; \
                    [the command line](cli.md) has examples and explanations.\n"
        .to_owned();
    write_help(&mut page, &[]);
    if std::env::var_os("PHASM_ACCEPT").is_some() {
        fs::write(&path, &page).unwrap();
    }
    let written = fs::read_to_string(&path).unwrap_or_default();
    assert!(written == page, "host/docs/reference/help.md is stale; PHASM_ACCEPT=1 rewrites it");
}
