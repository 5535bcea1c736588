//! The version that a new one is compared with, to decide whether it is held.

use phasm_sandbox::Digest;

use crate::plugins::{
    manifest::Manifest,
    trust::{PluginTrust, SignatureCheck},
};

use super::{Library, LibraryError, PluginVersion, index::Index, other_hand};

/// Version of the same name whose requests a new version may make, too.
pub(super) enum Baseline {
    /// The name is new, or these very bytes were approved under it.
    Free,
    /// An approved version.
    Version(PluginVersion),
    /// There is none to compare with; the reason why.
    Unknown(String),
}

/// Requests of one version that another lacks.
pub(super) struct ExtraRequests {
    pub(super) newest: String,
    /// Requests that it makes.
    pub(super) more: Vec<String>,
    /// The key that did not sign it.
    hand: Option<String>,
}

impl Baseline {
    /// Finds the highest approved version of a name that is no pre-release, else the highest approved one, else the approved one that
    /// was removed last: no operator has agreed to more than that.
    pub(super) fn find(library: &Library, index: &Index, name: &str, digest: &Digest) -> Self {
        let named: Vec<_> = index.all().into_iter().filter(|stored| stored.name == name).collect();
        let approved = || named.iter().filter(|stored| stored.held.is_empty());
        if let Some(stored) = approved().find(|stored| stored.is_offered()).or_else(|| approved().next()) {
            return Self::Version(stored.clone());
        }
        let removed: Vec<_> = index.loose.iter().filter(|loose| loose.name == name).collect();
        let agreed: Vec<_> = removed.iter().rev().filter(|loose| loose.entry.held.is_empty()).collect();
        let digest = digest.to_string();
        if agreed.iter().any(|loose| loose.entry.digest == digest) {
            return Self::Free;
        }
        if let Some(loose) = agreed.first() {
            let there = loose.stored().filter(|stored| library.path(&stored.digest).exists());
            return there.map_or_else(
                || Self::Unknown(format!("{}, which was approved, was removed and deleted", loose.version)),
                Self::Version,
            );
        }
        if named.is_empty() && removed.is_empty() {
            return Self::Free;
        }
        Self::Unknown("no version of it is approved".to_owned())
    }
}

impl ExtraRequests {
    /// Returns what a new version asks for beyond an approved one.
    pub(super) fn of(
        library: &Library,
        newest: &PluginVersion,
        manifest: &Manifest,
        signed: &SignatureCheck,
        trust: &PluginTrust,
    ) -> Result<Self, LibraryError> {
        let (old, old_signed) = library.look(newest, trust)?;
        let hand = other_hand(&newest.version, &old_signed, signed);
        Ok(Self { newest: newest.version.clone(), more: manifest.wants.beyond(&old.wants), hand })
    }

    /// Returns why the one is held.
    pub(super) fn held(&self) -> Vec<String> {
        let asks = |more: &String| format!("it asks for {more}, and {} does not", self.newest);
        self.more.iter().map(asks).chain(self.hand.clone()).collect()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::{super::NewPlugin, *};

    /// The library, and why a version that asks for these variables is held in it.
    struct Shelf(Library);

    impl Shelf {
        fn add(&self, version: &str, env: &[&str]) -> Vec<String> {
            let json = serde_json::json!({ "name": "p", "version": version, "wants": { "env": env } });
            let manifest: Manifest = serde_json::from_value(json).unwrap();
            let bytes: Arc<[u8]> = manifest.embed(b"\0asm\x0d\0\x01\0").unwrap().into();
            let name = "p".to_owned();
            let new = NewPlugin { name, version: None, bytes, signature: None, origin: None, by: None };
            self.0.add(new, &PluginTrust::default(), false).unwrap().stored.held
        }

        fn approve(&self, version: &str) {
            assert!(self.0.approve(&self.0.exactly(&format!("p@{version}")).unwrap(), None).unwrap());
        }

        fn remove(&self, version: &str) {
            self.0.remove(&self.0.exactly(&format!("p@{version}")).unwrap()).unwrap();
        }
    }

    fn asks_beyond(held: &[String], version: &str) -> bool {
        held.iter().any(|why| why.ends_with(&format!("and {version} does not")))
    }

    /// R-I32: only the first version of a new name is used without a look at what it asks for.
    #[test]
    fn whatever_asks_for_more_is_held() {
        let dir = tempfile::tempdir().unwrap();
        let shelf = Shelf(Library::at(dir.path().join("pre")));
        assert!(shelf.add("1.0.0-a.1", &[]).is_empty());
        assert!(asks_beyond(&shelf.add("1.0.0-a.2", &["A"]), "1.0.0-a.1"), "a second pre-release");
        assert!(asks_beyond(&shelf.add("1.0.0", &["A"]), "1.0.0-a.1"), "the first that is none");
        assert!(shelf.add("1.0.1", &[]).is_empty());
        assert!(asks_beyond(&shelf.add("2.0.0-a.1", &["A"]), "1.0.1"));
        shelf.approve("1.0.0-a.2");
        assert!(asks_beyond(&shelf.add("2.0.0-a.2", &["A"]), "1.0.1"), "a release counts first");

        let shelf = Shelf(Library::at(dir.path().join("removed")));
        assert!(shelf.add("1.0.0", &["A"]).is_empty());
        shelf.remove("1.0.0");
        assert!(asks_beyond(&shelf.add("1.1.0", &["A", "B"]), "1.0.0"), "after the only one was removed");
        assert!(shelf.add("1.2.0", &["A"]).is_empty(), "no more than was agreed to");
        shelf.remove("1.2.0");
        shelf.0.prune(&[]).unwrap();
        let held = shelf.add("1.3.0", &[]);
        assert_eq!(held, ["1.2.0, which was approved, was removed and deleted"]);
        shelf.remove("1.3.0");
        assert!(shelf.add("1.2.0", &["A"]).is_empty(), "the bytes that were approved");

        let shelf = Shelf(Library::at(dir.path().join("never")));
        shelf.add("1.0.0-a.1", &[]);
        shelf.add("1.0.0-a.2", &["A"]);
        shelf.remove("1.0.0-a.2");
        shelf.remove("1.0.0-a.1");
        assert!(
            asks_beyond(&shelf.add("1.0.0", &["A"]), "1.0.0-a.1"),
            "what was removed while it was held is none"
        );
    }
}
