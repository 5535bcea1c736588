//! The macros of the prelude.

/// Makes a function from a [`Call`](crate::Call) to an [`Outcome`](crate::Outcome) this crate's executor.
///
/// Built for wasm32, the crate exports the world `phasm:executor/executor@0.1.0` and carries its name, version and
/// description from `Cargo.toml` in the custom section `phasm:manifest`. Natively nothing is exported, so that the
/// function can be tested with [`testing`](crate::testing). Once per crate.
///
/// Policies behind the function are the defaults of tasks that have none of their own:
///
/// ```
/// # use phasm_sdk::prelude::*;
/// # fn fetch(_: Call) -> Outcome { Outcome::succeeded() }
/// executor!(fetch, {
///     retry: { maxAttempts: 3, delay: "1s", exponentialBackoff: 2, maxDelay: "10s" },
///     maxInactivity: "30s",
///     deadline: { timeout: "1h", errorOnTimeout: true },
/// });
/// ```
///
/// `outputs` before them declares the function's outputs, so that a workflow which reads another output is refused when it is
/// submitted. A field is written as in [`inputs!`](crate::inputs!), without a default: `Option` for an output that may be absent;
/// `..` at the end when there may be others. `inputs` before that names the declared inputs of a function that takes a plain
/// `Call`:
///
/// ```
/// # use phasm_sdk::prelude::*;
/// inputs! { struct Fetch { url: String, .. } }
/// # fn fetch(_: Call) -> Outcome { Outcome::succeeded() }
///
/// executor!(fetch, {
///     inputs: Fetch,
///     outputs: {
///         /// Status of the response.
///         status: u16,
///         content_type as "contentType": Option<String>,
///     },
///     maxRuntime: "1m",
/// });
/// ```
///
/// `wants` lists the grants that the executor needs, as the operator writes them: `http`, `http_networks`, `tcp`, `tcp_networks`, `dirs`, `env` and
/// `wall_clock`. The operator sees the list when adding the plugin; it grants nothing:
///
/// ```
/// # use phasm_sdk::prelude::*;
/// # fn fetch(_: Call) -> Outcome { Outcome::succeeded() }
/// executor!(fetch, {
///     wants: { http: ["GET https://api.example.com/v1/*"], dirs: [{ guest: "/data", mode: "rw" }], env: ["TOKEN"] },
/// });
/// ```
///
/// `suspends: true` says that attempts may suspend, to wait for people: such an executor is refused as a hook, and a run's default
/// timeout does not count its waits.
///
/// `settings: ["rejection"]` lists the settings that the executor reads from `call.config`, next to its inputs: a workflow with another
/// one is refused when it is submitted.
///
/// `codes` lists the codes that the executor returns, each with its meaning; `deterministic: true` says that the same inputs always have
/// the same outcome; `examples` lists calls, each with its `inputs`, the `code` (0 if none is given) and some of the `outputs`, or a part
/// of the `message`. `phasm plugin test` runs them, and `phasm plugin docs` prints them:
///
/// ```
/// # use phasm_sdk::prelude::*;
/// # inputs! { struct Double { number: i64 } }
/// # fn double(call: Call<Double>) -> Outcome { Outcome::succeeded().output("number", call.inputs.number * 2) }
/// executor!(double, {
///     outputs: { number: i64 },
///     codes: [{ code: 3, meaning: "The number is too large." }],
///     deterministic: true,
///     examples: [
///         { name: "doubles a number", inputs: { number: 21 }, outputs: { number: 42 } },
///         { name: "refuses a large one", inputs: { number: 9223372036854775807 }, code: 3 },
///     ],
/// });
/// ```
///
/// The policies are `retry`, `maxRuntime`, `maxInactivity` and `deadline`, each written as in a workflow; the host that loads the plugin
/// checks their values. Texts must be JSON's as well as Rust's. Other fields do not compile:
///
/// ```compile_fail
/// # use phasm_sdk::prelude::*;
/// # fn fetch(_: Call) -> Outcome { Outcome::succeeded() }
/// executor!(fetch, { timeout: "1h" });
/// ```
#[macro_export]
macro_rules! executor {
    ($executor:expr $(,)?) => {
        $crate::executor!($executor, {});
    };
    ($executor:expr, { inputs: $inputs:ty, outputs: { $($outputs:tt)* } $(, $($defaults:tt)*)? } $(,)?) => {
        $crate::executor! {
            @export $executor, {
                defaults: $crate::executor!(@defaults { $($($defaults)*)? }),
                inputs: <$inputs as $crate::FromInputs>::SCHEMA,
                outputs: $crate::executor!(@outputs $($outputs)*),
            }
        }
    };
    ($executor:expr, { inputs: $inputs:ty $(, $($defaults:tt)*)? } $(,)?) => {
        $crate::executor! {
            @export $executor, {
                defaults: $crate::executor!(@defaults { $($($defaults)*)? }),
                inputs: <$inputs as $crate::FromInputs>::SCHEMA,
                outputs: ::core::option::Option::None,
            }
        }
    };
    ($executor:expr, { outputs: { $($outputs:tt)* } $(, $($defaults:tt)*)? } $(,)?) => {
        $crate::executor! {
            @export $executor, {
                defaults: $crate::executor!(@defaults { $($($defaults)*)? }),
                inputs: $crate::guest::inputs_schema($executor),
                outputs: $crate::executor!(@outputs $($outputs)*),
            }
        }
    };
    ($executor:expr, { $($defaults:tt)* } $(,)?) => {
        $crate::executor! {
            @export $executor, {
                defaults: $crate::executor!(@defaults { $($defaults)* }),
                inputs: $crate::guest::inputs_schema($executor),
                outputs: ::core::option::Option::None,
            }
        }
    };
    (@export $executor:expr, { $($manifest:tt)* }) => {
        const _: fn($crate::bindings::Invocation) -> $crate::bindings::Outcome =
            |invocation| $crate::guest::execute($executor, invocation);

        // Natively, too, so that every build finds errors in it.
        const _: $crate::manifest::Manifest = $crate::manifest::Manifest { package: [""; 3], $($manifest)* };

        #[cfg(target_arch = "wasm32")]
        const _: () = {
            struct Component;

            impl $crate::bindings::Guest for Component {
                fn execute(invocation: $crate::bindings::Invocation) -> $crate::bindings::Outcome {
                    $crate::guest::execute($executor, invocation)
                }
            }

            $crate::bindings::export_executor! { Component with_types_in $crate::bindings }

            const MANIFEST: $crate::manifest::Manifest = $crate::manifest::Manifest {
                package: [env!("CARGO_PKG_NAME"), env!("CARGO_PKG_VERSION"), env!("CARGO_PKG_DESCRIPTION")],
                $($manifest)*
            };
            #[used]
            #[unsafe(link_section = "phasm:manifest")]
            static JSON: [u8; $crate::manifest::len(&MANIFEST)] = $crate::manifest::json(&MANIFEST);
        };
    };
    (@outputs ..) => { $crate::executor!(@object true, []) };
    (@outputs $($(#[$($attribute:tt)*])* $field:ident $(as $wire:literal)? : $type:ty),+, .. $(,)?) => {
        $crate::executor!(@object true, [$([[$([$($attribute)*])*] $field $(as $wire)?: $type])+])
    };
    (@outputs $($(#[$($attribute:tt)*])* $field:ident $(as $wire:literal)? : $type:ty),* $(,)?) => {
        $crate::executor!(@object false, [$([[$([$($attribute)*])*] $field $(as $wire)?: $type])*])
    };
    (@object $open:literal, []) => {
        ::core::option::Option::Some(&$crate::schema::Schema::Object { doc: &[], fields: &[], open: $open })
    };
    (@object $open:literal, [$([[$([$($attribute:tt)*])*] $field:ident $(as $wire:literal)?: $type:ty])*]) => {{
        use $crate::schema::probe::*;
        ::core::option::Option::Some(&$crate::schema::Schema::Object {
            doc: &[],
            fields: &[$($crate::schema::Field {
                name: $crate::inputs!(@name $field $($wire)?),
                doc: &[$($crate::inputs!(@doc $($attribute)*)),*],
                schema: __Probe::<$type>::SCHEMA,
                default: ::core::option::Option::None,
            }),*],
            open: $open,
        })
    }};
    (@defaults { $($field:ident : $value:tt),* $(,)? }) => {
        ::core::concat!($(",\"", $crate::executor!(@field $field), "\":", $crate::executor!(@value $value)),*)
    };
    (@field retry) => { "retry" };
    (@field maxRuntime) => { "maxRuntime" };
    (@field maxInactivity) => { "maxInactivity" };
    (@field deadline) => { "deadline" };
    (@field wants) => { "wants" };
    (@field settings) => { "settings" };
    (@field suspends) => { "suspends" };
    (@field codes) => { "codes" };
    (@field deterministic) => { "deterministic" };
    (@field examples) => { "examples" };
    (@value { $first:ident : $value:literal $(, $more:ident : $other:literal)* $(,)? }) => {
        ::core::concat!(
            "{\"", ::core::stringify!($first), "\":", ::core::stringify!($value),
            $(",\"", ::core::stringify!($more), "\":", ::core::stringify!($other),)*
            "}"
        )
    };
    (@value null) => { "null" };
    (@value { }) => { "{}" };
    (@value { $first:ident : $value:tt $(, $more:ident : $other:tt)* $(,)? }) => {
        ::core::concat!(
            "{\"", $crate::executor!(@key $first), "\":", $crate::executor!(@value $value),
            $(",\"", $crate::executor!(@key $more), "\":", $crate::executor!(@value $other),)*
            "}"
        )
    };
    (@value [ ]) => { "[]" };
    (@value [ $first:tt $(, $more:tt)* $(,)? ]) => {
        ::core::concat!("[", $crate::executor!(@value $first), $(",", $crate::executor!(@value $more),)* "]")
    };
    (@key http_networks) => { "http-networks" };
    (@key tcp_networks) => { "tcp-networks" };
    (@key wall_clock) => { "wall-clock" };
    (@key $key:ident) => { ::core::stringify!($key) };
    (@value $value:literal) => { ::core::stringify!($value) };
}

/// Declares typed inputs, and the choices among them.
///
/// ```
/// use phasm_sdk::prelude::*;
///
/// inputs! {
///     /// A request.
///     #[derive(Debug, PartialEq)]
///     pub struct Fetch {
///         /// Required.
///         pub url: String,
///         /// Absent and null are `None`.
///         pub note: Option<String>,
///         /// Has a default, which may use any expression.
///         pub method: Method = Method::Get,
///         /// Has another name in the workflow.
///         pub max_bytes as "maxBytes": u64 = 1 << 20,
///     }
/// }
///
/// inputs! {
///     /// One of a few words.
///     #[derive(Clone, Copy, Debug, PartialEq)]
///     pub enum Method {
///         /// Reads.
///         Get = "GET",
///         /// Writes.
///         Post = "POST",
///     }
/// }
///
/// fn fetch(call: Call<Fetch>) -> Outcome {
///     Outcome::succeeded().output("limit", call.inputs.max_bytes)
/// }
///
/// let outcome = phasm_sdk::testing::call(fetch, json!({ "method": "PUT", "maxBytes": "2" }));
/// assert_eq!(
///     outcome.message,
///     "input `url` is missing; expected a string; \
///      input `method`: expected `GET` or `POST`, got string \"PUT\"; \
///      input `maxBytes`: expected an integer from 0 on, got string \"2\""
/// );
/// ```
///
/// A field is whatever serde can read. One that is absent or null is looked up in `executor.config` before its default
/// counts. An input that no field stands for is named in a warning of the log, unless `..` at the end says that there may
/// be others; `..rest` keeps them in a field of that name, as [`Inputs`](crate::Inputs).
///
/// The declaration is part of the plugin's manifest: names, types, doc comments, and defaults that are plain values, such as
/// `1 << 20`, `"GET".to_owned()` or `Method::Get`. Workflows are checked against it when they are submitted. About a type that
/// has no [`HasSchema`](crate::schema::HasSchema) the manifest says nothing. A struct cannot hold itself, however deep.
#[macro_export]
macro_rules! inputs {
    (
        $(#[$($attribute:tt)*])*
        $vis:vis struct $name:ident {
            $(
                $(#[$($field_attribute:tt)*])*
                $field_vis:vis $field:ident $(as $wire:literal)? : $type:ty $(= $default:expr)?
            ),+
            $(, .. $($rest:ident)?)?
            $(,)?
        }
    ) => {
        $(#[$($attribute)*])*
        $vis struct $name {
            $($(#[$($field_attribute)*])* $field_vis $field: $type,)+
            $($(#[doc = "Every other input."] $vis $rest: $crate::Inputs,)?)?
        }

        impl $name {
            /// The names of the inputs.
            $vis const INPUTS: &'static [&'static str] = &[$($crate::inputs!(@name $field $($wire)?)),+];

            /// Whether there may be inputs of other names.
            const OPEN: bool = !<[bool]>::is_empty(&[$($crate::inputs!(@open $($rest)?))?]);
        }

        impl $crate::FromInputs for $name {
            const SCHEMA: ::core::option::Option<&'static $crate::schema::Schema> = {
                use $crate::schema::probe::*;
                ::core::option::Option::Some(&$crate::schema::Schema::Object {
                    doc: &[$($crate::inputs!(@doc $($attribute)*)),*],
                    fields: &[$($crate::schema::Field {
                        name: $crate::inputs!(@name $field $($wire)?),
                        doc: &[$($crate::inputs!(@doc $($field_attribute)*)),*],
                        schema: __Probe::<$type>::SCHEMA,
                        default: $crate::inputs!(@default $($default)?),
                    }),+],
                    open: Self::OPEN,
                })
            };

            fn from_inputs(
                inputs: $crate::Inputs,
                config: &$crate::Json,
            ) -> ::core::result::Result<Self, $crate::inputs::BadInputs> {
                let mut fields = $crate::inputs::Fields::new(&inputs, config);
                if !Self::OPEN {
                    fields.warn_of_others(Self::INPUTS);
                }
                $(let $field: ::core::option::Option<$type> =
                    $crate::inputs!(@read fields, $crate::inputs!(@name $field $($wire)?) $(, $default)?);)+
                match ($($field,)+) {
                    ($(::core::option::Option::Some($field),)+) => ::core::result::Result::Ok(Self {
                        $($field,)+
                        $($($rest: inputs.without(Self::INPUTS),)?)?
                    }),
                    _ => ::core::result::Result::Err(fields.into_problems()),
                }
            }
        }
    };
    (
        $(#[$attribute:meta])*
        $vis:vis enum $name:ident {
            $($(#[$variant_attribute:meta])* $variant:ident = $word:literal),+ $(,)?
        }
    ) => {
        $(#[$attribute])*
        $vis enum $name {
            $($(#[$variant_attribute])* $variant,)+
        }

        impl<'de> $crate::serde::Deserialize<'de> for $name {
            fn deserialize<D: $crate::serde::Deserializer<'de>>(
                deserializer: D,
            ) -> ::core::result::Result<Self, D::Error> {
                $crate::inputs::choice(deserializer, &[$($word),+], [$(Self::$variant),+])
            }
        }

        impl $crate::schema::HasSchema for $name {
            const SCHEMA: &'static $crate::schema::Schema = &$crate::schema::Schema::Choice {
                words: &[$($word),+],
                variants: &[$(::core::stringify!($variant)),+],
            };
        }
    };
    (@name $field:ident) => { ::core::stringify!($field) };
    (@name $field:ident $wire:literal) => { $wire };
    (@doc doc = $text:expr) => { ::core::option::Option::Some($text) };
    (@doc $($other:tt)*) => { ::core::option::Option::None };
    (@open $($rest:ident)?) => { true };
    (@default) => { ::core::option::Option::None };
    (@default $default:expr) => { ::core::option::Option::Some(::core::stringify!($default)) };
    (@read $fields:ident, $name:expr) => { $fields.required($name) };
    (@read $fields:ident, $name:expr, $default:expr) => { $fields.or_else($name, || $default) };
}

/// Writes a log line of the lowest level; takes what `format!` takes.
#[macro_export]
macro_rules! trace {
    ($($text:tt)+) => { $crate::log($crate::Level::Trace, &::std::format!($($text)+)) };
}

/// Writes a log line that helps to debug the executor; takes what `format!` takes.
#[macro_export]
macro_rules! debug {
    ($($text:tt)+) => { $crate::log($crate::Level::Debug, &::std::format!($($text)+)) };
}

/// Writes a log line for the user who runs the executor; takes what `format!` takes.
#[macro_export]
macro_rules! info {
    ($($text:tt)+) => { $crate::log($crate::Level::Info, &::std::format!($($text)+)) };
}

/// Writes a warning to the log; takes what `format!` takes.
#[macro_export]
macro_rules! warn {
    ($($text:tt)+) => { $crate::log($crate::Level::Warn, &::std::format!($($text)+)) };
}

/// Writes an error to the log; takes what `format!` takes.
#[macro_export]
macro_rules! error {
    ($($text:tt)+) => { $crate::log($crate::Level::Error, &::std::format!($($text)+)) };
}
