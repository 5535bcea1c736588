//! The files of the SDK that this program carries.

macro_rules! files {
    ($($name:literal),+ $(,)?) => { &[$(($name, include_str!(concat!("../../../../plugin-sdk/c/", $name)))),+] };
}

/// The SDK: names within its folder, and what stands there.
pub const FILES: &[(&str, &str)] = files! {
    "execution.c",
    "executor.c",
    "executor.h",
    "executor_component_type.s",
    "fields.c",
    "guest.c",
    "internal.h",
    "json.c",
    "memory.c",
    "outcome.c",
    "phasm.h",
    "phasm.hpp",
    "phasm_test.h",
    "testing.c",
};

/// The files of the SDK that a component is compiled from.
pub(super) const COMPILED: [&str; 8] = [
    "execution.c",
    "executor.c",
    "executor_component_type.s",
    "fields.c",
    "guest.c",
    "json.c",
    "memory.c",
    "outcome.c",
];

/// The files of the SDK that are compiled for tests.
pub const NATIVE: [&str; 6] = ["execution", "fields", "json", "memory", "outcome", "testing"];
