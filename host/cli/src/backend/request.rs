//! Asking something of one run of a store, and driving it on.

use phasm::{RecoverError, RequestEnvelope, RequestError, RunRequest, engine::run::Run};

#[cfg(unix)]
use super::live_request;
use super::verdict;
use crate::{
    drive::{ActiveRun, ActiveRuns, Answers, DriveArguments, LineReporter},
    exit::Exit,
    failure::{ContextError, Failure},
    store::local_user::local_user,
    store::{argument::StoreArgument, runs},
    terminal::{screen::Screen, text},
};

/// Has a request to the run that `meant` names recorded, and the run driven on. Nothing is begun before the request has
/// reached it.
///
/// `request` makes it of the run as it was recorded last; `word` is what is said of a request that was carried out.
///
/// # Errors
/// When there is no such run, it has ended, or `request` refuses.
pub(crate) async fn ask(
    meant: &str,
    store: &StoreArgument,
    arguments: &DriveArguments,
    screen: &Screen,
    mut answers: Answers,
    word: &str,
    request: impl FnOnce(&Run) -> Result<RunRequest, Failure>,
) -> Result<ActiveRuns, Failure> {
    let target = arguments.target(&store.path()?);
    let (reader, run_id) = store.find(meant).await?;
    let prepared = store.host_for(&reader, &run_id, arguments, screen).await?;
    let run = runs::replay(&prepared, &run_id, &target).await?;
    runs::check_open(&run)?;
    let request = request(&run)?;
    let responded = if let RunRequest::Resume { task, .. } = &request { Some(task.clone()) } else { None };
    let response = verdict::response_of(&request, &run);
    let envelope = RequestEnvelope { request, by: Some(local_user()) };
    prepared.environment.build_unpinned([&**run.plan()].into_iter()).await;
    prepared.environment.create_dirs()?;
    let watch = prepared.host.watch_new(&run_id).await.map_err(Failure::host)?;
    let asked = prepared.host.ask_run(&run_id, envelope.clone()).await;
    #[cfg(unix)]
    if let Err(RecoverError::Driven { .. }) = &asked {
        let elsewhere = prepared.host.run(&run_id).await.map_err(Failure::host)?;
        let handle = elsewhere.by(envelope.by);
        let said = handle.ask(envelope.request).await;
        let watch = handle.watch(run.seq()).map_err(Failure::host)?;
        let verdict = response.map(|response| response.watched(watch));
        verdict::check(&said, verdict, word).await?;
        let exit = live_request::told(said, &run_id, word, &target, screen)?;
        return Ok(ActiveRuns { prepared, runs: Vec::new(), answers, exit });
    }
    let mut plain = LineReporter::after(&run);
    let (handle, answer) = asked.map_err(|error| runs::unavailable(error, &target))?;
    screen.err(&LineReporter::repeated(&run).concat());
    match answer {
        Ok(true) => {
            if let Some(task) = responded {
                answers.note_response(task);
            }
            let watched = handle.watch(run.seq()).map_err(Failure::host)?;
            match verdict::refusal(response.map(|response| response.watched(watched))).await? {
                Some(why) => {
                    screen.err(&format!("{}\n", verdict::refused(word, &why)));
                    plain = plain.after_refusal();
                }
                None => screen.err(&format!("{word}\n")),
            }
        }
        // The task timed out while no process had the run.
        Ok(false) | Err(RequestError::Ended) => {
            let late = "its time was over when the run was resumed";
            screen.err(&format!("{} not {word}: {late}\n", text::doubtful("warning:")));
        }
        Err(error) => return Err(Failure::host(ContextError::new("the request was not carried out", error))),
    }
    Ok(ActiveRuns { prepared, runs: vec![ActiveRun { handle, watch, plain }], answers, exit: Exit::Done })
}
