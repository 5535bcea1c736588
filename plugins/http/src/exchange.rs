//! A request, the redirects it meets, and the answer.

use phasm_sdk::{artifact::NewArtifact, prelude::*};

use crate::{Task, answer::Head, body, pages::PageReader, redirect, request::Request, transport};

pub(crate) fn exchange(mut request: Request, task: &Task, unique: &str) -> Result {
    let mut redirects = 0;
    let mut reader = PageReader::default();
    loop {
        let mut answer = transport::send(&request).map_err(|fault| fault.outcome(&request.shown()))?;
        match redirect::next(&request, &answer.head) {
            Some(Ok(next)) if redirects < task.max_redirects => {
                redirects += 1;
                debug!("{}: {}, on to {}", request.shown(), answer.head.status, next.shown());
                request = next;
            }
            Some(Err(why)) => return Err(unfollowed(&answer.head, &request, &why)),
            _ => {
                let outcome =
                    answer.head.outcome(&request.shown(), &task.accept).output("url", request.url.shown());
                let Some(pages) = task.pages.as_ref().filter(|_| outcome.code == ExecCode::Succeeded) else {
                    return conclude(outcome, &mut answer, &request, task, unique);
                };
                match reader.add(&mut answer, &request, task, pages)? {
                    Some(next) => (request, redirects) = (next, 0),
                    None => return Ok(reader.outputs(outcome)),
                }
            }
        }
    }
}

fn unfollowed(head: &Head, request: &Request, why: &str) -> Outcome {
    head.outcome(&request.shown(), &[]).message(format!("{}: {why}", request.shown()))
}

/// Adds the body of the last response to its outcome, or stores it in the file that the task names.
fn conclude(
    outcome: Outcome,
    answer: &mut transport::Answer,
    request: &Request,
    task: &Task,
    unique: &str,
) -> Result {
    let shown = request.shown();
    let head = answer.head.clone();
    if outcome.code != ExecCode::Succeeded {
        let bytes = body::beginning(
            answer,
            task.max_bytes.unwrap_or(body::MAX_ERROR_BODY_BYTES).min(body::MAX_ERROR_BODY_BYTES),
        );
        return Ok(body::add(outcome, &head, bytes, body::Expect::Auto, &shown));
    }
    if let Some(path) = &task.save_to {
        let size = body::save(answer, path, task.max_bytes.unwrap_or(u64::MAX), unique)
            .map_err(|error| error.outcome(&shown, Some(path)))?;
        let outcome = outcome.output("path", path).output("size", size);
        let media = head.header("content-type").unwrap_or("application/octet-stream").to_owned();
        return Ok(match NewArtifact::at(path) {
            Some(artifact) => outcome.output("artifact", artifact.media(media)),
            None => outcome,
        });
    }
    let limit = task.max_bytes.unwrap_or(body::MAX_BODY_BYTES);
    let bytes = body::read(answer, limit).map_err(|error| error.outcome(&shown, None))?;
    // An empty body, such as that of a HEAD request, has no format to check.
    let expect = if bytes.is_empty() { body::Expect::Auto } else { task.expect };
    Ok(body::add(outcome, &head, bytes, expect, &shown))
}
