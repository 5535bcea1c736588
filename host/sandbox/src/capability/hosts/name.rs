//! Hosts, parsed so strictly that the grant, the resolver and the connection all mean the same one.

use std::{
    fmt,
    net::{IpAddr, Ipv4Addr, Ipv6Addr},
};

/// Maximum length of a host name (RFC 1035), and of a label.
const MAX_NAME_BYTES: usize = 253;
const MAX_LABEL_BYTES: usize = 63;

/// A host: a name in lower case, or an address.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
pub(in crate::capability) enum Host {
    Name(String),
    Address(IpAddr),
}

impl Host {
    /// Parses the host of a URL, with IPv6 in brackets.
    ///
    /// # Errors
    /// The reason why the text is ambiguous or invalid.
    pub(in crate::capability) fn read(text: &str) -> Result<Self, &'static str> {
        if let Some(inner) = text.strip_prefix('[') {
            let inner = inner.strip_suffix(']').ok_or("its bracket is not closed")?;
            let address: Ipv6Addr =
                inner.parse().map_err(|_| "the text in brackets is not an IPv6 address")?;
            return Ok(Self::Address(plain(address.into())));
        }
        if let Ok(address) = text.parse::<Ipv4Addr>() {
            return Ok(Self::Address(address.into()));
        }
        let name = text.to_ascii_lowercase();
        check_name(&name)?;
        Ok(Self::Name(name))
    }

    pub(in crate::capability) fn is_localhost(&self) -> bool {
        matches!(self, Self::Name(name) if name == "localhost" || name.ends_with(".localhost"))
    }
}

impl fmt::Display for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name(name) => f.write_str(name),
            Self::Address(IpAddr::V4(address)) => address.fmt(f),
            Self::Address(IpAddr::V6(address)) => write!(f, "[{address}]"),
        }
    }
}

/// Converts an IPv4 address that is written as an IPv6 one.
pub(in crate::capability) fn plain(address: IpAddr) -> IpAddr {
    match address {
        IpAddr::V6(six) => six.to_ipv4_mapped().map_or(address, IpAddr::V4),
        IpAddr::V4(_) => address,
    }
}

pub(in crate::capability) fn check_name(name: &str) -> Result<(), &'static str> {
    if name.is_empty() {
        return Err("it is empty");
    }
    if !name.is_ascii() {
        return Err("it has characters beyond ASCII; write its punycode form, `xn--…`");
    }
    if name.contains('%') {
        return Err("it is percent-encoded");
    }
    if name.ends_with('.') {
        return Err("it ends with a dot; write it without");
    }
    if name.len() > MAX_NAME_BYTES {
        return Err("it is longer than names of hosts are");
    }
    let is_label = |label: &str| {
        !label.is_empty()
            && label.len() <= MAX_LABEL_BYTES
            && label.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_')
            && !label.starts_with('-')
            && !label.ends_with('-')
    };
    if !name.split('.').all(is_label) {
        return Err("it is not a name of a host");
    }
    let last = name.rsplit('.').next().unwrap_or_default();
    if last.bytes().all(|b| b.is_ascii_digit()) || last.starts_with("0x") {
        return Err("it ends with a number and is not an IPv4 address of four decimal numbers");
    }
    Ok(())
}

/// Splits an authority into its host and its port. A colon within brackets belongs to an IPv6 address.
pub(in crate::capability) fn split_port(authority: &str) -> (&str, Option<&str>) {
    match authority.rsplit_once(':') {
        Some((host, port)) if !port.contains(']') => (host, Some(port)),
        _ => (authority, None),
    }
}

/// Parses a port of digits only; the standard library would accept a sign, too.
pub(in crate::capability) fn parse_port(port: &str) -> Option<u16> {
    let digits = port.bytes().all(|b| b.is_ascii_digit());
    if digits { port.parse().ok().filter(|port| *port != 0) } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_is_read_in_one_way_or_not_at_all() {
        let rows = [
            ("API.Example.COM", Ok("api.example.com")),
            ("xn--bcher-kva.example", Ok("xn--bcher-kva.example")),
            ("a_b.example", Ok("a_b.example")),
            ("127.0.0.1", Ok("127.0.0.1")),
            ("[::1]", Ok("[::1]")),
            ("[0:0:0:0:0:0:0:1]", Ok("[::1]")),
            ("[::ffff:127.0.0.1]", Ok("127.0.0.1")),
            ("[::FFFF:7f00:1]", Ok("127.0.0.1")),
            ("", Err("it is empty")),
            ("bücher.example", Err("it has characters beyond ASCII; write its punycode form, `xn--…`")),
            ("ⓔxample.com", Err("it has characters beyond ASCII; write its punycode form, `xn--…`")),
            ("example.com.", Err("it ends with a dot; write it without")),
            ("ex%61mple.com", Err("it is percent-encoded")),
            ("127.1", Err("it ends with a number and is not an IPv4 address of four decimal numbers")),
            ("2130706433", Err("it ends with a number and is not an IPv4 address of four decimal numbers")),
            ("0x7f000001", Err("it ends with a number and is not an IPv4 address of four decimal numbers")),
            ("0177.0.0.1", Err("it ends with a number and is not an IPv4 address of four decimal numbers")),
            ("127.0.0.1.", Err("it ends with a dot; write it without")),
            ("127.0.0.0x1", Err("it ends with a number and is not an IPv4 address of four decimal numbers")),
            ("[::1", Err("its bracket is not closed")),
            ("[fe80::1%25eth0]", Err("the text in brackets is not an IPv6 address")),
            ("[127.0.0.1]", Err("the text in brackets is not an IPv6 address")),
            ("a..b", Err("it is not a name of a host")),
            ("-a.example", Err("it is not a name of a host")),
            ("a b", Err("it is not a name of a host")),
            ("a\\b", Err("it is not a name of a host")),
            ("user@host", Err("it is not a name of a host")),
        ];
        for (text, expected) in rows {
            let read = Host::read(text).map(|place| place.to_string());
            assert_eq!(read.as_deref().map_err(|why| *why), expected, "{text:?}");
        }
        assert!(Host::read(&"a.".repeat(127)).is_err());
        assert!(Host::read(&format!("{}.example", "a".repeat(64))).is_err());
    }
}
