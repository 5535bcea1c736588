//! Waits for a person's decision.

mod check;
mod people;
mod schema;
mod settings;

use phasm_sdk::{Map, prelude::*};

use self::settings::{Rejection, Settings};

inputs! {
    /// The question. The response comes with the resumption, as inputs of other names.
    pub struct Ask {
        /// The question to decide.
        message: String = "an approval is wanted".to_owned(),
        /// Background for the decision: any value.
        details: Option<Json>,
        ..answer
    }
}

/// Suspends with what it asks; resumed, it checks who has answered and what, and refuses an answer that does not fit.
///
/// # Errors
///
/// Code 3 for a setting that does not fit, code 2 for a rejection.
pub fn approval(call: Call<Ask>) -> Result {
    let settings = Settings::read(&call.config)?;
    let by = call.resumed_by();
    let Ask { message, details, answer } = call.inputs;
    if call.resumed {
        if let Some(why) = settings.people.refusal(by.as_deref()) {
            return Ok(Outcome::refused(why));
        }
        let answer = object(answer)?;
        let problems = check::problems(&settings.schema, &answer);
        return if problems.is_empty() {
            decided(&settings, answer, by.as_deref())
        } else {
            Ok(Outcome::refused(problems.join("; ")))
        };
    }
    nothing_but_the_question(&answer)?;
    Ok(asking(&settings, &message, details))
}

executor!(approval, {
    outputs: {
        /// The question: `message`, `details` and `schema`, the JSON Schema of the response; `approvers` and `notBy`, if set.
        asked: Json,
        /// Whether it was approved, unless a schema of one's own names other members.
        approved: Option<bool>,
        ..
    },
    settings: ["schema", "rejection", "approvers", "notBy", "message", "details"],
    suspends: true,
    examples: [
        { name: "approves", inputs: { message: "Go?" }, response: { approved: true }, outputs: { approved: true } },
        { name: "rejects", inputs: { message: "Go?" }, response: { approved: false }, code: 2 },
    ],
});

/// Refuses inputs of other names: a response in the workflow itself would pass for a person's.
fn nothing_but_the_question(others: &Inputs) -> Result<()> {
    let names: Vec<_> = others.iter().map(|(name, _)| format!("`{name}`")).collect();
    if names.is_empty() {
        return Ok(());
    }
    let message = format!("expected the inputs `message` and `details` only, got {} too", names.join(", "));
    Err(Outcome::error(message).kind("input").retryable(false))
}

fn asking(settings: &Settings, message: &str, details: Option<Json>) -> Outcome {
    let details: Option<Value> = details.and_then(|details| details.parse().ok());
    let mut asked = json!({ "message": message, "details": details, "schema": settings.schema });
    if let Some(asked) = asked.as_object_mut() {
        settings.people.show(asked);
    }
    Outcome::suspended(message).output("asked", &asked).detail("approval", asked)
}

fn object(answer: Inputs) -> Result<Map<String, Value>> {
    answer.into_iter().map(|(name, value)| Ok((name, value.parse()?))).collect()
}

fn decided(settings: &Settings, mut answer: Map<String, Value>, by: Option<&str>) -> Result {
    let rejected = answer.get("approved") == Some(&Value::Bool(false));
    let outcome = if rejected && settings.rejection == Rejection::Fail {
        Outcome::failed(reason(&answer, by)).kind("rejected").retryable(false)
    } else {
        Outcome::succeeded()
    };
    // A response without a name is the caller's, where the schema has such a text.
    let by = by.filter(|_| settings.schema.pointer("/properties/by/type") == Some(&json!("string")));
    if let Some(by) = by {
        answer.entry("by").or_insert_with(|| by.into());
    }
    Ok(answer.into_iter().fold(outcome, |outcome, (name, value)| outcome.output(name, value)))
}

/// The rejection in words. A caller that is known comes before the name that the answer gives.
fn reason(answer: &Map<String, Value>, by: Option<&str>) -> String {
    let text = |name| answer.get(name).and_then(Value::as_str).filter(|text| !text.is_empty());
    let by = match (by, text("by")) {
        (Some(by), Some(says)) if by != says => format!(" by {by} (as {says})"),
        (Some(by), _) | (None, Some(by)) => format!(" by {by}"),
        (None, None) => String::new(),
    };
    let comment = text("comment").map(|comment| format!(": {comment}")).unwrap_or_default();
    format!("rejected{by}{comment}")
}

#[cfg(test)]
mod tests;
