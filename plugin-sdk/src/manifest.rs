//! The plugin's manifest as JSON, put together at compile time for the custom section `phasm:manifest`.

use crate::schema::{Schema, Writer};

/// Content of a plugin's manifest.
#[derive(Clone, Copy, Debug)]
pub struct Manifest {
    /// Name, version and description, as in `Cargo.toml`.
    pub package: [&'static str; 3],
    /// Members of the default policies and the wanted grants, each with a comma before it.
    pub defaults: &'static str,
    /// Schema of the inputs, where it is known.
    pub inputs: Option<&'static Schema>,
    /// Schema of the outputs, where it is known.
    pub outputs: Option<&'static Schema>,
}

/// Number of bytes of [`json`].
#[must_use]
pub const fn len(manifest: &Manifest) -> usize {
    write::<0>(manifest).len
}

/// The manifest; `N` is its [`len`].
#[must_use]
pub const fn json<const N: usize>(manifest: &Manifest) -> [u8; N] {
    write(manifest).bytes
}

const fn write<const N: usize>(manifest: &Manifest) -> Writer<N> {
    let [name, version, description] = manifest.package;
    let mut writer = Writer::new();
    writer.byte(b'{');
    writer.key("name");
    writer.string(name);
    writer.key("version");
    writer.string(version);
    writer.key("description");
    writer.string(description);
    writer.raw(manifest.defaults);
    member(&mut writer, "inputs", manifest.inputs);
    member(&mut writer, "outputs", manifest.outputs);
    writer.byte(b'}');
    writer
}

const fn member<const N: usize>(writer: &mut Writer<N>, name: &str, schema: Option<&Schema>) {
    if let Some(schema) = schema {
        writer.key(name);
        writer.schema(schema);
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use serde_json::{Value, json};

    use super::Manifest;

    const fn plain(description: &'static str, defaults: &'static str) -> Manifest {
        Manifest { package: ["greet", "1.2.3", description], defaults, inputs: None, outputs: None }
    }

    #[test]
    fn it_is_json_whatever_the_texts_are() {
        const MANIFEST: Manifest = plain("says \"hi\"\n\tto C:\\ü\u{1f}", "");
        const JSON: [u8; super::len(&MANIFEST)] = super::json(&MANIFEST);
        let manifest: Value = serde_json::from_slice(&JSON).unwrap();
        let [name, version, description] = MANIFEST.package;
        assert_eq!(manifest, json!({ "name": name, "version": version, "description": description }));
    }

    #[test]
    fn default_policies_are_members_of_it() {
        const MANIFEST: Manifest = plain(
            "",
            crate::executor!(@defaults {
                retry: { maxAttempts: -1, delay: "1s", exponentialBackoff: 1.5, expression: "code == 3" },
                maxRuntime: 5000,
                deadline: { timeout: "1h 30m", errorOnTimeout: true },
            }),
        );
        const JSON: [u8; super::len(&MANIFEST)] = super::json(&MANIFEST);
        let manifest: Value = serde_json::from_slice(&JSON).unwrap();
        assert_eq!(
            manifest,
            json!({
                "name": "greet", "version": "1.2.3", "description": "", "maxRuntime": 5000,
                "retry": { "maxAttempts": -1, "delay": "1s", "exponentialBackoff": 1.5, "expression": "code == 3" },
                "deadline": { "timeout": "1h 30m", "errorOnTimeout": true },
            })
        );
    }

    /// R-I33.
    #[test]
    fn wanted_grants_are_a_member_of_it() {
        const DEFAULTS: &str = crate::executor!(@defaults {
            wants: {
                http: ["https://a.example", "GET https://b.example"],
                http_networks: [],
                dirs: [{ guest: "/data", mode: "rw" }, { guest: "/in" }],
                wall_clock: "real",
            },
            maxRuntime: "1m",
        });
        let members: Value = serde_json::from_str(&format!("{{{}}}", &DEFAULTS[1..])).unwrap();
        let wants = json!({
            "http": ["https://a.example", "GET https://b.example"], "http-networks": [],
            "dirs": [{ "guest": "/data", "mode": "rw" }, { "guest": "/in" }], "wall-clock": "real",
        });
        assert_eq!(members, json!({ "wants": wants, "maxRuntime": "1m" }));
    }

    #[test]
    fn one_default_or_none() {
        assert_eq!(crate::executor!(@defaults {}), "");
        assert_eq!(crate::executor!(@defaults { maxInactivity: "30s" }), ",\"maxInactivity\":\"30s\"");
        assert_eq!(crate::executor!(@defaults { retry: { limit: 2, } }), ",\"retry\":{\"limit\":2}");
    }
}
