//! `[artifacts]`: where files that tasks pass to each other are kept, and how many.

use phasm_engine::form::{Field, Form, Name, Object, Report, SIZE, TEXT, Table, whole};

use super::{
    ConfigSource,
    bucket::{BUCKET_FORM, BucketTable},
};
use phasm_artifacts::{ArtifactLimits, ArtifactPlace};
use phasm_sandbox::HttpConfig;

static ARTIFACTS: Table = Table::closed(
    "artifacts",
    "The artifacts of runs: files that tasks pass to each other. Plugins reach them with `artifacts = true` in their grants.",
    &[&DIRECTORY, &BUCKET, &ATTEMPT_SIZE, &ATTEMPT_FILES, &STORED],
    &[],
);

static DIRECTORY: Field<Name> = Field::optional(
    "directory",
    TEXT,
    "The directory of artifacts, relative to this file; it is made if it is missing. Without it, artifacts of a store in a file are kept next to the file. \
     Hosts that share a database share this directory, or a bucket. With a bucket, files of attempts and fetched content are in this directory while the host \
     runs; without it, they are in the system's directory for temporary files.",
);
static BUCKET: Field<BucketTable> =
    Field::optional("bucket", BUCKET_FORM, "The bucket of artifacts; without it, they are in a directory.");
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
    bucket: Option<BucketTable>,
    pub(super) limits: ArtifactLimits,
}

pub(super) const ARTIFACTS_FORM: Form<ArtifactsTable> = Form::new(
    |cursor, report| {
        let object = cursor.object(&ARTIFACTS, report)?;
        let (directory, bucket) = (object.optional(&DIRECTORY), object.optional(&BUCKET));
        Some(ArtifactsTable { directory, bucket, limits: limits(&object) })
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
    /// Returns where artifacts are kept, if the configuration says so.
    pub(super) fn place(
        &self,
        around: &ConfigSource<'_>,
        http: &HttpConfig,
        report: &Report,
    ) -> Option<ArtifactPlace> {
        let directory = self.directory.as_ref().map(|directory| around.dir.join(&*directory.value));
        match &self.bucket {
            Some(bucket) => {
                let bucket = Box::new(bucket.config(around, http, report));
                Some(ArtifactPlace::Bucket { bucket, work: directory })
            }
            None => directory.map(ArtifactPlace::Folder),
        }
    }
}
