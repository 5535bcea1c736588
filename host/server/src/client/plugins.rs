//! Plugins of a server.

use base64::{Engine as _, engine::general_purpose::STANDARD as BASE64};
use phasm::plugins::{AddView, ApprovalView, NewPlugin, PluginRow, PluginView};
use serde::Deserialize;

use super::{ClientRequest, PAGE_RUNS, Remote, RemoteError, post, segment};

#[derive(Deserialize)]
struct WirePlugins {
    plugins: Vec<PluginRow>,
    next: Option<String>,
}

#[derive(Deserialize)]
struct WireVersions {
    versions: Vec<PluginRow>,
}

impl Remote {
    /// Every plugin that exists for the key.
    ///
    /// # Errors
    /// When it refuses, or cannot be reached.
    pub async fn plugins(&self) -> Result<Vec<PluginRow>, RemoteError> {
        let mut found = Vec::new();
        let mut query = vec![("limit", PAGE_RUNS.to_string())];
        loop {
            let page: WirePlugins = self.get("/v1/plugins", &query).await?;
            found.extend(page.plugins);
            let Some(next) = page.next else { return Ok(found) };
            query.truncate(1);
            query.push(("cursor", next));
        }
    }

    /// All versions of one.
    ///
    /// # Errors
    /// When it refuses, or cannot be reached.
    pub async fn plugin_versions(&self, name: &str) -> Result<Vec<PluginRow>, RemoteError> {
        let found: WireVersions = self.get(&format!("/v1/plugins/{}", segment(name)), &[]).await?;
        Ok(found.versions)
    }

    /// Returns the details of a version: an exact one, the highest with that prefix, or one by digest.
    ///
    /// # Errors
    /// When it refuses, or cannot be reached.
    pub async fn plugin(&self, name: &str, version: &str) -> Result<PluginView, RemoteError> {
        self.get(&address(name, version), &[]).await
    }

    /// Adds a version.
    ///
    /// # Errors
    /// When it refuses, or cannot be reached.
    pub async fn add_plugin(&self, new: &NewPlugin) -> Result<AddView, RemoteError> {
        // Without one it is no version of anything, which the server says.
        let path = address(&new.name, new.version.as_deref().unwrap_or("-")).into();
        let signature = new.signature.as_ref().map(|text| ("phasm-signature", BASE64.encode(text)));
        let body = Some(("application/wasm", new.bytes.to_vec()));
        self.ask(ClientRequest {
            method: "PUT",
            path,
            query: &[],
            headers: signature.into_iter().collect(),
            body,
        })
        .await
    }

    /// Approves a version that is on hold.
    ///
    /// # Errors
    /// When it refuses, or cannot be reached.
    pub async fn approve_plugin(&self, name: &str, version: &str) -> Result<ApprovalView, RemoteError> {
        self.ask(post(format!("{}/approve", address(name, version)), None)).await
    }

    /// Removes a version.
    ///
    /// # Errors
    /// When it refuses, or cannot be reached.
    pub async fn remove_plugin(&self, name: &str, version: &str) -> Result<(), RemoteError> {
        let path = address(name, version).into();
        let asked = ClientRequest { method: "DELETE", path, query: &[], headers: Vec::new(), body: None };
        self.ask::<serde_json::Value>(asked).await.map(drop)
    }
}

fn address(name: &str, version: &str) -> String {
    format!("/v1/plugins/{}/{}", segment(name), segment(version))
}
