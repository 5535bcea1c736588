//! Sends an email by a relay.

mod fault;
mod message;

use lettre::{SmtpTransport, Transport as _, transport::smtp::extension::ClientId};
use phasm_sdk::prelude::*;

inputs! {
    /// An email, and the relay that takes it.
    pub struct Task {
        /// Host of the relay.
        host: String,
        /// Port of the relay.
        port: u16 = 25,
        /// Sender, such as `Ada <ada@example.com>`.
        from: String,
        /// Recipients.
        to: Vec<String>,
        /// Recipients of a copy.
        cc: Vec<String> = Vec::new(),
        /// Recipients whom the others do not see.
        bcc: Vec<String> = Vec::new(),
        /// Address for replies.
        reply_to as "replyTo": Option<String>,
        /// Subject.
        subject: String = String::new(),
        /// Body as text.
        text: Option<String>,
        /// Body as HTML; with `text`, readers choose.
        html: Option<String>,
        /// Name by which this client greets the relay.
        hello: String = "localhost".to_owned(),
    }
}

/// Hands the email to the relay, for all recipients or none.
///
/// # Errors
///
/// Code 2 for an email that the relay refuses for good, 3 for one that it may take later, and for mistakes.
pub fn email(call: Call<Task>) -> Result {
    let (message, id) = message::build(&call.inputs, &call.idempotency_key)?;
    let recipients = message.envelope().to().len();
    let task = call.inputs;
    let relay = SmtpTransport::builder_dangerous(&task.host)
        .port(task.port)
        .hello_name(ClientId::Domain(task.hello))
        // The host bounds the time.
        .timeout(None)
        .build();
    let response = relay.send(&message).map_err(|error| fault::outcome(&error))?;
    let said: Vec<&str> = response.message().collect();
    Ok(Outcome::succeeded()
        .output("messageId", id)
        .output("recipients", recipients)
        .output("response", said.join(" ")))
}

executor!(email, {
    outputs: {
        /// Identifier of the email; the same when this attempt is executed again after a crash.
        message_id as "messageId": String,
        /// Number of recipients.
        recipients: u64,
        /// Words of the relay that took the email.
        response: String,
    },
    examples: [
        {
            name: "names an address that is none",
            inputs: { host: "mail.example.com", from: "ada", to: ["grace@example.com"], text: "hello" },
            code: 3,
            message: "input `from`",
        },
        {
            name: "needs a body",
            inputs: { host: "mail.example.com", from: "ada@example.com", to: ["grace@example.com"] },
            code: 3,
            message: "`text`",
        },
    ],
});

#[cfg(test)]
mod tests;
