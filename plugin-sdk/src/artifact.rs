//! Artifacts: files that an attempt is given by reference, and files that it makes for others.
//!
//! The operator grants them with `artifacts = true` under `[grants.NAME]`. The files are ordinary ones, for `std::fs` and every
//! library that reads and writes files.

use std::{
    fs::File,
    io,
    path::{Path, PathBuf},
};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};
use serde_json::{Map, Value};

use crate::schema::{HasSchema, Schema};

/// Directory of new files.
const OUTPUTS: &str = "/artifacts/out";

/// A file that an input names. It is read only, and the same for every attempt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Artifact {
    path: PathBuf,
    digest: String,
    size: u64,
    media: String,
    name: String,
}

impl Artifact {
    /// Where the file is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Opens the file.
    ///
    /// # Errors
    ///
    /// The errors of the file system.
    pub fn open(&self) -> io::Result<File> {
        File::open(&self.path)
    }

    /// Digest of the content: `sha256:` and 64 hexadecimal digits.
    #[must_use]
    pub fn digest(&self) -> &str {
        &self.digest
    }

    /// Size in bytes.
    #[must_use]
    pub const fn size(&self) -> u64 {
        self.size
    }

    /// Media type, as the program that made the file says.
    #[must_use]
    pub fn media(&self) -> &str {
        &self.media
    }

    /// Name for people.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }
}

impl<'de> Deserialize<'de> for Artifact {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let members = Map::deserialize(deserializer)?;
        let text = |name: &str| members.get(name).and_then(Value::as_str).map(str::to_owned);
        let digest = text("artifact")
            .ok_or_else(|| D::Error::custom("expected an artifact: an object with `artifact`"))?;
        let path = text("path").ok_or_else(|| {
            D::Error::custom(
                "the file of the artifact is not there; the operator grants artifacts with `artifacts = true` under \
                 `[grants.NAME]` in the host's configuration",
            )
        })?;
        let (media, name) = (text("media").unwrap_or_default(), text("name").unwrap_or_default());
        let size = members.get("size").and_then(Value::as_u64).unwrap_or_default();
        Ok(Self { path: path.into(), digest, size, media, name })
    }
}

impl HasSchema for Artifact {
    const SCHEMA: &'static Schema = &Schema::Map(&Schema::Any);
}

/// A file that the attempt makes. As an output, it becomes an artifact once the attempt has succeeded or suspends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewArtifact {
    path: String,
    media: Option<String>,
    name: Option<String>,
}

impl NewArtifact {
    /// The file called `file`, in the attempt's own directory. Creating and writing it is left to the caller.
    #[must_use]
    pub fn new(file: &str) -> Self {
        Self { path: format!("{OUTPUTS}/{file}"), media: None, name: None }
    }

    /// The file at `path`, if that is in the attempt's own directory.
    #[must_use]
    pub fn at(path: &str) -> Option<Self> {
        let file = path.strip_prefix(OUTPUTS)?.strip_prefix('/')?;
        (!file.is_empty()).then(|| Self::new(file))
    }

    /// Sets the media type, such as `text/csv`.
    #[must_use]
    pub fn media(mut self, media: impl Into<String>) -> Self {
        self.media = Some(media.into());
        self
    }

    /// Sets the name for people; without it, it is the file's.
    #[must_use]
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// Where the file is to be written.
    #[must_use]
    pub fn path(&self) -> &Path {
        Path::new(&self.path)
    }

    /// Creates the file, and the directories above it.
    ///
    /// # Errors
    ///
    /// The errors of the file system.
    pub fn create(&self) -> io::Result<File> {
        if let Some(above) = self.path().parent() {
            std::fs::create_dir_all(above)?;
        }
        File::create(self.path())
    }
}

impl Serialize for NewArtifact {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let all =
            [("artifact", Some(&self.path)), ("media", self.media.as_ref()), ("name", self.name.as_ref())];
        serializer.collect_map(all.into_iter().filter_map(|(name, value)| Some((name, value?))))
    }
}

impl HasSchema for NewArtifact {
    const SCHEMA: &'static Schema = &Schema::Map(&Schema::Any);
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use crate::json;

    #[test]
    fn references_have_a_path_where_artifacts_are_granted() {
        let value = json!({ "artifact": "sha256:00", "size": 5, "name": "a.txt", "path": "/artifacts/in/a" });
        let artifact: Artifact = serde_json::from_value(value).unwrap();
        assert_eq!(
            (artifact.path(), artifact.size(), artifact.name()),
            (Path::new("/artifacts/in/a"), 5, "a.txt")
        );
        let why = serde_json::from_value::<Artifact>(json!({ "artifact": "sha256:00" })).unwrap_err();
        assert!(why.to_string().contains("`artifacts = true`"), "{why}");
    }

    #[test]
    fn new_files_are_named_by_their_path() {
        let new = NewArtifact::new("rows.csv").media("text/csv");
        assert_eq!(json!(new), json!({ "artifact": "/artifacts/out/rows.csv", "media": "text/csv" }));
        assert_eq!(NewArtifact::at("/artifacts/out/a/b"), Some(NewArtifact::new("a/b")));
        assert_eq!(NewArtifact::at("/data/x"), None);
        assert_eq!(NewArtifact::at("/artifacts/out/"), None);
    }
}
