//! Compose files: checked by Docker Compose, which needs no engine for that, and run as they say.

use std::{
    path::{Path, PathBuf},
    process::Command,
};

use serde_json::{Value, json};

use super::{
    Plan, Served, accepts,
    containerfile::Image,
    documented, expect, folder_of, list,
    pod::{Mount, Pod, PodPlan},
    text, texts,
};
use crate::{DistResult, run};

/// Files, each with the services that run the image.
const FILES: [(&str, &[&str]); 2] =
    [("compose.yaml", &["phasm"]), ("compose.cluster.yaml", &["host-1", "host-2", "host-3"])];

/// Checks the files, and returns how the single server is run.
pub(super) fn check(command: &Path, image: &Image) -> DistResult<Plan> {
    for (file, services) in FILES {
        let composed = read(file)?;
        for service in services {
            let what = format!("{file}: {service}");
            let found = composed.pointer(&format!("/services/{service}"));
            let found = found.ok_or_else(|| format!("{what}: expected a service"))?;
            expect(
                &what,
                found,
                &[
                    ("/image", json!("phasm")),
                    ("/read_only", json!(true)),
                    ("/cap_drop", json!(["ALL"])),
                    ("/security_opt", json!(["no-new-privileges:true"])),
                    ("/build/dockerfile", json!("host/dist/container/Containerfile")),
                ],
            )?;
            accepts(command, &arguments(found, image))?;
            for port in list(found, "/ports") {
                // Who can reach it is up to the operator.
                expect(&what, port, &[("/host_ip", json!("127.0.0.1"))])?;
            }
            let names = found.pointer("/environment").and_then(Value::as_object);
            documented(&names.into_iter().flatten().map(|(name, _)| name.clone()).collect::<Vec<_>>())?;
        }
        documented(&variables(&std::fs::read_to_string(path(file))?))?;
    }
    let single = read("compose.yaml")?;
    Ok(Box::new(move |image, _, dir| plan(&single, image, dir)))
}

fn path(file: &str) -> PathBuf {
    folder_of("container").join(file)
}

/// Reads a file by Docker Compose, with a value for each variable that has to be set.
fn read(file: &str) -> DistResult<Value> {
    let mut compose = Command::new("docker-compose");
    compose.arg("--file").arg(path(file)).env("PHASM_DATABASE_PASSWORD", "password");
    Ok(serde_json::from_str(&run(compose.args(["config", "--format", "json"]))?)?)
}

/// Names of the variables in a file.
fn variables(text: &str) -> Vec<String> {
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    text.split("${").skip(1).map(|rest| rest.chars().take_while(|c| is_name(*c)).collect()).collect()
}

/// Arguments of a service, else those of the image.
fn arguments(service: &Value, image: &Image) -> Vec<String> {
    let named = texts(service, "/command");
    if named.is_empty() { image.command.clone() } else { named }
}

/// The pod of a service: a new volume has the files of the image at its place.
fn plan(composed: &Value, image: &Image, dir: &Path) -> DistResult<Served> {
    let service = composed.pointer("/services/phasm").ok_or("no service phasm")?;
    let root = dir.join("root");
    let mut mounts = Vec::new();
    for volume in list(service, "/volumes") {
        let (name, to) = (text(volume, "/source")?, text(volume, "/target")?);
        let from = dir.join("volumes").join(name);
        std::fs::create_dir_all(dir.join("volumes"))?;
        run(Command::new("cp").arg("-a").arg(root.join(to.trim_start_matches('/'))).arg(&from))?;
        mounts.push(Mount::Bind { from, to: to.to_owned(), read_only: false });
    }
    for volume in &image.volumes {
        if !mounts.iter().any(|mount| matches!(mount, Mount::Bind { to, .. } if to == volume)) {
            return Err(format!("compose.yaml: expected a volume at {volume}").into());
        }
    }
    for memory in texts(service, "/tmpfs") {
        let (to, options) = memory.split_once(':').unwrap_or((&memory, "mode=1777"));
        mounts.push(Mount::Memory { to: to.to_owned(), options: options.to_owned() });
    }
    let is_read_only = service.pointer("/read_only") == Some(&json!(true));
    let (user, environment) = (image.user, image.environment.clone());
    let pod = Pod::start(PodPlan { root, is_read_only, mounts, environment, user }, image)?;
    Ok(Served { pod, arguments: arguments(service, image), key: None, probes: Vec::new() })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// R-L65: the variables of a compose file are found, whatever follows their names.
    #[test]
    fn variables_are_found() {
        assert_eq!(
            variables("a: ${ONE}\nb: \"x${TWO_2:-8}y${THREE:?why}\"\n$FOUR"),
            ["ONE", "TWO_2", "THREE"]
        );
    }

    /// R-L65: the image runs what a service names, else its own command.
    #[test]
    fn a_service_may_name_its_arguments() {
        let image = Image::read().unwrap();
        assert_eq!(arguments(&json!({ "command": null }), &image), image.command);
        assert_eq!(arguments(&json!({ "command": ["list"] }), &image), ["list"]);
    }
}
