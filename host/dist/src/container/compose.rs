//! Compose files: checked by Docker Compose, which needs no engine for that, and run as they say.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use serde_json::{Value, json};

use super::{
    Plan, ServerPod, accepts,
    containerfile::Image,
    documented, expect, folder_of, list,
    pod::{Mount, Pod, PodPlan},
    text, texts,
};
use crate::{DistResult, run};

/// Files, each with the services that run the image.
const FILES: [(&str, &[&str]); 2] = [("compose.yaml", &["phasm"]), (CLUSTER, &HOSTS)];
/// File with several hosts.
pub(super) const CLUSTER: &str = "compose.cluster.yaml";
/// Services that are hosts of the cluster.
pub(super) const HOSTS: [&str; 3] = ["host-1", "host-2", "host-3"];

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
                // The operator decides which other machines may reach it.
                expect(&what, port, &[("/host_ip", json!("127.0.0.1"))])?;
            }
            let names = found.pointer("/environment").and_then(Value::as_object);
            documented(&names.into_iter().flatten().map(|(name, _)| name.clone()).collect::<Vec<_>>())?;
        }
        documented(&variables(&fs::read_to_string(path(file))?))?;
    }
    let single = read("compose.yaml")?;
    Ok(Box::new(move |image, _, dir| plan(&single, image, dir)))
}

fn path(file: &str) -> PathBuf {
    folder_of("container").join(file)
}

/// Reads a file by Docker Compose, with a value for each variable that has to be set.
pub(super) fn read(file: &str) -> DistResult<Value> {
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

/// Returns how the single server is run.
fn plan(composed: &Value, image: &Image, dir: &Path) -> DistResult<ServerPod> {
    let (pod, arguments) = pod(composed, "phasm", image, dir, None)?;
    Ok(ServerPod { pod, arguments, key: None, probes: Vec::new() })
}

/// Makes the pod of a service, with a file of the names of others if there are any, and returns it with its arguments.
/// A new volume has the files of the image at its place.
pub(super) fn pod(
    composed: &Value,
    name: &str,
    image: &Image,
    dir: &Path,
    hosts: Option<&Path>,
) -> DistResult<(Pod, Vec<String>)> {
    let service = composed.pointer(&format!("/services/{name}"));
    let service = service.ok_or_else(|| format!("no service {name}"))?;
    let root = dir.join("root");
    let mut mounts = Vec::new();
    for volume in list(service, "/volumes") {
        let (name, to) = (text(volume, "/source")?, text(volume, "/target")?);
        let from = dir.join("volumes").join(name);
        if !from.exists() {
            fs::create_dir_all(dir.join("volumes"))?;
            run(Command::new("cp").arg("-a").arg(root.join(to.trim_start_matches('/'))).arg(&from))?;
        }
        mounts.push(Mount::Bind { from, to: to.to_owned(), read_only: false });
    }
    for volume in &image.volumes {
        if !mounts.iter().any(|mount| matches!(mount, Mount::Bind { to, .. } if to == volume)) {
            return Err(format!("{name}: expected a volume at {volume}").into());
        }
    }
    for memory in texts(service, "/tmpfs") {
        let (to, options) = memory.split_once(':').unwrap_or((&memory, "mode=1777"));
        mounts.push(Mount::Memory { to: to.to_owned(), options: options.to_owned() });
    }
    mounts.extend(hosts.map(|file| Mount::Bind {
        from: file.to_owned(),
        to: "/etc/hosts".to_owned(),
        read_only: true,
    }));
    let mut environment = image.environment.clone();
    for (name, value) in service.pointer("/environment").and_then(Value::as_object).into_iter().flatten() {
        let value = value.as_str().ok_or_else(|| format!("{name}: expected a text"))?;
        environment.push((name.clone(), value.to_owned()));
    }
    let is_read_only = service.pointer("/read_only") == Some(&json!(true));
    let pod = Pod::start(PodPlan { root, is_read_only, mounts, environment, user: image.user }, image)?;
    Ok((pod, arguments(service, image)))
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
