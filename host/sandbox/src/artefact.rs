//! Plugins compiled ahead of time: one file that a host without a compiler can load.
//!
//! ```text
//! phasm artefact 1\n    what this is
//! u32, little endian    length of the next part
//! {…}                   what the file says about itself, in JSON
//! 32 bytes              HMAC-SHA256 of all of it
//! …                     machine code, as wasmtime writes it: it names wasmtime's version, the machine and every setting
//! ```

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use wasmtime::component::Component;

use super::{
    digest::Digest,
    key::Key,
    program::LoadError,
    sealed_code::{self, Purpose, SealError},
};

/// Kind and format version of the file.
const FORMAT: &str = "phasm artefact 1";

/// Information that a plugin compiled ahead of time carries about itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArtefactInfo {
    /// Digest of the component it was made from.
    pub component: Digest,
    /// The component's manifest, as JSON.
    pub manifest: String,
    /// The version of Phasm that made it.
    pub phasm: String,
}

/// Header of the file, in JSON.
#[derive(Serialize, Deserialize)]
struct Header {
    phasm: String,
    component: String,
    manifest: Box<RawValue>,
}

/// An artefact, split into its parts. They are not to be trusted before [`Self::open`].
pub(super) struct Artefact<'a> {
    about: &'a [u8],
    sealed: &'a [u8],
}

impl<'a> Artefact<'a> {
    /// Splits `bytes` into its parts; `None` if they are no artefact.
    pub(super) fn of(bytes: &'a [u8]) -> Option<Self> {
        let rest = bytes.strip_prefix(FORMAT.as_bytes())?.strip_prefix(b"\n")?;
        let (length, rest) = rest.split_first_chunk::<4>()?;
        let length = usize::try_from(u32::from_le_bytes(*length)).ok()?;
        let (about, sealed) = rest.split_at_checked(length)?;
        Some(Self { about, sealed })
    }

    /// Returns the component and the header's information, if the artefact was sealed with `key` and fits this host.
    ///
    /// # Errors
    /// [`LoadError::NoKey`], [`LoadError::Forged`] or [`LoadError::Stale`].
    pub(super) fn open(
        &self,
        engine: &wasmtime::Engine,
        key: Option<&Key>,
    ) -> Result<(Component, ArtefactInfo), LoadError> {
        let key = key.ok_or(LoadError::NoKey)?;
        let opened =
            sealed_code::open(key, engine, &Purpose { kind: FORMAT, about: self.about }, self.sealed);
        match opened {
            Ok(component) => Ok((component, self.info()?)),
            Err(SealError::Foreign) => Err(LoadError::Forged),
            Err(SealError::Unfit(cause)) => Err(LoadError::Stale { phasm: self.info()?.phasm, cause }),
        }
    }

    fn info(&self) -> Result<ArtefactInfo, LoadError> {
        let Header { phasm, component, manifest } =
            serde_json::from_slice(self.about).map_err(|_| LoadError::Forged)?;
        let component = component.parse().map_err(|_| LoadError::Forged)?;
        Ok(ArtefactInfo { component, manifest: manifest.get().to_owned(), phasm })
    }
}

/// Returns the file of a component whose manifest is `manifest`, a JSON value.
///
/// # Errors
/// Fails when the component cannot be serialized.
#[cfg(feature = "compile")]
pub(super) fn write(
    component: &Component,
    digest: &Digest,
    manifest: &str,
    key: &Key,
) -> Result<Vec<u8>, String> {
    let manifest = RawValue::from_string(manifest.to_owned()).map_err(|error| error.to_string())?;
    let phasm = env!("CARGO_PKG_VERSION").to_owned();
    let about = Header { phasm, component: digest.to_string(), manifest };
    let about = serde_json::to_vec(&about).map_err(|error| error.to_string())?;
    let length = u32::try_from(about.len()).map_err(|_| "the manifest is too large".to_owned())?;
    let code = component.serialize().map_err(|error| format!("{error:#}"))?;
    let sealed = sealed_code::seal(key, &Purpose { kind: FORMAT, about: &about }, &code)
        .ok_or("it cannot be sealed")?;
    Ok([FORMAT.as_bytes(), b"\n", &length.to_le_bytes(), &about, &sealed].concat())
}

#[cfg(test)]
#[cfg(feature = "compile")]
mod tests {
    use super::*;

    fn artefact(about: &[u8], key: &Key) -> Vec<u8> {
        let sealed = sealed_code::seal(key, &Purpose { kind: FORMAT, about }, b"\x7fELF").unwrap();
        let length = u32::try_from(about.len()).unwrap().to_le_bytes();
        [FORMAT.as_bytes(), b"\n", &length, about, &sealed].concat()
    }

    fn refusal(bytes: &[u8], key: &Key) -> LoadError {
        let engine = wasmtime::Engine::default();
        Artefact::of(bytes).unwrap().open(&engine, Some(key)).map(drop).unwrap_err()
    }

    #[test]
    fn authentic_code_of_another_wasmtime_names_who_made_it_and_what_to_do() {
        let key = Key::new([7; Key::LENGTH]);
        let digest = Digest::of(b"");
        let about = format!(r#"{{"phasm":"0.0.9","component":"{digest}","manifest":{{}}}}"#);
        let error = refusal(&artefact(about.as_bytes(), &key), &key);
        assert!(matches!(error, LoadError::Stale { .. }), "{error}");
        let says = error.to_string();
        assert!(says.contains("by Phasm 0.0.9") && says.contains("phasm plugin compile"), "{says}");
    }

    #[test]
    fn an_invalid_header_counts_as_forged() {
        let key = Key::new([7; Key::LENGTH]);
        for about in ["", "{}", r#"{"phasm":"1","component":"sha256:00","manifest":{}}"#] {
            assert_eq!(refusal(&artefact(about.as_bytes(), &key), &key), LoadError::Forged, "{about}");
        }
    }

    #[test]
    fn a_truncated_file_is_no_artefact() {
        let whole = artefact(b"{}", &Key::new([7; Key::LENGTH]));
        for end in 0..FORMAT.len() + 7 {
            assert!(Artefact::of(&whole[..end]).is_none(), "{end}");
        }
        let mut endless = whole;
        endless[FORMAT.len() + 1..FORMAT.len() + 5].fill(0xff);
        assert!(Artefact::of(&endless).is_none());
    }
}
