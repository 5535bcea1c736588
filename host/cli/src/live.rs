//! Runs that another process drives: asking something of them, and following them.

use phasm::{
    LetterBody, LetterReply, Request, RequestError,
    engine::run::{Run, RunView},
    journal,
    ring::Ring,
    store::Sqlite,
};

use super::{
    exit::Exit,
    failure::{Failure, While},
    hint::Way,
    kept::Kept,
    problems,
    screen::Screen,
    stored::{self, StoreArgument},
};

/// Asks something of a run whose store another process holds, which drives it; nothing, if no process does, and the store is
/// free.
///
/// `request` makes it of the run as it was recorded last; `word` is what is said of a request that was carried out.
///
/// # Errors
/// When there is no such run, it has ended, or it refuses.
pub(super) async fn ask(
    meant: &str,
    (store, as_json, screen): (&StoreArgument, bool, &Screen),
    word: &str,
    request: impl FnOnce(&Run) -> Result<Request, Failure>,
) -> Result<Option<Exit>, Failure> {
    let path = store.path()?;
    let Some(ring) = Ring::at(&path).await else { return Ok(None) };
    let way = store.way()?;
    let (reader, run_id) = store.find(meant).await?;
    let run = recorded(&reader, &run_id).await.map_err(|error| stored::failed(error, &way))?;
    stored::check_open(&run)?;
    let letter = LetterBody::of(&run, request(&run)?);
    let lost = |error| Failure::call(While::new("the request was not left with the run", error));
    let number = Sqlite::post_beside(&path, &run_id, &letter.bytes()).map_err(lost)?;
    // Whoever goes on with the run reads the letter, if the process is gone meanwhile.
    drop(ring.deliver(&run_id, number).await);
    let answer = reader.answer(&run_id, number).await.map_err(Failure::host)?;
    told(LetterReply::said(&answer), &run_id, (word, &way, screen))?;
    if as_json {
        let run = recorded(&reader, &run_id).await.map_err(|error| stored::failed(error, &way))?;
        let _gone = screen.out(&problems::json(screen, &RunView::of(&run)));
    } else {
        screen.err(&format!(
            "another process drives the run; follow it: {}\n",
            way.command(&["watch", &run_id])
        ));
    }
    Ok(Some(Exit::Done))
}

/// Says what was answered where the run is driven.
///
/// # Errors
/// Unless it was carried out.
pub(super) fn told(
    said: Result<bool, RequestError>,
    run_id: &str,
    (word, way, screen): (&str, &Way, &Screen),
) -> Result<Exit, Failure> {
    match said {
        Ok(true) => {
            screen.err(&format!("{word}: true\n"));
            Ok(Exit::Done)
        }
        Ok(false) => Err(Failure::call(format!("{word}: false, as the task went on meanwhile"))),
        Err(RequestError::Ended) => {
            Err(Failure::call(format!("run {run_id} ended before it could be asked")))
        }
        Err(RequestError::Refused(why)) => Err(Failure::call(format!("{word}: false; {why}"))),
        Err(RequestError::Unanswered) => Err(Failure::call(format!(
            "the process that drives the run has not answered; the request is kept, and read by whoever goes on with the run: {}",
            way.command(&["recover", run_id])
        ))),
        Err(error) => Err(Failure::host(While::new("the request was not carried out", error))),
    }
}

async fn recorded(reader: &Kept, run_id: &str) -> Result<Run, phasm::RecoverError> {
    journal::replay(run_id, &reader.load(run_id).await?, |_, _, _, _| {})
}
