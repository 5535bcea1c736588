//! The files of the SDK that this program carries.

/// The module of the SDK: names within its folder, and what stands there.
pub const SDK: &[(&str, &str)] = carried! {
    "artifact.go": "plugin-sdk/go/artifact.go",
    "call.go": "plugin-sdk/go/call.go",
    "execution.go": "plugin-sdk/go/execution.go",
    "executor.go": "plugin-sdk/go/executor.go",
    "go.mod": "plugin-sdk/go/go.mod",
    "guest_wasip1.go": "plugin-sdk/go/guest_wasip1.go",
    "outcome.go": "plugin-sdk/go/outcome.go",
    "read.go": "plugin-sdk/go/read.go",
    "shape.go": "plugin-sdk/go/shape.go",
    "testing.go": "plugin-sdk/go/testing.go",
    "write.go": "plugin-sdk/go/write.go",
};
