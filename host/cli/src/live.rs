//! Runs that another process drives: asking something of them, and following them.

use phasm::{
    LetterBody, LetterReply, Request,
    engine::run::{Run, RunView},
    journal,
    ring::Ring,
    store::{Answer, Sqlite, Store, StoreError},
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
    let letter = letter(&run, request(&run)?);
    let lost = |error| Failure::call(While::new("the request was not left with the run", error));
    let number = Sqlite::post_beside(&path, &run_id, &letter.bytes()).map_err(lost)?;
    // Whoever goes on with the run reads the letter, if the process is gone meanwhile.
    drop(ring.deliver(&run_id, number).await);
    told(reader.answer(&run_id, number).await.map_err(Failure::host)?, &run_id, word, &way, screen)?;
    if as_json {
        let run = recorded(&reader, &run_id).await.map_err(|error| stored::failed(error, &way))?;
        let _gone = screen.out(&problems::json(screen, &RunView::of(&run)));
    } else {
        screen.err(&format!(
            "another process drives the run; follow it: {}\n",
            way.command(&["events", &run_id, "-f"])
        ));
    }
    Ok(Some(Exit::Done))
}

/// Asks something of a run that another host of the same store drives, where hosts share one.
///
/// # Errors
/// When the store fails, the run has ended, or it refuses.
pub(super) async fn ask_through(
    store: &dyn Store,
    run: &Run,
    request: Request,
    (word, way, screen): (&str, &Way, &Screen),
) -> Result<Exit, Failure> {
    let (run_id, letter) = (run.id(), letter(run, request));
    let mut changed = store.changed();
    let number = store.post(run_id, letter.bytes()).await.map_err(Failure::call)?;
    // A host that does not answer so long has lost the run, which somebody else will go on with.
    let patience = store.lease_time().unwrap_or_default() * 2;
    let answered = tokio::time::timeout(patience, async {
        loop {
            let answer = store.answer(run_id, number).await?;
            if answer != Answer::Waiting || changed.changed().await.is_err() {
                return Ok::<_, StoreError>(answer);
            }
        }
    });
    let answer = answered.await.map_or(Ok(Answer::Waiting), |answer| answer).map_err(Failure::host)?;
    told(answer, run_id, word, way, screen)
}

/// Says what was answered.
fn told(answer: Answer, run_id: &str, word: &str, way: &Way, screen: &Screen) -> Result<Exit, Failure> {
    let said = match answer {
        Answer::Replied(reply) => LetterReply::read(&reply),
        Answer::Ended => return Err(Failure::call(format!("run {run_id} ended before it could be asked"))),
        Answer::Waiting | Answer::Unknown => None,
    };
    match said {
        Some(LetterReply::Done(true)) => screen.err(&format!("{word}: true\n")),
        Some(LetterReply::Done(false)) => {
            return Err(Failure::call(format!("{word}: false, as the task went on meanwhile")));
        }
        Some(LetterReply::Refused(why)) => return Err(Failure::call(format!("{word}: false; {why}"))),
        None => {
            return Err(Failure::call(format!(
                "the process that drives the run has not answered; the request is kept, and read by whoever goes on with the run: {}",
                way.command(&["recover", run_id])
            )));
        }
    }
    Ok(Exit::Done)
}

async fn recorded(reader: &Kept, run_id: &str) -> Result<Run, phasm::RecoverError> {
    journal::replay(run_id, &reader.load(run_id).await?, |_, _, _, _| {})
}

/// Tasks are named by their ids, so that the run finds the very one.
fn letter(run: &Run, request: Request) -> LetterBody {
    match request {
        Request::Cancel => LetterBody::Cancel,
        Request::Resume(task, payload) => LetterBody::Resume { task: run.task_run_id(task), payload },
        Request::CancelTask(task) => LetterBody::CancelTask { task: run.task_run_id(task) },
    }
}
