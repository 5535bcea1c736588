//! Controls: inputs that tell echo how to answer.

use phasm_sdk::{
    Map,
    duration::Millis,
    inputs::Object,
    prelude::*,
    serde::{Deserialize, Deserializer, de::DeserializeOwned, de::Error},
};

use crate::lines::Lines;

/// Keys of Aether's own echo without a meaning here.
const IGNORED: [&str; 2] = ["auto-resume-after", "__resumed"];

/// Whether an input of this name is a control and never comes back.
pub(crate) fn is_control(name: &str) -> bool {
    Controls::INPUTS.contains(&name) || IGNORED.contains(&name)
}

inputs! {
    pub(crate) struct Controls {
        /// Returned too, each with `name`, `type` and `value`.
        pub(crate) outputs: Lenient<Vec<Object<Declaration>>> = Lenient(Vec::new()),
        /// Attempt n answers with the n-th entry, of `code`, `message`, `outputs` and `detail`; the last one repeats.
        pub(crate) returns: Lenient<Vec<Object<Response>>> = Lenient(Vec::new()),
        /// Number of first attempts that return code 2.
        pub(crate) fail_count as "fail-count": Option<Lenient<u32>>,
        /// Another name of `fail-count`.
        pub(crate) fail_count_camel as "failCount": Option<Lenient<u32>>,
        /// Code 1, unless the attempt is resumed.
        pub(crate) suspend: Lenient<bool> = Lenient(false),
        /// The code.
        pub(crate) code: Lenient<i32> = Lenient(0),
        /// The message.
        pub(crate) message: Option<String>,
        /// Detail of the outcome, read by policy rules.
        pub(crate) detail: Lenient<Map<String, Value>> = Lenient(Map::new()),
        /// Waits first.
        pub(crate) sleep: Millis = Millis::default(),
        /// Traps.
        pub(crate) trap: Lenient<bool> = Lenient(false),
        /// Computes without end.
        pub(crate) spin: Lenient<bool> = Lenient(false),
        /// Mebibytes to take and hold.
        pub(crate) allocate: Lenient<u32> = Lenient(0),
        /// Number of lines to write to the log, or the lines themselves.
        pub(crate) log: Lines = Lines::default(),
        ..
    }
}

inputs! {
    /// One entry of `outputs`.
    pub(crate) struct Declaration {
        pub(crate) name: String,
        pub(crate) r#type as "type": String = "any".to_owned(),
        pub(crate) value: Option<Json>,
    }
}

inputs! {
    /// One entry of `returns`: what an attempt answers.
    pub(crate) struct Response {
        pub(crate) code: Lenient<i32> = Lenient(0),
        pub(crate) message: String = String::new(),
        pub(crate) outputs: Object<Inputs> = Object::default(),
        pub(crate) detail: Map<String, Value> = Map::new(),
    }
}

/// A value, or a text that holds it as JSON: parameters written for other engines are often texts.
#[derive(Default)]
pub(crate) struct Lenient<T>(pub(crate) T);

impl<'de, T: DeserializeOwned> Deserialize<'de> for Lenient<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        let json = Json::deserialize(deserializer)?;
        let within_text = || Json::from_text(json.parse::<String>().ok()?).parse().ok();
        json.parse().or_else(|why| within_text().ok_or(why)).map(Self).map_err(D::Error::custom)
    }
}
