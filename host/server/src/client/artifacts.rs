//! Artifacts of a server.

use std::borrow::Cow;

use phasm::artifacts::ArtifactView;

use super::{ClientRequest, Remote, RemoteError, segment};

impl Remote {
    /// Stores a file, for a parameter of a run of that namespace.
    ///
    /// # Errors
    /// When the server refuses, or cannot be reached.
    pub async fn put_artifact(
        &self,
        namespace: Option<&str>,
        name: &str,
        content: Vec<u8>,
    ) -> Result<ArtifactView, RemoteError> {
        let mut query = vec![("name", name.to_owned())];
        query.extend(namespace.map(|namespace| ("namespace", namespace.to_owned())));
        let body = Some(("application/octet-stream", content));
        let path = Cow::Borrowed("/v1/artifacts");
        self.ask(ClientRequest { method: "POST", path, query: &query, headers: Vec::new(), body }).await
    }

    /// Returns a part of an artifact of a run: at most `most` bytes from `first` on. The caller compares the whole with the digest.
    ///
    /// # Errors
    /// When the server refuses, or cannot be reached.
    pub async fn artifact_part(
        &self,
        run_id: &str,
        artifact: &str,
        first: u64,
        most: u64,
    ) -> Result<Vec<u8>, RemoteError> {
        let path = Cow::Owned(format!("/v1/runs/{}/artifacts/{}", segment(run_id), segment(artifact)));
        let last = first.saturating_add(most.max(1)) - 1;
        let headers = vec![("range", format!("bytes={first}-{last}"))];
        let asked = ClientRequest { method: "GET", path, query: &[], headers, body: None };
        Ok(self.send(asked).await?.body)
    }
}
