//! `[artifacts]`: where files that tasks pass to each other are kept, and how many.

use phasm_engine::form::{Field, Form, Name, Object, SIZE, TEXT, Table, whole};

use super::ConfigSource;
use phasm_artifacts::{ArtifactLimits, ArtifactPlace};

static ARTIFACTS: Table = Table::closed(
    "artifacts",
    "The artifacts of runs: files that tasks pass to each other. Plugins reach them with `artifacts = true` in their grants.",
    &[&DIRECTORY, &ATTEMPT_SIZE, &ATTEMPT_FILES, &STORED],
    &[],
);

static DIRECTORY: Field<Name> = Field::optional(
    "directory",
    TEXT,
    "The directory of artifacts, relative to this file; it is made if it is missing. Without it, artifacts of a store in a file are kept next to the file. \
     Hosts that share a database share this directory.",
);
static ATTEMPT_SIZE: Field<u64> = Field::optional(
    "attempt-size",
    SIZE,
    "Bytes of all files that an attempt writes to `/artifacts/out`, and of an upload.",
)
.or("4 GiB");
static ATTEMPT_FILES: Field<u32> =
    Field::optional("attempt-files", COUNT, "Files and directories that an attempt makes there.").or("1000");
static STORED: Field<u64> = Field::optional(
    "stored",
    SIZE,
    "Bytes of all artifacts of a tenant; a file beyond that fails its attempt.",
)
.or("64 GiB");

const COUNT: Form<u32> = whole::<u32, 1, 1_000_000>();

/// The artifacts of runs as written.
#[derive(Default)]
pub(super) struct ArtifactsTable {
    directory: Option<Name>,
    pub(super) limits: ArtifactLimits,
}

pub(super) const ARTIFACTS_FORM: Form<ArtifactsTable> = Form::new(
    |cursor, report| {
        let object = cursor.object(&ARTIFACTS, report)?;
        Some(ArtifactsTable { directory: object.optional(&DIRECTORY), limits: limits(&object) })
    },
    |defs| defs.object(&ARTIFACTS),
);

fn limits(object: &Object<'_, '_>) -> ArtifactLimits {
    ArtifactLimits {
        attempt_bytes: object.or_default(&ATTEMPT_SIZE),
        attempt_files: object.or_default(&ATTEMPT_FILES).into(),
        stored_bytes: object.or_default(&STORED),
    }
}

impl ArtifactsTable {
    pub(super) fn place(&self, around: &ConfigSource<'_>) -> Option<ArtifactPlace> {
        Some(ArtifactPlace::Folder(around.dir.join(&*self.directory.as_ref()?.value)))
    }
}
