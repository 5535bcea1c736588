//! `phasm validate`: every problem of documents, at once.

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
    sync::Arc,
};

use clap::Args;
use phasm::{
    config::{self, Config},
    engine::{
        plan::{Draft, Executors},
        problem::{Problem, codes},
        value::Value,
    },
    plugins::{self, PluginInventory},
    sandbox::Limits,
};

use crate::{
    command_line,
    drive::configuration,
    exit::Exit,
    failure::{ContextError, Failure},
    input::document::{Text, UnreadableFile},
    paths::PathArguments,
    plugins::{
        builder::PluginBuilder,
        dirs::{self, PluginSource},
        shipped,
    },
    problems::{self, ProblemReport, is_cut},
    terminal::{screen::Screen, text},
};

/// Checks workflow files without running them.
///
/// Checks as strictly as `run`, but values for parameters are not asked for. The exit status is 0 if all workflow files are valid,
/// else 2.
#[derive(Args, Debug)]
#[command(
    after_help = "Examples:\n  phasm validate build.yaml release.json\n  phasm validate audit.yaml --plugins executors --json\n  phasm validate --explain P012"
)]
pub(crate) struct ValidateArguments {
    /// Workflow files, JSON or YAML; `-` is stdin.
    #[arg(value_name = "FILE", required_unless_present = "explain")]
    files: Vec<PathBuf>,

    #[command(flatten)]
    paths: PathArguments,

    /// Warn of executors that are not installed, instead of refusing them: for workflow files that run elsewhere.
    #[arg(long)]
    allow_missing: bool,

    /// Treat warnings as errors.
    #[arg(long)]
    strict: bool,

    /// Print {"errors": […], "warnings": […]} to stdout.
    #[arg(long)]
    json: bool,

    /// Explain the code of an error or a warning, with an example.
    #[arg(long, value_name = "CODE", conflicts_with_all = ["files", "plugins", "config", "allow_missing", "strict", "json"])]
    explain: Option<String>,
}

/// Checks documents, or explains a code.
pub(super) fn validate(arguments: &ValidateArguments, screen: &Screen) -> Result<Exit, Failure> {
    match &arguments.explain {
        Some(code) => explain(code, screen),
        None => check(arguments, screen),
    }
}

fn check(arguments: &ValidateArguments, screen: &Screen) -> Result<Exit, Failure> {
    let configured = arguments.paths.config();
    let configured = configured.map(|file| configuration(&file, screen, arguments.json)).transpose()?;
    let config = configured.as_ref().map(|(_, config)| config);
    let variables = config.map(|config| Value::from(config.vars.clone())).unwrap_or_default();
    let mut found = ProblemReport::default();
    let mut exit = Exit::Done;
    let mut known = BTreeSet::new();
    for file in &arguments.files {
        let read = Text::read(file);
        let (problems, warnings) = match &read {
            Ok(document) => {
                let draft = document.draft();
                let namespace = draft.as_ref().ok().and_then(Draft::namespace);
                let of_whom = DocumentContext { config, namespace, dir: document.dir() };
                let installed = of_whom.installed(&arguments.paths, screen)?;
                known.extend(installed.names());
                match draft {
                    Ok(draft) => {
                        let executors = known_executors(&installed, &draft.executor_types());
                        let executors = executors.allow_missing(arguments.allow_missing);
                        let found = draft.judge(&of_whom.with_endpoints(executors), &variables);
                        let placed = |found: &[Problem]| problems::with_places(found, document.dir());
                        (placed(&found.problems), placed(&found.warnings))
                    }
                    Err(problems) => (problems, Vec::new()),
                }
            }
            Err(unread) => (vec![Problem::clone(&unread.problem)], Vec::new()),
        };
        let source = read.as_ref().map_or_else(UnreadableFile::source, Text::source);
        let is_refused = !problems.is_empty() || (arguments.strict && !warnings.is_empty());
        if is_refused {
            exit = Exit::Problems;
        }
        if arguments.json {
            found.add(source, &problems, &warnings);
            continue;
        }
        problems::show(screen, source, &problems);
        problems::show_warnings(screen, source, &warnings);
        // A closed stdout does not change the exit status.
        let _gone = screen.out(&verdict(source.name, &problems, &warnings, is_refused));
    }
    if let Some((text, config)) = &configured {
        let warnings = doubts(config, known);
        if arguments.strict && !warnings.is_empty() {
            exit = Exit::Problems;
        }
        match arguments.json {
            true => found.add(text.source(), &[], &warnings),
            false => {
                problems::show_warnings(screen, text.source(), &warnings);
                if arguments.strict && !warnings.is_empty() {
                    let _gone = screen.out(&verdict(&text.name, &[], &warnings, true));
                }
            }
        }
    }
    if arguments.json {
        let _gone = found.print(screen);
    }
    Ok(exit)
}

/// Resolves executor types. Source that has to be built first is known by name only: a warning, but none for executors that ship
/// with Phasm, which are built at their first use.
pub(super) fn known_executors(installed: &PluginInventory, types: &[Arc<str>]) -> Executors {
    let shipped = shipped::dir();
    types.iter().fold(installed.executors(types), |all, executor_type| {
        let ships = |folder: &Path| shipped.as_ref().is_some_and(|dir| is_within(folder, dir));
        let folder = installed.unbuilt(executor_type).filter(|folder| !ships(folder));
        let Some(folder) = folder else { return all };
        let folder = folder.to_string_lossy();
        let why = format!("{folder} is source that is not built, or not up to date");
        let build = command_line::command(&["plugin", "build", &folder]);
        all.unbuilt(Arc::clone(executor_type), why, format!("build it: {build}"))
    })
}

/// Whether a folder is in a directory, however both are written.
fn is_within(folder: &Path, dir: &Path) -> bool {
    match (folder.canonicalize(), dir.canonicalize()) {
        (Ok(folder), Ok(dir)) => folder.starts_with(dir),
        _ => false,
    }
}

/// Returns the warnings that a run with this configuration would get.
fn doubts(config: &Config, mut known: BTreeSet<Arc<str>>) -> Vec<Problem> {
    for dir in config.tenants.values().flat_map(|tenant| &tenant.plugins) {
        // Unreadable directories were reported before.
        known.extend(plugins::scan(dir).into_iter().flatten().map(|(name, _)| Arc::from(name)));
    }
    let known: Vec<_> = known.into_iter().collect();
    [config.warnings.clone(), config.unknown_grants(&known)].concat()
}

/// Tenant and directory of a document.
pub(super) struct DocumentContext<'a> {
    pub(super) config: Option<&'a Config>,
    pub(super) namespace: Option<Arc<str>>,
    pub(super) dir: Option<&'a Path>,
}

impl DocumentContext<'_> {
    /// Adds the endpoints that a run of it could notify.
    fn with_endpoints(&self, executors: Executors) -> Executors {
        let own = self.namespace.clone().unwrap_or_default();
        let all = self.config.into_iter().flat_map(|config| &config.endpoints);
        let open = all.filter(|(_, endpoint)| endpoint.is_open_to(&own));
        executors.endpoints(open.map(|(name, _)| Arc::clone(name)).collect())
    }

    /// The plugins that a run of it would find, and use.
    pub(super) fn installed(
        &self,
        paths: &PathArguments,
        screen: &Screen,
    ) -> Result<PluginInventory, Failure> {
        let memory = self.config.map_or_else(|| Limits::default().memory, |config| config.limits.memory);
        let tenant = self.namespace.as_ref().and_then(|own| self.config?.tenant_of(own));
        let tenant = tenant.as_ref().map(|(name, tenant)| (name, *tenant));
        let trust = self.config.map(|config| shipped::exempt(config.trust_of(tenant))).unwrap_or_default();
        let builder = Arc::new(PluginBuilder::new(screen));
        let mut installed = PluginInventory::new(memory).with_builder(builder).with_trust(trust);
        let own = tenant.into_iter().flat_map(|(_, tenant)| &tenant.plugins);
        let searched = dirs::plugin_dirs(paths, self.config, self.dir)?.tell(screen);
        for source in own.map(|dir| PluginSource::Dir(dir)).chain(searched.sources()) {
            let added = match source {
                PluginSource::Dir(dir) => {
                    let unread =
                        |error| ContextError::new(format!("{} cannot be read", dir.display()), error);
                    installed.add_dir(dir).map_err(unread)
                }
                PluginSource::Library(library) => {
                    let unread = |error| ContextError::new("the library of plugins cannot be read", error);
                    installed.add_library(library).map_err(unread)
                }
            };
            added.map_err(Failure::call)?;
        }
        Ok(installed)
    }
}

fn verdict(name: &str, problems: &[Problem], warnings: &[Problem], is_refused: bool) -> String {
    let counted = |found: &[Problem], thing: &str| match found.split_last() {
        Some((last, listed)) if is_cut(last) => format!("more than {}", text::count(listed.len(), thing)),
        _ => text::count(found.len(), thing),
    };
    let found = [(problems, "error"), (warnings, "warning")];
    let counts = found.into_iter().filter(|(found, _)| !found.is_empty());
    let mut parts: Vec<String> = counts.map(|(found, thing)| counted(found, thing)).collect();
    if !is_refused {
        parts.insert(0, "valid".to_owned());
    }
    format!("{name}: {}\n", parts.join(", "))
}

fn explain(code: &str, screen: &Screen) -> Result<Exit, Failure> {
    let entry = codes::find(code).or_else(|| config::codes::find(code)).ok_or_else(|| {
        let all = codes::all().chain(config::codes::ENTRIES.iter().copied());
        let codes: Vec<_> = all.map(|entry| entry.code).collect();
        Failure::call(format!("there is no code `{code}`; expected one of {}", codes.join(", ")))
    })?;
    let example = |name: &str, text: &str| {
        let lines: String = text.lines().map(|line| format!("    {line}\n")).collect();
        format!("\n{name}:\n\n{lines}")
    };
    let page = format!(
        "{} {}\n\n{}\n{}{}",
        text::bold(entry.code),
        text::bold(entry.title),
        entry.explanation,
        example("Wrong", entry.wrong),
        example("Right", entry.right),
    );
    // A closed stdout ends the output.
    let _gone = screen.out(&page);
    Ok(Exit::Done)
}
