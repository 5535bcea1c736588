//! A list that a server gives page by page.

use phasm_sdk::prelude::*;

use crate::{
    Task,
    answer::Head,
    body::{self, Expect},
    redirect,
    request::Request,
    transport::Answer,
};

inputs! {
    /// How a response leads to the next page.
    pub struct Pages {
        /// Where the list is in the body: names of members with dots between them, such as `data.items`. Without it the body is the list.
        items: Option<String>,
        /// Where the URL of the next page is in the body, likewise. Without it the URL is read from the header `Link`.
        next: Option<String>,
        /// Pages that are read; if there are more, the attempt fails.
        max_pages as "maxPages": u32 = 100,
    }
}

/// Reader of pages, with the elements that were read.
#[derive(Default)]
pub(crate) struct PageReader {
    items: Vec<Value>,
    pages: u32,
    bytes: u64,
}

impl PageReader {
    /// Adds the page that an answer has. Returns the request for the next page, if there is one.
    ///
    /// # Errors
    /// Code 2 for a page without a list, a next page that is not to be asked for, and too many pages or bytes.
    pub(crate) fn add(
        &mut self,
        answer: &mut Answer,
        request: &Request,
        task: &Task,
        pages: &Pages,
    ) -> Result<Option<Request>> {
        let shown = request.shown();
        let limit = task.max_bytes.unwrap_or(body::MAX_BODY_BYTES);
        let room = limit.saturating_sub(self.bytes);
        let bytes = body::read(answer, room).map_err(|error| error.outcome(&shown, None))?;
        self.bytes = self.bytes.saturating_add(bytes.len() as u64);
        self.pages += 1;
        let body = body::value(&answer.head, bytes, Expect::Json).map_err(|why| failed(&shown, &why))?;
        let items = at(&body, pages.items.as_deref()).and_then(Value::as_array);
        let place = pages
            .items
            .as_ref()
            .map_or_else(|| "the body".to_owned(), |path| format!("`{path}` of the body"));
        let items = items.ok_or_else(|| {
            failed(&shown, &format!("{place} is no list; `pages.items` says where the list is"))
        })?;
        self.items.extend(items.iter().cloned());
        let next = match &pages.next {
            Some(path) => at(&body, Some(path)).and_then(Value::as_str).map(str::to_owned),
            None => linked(&answer.head),
        };
        let Some(next) = next.filter(|next| !next.is_empty()) else { return Ok(None) };
        if self.pages >= pages.max_pages {
            let why =
                format!("there are more than {} pages; `pages.maxPages` sets the limit", pages.max_pages);
            return Err(failed(&shown, &why).kind("too_large"));
        }
        redirect::follow(request, &next)
            .map(Some)
            .map_err(|why| failed(&shown, &format!("the next page: {why}")))
    }

    /// Adds the elements of all pages to the outcome of the last one.
    pub(crate) fn outputs(self, outcome: Outcome) -> Outcome {
        outcome.output("items", self.items).output("pages", self.pages).output("size", self.bytes)
    }
}

fn failed(request: &str, why: &str) -> Outcome {
    Outcome::failed(format!("{request}: {why}")).kind("parse").retryable(false)
}

/// Returns the value at a path, if there is one.
fn at<'v>(value: &'v Value, path: Option<&str>) -> Option<&'v Value> {
    path.into_iter().flat_map(|path| path.split('.')).try_fold(value, |value, name| {
        value.as_array().map_or_else(|| value.get(name), |items| items.get(name.parse::<usize>().ok()?))
    })
}

/// Returns the URL that the header `Link` has for the next page.
fn linked(head: &Head) -> Option<String> {
    let mut rest = head.header("link")?;
    loop {
        let (url, after) = rest.split_once('<')?.1.split_once('>')?;
        // The parameters of a link end where the next one begins.
        let end = after.find(",<").or_else(|| after.find(", <")).unwrap_or(after.len());
        let (parameters, others) = after.split_at(end);
        if parameters.split(';').any(is_next) {
            return Some(url.to_owned());
        }
        rest = others;
    }
}

/// Returns whether a parameter is `rel` with the word `next`.
fn is_next(parameter: &str) -> bool {
    let Some((name, value)) = parameter.split_once('=') else { return false };
    let words = value.trim().trim_matches('"').split_ascii_whitespace();
    name.trim().eq_ignore_ascii_case("rel") && words.into_iter().any(|word| word.eq_ignore_ascii_case("next"))
}
