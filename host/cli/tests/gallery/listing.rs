//! `phasm examples` and `phasm init`.

use std::{collections::BTreeSet, fs, path::Path};

use serde_json::Value;

use crate::project::Project;

/// Files of this test.
const TESTS: [&str; 3] = [include_str!("local.rs"), include_str!("remote.rs"), include_str!("served.rs")];

fn listed(project: &Project) -> Vec<Value> {
    let found = project.sh("phasm examples --json");
    assert_eq!((found.status, found.stderr.as_str()), (0, ""), "{found:?}");
    found.view().as_array().unwrap().clone()
}

/// R-L44: all examples of the repository are listed, each with a sentence, and each is tested here.
#[test]
fn every_example_is_listed_and_tested() {
    let project = Project::new("hello", None);
    let found = listed(&project);
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples");
    let folders = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let expected: BTreeSet<_> = folders
        .filter(|folder| folder.join("workflow.yaml").is_file())
        .map(|folder| folder.file_name().unwrap().to_str().unwrap().to_owned())
        .collect();
    let names: Vec<_> = found.iter().map(|example| example["name"].as_str().unwrap()).collect();
    assert!(names.len() > 15 && names.iter().copied().eq(expected.iter().map(String::as_str)), "{names:?}");
    let table = project.sh("phasm examples").stdout;
    for example in &found {
        let (name, summary) = (example["name"].as_str().unwrap(), example["summary"].as_str().unwrap());
        assert!(summary.ends_with('.') && summary.len() < 140, "{name}: {summary}");
        assert!(table.lines().any(|line| line.starts_with(name) && line.contains(summary)), "{table}");
        let tested = format!("Project::new(\"{name}\"");
        assert!(TESTS.iter().any(|test| test.contains(&tested)), "no test of {name}");
    }
}

/// R-L44: one example is printed as it is in the repository.
#[test]
fn one_example_is_printed() {
    let project = Project::new("hello", None);
    let text = include_str!("../../../examples/saga/workflow.yaml");
    assert_eq!(project.sh("phasm examples saga").stdout, text);
    let view = project.sh("phasm examples saga --json").view();
    let files = view["files"].as_array().unwrap();
    let file = files.iter().find(|file| file["path"] == "workflow.yaml").unwrap();
    assert_eq!((files.len(), file["text"].as_str().unwrap()), (4, text));
    for command in ["phasm examples sagga", "phasm init new --example sagga"] {
        let refused = project.sh(command);
        assert_eq!(refused.status, 2, "{refused:?}");
        for part in ["'sagga'", "'saga'", "pages-to-csv"] {
            assert!(refused.stderr.contains(part), "{refused:?}");
        }
    }
    assert!(!project.path("new").exists());
}

/// R-L45: the files fit together: the editor's line names the schema, the script checks, and runs are not committed.
#[test]
fn a_new_folder_is_ready_to_use() {
    let project = Project::new("hello", None);
    let made = project.sh("phasm init a/b");
    assert_eq!((made.status, made.stderr.as_str()), (0, ""), "{made:?}");
    let command = made.stdout.lines().last().unwrap().trim().to_owned();
    let ran = project.sh(&command);
    assert!(ran.status == 0 && ran.stdout.contains("Hello, Ada!"), "{command}: {ran:?}");
    let workflow = project.text("a/b/workflow.yaml");
    let schema = workflow.lines().next().unwrap().strip_prefix("# yaml-language-server: $schema=").unwrap();
    assert_eq!(project.text(&format!("a/b/{schema}")), project.sh("phasm schema").stdout);
    fs::write(
        project.path("a/b/workflow.yaml"),
        workflow.replace("who: { type: array", "whom: { type: array"),
    )
    .unwrap();
    let checked = project.sh("a/b/check.sh");
    assert!(checked.status == 2 && checked.stderr.contains("workflow.yaml:"), "{checked:?}");
    let ignored = project.text("a/b/.gitignore");
    assert!(["*.db", "/out/"].iter().all(|line| ignored.lines().any(|known| known == *line)), "{ignored}");
}

/// R-L45: no file is overwritten, and none is written next to one that exists.
#[test]
fn existing_files_are_never_overwritten() {
    let project = Project::new("hello", None);
    let write = |name: &str| fs::write(project.path(name), "mine").unwrap();
    fs::create_dir(project.path("used")).unwrap();
    write("used/README.md");
    write("used/EXAMPLE.md");
    #[cfg(unix)]
    std::os::unix::fs::symlink("nowhere", project.path("used/check.sh")).unwrap();
    let refused = project.sh("phasm init used --example saga");
    assert_eq!(refused.status, 2, "{refused:?}");
    for name in ["used/EXAMPLE.md", "used/check.sh"] {
        assert!(refused.stderr.contains(name), "{refused:?}");
    }
    let left = fs::read_dir(project.path("used")).unwrap().count();
    assert_eq!((left, project.text("used/README.md").as_str()), (3, "mine"));
    write("file");
    let refused = project.sh("phasm init file/below");
    assert!(refused.status == 2 && refused.stderr.contains("cannot be written"), "{refused:?}");
}

/// R-L45: a folder of a repository keeps its README and its .gitignore.
#[test]
fn a_repository_keeps_its_own_files() {
    let project = Project::new("hello", None);
    fs::create_dir(project.path("repository")).unwrap();
    for name in ["README.md", ".gitignore"] {
        fs::write(project.path(&format!("repository/{name}")), "mine").unwrap();
    }
    let made = project.sh("phasm init repository --example saga");
    assert_eq!(made.status, 0, "{made:?}");
    for part in ["repository/EXAMPLE.md", "*.db\n", "/out/\n"] {
        assert!(made.stdout.contains(part), "{part}: {made:?}");
    }
    let text = |name: &str| project.text(&format!("repository/{name}"));
    assert_eq!((text("README.md"), text(".gitignore")), ("mine".to_owned(), "mine".to_owned()));
    project.sh("phasm init fresh --example saga");
    assert_eq!(text("EXAMPLE.md"), project.text("fresh/README.md"));
}
