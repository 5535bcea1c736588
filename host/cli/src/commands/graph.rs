//! `phasm graph`: a picture of a document, or of a run of a store.

use std::{
    fs,
    path::{Path, PathBuf},
};

use clap::Args;
use phasm::{
    clock::Clock,
    engine::{plan::Executors, run::Run, value::Value},
    journal,
};
use phasm_graph::{Diagram, Limits, Suspensions, SvgOptions, Timeline, graph_svg, timeline_svg};

use crate::{
    backend::TargetArguments,
    drive::{LoadedConfig, runtime},
    exit::Exit,
    failure::{ContextError, Failure},
    input::document::Text,
    paths::PathArguments,
    problems,
    store::runs,
    terminal::screen::Screen,
};

/// Draws a workflow file, or a run and its progress, as a graph.
///
/// On a terminal the drawing is a tree; otherwise, or with `--svg`, an SVG. Parts that are too large for a picture are counted in it.
/// No plugin is needed.
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  phasm graph greet.yaml\n  phasm graph greet.yaml --svg greet.svg\n  \
                        phasm graph @last --store runs.db --svg last.svg\n  \
                        phasm graph @last --store runs.db --timeline --svg last.svg")]
pub(crate) struct GraphArguments {
    /// A workflow file, JSON or YAML (`-` is stdin); or a run of the store: its id, 4 or more characters that only its id begins or ends
    /// with, or `@last`.
    #[arg(value_name = "FILE|RUN")]
    what: String,

    #[command(flatten)]
    store: TargetArguments,

    /// The operator's configuration, whose variables a workflow may read [env: PHASM_CONFIG]
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,

    /// Write the picture to this file, `-` for stdout.
    #[arg(long, value_name = "OUT")]
    svg: Option<PathBuf>,

    /// Draw a run in time instead: attempts, delays and suspensions as bars.
    #[arg(long)]
    timeline: bool,
}

/// Format of the drawing.
enum Picture {
    Graph(Diagram),
    Timeline(Timeline),
}

/// Draws something.
pub(super) fn graph(arguments: &GraphArguments, screen: &Screen) -> Result<Exit, Failure> {
    let picture = match file(&arguments.what) {
        Some(_) if arguments.timeline => {
            let message = "only a run has a timeline; expected a run of `--store`, such as `@last`";
            return Err(Failure::call(message));
        }
        Some(file) => Picture::Graph(document(file, arguments, screen)?),
        None => run(arguments)?,
    };
    let drawn = || match &picture {
        Picture::Graph(diagram) => graph_svg(diagram, SvgOptions::default()),
        Picture::Timeline(timeline) => timeline_svg(timeline, SvgOptions::default()),
    };
    let page = match (&arguments.svg, &picture) {
        (Some(out), _) if *out != *"-" => {
            let unwritten = |error| ContextError::new(format!("{} cannot be written", out.display()), error);
            fs::write(out, drawn()).map_err(unwritten).map_err(Failure::host)?;
            return Ok(Exit::Done);
        }
        (None, Picture::Graph(diagram)) if screen.is_read_by_people() => phasm_graph::tree(diagram),
        (None | Some(_), _) => drawn(),
    };
    // A closed stdout ends the output.
    let _gone = screen.out(&page);
    Ok(Exit::Done)
}

/// The document that is meant; nothing if it is a run.
fn file(what: &str) -> Option<&Path> {
    let path = Path::new(what);
    let named =
        path.extension().is_some_and(|kind| ["json", "yaml", "yml"].iter().any(|known| kind == *known));
    (what == "-" || named || path.exists()).then_some(path)
}

fn document(file: &Path, arguments: &GraphArguments, screen: &Screen) -> Result<Diagram, Failure> {
    let config = LoadedConfig::read(&PathArguments::of(arguments.config.clone()), screen, false)?;
    let variables = config.config().map(|config| Value::from(config.vars.clone())).unwrap_or_default();
    let text = Text::read(file).map_err(|unread| unread.refuse(screen, false))?;
    let plan = text.draft().and_then(|draft| draft.plan(&Executors::any(), &variables));
    let plan = plan.map_err(|found| problems::refuse(screen, text.source(), &found, false))?;
    Ok(Diagram::of_plan(&plan, Limits::default()))
}

fn run(arguments: &GraphArguments) -> Result<Picture, Failure> {
    let (run, suspensions) = recorded(arguments)?;
    let limits = Limits::default();
    Ok(if arguments.timeline {
        Picture::Timeline(Timeline::of(&run, &suspensions, Clock::start().now(), limits))
    } else {
        Picture::Graph(Diagram::of_run(&run, limits))
    })
}

fn recorded(arguments: &GraphArguments) -> Result<(Run, Suspensions), Failure> {
    let target = arguments.store.target()?;
    runtime()?.block_on(async {
        let (reader, run_id) = arguments.store.find(&arguments.what).await?;
        let records = reader.load(&run_id).await.map_err(Failure::host)?;
        let mut suspensions = Suspensions::default();
        let replayed =
            journal::replay(&run_id, &records, |_, _, time, events| suspensions.note(time, events));
        Ok((replayed.map_err(|error| runs::unavailable(error, &target))?, suspensions))
    })
}
