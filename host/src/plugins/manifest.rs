//! Manifests of plugins.

mod adjacent;

use std::{path::Path, sync::Arc};

use phasm_engine::{
    plan::{PinnedExecutor, check_defaults},
    text,
    tree::Tree,
    value::{Map, Value},
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;
use wasmparser::{Parser, Payload};

use self::adjacent::beside;
use super::{files, grant_requests::GrantRequests};
use crate::plugins::limits::of_manifest;
use phasm_sandbox::Allowance;

/// The custom section that holds a manifest as JSON, anywhere in the component.
const SECTION: &str = "phasm:manifest";

/// Length of a component's header: four magic bytes, and the version.
const HEADER: usize = 8;
/// The kind of a section that means nothing to a compiler.
const CUSTOM: u8 = 0;

/// The longest name of a plugin, in bytes.
const MAX_NAME_BYTES: usize = 128;
const NAME: &str = "up to 128 bytes without blanks, `@` and invisible characters";

/// Whether a plugin may be called so: what documents can name.
pub(super) fn is_name(name: &str) -> bool {
    let fits = |c: char| !c.is_whitespace() && c != '@' && !text::is_hidden(c);
    (1..=MAX_NAME_BYTES).contains(&name.len()) && name.chars().all(fits)
}

/// A plugin's description of itself: from a custom section that the SDK embeds, and from `NAME.toml` or `NAME.json` next to it,
/// each member of which replaces the embedded one. Members that this version does not know are ignored, unless a file next to it
/// has one that is nearly called as a known one.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Manifest {
    /// The name its author gave it; `executor.type` is the name it is registered under.
    pub name: Option<String>,
    /// Its version, as in `executor.type: name@version`.
    pub version: Option<String>,
    /// One sentence for people.
    pub description: Option<String>,
    /// The JSON Schema of its inputs: an object with a property per input.
    #[serde(skip_serializing_if = "Value::is_null")]
    pub inputs: Value,
    /// The JSON Schema of its outputs, likewise.
    #[serde(skip_serializing_if = "Value::is_null")]
    pub outputs: Value,
    /// Settings in `executor.config` next to its inputs. If there are any, others are refused when a workflow is submitted.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub settings: Vec<Arc<str>>,
    /// Whether it waits for people: its attempts may suspend.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub suspends: bool,
    /// Codes that it returns, each with its meaning.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub codes: Vec<CodeMeaning>,
    /// Whether the same inputs always have the same outcome.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub deterministic: bool,
    /// Calls as examples. Only `phasm plugin test` and `phasm plugin docs` read them, so a plugin with others can be used.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub examples: Vec<Value>,
    /// Limits that its attempts need at most, written as `limits` in a configuration.
    #[serde(skip_serializing_if = "Value::is_null")]
    pub limits: Value,
    /// The grants that it asks for.
    #[serde(skip_serializing_if = "GrantRequests::is_empty")]
    pub wants: GrantRequests,
    /// The policies of tasks that have none of their own.
    #[serde(flatten)]
    pub defaults: Defaults,
}

/// Meaning of a code.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CodeMeaning {
    /// The code.
    pub code: i32,
    /// One sentence for people.
    pub meaning: String,
}

/// Default policies (Steep's service metadata), each written as in a document; neither the template's nor the call's
/// field is there where one counts.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Defaults {
    /// `retry`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retry: Option<Value>,
    /// `maxRuntime` of each attempt.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_runtime: Option<Value>,
    /// `maxInactivity` of each attempt.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_inactivity: Option<Value>,
    /// `deadline` across attempts and delays.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deadline: Option<Value>,
}

impl Defaults {
    /// The fields that are there, as documents call them.
    #[must_use]
    pub fn fields(&self) -> Map {
        let fields = [
            ("retry", &self.retry),
            ("maxRuntime", &self.max_runtime),
            ("maxInactivity", &self.max_inactivity),
            ("deadline", &self.deadline),
        ];
        fields.into_iter().filter_map(|(name, value)| Some((name.into(), value.clone()?))).collect()
    }

    /// Whether they are as in a document.
    fn check(&self) -> Result<(), String> {
        let problems = check_defaults(&Tree::from(&Value::from(self.fields())));
        if problems.is_empty() {
            return Ok(());
        }
        Err(problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))
    }
}

impl Manifest {
    /// Reads the manifest of a component, which lies in `path` if it is a file: a file next to it replaces embedded members one
    /// by one.
    ///
    /// # Errors
    /// A message for the user when a manifest cannot be read, or its default policies are invalid: each of them with its field.
    pub fn of(bytes: &[u8], path: Option<&Path>) -> Result<Self, String> {
        let NamedManifest { manifest, place } = Self::find(bytes, path)?;
        let checked = manifest.check_names().and_then(|()| manifest.check_schemas());
        let checked = checked.and_then(|()| manifest.allowance().map(drop));
        let checked = checked.and_then(|()| manifest.wants.check());
        checked.and_then(|()| manifest.defaults.check()).map_err(|problems| said(&place, problems))?;
        Ok(manifest)
    }

    /// The members that a file next to a component replaces.
    ///
    /// # Errors
    /// The errors of [`Self::of`].
    pub fn replaced(bytes: &[u8], path: &Path) -> Result<Vec<String>, String> {
        let (Some(beside), Some(own)) = (beside(path)?, embedded(bytes)?) else { return Ok(Vec::new()) };
        let differs = |(member, value): &(&String, &Json)| own.get(*member).is_some_and(|own| own != *value);
        Ok(beside.members.iter().filter(differs).map(|(member, _)| member.clone()).collect())
    }

    /// Limits that its attempts need at most.
    ///
    /// # Errors
    /// Each problem with its key.
    pub(super) fn allowance(&self) -> Result<Allowance, String> {
        if self.limits.is_null() {
            return Ok(Allowance::default());
        }
        of_manifest(&Tree::from(&self.limits)).map_err(|problems| format!("limits: {problems}"))
    }

    /// Whether its name and version could be those of an executor's type.
    fn check_names(&self) -> Result<(), String> {
        for (member, name) in [("name", &self.name), ("version", &self.version)] {
            if let Some(name) = name.as_ref().filter(|name| !is_name(name)) {
                return Err(format!(
                    "{member}: found {:?}; expected {NAME}",
                    text::cut(name, MAX_NAME_BYTES)
                ));
            }
        }
        Ok(())
    }

    /// Whether inputs and outputs are schemas of objects, as far as anything here reads them.
    fn check_schemas(&self) -> Result<(), String> {
        for (member, schema) in [("inputs", &self.inputs), ("outputs", &self.outputs)] {
            let properties = schema.member("properties");
            let is_schema =
                schema.as_object().is_some() && properties.is_none_or(|p| p.as_object().is_some());
            if !schema.is_null() && !is_schema {
                return Err(format!(
                    "{member}: expected a JSON Schema with `properties`, an object of schemas"
                ));
            }
        }
        Ok(())
    }

    /// `component` with this manifest in it, before any other that it may have.
    ///
    /// # Errors
    /// When the component is none, or the manifest is too long.
    pub fn embed(&self, component: &[u8]) -> Result<Vec<u8>, String> {
        let json = serde_json::to_vec(self).map_err(|error| said("manifest", error))?;
        if json.len() as u64 > files::MAX_MANIFEST_BYTES {
            return Err("manifest: more than 1 MiB".to_owned());
        }
        let (header, rest) = component.split_at_checked(HEADER).ok_or("no WebAssembly component")?;
        let name = [&leb(SECTION.len()), SECTION.as_bytes()].concat();
        let length = leb(name.len() + json.len());
        Ok([header, &[CUSTOM], &length, &name, &json, rest].concat())
    }

    /// The manifest that an artefact was compiled with.
    ///
    /// # Errors
    /// A message for the user when it cannot be read.
    pub(super) fn read(json: &str) -> Result<Self, String> {
        serde_json::from_str(json).map_err(|error| said("manifest", error)).map(Self::in_brief)
    }

    /// [`Self::of`] without a check of the default policies.
    ///
    /// # Errors
    /// A message for the user when a manifest cannot be read.
    pub(super) fn unchecked(bytes: &[u8], path: Option<&Path>) -> Result<Self, String> {
        Self::find(bytes, path).map(|found| found.manifest)
    }

    fn in_brief(mut self) -> Self {
        self.description = self.description.map(|text| text::brief(&text).into_owned());
        self
    }

    /// The part of the manifest that a plan keeps.
    pub(super) fn pinned(&self) -> PinnedExecutor {
        let (inputs, outputs) = (self.inputs.clone(), self.outputs.clone());
        let (settings, suspends) = (self.settings.clone(), self.suspends);
        PinnedExecutor {
            inputs,
            outputs,
            settings,
            suspends,
            ..PinnedExecutor::with_defaults(self.defaults.fields())
        }
    }

    fn find(bytes: &[u8], path: Option<&Path>) -> Result<NamedManifest, String> {
        if let Some(beside) = path.map(beside).transpose()?.flatten() {
            // One that is embedded and broken is what a file beside it is there for.
            let mut members = embedded(bytes).unwrap_or_default().unwrap_or_default();
            members.extend(beside.members);
            let place = beside.place;
            let manifest: Self =
                serde_json::from_value(members.into()).map_err(|error| said(&place, error))?;
            return Ok(NamedManifest { manifest: manifest.in_brief(), place });
        }
        let place = EMBEDDED.to_owned();
        let Some(section) = section(bytes)? else {
            return Ok(NamedManifest { manifest: Self::default(), place });
        };
        let manifest: Self = serde_json::from_slice(section).map_err(|error| said(&place, error))?;
        Ok(NamedManifest { manifest: manifest.in_brief(), place })
    }
}

/// The name of an embedded manifest in messages.
const EMBEDDED: &str = "embedded manifest";

/// The members of the manifest in a component.
fn embedded(bytes: &[u8]) -> Result<Option<Members>, String> {
    let members = |section: &[u8]| serde_json::from_slice(section).map_err(|error| said(EMBEDDED, error));
    section(bytes)?.map(members).transpose()
}

/// A length as WebAssembly writes it: seven bits a byte, the lowest first.
fn leb(mut length: usize) -> Vec<u8> {
    let mut bytes = Vec::new();
    loop {
        let low = u8::try_from(length & 0x7f).unwrap_or(0);
        length >>= 7;
        bytes.push(if length == 0 { low } else { low | 0x80 });
        if length == 0 {
            return bytes;
        }
    }
}

/// A manifest, and what messages call it.
struct NamedManifest {
    manifest: Manifest,
    place: String,
}

fn said(place: &str, error: impl std::fmt::Display) -> String {
    text::brief(&format!("{place}: {error}")).into_owned()
}

type Members = serde_json::Map<String, Json>;

/// The first manifest section of a component or of anything in it. Invalid components have none; compiling them says
/// what is wrong.
fn section(bytes: &[u8]) -> Result<Option<&[u8]>, String> {
    for payload in Parser::new(0).parse_all(bytes).map_while(Result::ok) {
        if let Payload::CustomSection(section) = payload
            && section.name() == SECTION
        {
            let fits = section.data().len() as u64 <= files::MAX_MANIFEST_BYTES;
            return if fits {
                Ok(Some(section.data()))
            } else {
                Err("embedded manifest: more than 1 MiB".to_owned())
            };
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn custom_section(json: &str) -> Vec<u8> {
        let leb = |length: usize| vec![(length & 0x7f) as u8 | 0x80, (length >> 7) as u8];
        let body = [&[SECTION.len() as u8], SECTION.as_bytes(), json.as_bytes()].concat();
        [vec![0], leb(body.len()), body].concat()
    }

    const COMPONENT: &[u8] = b"\0asm\x0d\0\x01\0";
    const MODULE: &[u8] = b"\0asm\x01\0\0\0";

    fn named(version: &str) -> Manifest {
        Manifest { name: Some("n".into()), version: Some(version.into()), ..Manifest::default() }
    }

    /// R-I5.
    #[test]
    fn the_section_is_found_in_the_component_and_in_a_nested_module() {
        let section = custom_section(r#"{"name":"n","version":"1.0.0","later":["more"]}"#);
        let outer = [COMPONENT, &section].concat();
        assert_eq!(Manifest::of(&outer, None), Ok(named("1.0.0")));
        let module = [MODULE, &section].concat();
        let nested = [COMPONENT, &[1, module.len() as u8], &module].concat();
        assert_eq!(Manifest::of(&nested, None), Ok(named("1.0.0")));
    }

    #[test]
    fn no_manifest_is_an_empty_one_and_a_broken_one_is_an_error() {
        assert_eq!(Manifest::of(COMPONENT, None), Ok(Manifest::default()));
        assert_eq!(Manifest::of(b"junk", None), Ok(Manifest::default()));
        let broken = [COMPONENT, &custom_section("{")].concat();
        assert!(Manifest::of(&broken, None).unwrap_err().starts_with("embedded manifest: "));
    }

    /// R-I5.
    #[test]
    fn a_file_beside_the_component_wins() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("x.wasm");
        let bytes = [COMPONENT, &custom_section(r#"{"name":"n","version":"1.0.0"}"#)].concat();
        fs::write(dir.path().join("x.json"), r#"{"name":"n","version":"2.0.0"}"#).unwrap();
        assert_eq!(Manifest::of(&bytes, Some(&path)), Ok(named("2.0.0")));
        fs::write(dir.path().join("x.toml"), "name = 'n'\nversion = '3.0.0'\n").unwrap();
        assert_eq!(Manifest::of(&bytes, Some(&path)), Ok(named("3.0.0")));
        fs::write(dir.path().join("x.toml"), "name = 3").unwrap();
        assert!(Manifest::of(&bytes, Some(&path)).unwrap_err().contains("x.toml"));
    }

    /// R-I5: what is not said beside a component is what the component itself says.
    #[test]
    fn what_lies_beside_replaces_member_by_member() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("x.wasm");
        let own = r#"{"name":"n","version":"1.0.0","inputs":{"properties":{"a":{}}},"retry":{"limit":1},"wants":{"env":["A"]}}"#;
        let bytes = [COMPONENT, &custom_section(own)].concat();
        fs::write(
            dir.path().join("x.toml"),
            "version = '1.0.0'\ndescription = 'd'\nwants = {}\nretry = { limit = 2 }\n",
        )
        .unwrap();
        let found = Manifest::of(&bytes, Some(&path)).unwrap();
        assert_eq!(found.inputs.to_json(), r#"{"properties":{"a":{}}}"#);
        assert_eq!((found.name.as_deref(), found.description.as_deref()), (Some("n"), Some("d")));
        assert!(found.wants.is_empty() && found.defaults.retry.unwrap().to_json() == r#"{"limit":2}"#);
        assert_eq!(Manifest::replaced(&bytes, &path), Ok(vec!["retry".to_owned(), "wants".to_owned()]));
        assert_eq!(Manifest::replaced(COMPONENT, &path), Ok(Vec::new()));
        let broken = [COMPONENT, &custom_section("{")].concat();
        assert_eq!(Manifest::of(&broken, Some(&path)).unwrap().version.as_deref(), Some("1.0.0"));
    }

    #[test]
    fn a_manifest_is_put_before_the_one_that_is_there() {
        let bytes = [COMPONENT, &custom_section(r#"{"name":"n","version":"1.0.0"}"#)].concat();
        let description = Some("x".repeat(300));
        let new = Manifest { description, ..named("2.0.0") };
        assert_eq!(Manifest::of(&new.embed(&bytes).unwrap(), None), Ok(new.clone()));
        assert!(new.embed(b"short").is_err());
    }

    /// JSON and TOML, embedded and beside: the fields are a document's.
    #[test]
    fn default_policies_are_read_wherever_they_stand() {
        let json = r#"{"name":"n","retry":{"maxAttempts":3,"delay":"1s"},"deadline":{"timeout":"1h","errorOnTimeout":true},"maxRuntime":5000}"#;
        let bytes = [COMPONENT, &custom_section(json)].concat();
        let embedded = Manifest::of(&bytes, None).unwrap();
        let fields = Value::from(embedded.defaults.fields()).to_json();
        assert_eq!(
            fields,
            r#"{"deadline":{"errorOnTimeout":true,"timeout":"1h"},"maxRuntime":5000,"retry":{"delay":"1s","maxAttempts":3}}"#
        );
        let dir = tempfile::tempdir().unwrap();
        let text = "name = 'n'\nmaxRuntime = 5000\nretry = { maxAttempts = 3, delay = '1s' }\n[deadline]\ntimeout = '1h'\nerrorOnTimeout = true\n";
        fs::write(dir.path().join("x.toml"), text).unwrap();
        assert_eq!(Manifest::of(COMPONENT, Some(&dir.path().join("x.wasm"))), Ok(embedded));
    }

    #[test]
    fn default_policies_that_are_none_are_named_with_their_field() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("x.wasm");
        fs::write(dir.path().join("x.toml"), "retry = { limit = -2 }\nmaxInactivity = '0s'\n").unwrap();
        let error = Manifest::of(COMPONENT, Some(&path)).unwrap_err();
        for says in ["x.toml: P033: retry.limit: found -2; expected", "; P031: maxInactivity: no time"] {
            assert!(error.contains(says), "{says}: {error}");
        }
        assert!(Manifest::unchecked(COMPONENT, Some(&path)).is_ok());
    }

    #[test]
    fn what_it_calls_itself_is_a_name_and_what_it_says_is_short() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("x.wasm");
        let of = |json: String| {
            fs::write(dir.path().join("x.json"), json).unwrap();
            Manifest::of(COMPONENT, Some(&path))
        };
        let long = "x".repeat(100_000);
        for (member, name) in
            [("name", r"a\nb"), ("name", "a b"), ("version", r"1\u202e0"), ("version", &long)]
        {
            let error = of(format!(r#"{{"{member}": "{name}"}}"#)).unwrap_err();
            assert!(error.contains(&format!("x.json: {member}: found \"")) && error.len() <= 1024, "{error}");
        }
        let described =
            of(format!(r#"{{"name": "ä-1", "description": "{long}"}}"#)).unwrap().description.unwrap();
        assert!(described.len() == 1024 && described.ends_with("… (100000 bytes)"));
        assert!(of(format!(r#"{{"name": {long}}}"#)).unwrap_err().len() <= 1024);
    }

    #[test]
    fn schemas_of_inputs_and_outputs_are_objects() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("x.wasm");
        let of = |json: &str| {
            fs::write(dir.path().join("x.json"), json).unwrap();
            Manifest::of(COMPONENT, Some(&path))
        };
        let known = of(r#"{"inputs":{"properties":{"a":{"type":"string"}}}}"#).unwrap();
        assert_eq!(known.inputs.to_json(), r#"{"properties":{"a":{"type":"string"}}}"#);
        assert!(known.outputs.is_null());
        for wrong in [r#"{"inputs":3}"#, r#"{"outputs":{"properties":[]}}"#] {
            assert!(of(wrong).unwrap_err().contains("expected a JSON Schema"), "{wrong}");
        }
    }
}
