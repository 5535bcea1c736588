//! The files that this program carries for Python projects.

/// The package of the SDK: names within the folder that holds it, and what stands there.
pub const SDK: &[(&str, &str)] = carried! {
    "phasm_sdk/__init__.py": "plugin-sdk/python/phasm_sdk/__init__.py",
    "phasm_sdk/call.py": "plugin-sdk/python/phasm_sdk/call.py",
    "phasm_sdk/definition.py": "plugin-sdk/python/phasm_sdk/definition.py",
    "phasm_sdk/execution.py": "plugin-sdk/python/phasm_sdk/execution.py",
    "phasm_sdk/guest.py": "plugin-sdk/python/phasm_sdk/guest.py",
    "phasm_sdk/hints.py": "plugin-sdk/python/phasm_sdk/hints.py",
    "phasm_sdk/host.py": "plugin-sdk/python/phasm_sdk/host.py",
    "phasm_sdk/http.py": "plugin-sdk/python/phasm_sdk/http.py",
    "phasm_sdk/jsontext.py": "plugin-sdk/python/phasm_sdk/jsontext.py",
    "phasm_sdk/outcome.py": "plugin-sdk/python/phasm_sdk/outcome.py",
    "phasm_sdk/py.typed": "plugin-sdk/python/phasm_sdk/py.typed",
    "phasm_sdk/reading.py": "plugin-sdk/python/phasm_sdk/reading.py",
    "phasm_sdk/recorder.py": "plugin-sdk/python/phasm_sdk/recorder.py",
    "phasm_sdk/shapes.py": "plugin-sdk/python/phasm_sdk/shapes.py",
    "phasm_sdk/testing.py": "plugin-sdk/python/phasm_sdk/testing.py",
    "phasm_sdk/wasi_http.py": "plugin-sdk/python/phasm_sdk/wasi_http.py",
};
