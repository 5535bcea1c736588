//! The files that this program carries for projects in JavaScript and TypeScript.

/// The package of the SDK: names within its folder, and what stands there.
pub const SDK: &[(&str, &str)] = carried! {
    "console.js": "plugin-sdk/js/console.js",
    "hooks.js": "plugin-sdk/js/hooks.js",
    "host-double.js": "plugin-sdk/js/host-double.js",
    "http-double.js": "plugin-sdk/js/http-double.js",
    "http-errors.js": "plugin-sdk/js/http-errors.js",
    "http.d.ts": "plugin-sdk/js/http.d.ts",
    "http.js": "plugin-sdk/js/http.js",
    "index.d.ts": "plugin-sdk/js/index.d.ts",
    "index.js": "plugin-sdk/js/index.js",
    "manifest.js": "plugin-sdk/js/manifest.js",
    "outcome.js": "plugin-sdk/js/outcome.js",
    "package.json": "plugin-sdk/js/package.json",
    "register.js": "plugin-sdk/js/register.js",
    "testing.d.ts": "plugin-sdk/js/testing.d.ts",
    "testing.js": "plugin-sdk/js/testing.js",
    "types.js": "plugin-sdk/js/types.js",
    "utf8.js": "plugin-sdk/js/utf8.js",
    "wasi-http.js": "plugin-sdk/js/wasi-http.js",
};

/// Imports a bundle in Node.js, and writes its manifest and its lines.
pub(super) const DESCRIBE: &str = include_str!("describe.mjs");
