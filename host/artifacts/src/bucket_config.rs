//! Where a bucket is, and how it is used.

use std::sync::Arc;

use phasm_engine::form::Words;
use phasm_sandbox::{HttpConfig, SigningKey};

/// A bucket for artifacts, on AWS or on a server with the API of S3.
#[derive(Clone, Debug)]
pub struct BucketConfig {
    /// URL of the service, such as `https://s3.eu-central-1.amazonaws.com`.
    pub endpoint: Arc<str>,
    /// Name of the bucket.
    pub name: Arc<str>,
    /// How URLs name the bucket.
    pub addressing: Addressing,
    /// Beginning of all keys, without a slash at its end; may be empty.
    pub prefix: Arc<str>,
    /// Key that signs requests.
    pub key: SigningKey,
    /// Bytes of content that are kept in files of the host.
    pub cache_bytes: u64,
    /// Trusted certificates, and addresses of names.
    pub http: HttpConfig,
}

/// How URLs name a bucket.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Addressing {
    /// The first part of the path names it.
    #[default]
    Path,
    /// The first part of the host name names it.
    Host,
}

impl Words for Addressing {
    const WORDS: &'static [(&'static str, Self)] = &[("path", Self::Path), ("host", Self::Host)];
}
