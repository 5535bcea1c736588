//! Kubernetes manifests: rendered by kubectl, checked against the schemas of the API, and run as they say.

use std::{
    fs::{self, Permissions},
    os::unix::fs::{PermissionsExt as _, chown},
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
use crate::{DistResult, VERSION, folder, run};

/// Folders to apply, each with the kinds of objects that it has to have.
const OVERLAYS: [(&str, &[&str]); 2] = [
    ("single", &["Deployment", "PersistentVolumeClaim", "PodDisruptionBudget", "Service", "ServiceAccount"]),
    ("cluster", &["Deployment", "PodDisruptionBudget", "Service", "ServiceAccount", "StatefulSet"]),
];
/// Versions of the API: the latest that the schemas have, and an older one that clusters still run.
const API_VERSIONS: [&str; 2] = ["1.37", "1.32"];

/// Checks the manifests, which are rendered to `dir`, and returns how the single server is run.
pub(super) fn check(command: &Path, dir: &Path) -> DistResult<Plan> {
    let (mut single, mut files) = (None, Vec::new());
    for (overlay, kinds) in OVERLAYS {
        let (file, objects) = read(overlay, dir)?;
        files.push(file);
        let what = |object: &Value| format!("{overlay}: {} {}", object["kind"], name(object));
        for kind in kinds {
            if !objects.iter().any(|object| object["kind"] == *kind) {
                return Err(format!("{overlay}: expected an object of kind {kind}").into());
            }
        }
        for object in &objects {
            if object["kind"] == "Secret" {
                return Err(format!(
                    "{}: secrets are the operator's, and not part of the manifests",
                    what(object)
                )
                .into());
            }
            if object.pointer("/spec/template/spec").is_some() {
                check_workload(&what(object), object)?;
            }
            if object["kind"] == "Deployment" {
                let image = json!(format!("phasm:{VERSION}"));
                expect(&what(object), object, &[("/spec/template/spec/containers/0/image", image)])?;
                accepts(command, &texts(object, "/spec/template/spec/containers/0/args"))?;
            }
        }
        selected(overlay, &objects)?;
        if overlay == "single" {
            single = Some(objects);
        }
    }
    validate(&files)?;
    let single = single.ok_or("no manifests of a single server")?;
    Ok(Box::new(move |image, command, dir| plan(&single, image, command, dir)))
}

/// Renders an overlay to a file in `dir`, and returns its path and its objects.
fn read(overlay: &str, dir: &Path) -> DistResult<(PathBuf, Vec<Value>)> {
    let source = folder_of("kubernetes/overlays").join(overlay);
    let rendered = run(Command::new("kubectl").arg("kustomize").arg(&source))?;
    let file = dir.join(format!("{overlay}.yaml"));
    fs::write(&file, &rendered)?;
    let convert =
        "import json, sys, yaml; json.dump(list(yaml.safe_load_all(open(sys.argv[1]))), sys.stdout)";
    let objects = run(Command::new("python3").args(["-c", convert]).arg(&file))?;
    Ok((file, serde_json::from_str(&objects)?))
}

/// Checks rendered objects against the schemas of the API.
fn validate(files: &[PathBuf]) -> DistResult {
    API_VERSIONS.iter().try_for_each(|version| {
        let mut validate = Command::new("kubernetes-validate");
        run(validate.args(["--strict", "--kubernetes-version", version]).args(files)).map(drop)
    })
}

/// Returns the name of an object.
fn name(object: &Value) -> &Value {
    object.pointer("/metadata/name").unwrap_or(&Value::Null)
}

/// Checks the rights, the probes and the secrets of a workload.
fn check_workload(what: &str, object: &Value) -> DistResult {
    let pod = object.pointer("/spec/template/spec").unwrap_or(&Value::Null);
    expect(
        what,
        pod,
        &[
            ("/automountServiceAccountToken", json!(false)),
            ("/enableServiceLinks", json!(false)),
            ("/securityContext/runAsNonRoot", json!(true)),
            ("/securityContext/seccompProfile/type", json!("RuntimeDefault")),
        ],
    )?;
    let mut names = Vec::new();
    for volume in list(pod, "/volumes") {
        names.extend(volume.pointer("/secret/secretName").and_then(Value::as_str).map(ToOwned::to_owned));
    }
    for container in list(pod, "/containers") {
        expect(
            what,
            container,
            &[
                ("/securityContext/allowPrivilegeEscalation", json!(false)),
                ("/securityContext/readOnlyRootFilesystem", json!(true)),
                ("/securityContext/capabilities/drop", json!(["ALL"])),
            ],
        )?;
        for needed in ["startupProbe", "livenessProbe", "readinessProbe", "resources"] {
            if container.get(needed).is_none() {
                return Err(format!("{what}: expected {needed}").into());
            }
        }
        for variable in list(container, "/env") {
            let secret = variable.pointer("/valueFrom/secretKeyRef/name").and_then(Value::as_str);
            names.extend(secret.map(ToOwned::to_owned));
            names.extend(
                variable["name"].as_str().filter(|name| name.starts_with("PHASM_")).map(ToOwned::to_owned),
            );
        }
    }
    documented(&names)
}

/// Checks that services and budgets select pods that there are.
fn selected(overlay: &str, objects: &[Value]) -> DistResult {
    for object in objects {
        let selector = match object["kind"].as_str() {
            Some("Service") => object.pointer("/spec/selector"),
            Some("PodDisruptionBudget") => object.pointer("/spec/selector/matchLabels"),
            _ => continue,
        };
        let selector = selector.and_then(Value::as_object);
        let fits = |pods: &Value| {
            let labels = pods.pointer("/spec/template/metadata/labels");
            selector.is_some_and(|selector| {
                selector.iter().all(|(name, value)| labels.and_then(|labels| labels.get(name)) == Some(value))
            })
        };
        if !objects.iter().any(fits) {
            let name = name(object);
            return Err(format!(
                "{overlay}: {} {name}: expected a selector of pods in {overlay}",
                object["kind"]
            )
            .into());
        }
    }
    Ok(())
}

/// The pod of the deployment, with volumes as a kubelet makes them.
fn plan(objects: &[Value], image: &Image, command: &Path, dir: &Path) -> DistResult<ServerPod> {
    let deployment = objects.iter().find(|object| object["kind"] == "Deployment").ok_or("no deployment")?;
    let pod = deployment.pointer("/spec/template/spec").ok_or("no pod")?;
    let container = pod.pointer("/containers/0").ok_or("no container")?;
    let number = |pointer: &str| -> DistResult<u32> {
        let found = pod.pointer(pointer).and_then(Value::as_u64);
        Ok(u32::try_from(found.ok_or_else(|| format!("expected a number at {pointer}"))?)?)
    };
    let user = (number("/securityContext/runAsUser")?, number("/securityContext/runAsGroup")?);
    let group = number("/securityContext/fsGroup")?;
    // The page about containers makes the key outside as well, and its file is the secret.
    let keys = dir.join("server.keys");
    let key = run(Command::new(command).args(["key", "add", "me", "--role", "admin", "--keys"]).arg(&keys))?;
    let mut mounts = Vec::new();
    for mount in list(container, "/volumeMounts") {
        let (volume_name, to) = (text(mount, "/name")?, text(mount, "/mountPath")?.to_owned());
        let volume = list(pod, "/volumes").find(|volume| volume["name"] == volume_name);
        let volume = volume.ok_or_else(|| format!("no volume {volume_name}"))?;
        let read_only = mount["readOnly"] == true;
        if volume.get("emptyDir").is_some() {
            mounts.push(Mount::Memory { to, options: format!("mode=2777,uid=0,gid={group}") });
            continue;
        }
        let from = dir.join("volumes").join(volume_name);
        let from = if volume.get("persistentVolumeClaim").is_some() {
            fs::create_dir_all(&from)?;
            own(&from, group, 0o2775)?
        } else if let Some(map) = volume.get("configMap") {
            let file = text(mount, "/subPath")?;
            let map = objects.iter().find(|object| *name(object) == map["name"]);
            let content = map
                .and_then(|map| map.pointer(&format!("/data/{file}"))?.as_str())
                .ok_or("no such file in the ConfigMap")?;
            folder::write(&from, content.as_bytes(), 0o644)?;
            own(&from, group, 0o644)?
        } else if let Some(secret) = volume.get("secret") {
            let mode = u32::try_from(secret["defaultMode"].as_u64().ok_or("a secret without a mode")?)?;
            if text(mount, "/subPath")? != "server.keys" {
                return Err(format!("{to}: expected the file server.keys of the secret").into());
            }
            folder::copy(&keys, &from, 0o644)?;
            own(&from, group, mode)?
        } else {
            return Err(format!("{volume}: expected an emptyDir, a claim, a ConfigMap or a Secret").into());
        };
        mounts.push(Mount::Bind { from, to, read_only });
    }
    let probes = ["startupProbe", "livenessProbe", "readinessProbe"];
    let probes =
        probes.iter().map(|probe| text(container, &format!("/{probe}/httpGet/path")).map(ToOwned::to_owned));
    let probes = probes.collect::<DistResult<Vec<String>>>()?;
    let environment = image.environment.clone();
    let root = dir.join("root");
    let pod = Pod::start(PodPlan { root, is_read_only: true, mounts, environment, user }, image)?;
    Ok(ServerPod { pod, arguments: texts(container, "/args"), key: Some(key.trim().to_owned()), probes })
}

/// Gives a file or folder to root and a group.
fn own(path: &Path, group: u32, mode: u32) -> DistResult<PathBuf> {
    chown(path, Some(0), Some(group))?;
    fs::set_permissions(path, Permissions::from_mode(mode))?;
    Ok(path.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// R-L65: every file in the folders is listed in a kustomization, so that none is forgotten.
    #[test]
    fn every_manifest_is_listed() {
        for dir in ["base", "overlays/single", "overlays/cluster"] {
            let dir = folder_of("kubernetes").join(dir);
            let listed = fs::read_to_string(dir.join("kustomization.yaml")).unwrap();
            for entry in fs::read_dir(&dir).unwrap() {
                let name = entry.unwrap().file_name().into_string().unwrap();
                assert!(name == "kustomization.yaml" || listed.contains(&name), "{}/{name}", dir.display());
            }
        }
    }

    /// R-L65: a workload with more rights than it needs is refused, with each of them.
    #[test]
    fn a_workload_with_more_rights_is_refused() {
        let container = json!({ "securityContext": {
            "allowPrivilegeEscalation": true, "readOnlyRootFilesystem": false, "capabilities": { "drop": ["ALL"] },
        } });
        let pod = json!({
            "automountServiceAccountToken": false, "enableServiceLinks": false,
            "securityContext": { "runAsNonRoot": true, "seccompProfile": { "type": "RuntimeDefault" } },
            "containers": [container],
        });
        let said = check_workload("one", &json!({ "spec": { "template": { "spec": pod } } }))
            .unwrap_err()
            .to_string();
        assert_eq!(said.lines().count(), 2, "{said}");
        assert!(said.contains("allowPrivilegeEscalation: expected false, found true"), "{said}");
    }

    /// R-L65: a service that selects no pods is refused.
    #[test]
    fn a_selector_without_pods_is_refused() {
        let pods = json!({ "kind": "Deployment", "spec": { "template": { "metadata": { "labels": { "app": "a" } } } } });
        let service = |app: &str| json!({ "kind": "Service", "metadata": { "name": "s" }, "spec": { "selector": { "app": app } } });
        assert!(selected("x", &[pods.clone(), service("a")]).is_ok());
        assert!(selected("x", &[pods, service("b")]).is_err());
    }
}
