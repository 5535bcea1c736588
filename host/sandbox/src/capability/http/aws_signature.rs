//! Signatures of requests as AWS, and servers with its S3 API, expect them: Signature Version 4.

use std::time::{SystemTime, UNIX_EPOCH};

use hmac::{Hmac, KeyInit as _, Mac as _};
use http::{HeaderMap, HeaderName, HeaderValue, Method, Uri, header};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, percent_encode};
use phasm_engine::time::Timestamp;
use sha2::{Digest as _, Sha256};

use super::{config::AwsSigning, failure::Failure};

const ALGORITHM: &str = "AWS4-HMAC-SHA256";
/// Hash of a body that is not part of the signature: bodies of S3 are streamed.
pub(super) const UNSIGNED: &str = "UNSIGNED-PAYLOAD";
/// Characters that a canonical request escapes.
const ESCAPED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');
/// Headers that are signed besides those whose names begin with `x-amz-`. Proxies may change others.
const SIGNED_HEADERS: [HeaderName; 4] =
    [header::HOST, header::CONTENT_TYPE, header::RANGE, HeaderName::from_static("content-md5")];
/// Service whose paths are escaped once, and whose bodies need no hash.
const S3: &str = "s3";

impl AwsSigning {
    /// Returns whether a body has to be hashed before the request is signed.
    pub(super) fn hashes_body(&self) -> bool {
        &*self.service != S3
    }

    /// Signs a request: sets `x-amz-date`, `x-amz-content-sha256` and `authorization`, whatever stood there.
    pub(super) fn sign(
        &self,
        key: &str,
        method: &Method,
        uri: &Uri,
        headers: &mut HeaderMap,
        payload: &str,
        now: SystemTime,
    ) -> Result<(), Failure> {
        let time = basic_time(now);
        let refused =
            |_| Failure::refused("the request cannot be signed: the key's id is no text of a header");
        let set = |headers: &mut HeaderMap, name: &'static str, value: &str| {
            HeaderValue::from_str(value).map(|value| headers.insert(name, value)).map_err(refused)
        };
        set(headers, "x-amz-date", &time)?;
        set(headers, "x-amz-content-sha256", payload)?;
        let authorization = self.authorization(key, method, uri, headers, payload, &time);
        set(headers, "authorization", &authorization)?;
        if let Some(value) = headers.get_mut(header::AUTHORIZATION) {
            value.set_sensitive(true);
        }
        Ok(())
    }

    fn authorization(
        &self,
        key: &str,
        method: &Method,
        uri: &Uri,
        headers: &HeaderMap,
        payload: &str,
        time: &str,
    ) -> String {
        let Self { access_key_id, region, service } = self;
        let (names, values) = canonical_headers(headers);
        let canonical = format!(
            "{method}\n{}\n{}\n{values}\n{names}\n{payload}",
            self.canonical_path(uri.path()),
            canonical_query(uri.query().unwrap_or_default())
        );
        let date = time.get(..8).unwrap_or_default();
        let scope = format!("{date}/{region}/{service}/aws4_request");
        let text = format!("{ALGORITHM}\n{time}\n{scope}\n{}", hash(canonical.as_bytes()));
        let parts = [date, region, service, "aws4_request", &text];
        let signature = parts
            .iter()
            .fold(format!("AWS4{key}").into_bytes(), |key, part| authenticated(&key, part.as_bytes()));
        format!(
            "{ALGORITHM} Credential={access_key_id}/{scope}, SignedHeaders={names}, Signature={}",
            hexadecimal(&signature)
        )
    }

    /// Returns the path with each segment escaped: once for S3, twice for the others, as their servers take it.
    fn canonical_path(&self, path: &str) -> String {
        let escaped = |segment: &str| {
            let once = escaped(segment);
            if self.hashes_body() { once.replace('%', "%25") } else { once }
        };
        path.split('/').map(escaped).collect::<Vec<_>>().join("/")
    }
}

/// Returns the SHA-256 of a body in hexadecimal digits.
pub(super) fn hash(bytes: &[u8]) -> String {
    hexadecimal(&Sha256::digest(bytes))
}

/// Returns the names that are signed, and a line for each with its values.
fn canonical_headers(headers: &HeaderMap) -> (String, String) {
    let is_signed = |name: &&HeaderName| SIGNED_HEADERS.contains(name) || name.as_str().starts_with("x-amz-");
    let mut names: Vec<_> = headers.keys().filter(is_signed).collect();
    names.sort_by_key(|name| name.as_str());
    let line = |name: &&HeaderName| {
        let values: Vec<_> = headers.get_all(*name).iter().map(|value| trimmed(value.as_bytes())).collect();
        format!("{name}:{}\n", values.join(","))
    };
    let lines = names.iter().map(line).collect();
    let names: Vec<_> = names.into_iter().map(HeaderName::as_str).collect();
    (names.join(";"), lines)
}

/// Returns a value without blanks at its ends, and with one blank in the place of several.
fn trimmed(value: &[u8]) -> String {
    String::from_utf8_lossy(value).split_ascii_whitespace().collect::<Vec<_>>().join(" ")
}

fn canonical_query(query: &str) -> String {
    let pair = |pair: &str| {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        // Servers read a plus sign as a blank.
        let [name, value] = [name, value].map(|part| escaped(&part.replace('+', "%20")));
        (name, value)
    };
    let mut pairs: Vec<_> = query.split('&').filter(|part| !part.is_empty()).map(pair).collect();
    pairs.sort();
    pairs.iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join("&")
}

/// Escapes text that may be escaped already, in another way.
fn escaped(text: &str) -> String {
    let bytes: Vec<u8> = percent_decode_str(text).collect();
    percent_encode(&bytes, ESCAPED).to_string()
}

fn authenticated(key: &[u8], text: &[u8]) -> Vec<u8> {
    // HMAC takes keys of any length.
    let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(key) else { return Vec::new() };
    mac.update(text);
    mac.finalize().into_bytes().to_vec()
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Returns a time as `20150830T123600Z`.
fn basic_time(now: SystemTime) -> String {
    let millis = now.duration_since(UNIX_EPOCH).unwrap_or_default().as_millis();
    let written = Timestamp(i64::try_from(millis).unwrap_or(i64::MAX)).to_rfc3339();
    let mut time: String =
        written.chars().take_while(|c| *c != '.').filter(|c| c.is_ascii_alphanumeric()).collect();
    time.push('Z');
    time
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn signing(region: &str, service: &str) -> AwsSigning {
        AwsSigning { access_key_id: "AKIDEXAMPLE".into(), region: region.into(), service: service.into() }
    }

    fn headers(pairs: &[(&'static str, &'static str)]) -> HeaderMap {
        pairs
            .iter()
            .map(|(name, value)| (HeaderName::from_static(name), HeaderValue::from_static(value)))
            .collect()
    }

    /// R-I149: the example in AWS's documentation of the signature.
    #[test]
    fn a_request_is_signed_as_documented() {
        let headers = headers(&[
            ("host", "iam.amazonaws.com"),
            ("content-type", "application/x-www-form-urlencoded; charset=utf-8"),
            ("x-amz-date", "20150830T123600Z"),
            ("accept", "*/*"),
        ]);
        let signed = signing("us-east-1", "iam").authorization(
            "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY",
            &Method::GET,
            &Uri::from_static("https://iam.amazonaws.com/?Action=ListUsers&Version=2010-05-08"),
            &headers,
            &hash(b""),
            "20150830T123600Z",
        );
        assert_eq!(
            signed,
            "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/iam/aws4_request, \
             SignedHeaders=content-type;host;x-amz-date, \
             Signature=5d672d79c15b13162d9279b0855cfba6789a8edb4c82c400e06b5924a6f2b5d7"
        );
    }

    /// R-I149: the first example in the documentation of S3.
    #[test]
    fn a_request_to_s3_is_signed_as_documented() {
        let key = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY";
        let empty = hash(b"");
        let mut sent = headers(&[
            ("host", "examplebucket.s3.amazonaws.com"),
            ("range", "bytes=0-9"),
            ("x-amz-date", "20130524T000000Z"),
        ]);
        sent.insert("x-amz-content-sha256", HeaderValue::from_str(&empty).unwrap());
        let signed = signing("us-east-1", "s3").authorization(
            key,
            &Method::GET,
            &Uri::from_static("https://examplebucket.s3.amazonaws.com/test.txt"),
            &sent,
            &empty,
            "20130524T000000Z",
        );
        let expected = "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41";
        assert!(signed.ends_with(&format!("Signature={expected}")), "{signed}");
    }

    /// R-I149: what the guest put there is replaced, and the time is the host's.
    #[test]
    fn headers_of_the_guest_are_replaced() {
        let mut sent =
            headers(&[("host", "a.example"), ("authorization", "Bearer phasm-0"), ("x-amz-date", "1")]);
        let now = UNIX_EPOCH + Duration::from_secs(1_440_938_160);
        let uri = Uri::from_static("/b/key");
        signing("r", "s3").sign("k", &Method::PUT, &uri, &mut sent, UNSIGNED, now).ok().unwrap();
        assert_eq!(sent["x-amz-date"], "20150830T123600Z");
        assert_eq!(sent["x-amz-content-sha256"], UNSIGNED);
        let signed = sent["authorization"].to_str().unwrap();
        assert!(signed.contains("SignedHeaders=host;x-amz-content-sha256;x-amz-date, "), "{signed}");
        assert!(sent["authorization"].is_sensitive() && !signed.contains("phasm-0"));
    }

    #[test]
    fn paths_and_queries_are_written_in_one_way() {
        let s3 = signing("r", "s3");
        for (path, once, twice) in [
            ("/a b/c", "/a%20b/c", "/a%2520b/c"),
            ("/a%20b%2fc/(1)", "/a%20b%2Fc/%281%29", "/a%2520b%252Fc/%25281%2529"),
            ("/ü~", "/%C3%BC~", "/%25C3%25BC~"),
        ] {
            assert_eq!(
                (&*s3.canonical_path(path), &*signing("r", "sqs").canonical_path(path)),
                (once, twice)
            );
        }
        for (query, expected) in [
            ("b=2&a=1&a", "a=&a=1&b=2"),
            ("prefix=a/b&x=1+2", "prefix=a%2Fb&x=1%202"),
            ("uploads", "uploads="),
            ("", ""),
        ] {
            assert_eq!(canonical_query(query), expected);
        }
        assert_eq!(trimmed(b"  a   b "), "a b");
    }
}
