//! The operator's settings for all requests.

use std::{collections::BTreeMap, net::IpAddr, sync::Arc, time::Duration};

use super::HttpPattern;

const KIB: u64 = 1024;
const MIB: u64 = 1024 * KIB;

/// HTTP access of guests. Their grants decide whether they have it.
#[derive(Clone, Debug, Default)]
pub struct HttpConfig {
    /// Limits on one attempt, one plugin and all guests together.
    pub limits: HttpLimits,
    /// Trusted certificates in PEM, in addition to those of the platform.
    pub roots: Vec<Arc<str>>,
    /// Addresses of names that are not looked up in DNS.
    pub hosts: BTreeMap<String, Vec<IpAddr>>,
    /// Secrets that guests know only by placeholders.
    pub secrets: Vec<EgressSecret>,
}

/// Limits on requests. A request that exceeds one fails, and the guest is told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HttpLimits {
    /// Number of requests of an attempt.
    pub requests: u32,
    /// Bytes that an attempt sends, headers included.
    pub sent: u64,
    /// Bytes that an attempt receives, headers included.
    pub received: u64,
    /// Bytes of the headers of one message.
    pub headers: u64,
    /// Time from the start of a request to the end of its response.
    pub time: Duration,
    /// Connections of an attempt at once. One more is refused.
    pub connections: u32,
    /// Connections of all attempts of a plugin at once. One more waits.
    pub plugin_connections: u32,
    /// Connections of all guests at once. One more waits.
    pub all_connections: u32,
}

impl Default for HttpLimits {
    fn default() -> Self {
        Self {
            requests: 100,
            sent: 16 * MIB,
            received: 64 * MIB,
            headers: 64 * KIB,
            time: Duration::from_secs(5 * 60),
            connections: 8,
            plugin_connections: 64,
            all_connections: 256,
        }
    }
}

/// A secret that a guest never holds. The guest has a placeholder; the value replaces it in requests to the secret's
/// destinations.
#[derive(Clone)]
pub struct EgressSecret {
    /// Name of the secret, for people.
    pub name: Arc<str>,
    /// Placeholder that guests have instead.
    pub placeholder: Arc<str>,
    /// Value of the secret.
    pub value: Arc<str>,
    /// Destinations of the secret.
    pub to: Arc<[HttpPattern]>,
    /// Tenant whose attempts may use it; all tenants if none is set.
    pub tenant: Option<Arc<str>>,
    /// Set when the value signs requests to the destinations, and is part of none.
    pub signing: Option<AwsSigning>,
}

/// How a secret key signs requests, by AWS Signature Version 4.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AwsSigning {
    /// Id of the key.
    pub access_key_id: Arc<str>,
    /// Region of the service, such as `eu-central-1`.
    pub region: Arc<str>,
    /// Service in its signatures, such as `s3`.
    pub service: Arc<str>,
}

/// Omits the value.
impl std::fmt::Debug for EgressSecret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("EgressSecret").field("name", &self.name).field("to", &self.to).finish_non_exhaustive()
    }
}

/// A key that signs requests of the host.
#[derive(Clone, PartialEq, Eq)]
pub struct SigningKey {
    /// How it signs.
    pub signing: AwsSigning,
    /// The secret access key.
    pub secret: Arc<str>,
}

/// Omits the secret.
impl std::fmt::Debug for SigningKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SigningKey").field("signing", &self.signing).finish_non_exhaustive()
    }
}
