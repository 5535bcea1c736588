//! Content of a request: bytes, files, and several of either.

use std::{
    collections::hash_map::RandomState,
    fs::{self, File},
    hash::{BuildHasher as _, Hasher as _},
    io::{self, Read as _},
};

use phasm_sdk::{artifact::Artifact, files, inputs::Object, prelude::*};

use crate::{Task, request::wrong};

inputs! {
    /// A part of a form (`multipart/form-data`).
    pub struct FormPart {
        /// Name of the field.
        name: String,
        /// The value: a text is sent as it is, anything else as JSON.
        value: Option<Json>,
        /// In place of the value: the path of a file in a granted directory, or an artifact.
        file: Option<Json>,
        /// Name of the file for the server; without it the artifact's name, or the end of the path.
        filename: Option<String>,
        /// Media type of the part.
        content_type as "contentType": Option<String>,
    }
}

/// Bytes that are in memory at once.
pub(crate) const PIECE_BYTES: usize = 64 << 10;

/// Content, and its media type unless a header has another one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Content {
    pub(crate) media: String,
    pieces: Vec<Piece>,
}

/// Bytes, or a file that is read when it is sent.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Piece {
    Bytes(Vec<u8>),
    File { path: String, size: u64 },
}

impl Content {
    /// Returns what the task has to send, if anything.
    ///
    /// # Errors
    /// Code 2 and 3 for files that cannot be read, and for inputs that do not fit.
    pub(crate) fn of(task: &Task) -> Result<Option<Self>> {
        let given = [task.body.is_some(), task.body_file.is_some(), task.form.is_some()];
        if given.into_iter().filter(|given| *given).count() > 1 {
            return Err(wrong("body", "expected one of `body`, `bodyFile` and `form`"));
        }
        if let Some(body) = &task.body {
            return Ok(Some(Self::of_value(body)));
        }
        if let Some(file) = &task.body_file {
            let SentFile { path, media, .. } = SentFile::of(file, "bodyFile")?;
            return Ok(Some(Self { media, pieces: vec![file_piece(path)?] }));
        }
        task.form.as_deref().map(Self::of_form).transpose()
    }

    fn of_value(value: &Json) -> Self {
        let (media, bytes) = text_or_json(value);
        Self { media: media.to_owned(), pieces: vec![Piece::Bytes(bytes)] }
    }

    fn of_form(parts: &[Object<FormPart>]) -> Result<Self> {
        let boundary = boundary();
        let mut pieces = Vec::new();
        for (at, part) in parts.iter().enumerate() {
            let place = format!("form[{at}]");
            let mut head =
                format!("--{boundary}\r\ncontent-disposition: form-data; name=\"{}\"", quoted(&part.name));
            let (media, piece) = match (&part.value, &part.file) {
                (Some(value), None) => {
                    let (media, bytes) = text_or_json(value);
                    (media.to_owned(), Piece::Bytes(bytes))
                }
                (None, Some(file)) => {
                    let SentFile { path, media, name } = SentFile::of(file, &place)?;
                    let name = part.filename.clone().unwrap_or(name);
                    head += &format!("; filename=\"{}\"", quoted(&name));
                    (media, file_piece(path)?)
                }
                _ => return Err(wrong(&place, "expected `value` or `file`")),
            };
            let media = part.content_type.clone().unwrap_or(media);
            if media.contains(['\r', '\n']) {
                return Err(wrong(&place, "expected a media type such as `text/csv` in `contentType`"));
            }
            head += &format!("\r\ncontent-type: {media}\r\n\r\n");
            pieces.extend([Piece::Bytes(head.into_bytes()), piece, Piece::Bytes(b"\r\n".to_vec())]);
        }
        pieces.push(Piece::Bytes(format!("--{boundary}--\r\n").into_bytes()));
        Ok(Self { media: format!("multipart/form-data; boundary={boundary}"), pieces })
    }

    /// Returns the number of bytes.
    pub(crate) fn len(&self) -> u64 {
        let size = |piece: &Piece| match piece {
            Piece::Bytes(bytes) => bytes.len() as u64,
            Piece::File { size, .. } => *size,
        };
        self.pieces.iter().map(size).sum()
    }

    /// Passes all bytes to `send`, in order. A file that has become longer meanwhile is cut, as its length was said before.
    ///
    /// # Errors
    /// The errors of the file system and of `send`.
    #[cfg_attr(
        not(any(test, target_arch = "wasm32")),
        expect(dead_code, reason = "nothing is sent natively")
    )]
    pub(crate) fn for_each(&self, mut send: impl FnMut(&[u8]) -> io::Result<()>) -> io::Result<()> {
        for piece in &self.pieces {
            match piece {
                Piece::Bytes(bytes) => send(bytes)?,
                Piece::File { path, size } => {
                    let mut file = File::open(path)?.take(*size);
                    let mut part = vec![0; PIECE_BYTES];
                    loop {
                        let read = file.read(&mut part)?;
                        if read == 0 {
                            break;
                        }
                        send(part.get(..read).unwrap_or_default())?;
                    }
                }
            }
        }
        Ok(())
    }
}

/// A file to be sent.
struct SentFile {
    path: String,
    media: String,
    name: String,
}

impl SentFile {
    /// Reads a path or an artifact.
    fn of(given: &Json, input: &str) -> Result<Self> {
        const UNKNOWN: &str = "application/octet-stream";
        if let Ok(path) = given.parse::<String>() {
            let name = path.rsplit('/').next().unwrap_or_default().to_owned();
            return Ok(Self { path, media: UNKNOWN.to_owned(), name });
        }
        let artifact = given.parse::<Artifact>();
        let artifact =
            artifact.map_err(|why| wrong(input, &format!("expected a path or an artifact: {why}")))?;
        let media = if artifact.media().is_empty() { UNKNOWN } else { artifact.media() };
        let path = artifact.path().to_string_lossy().into_owned();
        Ok(Self { path, media: media.to_owned(), name: artifact.name().to_owned() })
    }
}

fn file_piece(path: String) -> Result<Piece> {
    let refused = |why: io::Error| files::refused(env!("CARGO_PKG_NAME"), "read", &path, &why);
    let found = fs::metadata(&path).map_err(refused)?;
    if !found.is_file() {
        return Err(Outcome::failed(format!("cannot read `{path}`: it is a directory"))
            .kind("is-a-directory")
            .retryable(false));
    }
    Ok(Piece::File { size: found.len(), path })
}

fn text_or_json(value: &Json) -> (&'static str, Vec<u8>) {
    match value.parse::<String>() {
        Ok(text) => ("text/plain; charset=utf-8", text.into_bytes()),
        Err(_) => ("application/json", value.as_str().as_bytes().to_vec()),
    }
}

/// Returns a line that stands in no content but by a chance of one in 2^128.
fn boundary() -> String {
    let random = || RandomState::new().build_hasher().finish();
    format!("phasm-{:016x}{:016x}", random(), random())
}

/// Returns a text between quotes as browsers write it.
fn quoted(text: &str) -> String {
    text.replace('"', "%22").replace('\r', "%0D").replace('\n', "%0A")
}
