//! Runs that another process drives: asking something of them, and following them.

use std::{path::Path, sync::Arc};

use phasm::{
    PendingResponse, RequestEnvelope, RequestError, RequestReply, RunRequest, Watch,
    engine::run::{Run, RunView},
    notify::StoredRunView,
    store::sqlite::wakeup::WakeupClient,
    store::{Answer, Sqlite},
};

use super::verdict;
use crate::{
    command_line::Target,
    exit::Exit,
    failure::{ContextError, Failure},
    problems,
    store::local_user::local_user,
    store::{argument::StoreArgument, reader::StoreReader, runs},
    terminal::screen::Screen,
};

/// Asks something of a run whose store another process holds, which drives it; nothing, if no process does, and the store is
/// free.
///
/// `request` makes it of the run as it was recorded last; `word` is what is said of a request that was carried out.
///
/// # Errors
/// When there is no such run, it has ended, or it refuses.
pub(crate) async fn ask(
    meant: &str,
    store: &StoreArgument,
    as_json: bool,
    screen: &Screen,
    word: &str,
    request: impl FnOnce(&Run) -> Result<RunRequest, Failure>,
) -> Result<Option<Exit>, Failure> {
    let path = store.path()?;
    let Some(ring) = WakeupClient::at(&path).await else { return Ok(None) };
    let target = store.target()?;
    let (reader, run_id) = store.find(meant).await?;
    let run = runs::recorded(&*reader, &run_id).await.map_err(|error| runs::unavailable(error, &target))?;
    runs::check_open(&run)?;
    let request = request(&run)?;
    let response = verdict::response_of(&request, &run);
    let answer = answered(&path, ring, &reader, &run_id, request).await?;
    let reader = reader.shared();
    let verdict_on =
        |response: PendingResponse| response.watched(Watch::of(Arc::clone(&reader), &run_id, response.seq));
    let said = RequestReply::said(&answer);
    verdict::check(&said, response.map(verdict_on), word).await?;
    told(said, &run_id, word, &target, screen)?;
    if as_json {
        let run =
            runs::recorded(&*reader, &run_id).await.map_err(|error| runs::unavailable(error, &target))?;
        let view = RunView::of(&run);
        let _gone = screen.out(&problems::json(screen, &StoredRunView::left(&view, run.is_parked())));
    } else {
        screen.err(&format!("another process runs it; follow it: {}\n", target.command(&["watch", &run_id])));
        runs::tell_standing(&*reader, &run_id, screen).await;
    }
    Ok(Some(Exit::Done))
}

/// Queues a request to a run with the process that has its store, and waits for the answer.
async fn answered(
    path: &Path,
    ring: WakeupClient,
    reader: &StoreReader,
    run_id: &str,
    request: RunRequest,
) -> Result<Answer, Failure> {
    let envelope = RequestEnvelope { request, by: Some(local_user()) };
    let lost = |error| Failure::call(ContextError::new("the request was not left with the run", error));
    let number = Sqlite::post_beside(path, run_id, &envelope.bytes()).map_err(lost)?;
    // If the process is gone meanwhile, the next one that has the run reads the letter.
    drop(ring.deliver(run_id, number).await);
    reader.answer(run_id, number).await.map_err(Failure::host)
}

/// Asks the process that has the store to end a run that it cannot resume. Returns none if no process has the store, else the
/// run's id and whether the reason is recorded.
///
/// # Errors
/// When there is no such run, when it has ended, or when the process can run it.
pub(crate) async fn abandon(
    meant: &str,
    store: &StoreArgument,
    reason: &str,
) -> Result<Option<(String, bool)>, Failure> {
    let path = store.path()?;
    let Some(ring) = WakeupClient::at(&path).await else { return Ok(None) };
    let (reader, run_id) = store.find(meant).await?;
    let request = RunRequest::Abandon { reason: reason.to_owned() };
    let answer = answered(&path, ring, &reader, &run_id, request).await?;
    match RequestReply::said(&answer) {
        Err(RequestError::Ended) => {
            let is_recorded = runs::recorded(&*reader, &run_id).await.is_ok();
            Ok(Some((run_id.to_string(), is_recorded)))
        }
        Err(error) => Err(Failure::call(ContextError::new("the run was not abandoned", error))),
        Ok(_) => Err(Failure::call(
            "the run was not abandoned: the process that holds the store does not know this request; update it",
        )),
    }
}

/// Says what was answered where the run is driven.
///
/// # Errors
/// Unless it was carried out.
pub(crate) fn told(
    said: Result<bool, RequestError>,
    run_id: &str,
    word: &str,
    target: &Target,
    screen: &Screen,
) -> Result<Exit, Failure> {
    match said {
        Ok(true) => {
            screen.err(&format!("{word}\n"));
            Ok(Exit::Done)
        }
        Ok(false) => Err(Failure::call(format!("not {word}: the task continued in the meantime"))),
        Err(RequestError::Ended) => {
            Err(Failure::call(format!("run {run_id} ended before it could be asked")))
        }
        Err(RequestError::Refused(why)) => Err(Failure::call(format!("not {word}; {why}"))),
        Err(RequestError::Unanswered) => Err(Failure::call(format!(
            "the process that runs it has not replied; the request stays queued until the run is resumed: {}",
            target.command(&["recover", run_id])
        ))),
        Err(error) => Err(Failure::host(ContextError::new("the request was not carried out", error))),
    }
}
