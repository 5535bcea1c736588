//! Artifacts of a run, as programs are shown them.

use std::collections::HashMap;

use phasm_engine::{run::Run, value::Value};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::reference::{Artifact, value};

/// An artifact, as values name it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Artifact")]
pub struct ArtifactView {
    /// Digest of the content: `sha256:` and 64 hexadecimal digits.
    pub artifact: String,
    /// Size in bytes.
    pub size: u64,
    /// Media type, as the program that made it says.
    pub media: String,
    /// Name for people.
    pub name: String,
    /// Task runs whose outputs name the artifact, by their ids; none for one that only a parameter names.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tasks: Vec<String>,
}

impl ArtifactView {
    /// Returns the view of a stored file.
    #[must_use]
    pub fn of(artifact: &Artifact) -> Self {
        Self {
            artifact: artifact.digest.to_string(),
            size: artifact.size,
            media: artifact.media.to_string(),
            name: artifact.name.to_string(),
            tasks: Vec::new(),
        }
    }

    /// Returns the value that names the artifact.
    #[must_use]
    pub fn to_value(&self) -> Value {
        value(&self.artifact, self.size, &self.media, &self.name)
    }

    /// Returns the artifacts that the parameters and the outputs of a run name, each digest once, in the order of the run.
    #[must_use]
    pub fn all_of(run: &Run) -> Vec<Self> {
        let (mut all, mut places): (Vec<Self>, _) = (Vec::new(), HashMap::new());
        let mut add = |artifact: &Artifact, task: Option<&str>| {
            let at = *places.entry(artifact.digest).or_insert_with(|| {
                all.push(Self::of(artifact));
                all.len() - 1
            });
            if let (Some(known), Some(task)) = (all.get_mut(at), task)
                // A task's outputs come one after the other.
                && known.tasks.last().is_none_or(|last| last != task)
            {
                known.tasks.push(task.to_owned());
            }
        };
        run.parameters().values().flat_map(Artifact::named_in).for_each(|artifact| add(&artifact, None));
        for task in run.tasks() {
            let id = run.task_run_id(task.id);
            let named = task.outputs.iter().flat_map(|output| Artifact::named_in(&output.value));
            named.for_each(|artifact| add(&artifact, Some(&id)));
        }
        all
    }
}

/// The artifacts of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Artifacts")]
pub struct ArtifactsView {
    /// All of them.
    pub artifacts: Vec<ArtifactView>,
}
