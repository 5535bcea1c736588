//! The email itself.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use lettre::{
    Message,
    message::{Mailbox, MultiPart, SinglePart, header},
};
use phasm_sdk::prelude::*;

use crate::Task;

/// A clock before this time, 2000, stands still: the operator has not granted the time.
const GRANTED: Duration = Duration::from_secs(946_684_800);

/// Returns the email, and its identifier.
///
/// # Errors
/// All inputs that do not fit.
pub(crate) fn build(task: &Task, key: &str) -> Result<(Message, String)> {
    let mut problems = Vec::new();
    let mut read = |input: &str, text: &str| match text.parse::<Mailbox>() {
        Ok(mailbox) => Some(mailbox),
        Err(_) => {
            problems.push(format!(
                "input `{input}`: expected an address such as `Ada <ada@example.com>`, got `{text}`"
            ));
            None
        }
    };
    let id = message_id(key);
    let mut builder = Message::builder().message_id(Some(id.clone())).subject(task.subject.as_str());
    if let Some(from) = read("from", &task.from) {
        builder = builder.from(from);
    }
    for to in task.to.iter().filter_map(|to| read("to", to)) {
        builder = builder.to(to);
    }
    for cc in task.cc.iter().filter_map(|cc| read("cc", cc)) {
        builder = builder.cc(cc);
    }
    for bcc in task.bcc.iter().filter_map(|bcc| read("bcc", bcc)) {
        builder = builder.bcc(bcc);
    }
    if let Some(reply_to) = task.reply_to.as_deref().and_then(|reply_to| read("replyTo", reply_to)) {
        builder = builder.reply_to(reply_to);
    }
    if task.to.is_empty() && task.cc.is_empty() && task.bcc.is_empty() {
        problems.push("input `to`: expected at least one recipient".to_owned());
    }
    if task.text.is_none() && task.html.is_none() {
        problems.push("inputs `text` and `html` are missing; expected one of them, or both".to_owned());
    }
    if !problems.is_empty() {
        return Err(mistake(&problems.join("; ")));
    }
    let plain = task.text.clone().map(SinglePart::plain);
    let html = task.html.clone().map(SinglePart::html);
    let built = match (plain, html) {
        (Some(plain), Some(html)) => {
            builder.multipart(MultiPart::alternative().singlepart(plain).singlepart(html))
        }
        (Some(one), None) | (None, Some(one)) => builder.singlepart(one),
        (None, None) => return Err(mistake("inputs `text` and `html` are missing")),
    };
    let mut message = built.map_err(|error| mistake(&format!("the email cannot be written: {error}")))?;
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    if now < GRANTED {
        // The relay adds the date.
        message.headers_mut().remove::<header::Date>();
    }
    Ok((message, id))
}

/// Returns an identifier that is the same for each execution of a dispatch, so that a receiver finds an email that was sent twice.
fn message_id(key: &str) -> String {
    let safe: String =
        key.chars().map(|c| if c.is_ascii_alphanumeric() || c == '-' { c } else { '.' }).collect();
    format!("<{safe}@phasm>")
}

fn mistake(message: &str) -> Outcome {
    Outcome::error(message).kind("input").retryable(false)
}
