//! A component as an artifact: what manifest and config say of it.

use std::collections::BTreeMap;

use phasm::{engine::text::brief, plugins::Manifest, sandbox::Digest};
use serde::{Deserialize, Serialize};
use serde_json::json;

pub(super) const MANIFEST: &str = "application/vnd.oci.image.manifest.v1+json";
const CONFIG: &str = "application/vnd.wasm.config.v0+json";
const COMPONENT: &str = "application/wasm";
/// Annotation with the signature, next to the layer it belongs to.
const SIGNATURE: &str = "phasm.signature.minisign";

/// Contents of a plugin to push.
pub(crate) struct Upload {
    pub(crate) bytes: Vec<u8>,
    pub(crate) signature: Option<String>,
    pub(crate) manifest: Manifest,
    pub(crate) imports: Vec<String>,
    pub(crate) exports: Vec<String>,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Artifact {
    schema_version: u32,
    #[serde(default)]
    media_type: String,
    config: Descriptor,
    #[serde(default)]
    layers: Vec<Descriptor>,
    #[serde(default)]
    annotations: BTreeMap<String, String>,
}

/// Where bytes are, and what they are.
#[derive(Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Descriptor {
    media_type: String,
    pub(super) digest: String,
    pub(super) size: u64,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    annotations: BTreeMap<String, String>,
}

impl Artifact {
    pub(super) fn read(text: &[u8]) -> Result<Self, String> {
        serde_json::from_slice(text).map_err(|error| {
            format!("it is not a manifest of an image with one platform: {}", brief(&error.to_string()))
        })
    }

    /// The layer with the component.
    pub(super) fn component(&self) -> Result<&Descriptor, String> {
        match self.layers.as_slice() {
            [layer] if layer.media_type == COMPONENT => match layer.digest.parse::<Digest>() {
                Ok(_) => Ok(layer),
                Err(error) => Err(format!("the digest of its layer: {error}")),
            },
            layers => {
                let types: Vec<_> = layers.iter().take(4).map(|layer| layer.media_type.as_str()).collect();
                Err(format!(
                    "it is not a plugin: expected one layer of the type {COMPONENT}, and not {:?}",
                    brief(&types.join(", "))
                ))
            }
        }
    }

    pub(super) fn signature(&self) -> Option<String> {
        self.layers.first()?.annotations.get(SIGNATURE).cloned()
    }
}

/// The manifest and the config of a component.
pub(super) fn write(pushed: &Upload) -> Result<(Vec<u8>, Vec<u8>), String> {
    let layer = described(COMPONENT, &pushed.bytes);
    let config = json!({
        "architecture": "wasm",
        "os": "wasip2",
        "layerDigests": [layer.digest],
        "component": { "exports": pushed.exports, "imports": pushed.imports, "target": null },
    });
    let config = serde_json::to_vec(&config).map_err(|error| error.to_string())?;
    let annotations = pushed.signature.iter().map(|text| (SIGNATURE.to_owned(), text.clone())).collect();
    let said = &pushed.manifest;
    let about = [
        ("org.opencontainers.image.title", &said.name),
        ("org.opencontainers.image.version", &said.version),
        ("org.opencontainers.image.description", &said.description),
    ];
    let artifact = Artifact {
        schema_version: 2,
        media_type: MANIFEST.to_owned(),
        config: described(CONFIG, &config),
        layers: vec![Descriptor { annotations, ..layer }],
        annotations: about
            .into_iter()
            .filter_map(|(name, text)| Some((name.to_owned(), text.clone()?)))
            .collect(),
    };
    let manifest = serde_json::to_vec(&artifact).map_err(|error| error.to_string())?;
    Ok((manifest, config))
}

fn described(media_type: &str, bytes: &[u8]) -> Descriptor {
    let digest = Digest::of(bytes).to_string();
    Descriptor {
        media_type: media_type.to_owned(),
        digest,
        size: bytes.len() as u64,
        annotations: BTreeMap::new(),
    }
}
