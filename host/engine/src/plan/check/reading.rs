//! Whether one path that an expression reads means something where it stands.

use crate::{
    document::ReadAt,
    form::{listed, listed_if_few},
    names::{self, DeclarationSite, Shape, TASK, Visibility, instead_of_member, instead_of_root},
    plan::{resolve::index::Index, schema},
    problem::codes::{
        Entry,
        expressions::{
            HYPHEN, NOT_UPSTREAM, NOT_VISIBLE, UNDECLARED_INPUT, UNDECLARED_OUTPUT, UNKNOWN_MEMBER,
            UNKNOWN_SIBLING,
        },
    },
    suggest::did_you_mean,
};

use super::visible::{InvisibleTask, OutputNames, Visible};

/// Hint for a word that resembles no known name.
const PUT_IN_QUOTES: &str = "put text in quotes";

/// The fault of a path.
struct PathFault {
    entry: &'static Entry,
    /// How many segments of the path mean something.
    known: usize,
    message: String,
    hint: Option<String>,
}

/// Reports what `found` reads and cannot see.
pub(super) fn check(index: &Index<'_>, scope: &Visible<'_>, found: &ReadAt<'_>) {
    if index.report.is_full() {
        return;
    }
    let path: Vec<&str> = if scope.doc.dialect.short_forms {
        found.read.path.iter().map(|segment| &**segment).collect()
    } else {
        found.read.written().collect()
    };
    if let Some(miss) = resolve(index, scope, &path).err() {
        let miss = hyphen(index, scope, &path, miss.known).unwrap_or(miss);
        let site = found.site();
        let raw = site.path.raw_spelling();
        let raw = raw.map(|raw| format!("; if the braces are meant for the executor, write {raw}"));
        let otherwise = || format!("{PUT_IN_QUOTES}{}", raw.unwrap_or_default());
        let hint = miss.hint.or_else(|| (miss.known == 0).then(otherwise));
        index.report.problem(site.problem(miss.entry, miss.message).with_hint_if(hint));
    }
}

fn resolve(index: &Index<'_>, scope: &Visible<'_>, path: &[&str]) -> Result<(), PathFault> {
    let Some((root, rest)) = path.split_first() else { return Ok(()) };
    let variable = || index.variables.contains(*root).then_some(Shape::Any);
    let Some(mut shape) = scope.root(root).or_else(variable) else {
        return Err(invisible(index, scope, path));
    };
    let mut outputs = OutputNames::Any;
    for (position, segment) in rest.iter().enumerate() {
        let known = position + 1;
        shape = match shape {
            Shape::Any | Shape::Text | Shape::Integer | Shape::Phase | Shape::Words(_) => return Ok(()),
            Shape::Object(members) => member(path, known, members, segment)?,
            Shape::Open(members) => {
                members.iter().find(|(name, _)| name == segment).map_or(Shape::Any, |(_, shape)| *shape)
            }
            Shape::Declared(DeclarationSite::Workflow) => argument(index, scope, known, segment)?,
            Shape::Declared(DeclarationSite::Inputs) => input(index, scope, known, segment)?,
            Shape::Declared(DeclarationSite::MaybeWorkflow | DeclarationSite::MaybeContainer) => Shape::Any,
            Shape::Outputs => {
                let task = path.get(1).copied().unwrap_or_default();
                let undeclared =
                    |(message, hint)| PathFault { entry: &UNDECLARED_OUTPUT, known, message, hint };
                output(index, &outputs, task, segment).map_err(undeclared)?;
                Shape::Any
            }
            Shape::Tasks => {
                outputs = scope
                    .task(index, segment)
                    .map_err(|unseen| unseen_task(index, unseen, known, segment))?;
                TASK
            }
        };
    }
    Ok(())
}

fn member(
    path: &[&str],
    known: usize,
    members: &[(&'static str, Shape)],
    segment: &str,
) -> Result<Shape, PathFault> {
    if let Some((_, shape)) = members.iter().find(|(name, _)| *name == segment) {
        return Ok(*shape);
    }
    let names: Vec<_> = members.iter().map(|(name, _)| *name).collect();
    let owner = path.get(..known).unwrap_or_default().join(".");
    let message = format!("`{owner}` has no `{segment}`; expected {}", listed(&names));
    let hint = match names.as_slice() {
        ["parameters"] if did_you_mean(segment, ["parameters"]).is_none() => {
            Some(format!("write `{owner}.parameters.{segment}`"))
        }
        _ => instead_of_member(segment, &names),
    };
    Err(PathFault { entry: &UNKNOWN_MEMBER, known, message, hint })
}

fn argument(index: &Index<'_>, scope: &Visible<'_>, known: usize, name: &str) -> Result<Shape, PathFault> {
    let declared = &scope.doc.spec.arguments;
    if !declared.sound || declared.find(name).is_some() {
        return Ok(Shape::Any);
    }
    let expected = listed_if_few(declared.names(), "a declared one");
    let message =
        format!("parameter `{name}` is not declared in {}; expected {expected}", scope.doc.spec.declares());
    Err(PathFault {
        entry: &UNDECLARED_INPUT,
        known,
        message,
        hint: index.report.did_you_mean(name, declared.names()),
    })
}

fn input(index: &Index<'_>, scope: &Visible<'_>, known: usize, name: &str) -> Result<Shape, PathFault> {
    if scope.has_input(name) {
        return Ok(Shape::Any);
    }
    let expected = listed_if_few(scope.input_names(), "a declared input");
    let message = format!("input `{name}` is not declared here; expected {expected}");
    let hint = index.report.did_you_mean(name, scope.input_names()).or_else(|| {
        let global = scope.doc.spec.arguments.find(name)?;
        Some(format!("the workflow's parameter is `workflow.parameters.{}`", global.name.value))
    });
    Err(PathFault { entry: &UNDECLARED_INPUT, known, message, hint })
}

/// Checks that a task called `task` can have the output `name`; otherwise returns the message and perhaps a hint.
pub(super) fn output(
    index: &Index<'_>,
    outputs: &OutputNames<'_>,
    task: &str,
    name: &str,
) -> Result<(), (String, Option<String>)> {
    match outputs {
        OutputNames::Any => Ok(()),
        OutputNames::Declared(declared) if declared.find(name).is_some() => Ok(()),
        OutputNames::Declared(declared) => {
            let names: Vec<_> = declared.names().collect();
            let message = format!("task `{task}` declares no output `{name}`; expected {}", listed(&names));
            Err((message, index.report.did_you_mean(name, names)))
        }
        OutputNames::Returned(schema) if schema::property(schema, name).is_some() => Ok(()),
        OutputNames::Returned(schema) => {
            let names = schema::properties(schema);
            let message = format!("task `{task}` returns no output `{name}`; expected {}", listed(&names));
            Err((message, index.report.did_you_mean(name, names)))
        }
        OutputNames::None => {
            let message = format!(
                "task `{task}` is a dag that declares no outputs; expected `{name}` among its outputs"
            );
            let hint = "a dag passes only outputs that it declares, each with valueFrom";
            Err((message, Some(hint.to_owned())))
        }
    }
}

fn unseen_task(index: &Index<'_>, unseen: InvisibleTask, known: usize, name: &str) -> PathFault {
    let (entry, message, hint): (&'static Entry, _, _) = match unseen {
        InvisibleTask::Unknown(names, asks) => {
            let visible = match asks {
                Some(own) => format!("a task that `{own}` depends on"),
                None => listed_if_few(names.iter().map(String::as_str), "a task that can be seen here"),
            };
            let message = format!("unknown task `{name}`; expected {visible}");
            (&UNKNOWN_SIBLING, message, index.report.did_you_mean(name, names.iter().map(String::as_str)))
        }
        InvisibleTask::NotUpstream(own) => {
            let message =
                format!("task `{name}` is not upstream of `{own}`; expected a task that `{own}` depends on");
            (&NOT_UPSTREAM, message, Some(format!("add `{name}` to the dependencies of `{own}`")))
        }
        InvisibleTask::Itself => {
            let message = format!("task `{name}` has no result yet; expected a task that it depends on");
            let hint = "a task sees itself in retry, policy, phaseConditions, hooks and outputs only";
            (&NOT_UPSTREAM, message, Some(hint.to_owned()))
        }
        InvisibleTask::Dropped => {
            let message =
                format!("task `{name}` is not reachable from the entrypoints; expected one that is");
            (&NOT_UPSTREAM, message, Some(format!("add `{name}` to entrypoints")))
        }
        InvisibleTask::NoTasks => {
            (&NOT_VISIBLE, "no tasks can be seen here; expected no `tasks`".to_owned(), None)
        }
    };
    PathFault { entry, known, message, hint }
}

fn invisible(index: &Index<'_>, scope: &Visible<'_>, path: &[&str]) -> PathFault {
    let root = path.first().copied().unwrap_or_default();
    let mut names: Vec<&str> = scope.visible_roots().collect();
    names.extend(index.variables.iter().map(|name| &**name));
    let message = match listed_if_few(scope.labels(), "a label of this pipeline") {
        labels if scope.labels().next().is_some() => {
            format!("`{root}` cannot be seen here; expected {}, or the label {labels}", listed(&names))
        }
        _ => format!("`{root}` cannot be seen here; expected {}", listed(&names)),
    };
    PathFault { entry: &NOT_VISIBLE, known: 0, message, hint: hint_for(index, scope, path, &names) }
}

fn hint_for(index: &Index<'_>, scope: &Visible<'_>, path: &[&str], visible: &[&str]) -> Option<String> {
    let root = path.first()?;
    let via = scope
        .via
        .map(|site| format!("; this template is also called from {}", site.path))
        .unwrap_or_default();
    let known = match names::find(root) {
        Some(root) if (root.visible)(Visibility { iteration: true, ..Visibility::default() }) => {
            format!("{}{via}", root.hint)
        }
        Some(root) => root.hint.to_owned(),
        None => return elsewhere(index, scope, path, visible),
    };
    Some(known)
}

/// Returns the text to write instead of a word with which no expression can begin.
fn elsewhere(index: &Index<'_>, scope: &Visible<'_>, path: &[&str], visible: &[&str]) -> Option<String> {
    let (root, behind) = path.split_first()?;
    let input = scope.has_declared_input(root).then(|| format!("write `inputs.parameters.{root}`"));
    let parameter = || {
        let declared = scope.doc.spec.arguments.find(root)?;
        Some(format!("write `workflow.parameters.{}`", declared.name.value))
    };
    input
        .or_else(|| of_task(index, scope, root, behind))
        .or_else(|| of_task(index, scope, behind.first()?, behind.get(1..)?).filter(|_| *root == "steps"))
        .or_else(parameter)
        .or_else(|| instead_of_root(root))
        .or_else(|| did_you_mean(root, visible.iter().copied()))
        .or_else(|| index.report.did_you_mean(root, scope.labels()))
}

/// How to read what stands behind the name of a task that there is.
fn of_task(index: &Index<'_>, scope: &Visible<'_>, task: &str, behind: &[&str]) -> Option<String> {
    let missing = match scope.task(index, task) {
        Ok(_) if scope.has_certain_task(task) => String::new(),
        Err(InvisibleTask::NotUpstream(own)) => format!(", and add `{task}` to the dependencies of `{own}`"),
        Ok(_)
        | Err(
            InvisibleTask::Unknown(..)
            | InvisibleTask::Itself
            | InvisibleTask::Dropped
            | InvisibleTask::NoTasks,
        ) => return None,
    };
    let output = behind.strip_prefix(&["outputs"]).unwrap_or(behind);
    let output = output.strip_prefix(&["parameters"]).unwrap_or(output);
    let is_member =
        |name: &&str| matches!(TASK, Shape::Object(members) if members.iter().any(|(own, _)| own == name));
    let written = match behind.first() {
        Some(member) if *member != "outputs" && is_member(member) => behind.to_vec(),
        Some(_) => ["outputs", "parameters"].iter().chain(output).copied().collect(),
        None => Vec::new(),
    };
    let path: Vec<&str> = ["tasks", task].into_iter().chain(written).collect();
    Some(format!("write `{}`{missing}", path.join(".")))
}

impl Visible<'_> {
    fn has_declared_input(&self, name: &str) -> bool {
        self.input_names().any(|declared| declared == name)
    }
}

/// A path that would mean something if a hyphen in its unknown segment were a minus.
fn hyphen(index: &Index<'_>, scope: &Visible<'_>, path: &[&str], known: usize) -> Option<PathFault> {
    let segment = path.get(known)?;
    segment.match_indices('-').find_map(|(at, _)| {
        let (head, tail) = (segment.get(..at)?, segment.get(at + 1..)?);
        let mut shorter = path.get(..known)?.to_vec();
        shorter.push(head);
        resolve(index, scope, &shorter).ok()?;
        let head = shorter.join(".");
        let message = format!("`{segment}` is one name, and it means nothing here; expected `{head}`");
        let hint = Some(format!("for a minus write `{head} - {tail}`, with spaces"));
        Some(PathFault { entry: &HYPHEN, known, message, hint })
    })
}
