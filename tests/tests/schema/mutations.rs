//! Documents that differ from another in one place.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

/// Where a value stands: keys and indices.
type Place = Vec<Step>;

#[derive(Clone, PartialEq, Eq)]
enum Step {
    Key(String),
    Index(usize),
}

/// A change at one place.
#[derive(Clone, Debug)]
pub(crate) enum Change {
    Remove,
    Replace(Value),
    Add(String, Value),
}

/// One changed document.
pub(crate) struct Mutant {
    pub(crate) document: Value,
    pub(crate) path: String,
    pub(crate) change: Change,
}

/// The places seen in all documents, so that no two of them are changed alike.
pub(crate) struct Mutations {
    /// The names of all fields of all objects.
    fields: BTreeSet<String>,
    /// Members by the kind of object they stand in, the first value of each.
    members: BTreeMap<String, BTreeMap<String, Value>>,
    /// The first value of each field anywhere.
    keys: BTreeMap<String, Value>,
    /// Kinds of values, with the fields around.
    seen: BTreeSet<(String, String)>,
    /// Changes that have been made.
    done: BTreeSet<String>,
}

impl Mutations {
    /// With the fields of `schema`.
    pub(crate) fn new(schema: &Value) -> Self {
        let objects = schema["$defs"].as_object().unwrap().values().chain([schema]);
        let fields = objects.filter_map(|object| object["properties"].as_object()).flatten();
        Self {
            fields: fields.map(|(name, _)| name.clone()).collect(),
            members: BTreeMap::new(),
            keys: BTreeMap::new(),
            seen: BTreeSet::new(),
            done: BTreeSet::new(),
        }
    }

    /// Learns what may stand where.
    pub(crate) fn learn(&mut self, document: &Value) {
        for place in places(document) {
            if let (Some(Step::Key(key)), Some(parent), false) =
                (place.last(), place.len().checked_sub(1), is_free(&place))
            {
                let value = at(document, &place).unwrap().clone();
                let kind = self.kind(&place[..parent]);
                self.members.entry(kind).or_default().entry(key.clone()).or_insert_with(|| value.clone());
                if self.fields.contains(key) {
                    self.keys.entry(key.clone()).or_insert(value);
                }
            }
        }
    }

    /// All changes of one place in `document` that no document has seen yet.
    pub(crate) fn of(&mut self, document: &Value) -> Vec<Mutant> {
        let mut mutants = Vec::new();
        for place in places(document).into_iter().filter(|place| !is_free(place)) {
            let (kind, around) = (self.kind(&place), siblings(document, &place));
            if !self.seen.insert((kind.clone(), around.join(","))) {
                continue;
            }
            for change in self.changes(document, &place) {
                if self.is_new(&kind, &around, &change) {
                    let mut changed = document.clone();
                    apply(&mut changed, &place, &change);
                    mutants.push(Mutant { document: changed, path: written(&place), change });
                }
            }
        }
        mutants
    }

    /// The end of the place, without indices and names of people's choice: what stands at equal ones is alike.
    fn kind(&self, place: &[Step]) -> String {
        // Enough names to tell the parameters of inputs from those of outputs.
        let end = place.len().saturating_sub(4);
        let names = place[end..].iter().map(|step| match step {
            Step::Key(key) if self.fields.contains(key) => key.as_str(),
            Step::Key(_) | Step::Index(_) => "*",
        });
        names.collect::<Vec<_>>().join("/")
    }

    /// Whether the change has not been made yet; if fields around decide what comes of it, beside one of them.
    fn is_new(&mut self, kind: &str, around: &[String], change: &Change) -> bool {
        let depends = match change {
            Change::Replace(_) => false,
            Change::Remove => true,
            Change::Add(key, _) => self.members.get(kind).is_some_and(|known| known.contains_key(key)),
        };
        let around = if depends { around } else { &[] };
        let beside = around.iter().map(|field| format!("{kind} {change:?} beside {field}"));
        let alone = format!("{kind} {change:?}");
        // Every pair counts as made, not only the first that is new.
        beside.chain([alone]).filter(|made| self.done.insert(made.clone())).count() > 0
    }

    fn changes(&self, document: &Value, place: &[Step]) -> Vec<Change> {
        let value = at(document, place).unwrap();
        let mut changes: Vec<_> = replacements().into_iter().map(Change::Replace).collect();
        if !place.is_empty() {
            changes.push(Change::Remove);
        }
        if let Value::Object(members) = value {
            let here = self.members.get(&self.kind(place)).into_iter().flatten();
            let known = here.chain(&self.keys).filter(|(key, _)| !members.contains_key(*key));
            changes.extend(known.map(|(key, value)| Change::Add(key.clone(), value.clone())));
            changes.push(Change::Add("zzz".to_owned(), json!(1)));
        }
        changes
    }
}

/// Whether the place is deep in what may be anything.
fn is_free(place: &[Step]) -> bool {
    let free = ["value", "default", "config", "items", "enum", "artifacts", "set_iter", "set_ctx", "vars"];
    let around = place.split_last().map_or(place, |(_, around)| around);
    around.iter().any(|step| matches!(step, Step::Key(key) if free.contains(&key.as_str())))
}

/// Values of every type, in and out of every range.
fn replacements() -> Vec<Value> {
    let numbers = [
        json!(0),
        json!(1),
        json!(-1),
        json!(-2),
        json!(2.0),
        json!(1.5),
        json!(-0.4),
        json!(11),
        json!(101),
        json!(1001),
        json!(1_000_001),
        json!(u64::from(u32::MAX) + 1),
        json!(u64::MAX),
        json!(1e300),
    ];
    let texts = [
        "",
        "a",
        "Bad Name",
        "a_b",
        "-a",
        "true",
        "yes",
        "none",
        "0s",
        "1h 30m",
        " 5 ",
        "5 weeks",
        "1.5h",
        "1h 30",
        "64Mi",
        "0Mi",
        "64 megs",
        "a@1",
        "a b",
        "sha256:12",
        "%d",
        "%d %d",
        "* * * * *",
        "@daily",
        "{{ 1 }}",
        "workflow.name",
        "aether/v1",
        "Workflow",
        "CronWorkflow",
        "retry",
        "jump",
        "continue",
        "integer",
        "string",
        "bool",
        "list",
        "exponential",
    ];
    let others = [
        json!(null),
        json!(true),
        json!([]),
        json!([1]),
        json!(["a"]),
        json!({}),
        json!({ "a": 1 }),
        json!("a".repeat(64)),
    ];
    numbers.into_iter().chain(texts.map(Value::from)).chain(others).collect()
}

fn places(value: &Value) -> Vec<Place> {
    let mut found = vec![Place::new()];
    let mut below = |step: &Step, value| {
        found.extend(places(value).into_iter().map(|rest| [vec![step.clone()], rest].concat()));
    };
    match value {
        Value::Array(items) => {
            items.iter().enumerate().for_each(|(index, item)| below(&Step::Index(index), item));
        }
        Value::Object(members) => {
            members.iter().for_each(|(key, member)| below(&Step::Key(key.clone()), member));
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
    found
}

fn at<'a>(value: &'a Value, place: &[Step]) -> Option<&'a Value> {
    place.iter().try_fold(value, |value, step| match step {
        Step::Key(key) => value.get(key),
        Step::Index(index) => value.get(index),
    })
}

fn siblings(document: &Value, place: &[Step]) -> Vec<String> {
    let around =
        if at(document, place).is_some_and(Value::is_object) { place } else { &place[..place.len() - 1] };
    let members = at(document, around).and_then(Value::as_object);
    members.into_iter().flatten().map(|(key, _)| key.clone()).collect()
}

fn apply(document: &mut Value, place: &[Step], change: &Change) {
    let pointer: String = place.iter().map(|step| format!("/{}", escaped(step))).collect();
    match change {
        Change::Replace(value) => *document.pointer_mut(&pointer).unwrap() = value.clone(),
        Change::Add(key, value) => {
            document
                .pointer_mut(&pointer)
                .unwrap()
                .as_object_mut()
                .unwrap()
                .insert(key.clone(), value.clone());
        }
        Change::Remove => {
            let (parent, _) = pointer.rsplit_once('/').unwrap();
            match (document.pointer_mut(parent).unwrap(), place.last().unwrap()) {
                (Value::Array(items), Step::Index(index)) => _ = items.remove(*index),
                (Value::Object(members), Step::Key(key)) => _ = members.remove(key),
                (parent, _) => unreachable!("{parent} has no members"),
            }
        }
    }
}

fn escaped(step: &Step) -> String {
    match step {
        Step::Key(key) => key.replace('~', "~0").replace('/', "~1"),
        Step::Index(index) => index.to_string(),
    }
}

fn written(place: &[Step]) -> String {
    place.iter().map(escaped).collect::<Vec<_>>().join(".")
}
