//! `[grants.<plugin>]`: what one plugin may touch.

use std::path::PathBuf;

use super::{
    Surroundings, catalogue,
    fields::{Field, Findings, Table},
};
use crate::sandbox::{DirGrant, Grants};

/// What one plugin may touch, and what of it is to be created first.
#[derive(Default)]
pub(super) struct Granted {
    pub(super) grants: Grants,
    pub(super) create: Vec<PathBuf>,
}

pub(super) fn read(table: &Table<'_>, around: &Surroundings<'_>, findings: &mut Findings) -> Granted {
    table.only(&["dirs", "env", "http"], findings);
    let mut granted = Granted::default();
    for item in table.list("dirs", findings) {
        dir(&item, around, &mut granted, findings);
    }
    if let Some(env) = table.table("env", findings) {
        for (name, value) in env.fields() {
            let value = value.text(findings).map(|text| (name.name.to_string(), text.to_owned()));
            granted.grants.env.extend(value);
        }
    }
    http(table, findings);
    granted
}

fn dir(item: &Field<'_>, around: &Surroundings<'_>, granted: &mut Granted, findings: &mut Findings) {
    let Some(table) = Table::of(item.tree, item.path.clone(), findings) else { return };
    table.only(&["host", "guest", "mode", "create"], findings);
    let host = table.require("host", findings);
    let guest = table.require("guest", findings).and_then(|field| guest_path(&field, granted, findings));
    let read_only = table.get("mode").map_or(Some(true), |mode| is_read_only(&mode, findings));
    let create = table.get("create").is_some_and(|create| create.truth(findings) == Some(true));
    let path = host.as_ref().and_then(|host| host.text(findings)).map(|text| around.dir.join(text));
    let (Some(host), Some(path), Some(guest), Some(read_only)) = (host, path, guest, read_only) else {
        return;
    };
    if create {
        granted.create.push(path.clone());
    } else if !path.is_dir() {
        let message = format!("{} is no directory; expected one that exists", path.display());
        let warning = host.report(&catalogue::NO_DIRECTORY, message);
        findings.warning(warning.with_hint("`create = true` has it created before a run"));
    }
    granted.grants.dirs.push(DirGrant { host: path, guest, read_only });
}

fn guest_path(field: &Field<'_>, granted: &Granted, findings: &mut Findings) -> Option<String> {
    let text = field.text(findings)?;
    if text.is_empty() {
        field.bad_value("empty; expected the path the plugin sees, such as `/data`", findings);
        return None;
    }
    if granted.grants.dirs.iter().any(|dir| dir.guest == text) {
        field.bad_value(
            format!("`{text}` stands for another directory already; expected each path once"),
            findings,
        );
        return None;
    }
    Some(text.to_owned())
}

fn is_read_only(mode: &Field<'_>, findings: &mut Findings) -> Option<bool> {
    match mode.text(findings)? {
        "ro" => Some(true),
        "rw" => Some(false),
        other => {
            mode.bad_value(format!("`{other}`; expected `ro` or `rw`"), findings);
            None
        }
    }
}

fn http(table: &Table<'_>, findings: &mut Findings) {
    let hosts = table.list("http", findings);
    for host in &hosts {
        host.text(findings);
    }
    if !hosts.is_empty()
        && let Some(field) = table.get("http")
    {
        let message = "no executor can use HTTP yet; expected an empty list";
        findings.warning(field.report(&catalogue::NOT_YET, message));
    }
}
