use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::*;
use crate::{
    Call, FromInputs, Inputs, Json, Outcome,
    duration::Millis,
    executor,
    guest::inputs_schema,
    inputs,
    inputs::Object,
    testing::{HostCall, Test},
};

/// The schema as JSON.
macro_rules! written {
    ($schema:expr) => {{
        const fn write<const N: usize>() -> Writer<N> {
            let mut writer = Writer::new();
            writer.schema($schema);
            writer
        }
        const LEN: usize = write::<0>().len;
        serde_json::from_slice::<Value>(&write::<LEN>().bytes).unwrap()
    }};
}

/// The schema of an input of this type and default, without its name.
macro_rules! input {
    ($type:ty $(= $default:expr)?) => {{
        inputs! { #[expect(dead_code, reason = "only its schema matters")] struct One { one: $type $(= $default)? } }
        let mut schema = written!(One::SCHEMA.unwrap());
        let required = schema["required"] == json!(["one"]);
        (required, schema["properties"]["one"].take())
    }};
}

#[test]
fn types_have_their_bounds() {
    let rows = [
        (input!(String), json!({ "type": "string" })),
        (input!(bool), json!({ "type": "boolean" })),
        (input!(f64), json!({ "type": "number" })),
        (input!(u8), json!({ "type": "integer", "minimum": 0, "maximum": 255 })),
        (input!(i16), json!({ "type": "integer", "minimum": -32768, "maximum": 32767 })),
        (input!(u32), json!({ "type": "integer", "minimum": 0, "maximum": 4_294_967_295_u32 })),
        (input!(u64), json!({ "type": "integer", "minimum": 0 })),
        (input!(i64), json!({ "type": "integer" })),
        (input!(Millis), json!({ "type": ["string", "integer"], "minimum": 0, "format": "phasm-duration" })),
        (input!(Vec<String>), json!({ "type": "array", "items": { "type": "string" } })),
        (
            input!(BTreeMap<String, bool>),
            json!({ "type": "object", "additionalProperties": { "type": "boolean" } }),
        ),
        (input!(Vec<Json>), json!({ "type": "array", "items": {} })),
        (input!(Object<Inputs>), json!({ "type": "object", "additionalProperties": {} })),
        (input!(Method), json!({ "type": "string", "enum": ["GET", "POST"] })),
    ];
    for ((required, schema), expected) in rows {
        assert_eq!(schema, expected);
        assert!(required, "{expected}");
    }
}

inputs! {
    #[derive(Clone, Copy)]
    enum Method { Get = "GET", Post = "POST" }
}

#[test]
fn optional_values_may_be_null() {
    let rows = [
        (input!(Option<bool>), json!({ "type": ["boolean", "null"] })),
        (input!(Option<Method>), json!({ "type": ["string", "null"], "enum": ["GET", "POST", null] })),
        (input!(Json), json!({})),
        (input!(Value), json!({})),
        (input!((u8, u8)), json!({})),
        (input!(Vec<(u8, u8)>), json!({})),
    ];
    for ((required, schema), expected) in rows {
        assert_eq!(schema, expected);
        assert!(!required, "{expected}");
    }
}

#[test]
fn plain_defaults_are_in_the_schema() {
    let rows = [
        (input!(usize = 1), json!(1)),
        (input!(u64 = 4 << 20), json!(4_194_304)),
        (input!(usize = 10_000), json!(10_000)),
        (input!(i32 = -7), json!(-7)),
        (input!(f64 = 0.5), json!(0.5)),
        (input!(bool = true), json!(true)),
        (input!(String = ",".to_owned()), json!(",")),
        (input!(String = String::new()), json!("")),
        (input!(Method = Method::Post), json!("POST")),
        (input!(Option<u8> = Some(1)), Value::Null),
        (input!(Vec<u8> = Vec::new()), json!([])),
        (input!(Object<Inputs> = Object::default()), json!({})),
        // Values that are not plain, or that JSON writes differently.
        (input!(u64 = u64::MAX), Value::Null),
        (input!(u64 = 0x10), Value::Null),
        (input!(u64 = 1 << 63), json!(1_u64 << 63)),
        (input!(f64 = 1.), Value::Null),
        (input!(String = "\t".to_owned()), Value::Null),
        (input!(String = "a".repeat(3)), Value::Null),
        (input!(Millis = Millis::default()), Value::Null),
    ];
    for (at, ((required, schema), expected)) in rows.into_iter().enumerate() {
        assert_eq!(schema.get("default").unwrap_or(&Value::Null), &expected, "{at}");
        assert!(!required, "{at}");
    }
}

inputs! {
    /// A request.
    ///
    /// And how.
    #[derive(Debug)]
    struct Fetch {
        /// Where it is: "there".
        #[expect(dead_code, reason = "only its schema matters")]
        url: String,
        #[expect(dead_code, reason = "only its schema matters")]
        max_bytes as "maxBytes": u32 = 1 << 20,
        /// On the way.
        #[expect(dead_code, reason = "only its schema matters")]
        proxy: Option<Object<Proxy>>,
        #[expect(dead_code, reason = "only its schema matters")]
        direct: Object<Proxy>,
    }
}

inputs! {
    /// A proxy.
    #[derive(Debug)]
    struct Proxy {
        #[expect(dead_code, reason = "only its schema matters")]
        host: String,
        ..others
    }
}

/// R-I5.
#[test]
fn objects_have_doc_comments_names_and_members() {
    let proxy = |r#type: Value, description: &str| {
        json!({
            "type": r#type, "description": description, "properties": { "host": { "type": "string" } },
            "required": ["host"], "additionalProperties": true,
        })
    };
    assert_eq!(
        written!(Fetch::SCHEMA.unwrap()),
        json!({
            "type": "object",
            "description": "A request.\n\nAnd how.",
            "properties": {
                "url": { "type": "string", "description": "Where it is: \"there\"." },
                "maxBytes": { "type": ["integer", "null"], "minimum": 0, "maximum": u32::MAX, "default": 1 << 20 },
                "proxy": proxy(json!(["object", "null"]), "On the way."),
                "direct": proxy(json!("object"), "A proxy."),
            },
            "required": ["url", "direct"],
            "additionalProperties": false,
        })
    );
}

#[test]
fn others_are_kept_where_there_may_be_some() {
    let ran = Test::new().inputs(json!({ "host": "h", "port": 1, "user": null })).run(|call: Call<Proxy>| {
        Outcome { outputs: call.inputs.others.into_iter().collect(), ..Outcome::succeeded() }
    });
    assert_eq!(ran.outcome, Outcome::succeeded().output("port", 1).output("user", Value::Null));
    assert_eq!(ran.host, Vec::<HostCall>::new());
}

#[test]
fn outputs_have_the_same_schema_as_inputs() {
    const OUTPUTS: Option<&Schema> = executor!(@outputs
        /// Status of the response.
        status: u16,
        content_type as "contentType": Option<String>,
    );
    assert_eq!(
        written!(OUTPUTS.unwrap()),
        json!({
            "type": "object",
            "properties": {
                "status": { "type": "integer", "minimum": 0, "maximum": 65535, "description": "Status of the response." },
                "contentType": { "type": ["string", "null"] },
            },
            "required": ["status"],
            "additionalProperties": false,
        })
    );
    const OPEN: Option<&Schema> = executor!(@outputs status: u16, ..);
    assert_eq!(written!(OPEN.unwrap())["additionalProperties"], json!(true));
    const ANY: Option<&Schema> = executor!(@outputs ..);
    assert_eq!(written!(ANY.unwrap())["properties"], json!({}));
}

#[test]
fn the_type_of_a_function_has_its_inputs() {
    fn typed(_: Call<Proxy>) -> Outcome {
        Outcome::succeeded()
    }
    fn untyped(_: Call) -> Outcome {
        Outcome::succeeded()
    }
    assert!(inputs_schema(typed).is_some());
    assert!(inputs_schema(untyped).is_none());
}
