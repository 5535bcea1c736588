//! Parts of new plugins that languages have in common.

use std::{
    fs,
    path::{Component, Path, PathBuf},
};

use super::absolute;
use crate::failure::Failure;

/// The package of an SDK that projects have a copy of, or share.
pub(super) struct SdkPackage {
    /// Its folder in the SDK's folder.
    pub(super) folder: &'static str,
    /// A file in it.
    pub(super) file: &'static str,
    /// The package, for messages.
    pub(super) name: &'static str,
}

impl SdkPackage {
    /// The folder of the package, relative to a new one, if there is one to share: the one that was named, or that of the checkout
    /// around.
    ///
    /// # Errors
    /// When the folder that was named has no such package.
    pub(super) fn shared(&self, folder: &Path, named: Option<&Path>) -> Result<Option<String>, Failure> {
        let folder = absolute(folder)?;
        let is_sdk = |dir: &PathBuf| dir.join(self.file).is_file();
        let Some(named) = named else {
            let checkouts = folder.ancestors().skip(1).map(|dir| dir.join("plugin-sdk"));
            let mut above = checkouts.map(|sdk| sdk.join(self.folder));
            return Ok(above.find(is_sdk).map(|sdk| relative(&sdk, &folder)));
        };
        let found = [named.join(self.folder), named.to_owned()].into_iter().find(is_sdk);
        let Some(found) = found else {
            return Err(Failure::call(format!(
                "{} does not hold {}; expected a folder that `phasm plugin sdk` wrote",
                named.display(),
                self.name
            )));
        };
        Ok(Some(relative(&absolute(&found)?, &folder)))
    }
}

/// The `plugin.toml` of the new plugin, for languages with a table of their own in it, `table`.
pub(super) const MANIFEST: &str = r#"name = "{{name}}"
version = "0.1.0"
deterministic = true

# `phasm plugin test` calls them.
[[examples]]
name = "greets"
inputs = { name = "Ada" }
outputs = { greeting = "Hello, Ada!" }

[[examples]]
name = "needs a name"
inputs = { name = "" }
code = 3
message = "name"

[[codes]]
code = 3
meaning = "The inputs are wrong."

{{table}}"#;

/// A template with values in the place of their names in double braces.
pub(super) fn filled(template: &str, values: &[(&str, &str)]) -> String {
    values
        .iter()
        .fold(template.to_owned(), |text, (name, value)| text.replace(&format!("{{{{{name}}}}}"), value))
}

/// The way from a folder to another, which stays right when both move; both are absolute.
fn relative(to: &Path, from: &Path) -> String {
    let real = |path: &Path| {
        // A folder that is not there yet has parents that are.
        let known = path.ancestors().find_map(|dir| Some((fs::canonicalize(dir).ok()?, dir)));
        known.map_or_else(
            || path.to_owned(),
            |(real, dir)| real.join(path.strip_prefix(dir).unwrap_or(Path::new(""))),
        )
    };
    let (to, from) = (real(to), real(from));
    let shared = to.components().zip(from.components()).take_while(|(a, b)| a == b).count();
    let up = from.components().skip(shared).map(|_| Component::ParentDir);
    let way: PathBuf = up.chain(to.components().skip(shared)).collect();
    way.to_string_lossy().replace('\\', "/")
}

/// A workflow with a task that uses the executor.
pub(super) const EXAMPLE: &str = r#"apiVersion: phasm/v1
kind: Workflow
metadata: { name: {{name}}-example }
spec:
  entrypoint: main
  parameters: { name: { type: string, default: World } }
  templates:
    - dag:
        name: main
        outputs: { greeting: tasks.first.outputs.greeting }
        tasks:
          - name: first
            executor: { type: {{name}} }
            inputs: { name: "{{ workflow.parameters.name }}", times: 2 }
"#;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_way_is_relative() {
        for (to, from, expected) in [
            ("/none/sdk/python", "/none/plugins/greet", "../../sdk/python"),
            ("/none/a", "/none/a/b", ".."),
            ("/none/a/b", "/none/a", "b"),
        ] {
            assert_eq!(relative(Path::new(to), Path::new(from)), expected);
        }
    }
}
