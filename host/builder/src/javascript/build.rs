//! One build of a component from a script.

use std::{
    fs, io,
    path::{Path, PathBuf},
    process::Command,
};

use serde_json::{Map, Value, json};

use super::{
    carried::{DESCRIBE, SDK},
    diagnostics::{Lines, explained, plain},
    packages,
    tool::{COMPONENTIZE_QJS, ESBUILD, TYPESCRIPT, Tools},
};
use crate::{
    folder::{JavaScriptSources, ScriptProject},
    process::{self, BUILD_LIMIT, Output},
    progress::Progress,
    script::{Build, Failure, HTTP_WIT, Ingredients, WIT, is_of_tools, is_text, number_of, write_all},
};

/// The script with all that it imports, in the folder of the build.
const BUNDLE: &str = "bundle.mjs";
/// The largest manifest, and the largest list of lines, in bytes.
const MAX_BYTES: u64 = 16 << 20;
/// The packages of interfaces that only executors with HTTP import.
const HTTP_PACKAGES: [&str; 2] = ["wasi:http/", "wasi:io/"];

/// Returns the files and tools of a component.
pub(crate) fn ingredients(project: &ScriptProject, sources: &JavaScriptSources) -> Ingredients {
    let versions =
        [COMPONENTIZE_QJS, ESBUILD, TYPESCRIPT].map(|tool| format!("{} {}", tool.name, tool.version));
    Ingredients {
        roots: [project.folder.clone()].into_iter().chain(sources.sdk.clone()).collect(),
        // npm writes it whenever it has changed the packages.
        files: vec![project.folder.join("node_modules/.package-lock.json")],
        is_other: |name| is_text(name) || [".test.", ".spec."].iter().any(|part| name.contains(part)),
        is_skipped: is_of_tools,
        tools: versions.join(", "),
        carried: number_of(&[SDK, WIT, HTTP_WIT, &[("describe.mjs", DESCRIBE)]]),
    }
}

/// Makes the component of a project.
pub(crate) fn build(
    project: &ScriptProject,
    sources: &JavaScriptSources,
    tools: &Tools,
    progress: &dyn Progress,
) -> Result<(), Failure> {
    packages::install(project, sources, progress)?;
    progress.step(&format!(
        "building {} with {} {}",
        project.name, COMPONENTIZE_QJS.name, COMPONENTIZE_QJS.version
    ));
    let build = Build::begin(project, ingredients(project, sources))?;
    let sdk = match &sources.sdk {
        Some(sdk) => sdk.clone(),
        None => {
            write_all(&build.at("sdk"), SDK)?;
            build.at("sdk")
        }
    };
    let work = Work { project, sources, tools, progress, build, sdk };
    if sources.is_typed() {
        work.check_types()?;
    }
    work.bundle()?;
    let (manifest, lines) = work.describe()?;
    let component = work.componentize(&lines)?;
    work.build.finish(&component, manifest)
}

struct Work<'a> {
    project: &'a ScriptProject,
    sources: &'a JavaScriptSources,
    tools: &'a Tools,
    progress: &'a dyn Progress,
    build: Build<'a>,
    sdk: PathBuf,
}

impl Work<'_> {
    fn run(&self, command: &mut Command) -> Result<Output, Failure> {
        Ok(process::capture(command, BUILD_LIMIT, self.progress)?)
    }

    /// Has TypeScript check the file with the executor and all that it imports; tests may lack their packages.
    fn check_types(&self) -> Result<(), Failure> {
        let own = self.project.folder.join("tsconfig.json");
        let mut options = Map::new();
        if own.is_file() {
            options.insert("extends".to_owned(), text(&own).into());
        }
        options.insert("files".to_owned(), json!([text(&self.project.folder.join(&self.sources.main))]));
        options.insert("include".to_owned(), json!([]));
        options.insert("compilerOptions".to_owned(), self.compiler_options(own.is_file()));
        let file = self.build.at("tsconfig.json");
        fs::write(&file, Value::from(options).to_string())?;
        let mut tsc = self.tools.command(TYPESCRIPT, &self.project.folder);
        tsc.args(["--pretty", "true", "--project"]).arg(&file);
        let output = self.run(&mut tsc)?;
        if output.status.success() {
            return Ok(());
        }
        Err(Failure::Said(explained(&plain(&format!("{}{}", output.stdout, output.stderr)))))
    }

    fn compiler_options(&self, has_own: bool) -> Value {
        let mut options = json!({ "noEmit": true, "composite": false, "incremental": false });
        let mut set = |name: &str, value: Value| {
            options.as_object_mut().map(|options| options.insert(name.to_owned(), value));
        };
        if !self.project.folder.join("node_modules/phasm-sdk").is_dir() {
            let within = |name: &str| text(&self.sdk.join(name));
            set("paths", json!({ "phasm-sdk": [within("index.d.ts")], "phasm-sdk/*": [within("*")] }));
        }
        if !has_own {
            for (name, value) in [
                ("target", json!("ES2023")),
                ("lib", json!(["ES2023"])),
                ("types", json!([])),
                ("module", json!("preserve")),
                ("strict", json!(true)),
                ("skipLibCheck", json!(true)),
                ("allowImportingTsExtensions", json!(true)),
            ] {
                set(name, value);
            }
        }
        options
    }

    /// Has esbuild put everything into one file.
    fn bundle(&self) -> Result<(), Failure> {
        let mut esbuild = self.tools.command(ESBUILD, &self.project.folder);
        esbuild.arg(format!("./{}", self.sources.main));
        esbuild.args(["--bundle", "--format=esm", "--platform=neutral", "--main-fields=module,main"]);
        esbuild.args(["--target=es2023", "--external:phasm:*", "--external:wasi:*", "--sourcemap=linked"]);
        esbuild.args(["--color=false", "--log-level=warning", "--legal-comments=none"]);
        esbuild.arg(format!("--alias:phasm-sdk={}", self.sdk.display()));
        esbuild.arg(format!("--outfile={}", self.build.at(BUNDLE).display()));
        let output = self.run(&mut esbuild)?;
        if output.status.success() {
            return Ok(());
        }
        // The program that npm installs without its script is one of Node.js, which says once more that esbuild failed.
        let said = output.stderr.split("\nnode:child_process:").next().unwrap_or_default();
        Err(Failure::Said(explained(said.trim())))
    }

    /// The manifest that the executor declares, and where the lines of the bundle come from.
    fn describe(&self) -> Result<(Map<String, Value>, Lines), Failure> {
        let script = self.build.at("describe.mjs");
        fs::write(&script, DESCRIBE)?;
        let [bundle, manifest, lines] =
            [BUNDLE, "manifest.json", "lines.json"].map(|name| self.build.at(name));
        let mut node = self.tools.node(&self.project.folder);
        node.arg("--enable-source-maps").arg(script).args([&bundle, &self.sdk, &manifest, &lines]);
        let output = self.run(&mut node)?;
        let lines = read(&lines).ok().and_then(|text| Lines::read(&text)).unwrap_or_default();
        let manifest = read(&manifest).ok().and_then(|text| serde_json::from_str(&text).ok());
        match manifest {
            Some(manifest) if output.status.success() => Ok((manifest, lines)),
            _ => {
                let said = plain(&format!("{}{}", output.stdout, output.stderr));
                Err(Failure::Said(format!("{}: {}", self.sources.main, of_import(&said))))
            }
        }
    }

    fn componentize(&self, lines: &Lines) -> Result<Vec<u8>, Failure> {
        let bundle = fs::read_to_string(self.build.at(BUNDLE))?;
        let has_http =
            bundle.lines().any(|line| line.starts_with("import ") && line.contains("\"wasi:http/"));
        let (world, wit) = if has_http { ("executor-http", HTTP_WIT) } else { ("executor", WIT) };
        let hidden: Vec<_> = wit.iter().map(|(name, text)| (*name, hide_http(text))).collect();
        let hidden: Vec<_> = hidden.iter().map(|(name, text)| (*name, text.as_str())).collect();
        write_all(&self.build.at("wit"), &hidden)?;
        // One line more at the end: the lines before keep their numbers.
        let script = format!("{}\nglobalThis.phasmLines = {};\n", hide_imports(&bundle), lines.json());
        fs::write(self.build.at(BUNDLE), script)?;
        let component = self.build.at("component.wasm");
        let folder = self.build.at("");
        let mut tool = self.tools.command(COMPONENTIZE_QJS, &folder);
        tool.args(["--wit", "wit", "--world", world, "--js", BUNDLE, "--sync", "--output"]).arg(&component);
        let output = self.run(&mut tool)?;
        if !output.status.success() {
            let said = plain(&output.stderr);
            let said = said.rsplit_once("module evaluation: ").map_or(said.as_str(), |(_, said)| said);
            let said = lines.traced(said.trim_start_matches("Error: ").trim());
            return Err(Failure::Said(explained(&format!("{}: {said}", self.sources.main))));
        }
        let made = fs::read(component)?;
        Ok(if has_http { show_http(made) } else { made })
    }
}

/// The error of an import in Node.js, without frames of Node.js and of the build.
fn of_import(said: &str) -> String {
    let is_inner = |line: &&str| {
        let frame = line.trim_start();
        frame.starts_with("at ") && ["node:", "/.work-", "\\.work-"].iter().any(|part| frame.contains(part))
    };
    let lines: Vec<&str> = said.lines().filter(|line| !is_inner(line)).collect();
    let said = lines.join("\n");
    said.split("\nNode.js v").next().unwrap_or_default().trim().to_owned()
}

fn read(path: &Path) -> io::Result<String> {
    phasm_files::read_regular_text(path, MAX_BYTES)
}

fn text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

/// componentize-qjs gives the script `wasi:io` while it is evaluated, but no `wasi:http`, which shares resources with it: their types
/// differ, and nothing is instantiated. So both have names of their own until the component is there.
fn hide_http(text: &str) -> String {
    HTTP_PACKAGES.iter().fold(text.replace("package wasi:", "package wasq:"), |text, name| {
        text.replace(name, &name.replace("wasi", "wasq"))
    })
}

fn hide_imports(bundle: &str) -> String {
    let hidden = bundle
        .lines()
        .map(|line| if line.starts_with("import ") { hide_http(line) } else { line.to_owned() });
    hidden.collect::<Vec<_>>().join("\n")
}

/// Gives the interfaces their names again, which have the same length.
fn show_http(mut component: Vec<u8>) -> Vec<u8> {
    for name in HTTP_PACKAGES {
        let hidden = name.replace("wasi", "wasq");
        let mut at = 0;
        while let Some(found) = component.get(at..).and_then(|rest| position(rest, hidden.as_bytes())) {
            at += found;
            if let Some(place) = component.get_mut(at..at + name.len()) {
                place.copy_from_slice(name.as_bytes());
            }
            at += name.len();
        }
    }
    component
}

fn position(bytes: &[u8], wanted: &[u8]) -> Option<usize> {
    bytes.windows(wanted.len()).position(|window| window == wanted)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn interfaces_of_http_have_other_names_until_the_component_is_there() {
        let wit = "package wasi:io@0.2.0;\nuse wasi:http/types@0.2.0.{x};";
        assert_eq!(hide_http(wit), "package wasq:io@0.2.0;\nuse wasq:http/types@0.2.0.{x};");
        let bundle = "import a from \"wasi:http/types@0.2.0\";\nlet b = \"wasi:http/x\";";
        assert!(hide_imports(bundle).ends_with("\"wasq:http/types@0.2.0\";\nlet b = \"wasi:http/x\";"));
        let shown = show_http(b"\0wasq:http/types wasq:io/poll wasq:x".to_vec());
        assert_eq!(shown, b"\0wasi:http/types wasi:io/poll wasq:x");
    }

    #[test]
    fn an_error_of_an_import_has_the_authors_frames() {
        let said = "greet.js:3\nx\n^\n\nError: no\n    at go (/p/greet.js:3:1)\n    at node:internal/x:1:2\n\nNode.js v20.1.0\n";
        assert_eq!(of_import(said), "greet.js:3\nx\n^\n\nError: no\n    at go (/p/greet.js:3:1)");
    }
}
