//! Files that are given as parameters: they are stored as artifacts of the run.

use std::{
    fs::File,
    io::{self, Read},
    path::Path,
};

use phasm::{
    artifacts::{ArtifactError, HostArtifacts},
    engine::value::Map,
};

use super::parameters::FileArgument;
use crate::failure::{ContextError, Failure};

/// Bytes that are copied at once.
const PART_BYTES: usize = 1 << 20;

/// Stores files for a run of a namespace. Returns the values that name them, by parameter.
///
/// # Errors
/// When a file cannot be read, and when it cannot be stored.
pub(crate) async fn stored(
    files: &[FileArgument],
    artifacts: &HostArtifacts,
    namespace: &str,
) -> Result<Map, Failure> {
    let mut values = Map::new();
    for FileArgument { name, path } in files {
        let mut file = opened(path)?;
        let store = artifacts.store().await.map_err(Failure::call)?;
        let mut upload = store.upload(namespace).map_err(Failure::host)?;
        let mut part = vec![0; PART_BYTES];
        loop {
            let read = file.read(&mut part).map_err(|error| unreadable(path, error))?;
            if read == 0 {
                break;
            }
            upload.write(part.get(..read).unwrap_or_default()).map_err(failed)?;
        }
        let artifact = upload.finish(&shown_name(path), None).await.map_err(failed)?;
        values.insert(name.clone(), artifact.to_value());
    }
    Ok(values)
}

/// Reads a file of at most `most` bytes.
///
/// # Errors
/// When it cannot be read, or is larger.
pub(crate) fn read(path: &Path, most: u64) -> Result<Vec<u8>, Failure> {
    let mut content = Vec::new();
    let file = opened(path)?;
    file.take(most.saturating_add(1)).read_to_end(&mut content).map_err(|error| unreadable(path, error))?;
    if content.len() as u64 > most {
        return Err(Failure::call(format!(
            "{} has more than {} MiB, the most that is sent from here; send it with: curl --data-binary @FILE to /v1/artifacts of the server, \
             and give the value in the response as the parameter",
            path.display(),
            most >> 20
        )));
    }
    Ok(content)
}

/// Returns the name that an artifact has of its file.
pub(crate) fn shown_name(path: &Path) -> String {
    path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

fn opened(path: &Path) -> Result<File, Failure> {
    File::open(path).map_err(|error| unreadable(path, error))
}

fn unreadable(path: &Path, error: io::Error) -> Failure {
    let hint = "a value that begins with @ names a file; @@ begins a text";
    Failure::call(ContextError::new(format!("{} cannot be read ({hint})", path.display()), error))
}

fn failed(error: ArtifactError) -> Failure {
    if matches!(error, ArtifactError::Full { .. } | ArtifactError::TooLarge(_)) {
        return Failure::call(error);
    }
    Failure::host(error)
}
