//! `--resume`: answers for suspended tasks, each used once, in order.

use std::collections::BTreeSet;

use phasm::{
    engine::{
        number,
        phase::Phase,
        run::Run,
        value::{JsonError, Map, Value},
    },
    reader,
};

/// One `--resume TASK=JSON`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Answer {
    task: String,
    payload: Map,
}

impl Answer {
    /// Returns a response for a task.
    pub(crate) fn of(task: &str, payload: Map) -> Self {
        Self { task: task.to_owned(), payload }
    }
}

/// Reads `TASK=JSON`. Task names hold no `=`.
///
/// # Errors
/// The message that clap shows to the user.
pub(crate) fn answer(text: &str) -> Result<Answer, String> {
    let (task, json) = text
        .split_once('=')
        .filter(|(task, _)| !task.is_empty())
        .ok_or("expected TASK=JSON, such as `approve={\"approved\": true}`")?;
    Ok(Answer { task: task.to_owned(), payload: payload(json)? })
}

/// Reads an object of values by name.
///
/// # Errors
/// The message that clap shows to the user.
pub(crate) fn payload(json: &str) -> Result<Map, String> {
    match Value::from_json(json) {
        Ok(Value::Object(payload)) => match reader::nul::in_values(&payload).first() {
            Some(problem) => Err(format!("{}: {}", problem.path, problem.message)),
            None => Ok(payload.as_ref().clone()),
        },
        Ok(other) => Err(format!("{} as response; expected an object of values by name", other.type_name())),
        Err(JsonError::Syntax(error)) => {
            Err(format!("not JSON: {error}; expected an object such as `{{\"approved\": true}}`"))
        }
        Err(JsonError::Number(complaint)) => Err(format!("{complaint}; {}", number::HINT)),
    }
}

/// A task that waits for an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct PendingAnswer {
    /// The task run.
    pub(super) id: String,
    /// `scope/taskName`.
    pub(super) path: String,
    /// `taskName`.
    pub(super) name: String,
    /// Message of the task.
    pub(super) message: String,
    /// When its clocks end it, as RFC 3339.
    pub(super) until: Option<String>,
    /// Whether its executor has refused the last response to it.
    pub(super) is_refused: bool,
}

impl PendingAnswer {
    /// Every task that waits, in creation order.
    pub(super) fn of(run: &Run) -> Vec<Self> {
        let waiting = run.tasks().iter().filter(|task| task.phase == Phase::Suspended);
        waiting
            .map(|task| Self {
                id: run.task_run_id(task.id),
                path: run.path(task),
                name: run.node(task).name.to_string(),
                message: task.message.to_string(),
                is_refused: task.refusal().is_some(),
                until: task.clocks.absolute().map(phasm::engine::time::Timestamp::to_rfc3339),
            })
            .collect()
    }
}

/// The answers not yet given.
#[derive(Debug, Default)]
pub(crate) struct Answers {
    given: Vec<Answer>,
    /// Ids of the task runs that this process has responded to.
    responded: BTreeSet<String>,
}

impl Answers {
    pub(crate) fn new(answers: &[Answer]) -> Self {
        Self { given: answers.to_vec(), responded: BTreeSet::new() }
    }

    /// Notes that the command itself has responded to a task run.
    pub(crate) fn note_response(&mut self, task: String) {
        self.responded.insert(task);
    }

    /// Whether one of the tasks that wait has refused a response of this process. Responses of others are no matter of its exit status.
    pub(super) fn are_refused(&self, waiting: &[PendingAnswer]) -> bool {
        waiting.iter().any(|task| task.is_refused && self.responded.contains(&task.id))
    }

    /// Takes the first answer that fits a task.
    pub(super) fn take(&mut self, waiting: &PendingAnswer) -> Option<Map> {
        let fits = |answer: &Answer| answer.task == waiting.name || answer.task == waiting.path;
        let at = self.given.iter().position(fits)?;
        self.responded.insert(waiting.id.clone());
        Some(self.given.remove(at).payload)
    }

    /// The tasks that unused answers are for.
    pub(super) fn unused(&self) -> impl Iterator<Item = &str> {
        self.given.iter().map(|answer| answer.task.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn waiting(path: &str) -> PendingAnswer {
        let name = path.rsplit('/').next().unwrap().to_owned();
        PendingAnswer {
            id: path.into(),
            path: path.into(),
            name,
            message: String::new(),
            until: None,
            is_refused: false,
        }
    }

    #[test]
    fn an_answer_is_an_object_for_a_task() {
        assert_eq!(answer("a={\"x\":\"y=z\"}").unwrap().payload.len(), 1);
        for wrong in ["a", "={}", "a=", "a=1", "a=[]", "a={", "a=null"] {
            assert!(answer(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn each_answer_is_given_once_in_order_to_what_it_fits() {
        let texts = ["a={\"n\":1}", "main/b={\"n\":2}", "a={\"n\":3}"];
        let mut answers = Answers::new(&texts.map(|text| answer(text).unwrap()));
        let mut take =
            |path: &str| answers.take(&waiting(path)).map(|payload| payload.get("n").unwrap().to_json());
        assert_eq!(take("other/b"), None);
        assert_eq!(take("main/a").as_deref(), Some("1"));
        assert_eq!(take("main/b").as_deref(), Some("2"));
        assert_eq!(take("main/b"), None);
        assert_eq!(take("a").as_deref(), Some("3"));
        assert_eq!(answers.unused().count(), 0);
        answers.note_response("main/d".into());
        for (path, is_refused, expected) in [
            ("main/a", true, true),
            ("main/d", true, true),
            ("main/a", false, false),
            ("main/c", true, false),
        ] {
            let waiting = PendingAnswer { is_refused, ..waiting(path) };
            assert_eq!(answers.are_refused(&[waiting]), expected, "{path}");
        }
    }
}
