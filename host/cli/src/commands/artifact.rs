//! `phasm artifact`: files that the tasks of a run made or were given.

use std::{
    fs::File,
    io::{self, Write as _},
    path::{Path, PathBuf},
};

use clap::{Args, Subcommand};
use phasm::{artifacts::ArtifactView, sandbox::Digest};
use phasm_files::Size;
use serde_json::json;

use crate::{
    backend::TargetArguments,
    drive::{LoadedConfig, runtime},
    exit::Exit,
    failure::{ContextError, Failure},
    paths::PathArguments,
    problems,
    store::{reader::StoreReader, runs},
    terminal::{screen::Screen, text},
};

/// Bytes of an artifact of a server that are in memory at once.
const PART_BYTES: u64 = 8 << 20;

/// Lists the artifacts of a run, and copies one to a file.
#[derive(Debug, Subcommand)]
pub(crate) enum ArtifactCommand {
    List(ListArtifactsArguments),
    Get(GetArtifactArguments),
}

/// Lists the artifacts that the parameters and outputs of a run name.
#[derive(Args, Debug)]
#[command(
    after_help = "Examples:\n  phasm artifact list @last --store runs.db\n  phasm artifact list @last --server http://127.0.0.1:8484 --json"
)]
pub(crate) struct ListArtifactsArguments {
    /// The run: its id, 4 or more characters that only its id begins or ends with, or `@last`.
    #[arg(value_name = "RUN")]
    run: String,

    #[command(flatten)]
    store: TargetArguments,

    /// Print one JSON object to stdout.
    #[arg(long)]
    json: bool,
}

/// Copies an artifact of a run to a file, and compares it with its digest.
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  phasm artifact get @last rows.csv --store runs.db\n  \
                        phasm artifact get @last sha256:2cf24d -o hello.txt --server http://127.0.0.1:8484")]
pub(crate) struct GetArtifactArguments {
    /// The run: its id, 4 or more characters that only its id begins or ends with, or `@last`.
    #[arg(value_name = "RUN")]
    run: String,

    /// The artifact: its name, or the beginning of its digest.
    #[arg(value_name = "ARTIFACT")]
    artifact: String,

    #[command(flatten)]
    store: TargetArguments,

    /// The file to write; by default the artifact's name, in this directory. An existing file is replaced only if it is named here.
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,

    /// The configuration whose `[artifacts]` says where artifacts are kept, if it is not next to the store [env: PHASM_CONFIG]
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
}

/// Carries out the command.
pub(super) fn artifact(command: &ArtifactCommand, screen: &Screen) -> Result<Exit, Failure> {
    match command {
        ArtifactCommand::List(arguments) => list(arguments, screen),
        ArtifactCommand::Get(arguments) => get(arguments, screen),
    }
}

fn list(arguments: &ListArtifactsArguments, screen: &Screen) -> Result<Exit, Failure> {
    let found = runtime()?.block_on(artifacts(&arguments.run, &arguments.store))?;
    let page = match arguments.json {
        true => problems::json(screen, &json!({ "artifacts": found.artifacts })),
        false => table(&found.artifacts),
    };
    // A closed stdout ends the output.
    let _gone = screen.out(&page);
    Ok(Exit::Done)
}

/// The artifacts of a run, and where they are.
struct RunArtifacts {
    reader: StoreReader,
    namespace: String,
    run_id: String,
    artifacts: Vec<ArtifactView>,
}

async fn artifacts(run: &str, store: &TargetArguments) -> Result<RunArtifacts, Failure> {
    let target = store.target()?;
    let (reader, run_id) = store.find(run).await?;
    let run = runs::recorded(&*reader, &run_id).await.map_err(|error| runs::unavailable(error, &target))?;
    let namespace = run.plan().namespace.to_string();
    Ok(RunArtifacts { reader, namespace, run_id: run_id.to_string(), artifacts: ArtifactView::all_of(&run) })
}

/// Lines of size, digest, name and tasks.
fn table(artifacts: &[ArtifactView]) -> String {
    let rows = artifacts.iter().map(|artifact| {
        let tasks =
            if artifact.tasks.is_empty() { "a parameter".to_owned() } else { artifact.tasks.join(" ") };
        let short: String = artifact.artifact.chars().take(SHORT_DIGEST_CHARS).collect();
        format!(
            "{:>10}  {short}  {}  {}\n",
            Size(artifact.size).to_string(),
            text::clean(&artifact.name),
            text::clean(&tasks)
        )
    });
    rows.collect()
}

/// Characters of a digest that tell artifacts apart.
const SHORT_DIGEST_CHARS: usize = "sha256:".len() + 12;

fn get(arguments: &GetArtifactArguments, screen: &Screen) -> Result<Exit, Failure> {
    runtime()?.block_on(async {
        let found = artifacts(&arguments.run, &arguments.store).await?;
        let artifact = chosen(&found.artifacts, &arguments.artifact)?;
        let output = match &arguments.output {
            Some(output) => output.clone(),
            None => default_output(artifact)?,
        };
        let size = copy(arguments, &found, artifact, &output, screen).await?;
        let said = format!("{} ({})\n", text::clean(&output.to_string_lossy()), Size(size));
        // The file is written, also if stdout is closed.
        let _gone = screen.out(&said);
        Ok(Exit::Done)
    })
}

/// Returns the artifact that is meant.
///
/// # Errors
/// When there is none, or more than one.
fn chosen<'a>(artifacts: &'a [ArtifactView], meant: &str) -> Result<&'a ArtifactView, Failure> {
    let digits = meant.strip_prefix("sha256:").unwrap_or(meant);
    let is_meant = |artifact: &&ArtifactView| {
        artifact.name == meant
            || (digits.len() >= 4
                && artifact.artifact.strip_prefix("sha256:").is_some_and(|all| all.starts_with(digits)))
    };
    let found: Vec<_> = artifacts.iter().filter(is_meant).collect();
    match found.as_slice() {
        [artifact] => Ok(artifact),
        [] if artifacts.is_empty() => Err(Failure::call("the run has no artifacts")),
        [] => Err(Failure::call(format!(
            "the run has no artifact `{meant}`; expected the name or the beginning of the digest of one of these:\n{}",
            table(artifacts)
        ))),
        several => {
            let several: Vec<_> = several.iter().map(|one| (*one).clone()).collect();
            Err(Failure::call(format!(
                "`{meant}` stands for several artifacts; name one by its digest:\n{}",
                table(&several)
            )))
        }
    }
}

/// Returns the file that an artifact is copied to unless another one is named.
///
/// # Errors
/// When the artifact's name is no name of a file, and when there is such a file.
fn default_output(artifact: &ArtifactView) -> Result<PathBuf, Failure> {
    let name = Path::new(&artifact.name);
    // A guest chose the name.
    if name.file_name() != Some(name.as_os_str()) || artifact.name.chars().any(char::is_control) {
        return Err(Failure::call("the artifact has no name that a file can have; name a file with -o FILE"));
    }
    if name.exists() {
        return Err(Failure::call(format!("{} exists; name a file with -o FILE", name.display())));
    }
    Ok(name.to_owned())
}

/// Copies an artifact. Nothing is at `output` until all of it was compared with the digest.
async fn copy(
    arguments: &GetArtifactArguments,
    found: &RunArtifacts,
    artifact: &ArtifactView,
    output: &Path,
    screen: &Screen,
) -> Result<u64, Failure> {
    let unwritable = |error: io::Error| {
        Failure::call(ContextError::new(format!("{} cannot be written", output.display()), error))
    };
    let digest: Digest = artifact.artifact.parse().map_err(Failure::host)?;
    let dir = output.parent().filter(|dir| !dir.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut part = tempfile::NamedTempFile::new_in(dir).map_err(unwritable)?;
    match &found.reader {
        StoreReader::Server(remote) => {
            let mut size = 0;
            while size < artifact.size {
                let bytes = remote.artifact_part(&found.run_id, &artifact.artifact, size, PART_BYTES).await;
                let bytes = bytes.map_err(Failure::server)?;
                if bytes.is_empty() {
                    break;
                }
                part.write_all(&bytes).map_err(unwritable)?;
                size += bytes.len() as u64;
            }
        }
        StoreReader::File(_) | StoreReader::Database(_) => {
            let config = LoadedConfig::read(&PathArguments::of(arguments.config.clone()), screen, false)?;
            let artifacts = config.artifacts(&arguments.store.store.path()?);
            let store = artifacts.store().await.map_err(Failure::call)?;
            let mut content =
                store.read(&found.namespace, &found.run_id, digest).await.map_err(Failure::host)?;
            io::copy(&mut content, &mut part).map_err(unwritable)?;
        }
    }
    let (copied, size) = File::open(part.path()).and_then(Digest::of_reader).map_err(unwritable)?;
    if copied != digest {
        return Err(Failure::host(io::Error::other(format!(
            "the copy of {} has the digest {copied}, not {digest}; the stored file is damaged, or the transfer was cut off",
            text::clean(&artifact.name)
        ))));
    }
    part.persist(output).map_err(|error| unwritable(error.error))?;
    Ok(size)
}
