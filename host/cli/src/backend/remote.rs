//! Requests to a server about runs: submit, resume, cancel, rerun.

mod catalog;

use std::sync::Arc;

use phasm::engine::{
    plan::Draft,
    problem::{Problem, codes},
    tree::Span,
    value::{Map, Value},
};
use phasm_server::client::{Remote, RemoteError};

use super::{Backend, LocalRun, RerunRequest, Response, SubmitOutcome, wait};
use crate::{
    command_line::Target,
    drive::follow,
    exit::Exit,
    failure::Failure,
    input::{
        document::Text,
        files,
        parameters::{self, FileArgument, ParameterArgument},
    },
    problems::{self, Source},
    store::{local_user::local_user, reader::StoreReader, run_id, runs},
    submission::{self, KNOWN_KEY, Submission},
    terminal::screen::Screen,
};

/// Bytes of a file that is sent to a server, which is in memory while it is sent.
const MAX_FILE_BYTES: u64 = 256 << 20;

/// A server, and how its answers are shown.
pub(crate) struct RemoteBackend<'a> {
    pub(crate) remote: Remote,
    /// How its runs are reached.
    pub(crate) target: Target,
    pub(crate) json: bool,
    pub(crate) screen: &'a Screen,
}

impl Backend for RemoteBackend<'_> {
    fn submit(&self, submission: &Submission, key: Option<&str>) -> Result<SubmitOutcome, Failure> {
        wait(async {
            let (text, draft) = submission.for_server(self.screen, self.json)?;
            self.check_no_schedule(&text, &draft)?;
            let mut parameters = submission.parameters_in_file()?;
            let (texts, files) = submission.given();
            let namespace = draft.namespace();
            for FileArgument { name, path } in files {
                let content = files::read(&path, MAX_FILE_BYTES)?;
                let sent =
                    self.remote.put_artifact(namespace.as_deref(), &files::shown_name(&path), content).await;
                let artifact = sent.map_err(Failure::server)?;
                parameters.insert(name, artifact.to_value());
            }
            let parameters = json_of(&Value::from(parameters));
            let texts = ParameterArgument::pairs(&texts)?;
            let sent = self.remote.submit(&text.text, &parameters, &texts, key).await;
            let said = sent.map_err(|error| self.refused(text.source(), error))?;
            Ok(self.outcome(&said))
        })
    }

    fn respond(&self, meant: &str, response: &Response<'_>, _then: LocalRun<'_>) -> Result<Exit, Failure> {
        wait(async {
            let Response { task, payload, command, is_checked } = response;
            let run_id = self.find(meant).await?;
            let run = runs::recorded(&self.remote, &run_id).await;
            let run = run.map_err(|error| runs::unavailable(error, &self.target))?;
            runs::check_open(&run)?;
            let task = runs::waiting_task(&run, *task, *command)?;
            self.screen.err(&runs::question(&run, task));
            if *is_checked {
                runs::check_values(&run, task, payload, *command, &self.target)?;
            }
            let mut payload = payload.clone();
            if *is_checked && !self.remote.has_key() && runs::takes_name(&run, task) {
                // A server without keys knows no callers: this is a name to show, which nothing has checked.
                payload.entry("by".into()).or_insert_with(|| local_user().to_string().into());
            }
            let payload = json_of(&Value::from(payload));
            let said = self.remote.resume(&run_id, &run.task_run_id(task), payload).await;
            let exit = self.told(command.done(), &run_id, said)?;
            if !self.json {
                runs::tell_standing(&self.remote, &run_id, self.screen).await;
            }
            Ok(exit)
        })
    }

    fn cancel(&self, meant: &str, task: Option<&str>, _then: LocalRun<'_>) -> Result<Exit, Failure> {
        wait(async {
            let run_id = self.find(meant).await?;
            let asked = self.remote.cancel(&run_id, task).await;
            self.told("cancelled", &run_id, asked)
        })
    }

    fn rerun(&self, meant: &str, rerun: RerunRequest<'_>, then: LocalRun<'_>) -> Result<Exit, Failure> {
        wait(async {
            let run_id = self.find(meant).await?;
            let parameters = json_of(&Value::from(parameters::over(Map::new(), rerun.parameters)?));
            let said = self
                .remote
                .rerun(&run_id, rerun.from_failed, &parameters, rerun.key)
                .await
                .map_err(|error| self.refused(Source { name: meant, text: "" }, error))?;
            let id = id_of(&said);
            let stays = then.arguments.wait;
            if !(self.json && stays) {
                let page = if self.json { problems::json(self.screen, &said) } else { format!("{id}\n") };
                // The run is submitted, also if stdout is closed.
                let _gone = self.screen.out(&page);
            }
            if said.get("isNew") == Some(&false.into()) {
                self.screen.err(KNOWN_KEY);
            }
            if stays {
                let reader = StoreReader::Server(self.remote.clone());
                return follow::to_end(reader, &id, &self.target, self.json, self.screen).await;
            }
            self.screen.err(&format!("follow it: {}\n", self.target.command(&["watch", &id])));
            Ok(Exit::Done)
        })
    }
}

impl RemoteBackend<'_> {
    async fn find(&self, meant: &str) -> Result<Arc<str>, Failure> {
        run_id::find(&self.remote, meant, &self.target).await
    }

    /// Checks that a file starts when it is submitted, and not by itself.
    ///
    /// # Errors
    /// When it is a schedule.
    fn check_no_schedule(&self, text: &Text, draft: &Draft) -> Result<(), Failure> {
        match draft.cron() {
            Some(cron) => Err(submission::is_no_workflow(&cron.name, text, &self.target)),
            None => Ok(()),
        }
    }

    fn outcome(&self, said: &serde_json::Value) -> SubmitOutcome {
        SubmitOutcome {
            run_id: id_of(said),
            is_new: said.get("isNew") != Some(&false.into()),
            json: problems::json(self.screen, said),
            hint: None,
        }
    }

    /// Shows the problems that a server found in a text, or in the values of a request.
    fn refused(&self, source: Source<'_>, error: RemoteError) -> Failure {
        if let RemoteError::Refused { problems, .. } = &error
            && !problems.is_empty()
        {
            let found: Vec<_> = problems.iter().map(|problem| problem_of(source.text, problem)).collect();
            let found = problems::on_server(&found);
            return problems::refuse(self.screen, source, &found, self.json);
        }
        Failure::server(error)
    }

    fn told(
        &self,
        word: &str,
        run_id: &str,
        asked: Result<serde_json::Value, RemoteError>,
    ) -> Result<Exit, Failure> {
        let view = asked.map_err(Failure::server)?;
        self.screen.err(&format!("{word}\n"));
        if self.json {
            let _gone = self.screen.out(&problems::json(self.screen, &view));
        } else {
            self.screen.err(&format!("follow it: {}\n", self.target.command(&["watch", run_id])));
        }
        Ok(Exit::Done)
    }
}

fn id_of(said: &serde_json::Value) -> Arc<str> {
    said.get("runID").and_then(serde_json::Value::as_str).unwrap_or_default().into()
}

fn json_of(value: &Value) -> serde_json::Value {
    // Values are JSON.
    serde_json::to_value(value).unwrap_or_default()
}

/// A problem as a server tells it, with its place in the text that it was sent.
fn problem_of(text: &str, told: &serde_json::Value) -> Problem {
    let word = |name: &str| told.get(name).and_then(serde_json::Value::as_str).unwrap_or_default();
    let number = |name: &str| told.get(name).and_then(serde_json::Value::as_u64).unwrap_or_default();
    let (line, column) = (number("line"), number("column"));
    let (line, column) = (u32::try_from(line).unwrap_or(0), u32::try_from(column).unwrap_or(0));
    let start = offset(text, line as usize, column as usize);
    let code = codes::all().find(|entry| entry.code == word("code")).map_or("server", |entry| entry.code);
    Problem {
        code,
        path: word("path").to_owned(),
        line,
        column,
        span: Span { line, column, start, end: start },
        value: told
            .get("value")
            .filter(|value| !value.is_null())
            .and_then(|value| Value::from_json(&value.to_string()).ok()),
        message: word("message").to_owned(),
        hint: told.get("hint").and_then(serde_json::Value::as_str).map(ToOwned::to_owned),
    }
}

/// Where a line and a column, both from 1, begin in a text.
fn offset(text: &str, line: usize, column: usize) -> usize {
    let (Some(above), Some(before)) = (line.checked_sub(1), column.checked_sub(1)) else { return 0 };
    let start: usize = text.split_inclusive('\n').take(above).map(str::len).sum();
    let rest = text.get(start..).unwrap_or_default();
    start + rest.chars().take(before).map(char::len_utf8).sum::<usize>()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_found_in_the_text() {
        for (line, column, expected) in [(1, 1, 0), (2, 1, 3), (2, 3, 6), (0, 0, 0), (9, 9, 10)] {
            assert_eq!(offset("a:\nbä: c\n", line, column), expected, "{line}:{column}");
        }
    }

    #[test]
    fn a_problem_is_shown_as_one_of_our_own() {
        let told = serde_json::json!({ "file": "document", "code": "P001", "path": "spec", "line": 1, "column": 2, "value": null,
            "message": "found x", "hint": "say y" });
        let problem = problem_of("abc", &told);
        let Problem { code, path, span, value, hint, .. } = problem;
        assert_eq!(
            (code, path.as_str(), span.start, value, hint.as_deref()),
            ("P001", "spec", 1, None, Some("say y"))
        );
    }
}
