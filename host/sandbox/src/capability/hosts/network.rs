//! Networks, and the addresses that are internal or special.

use std::{
    fmt,
    net::{IpAddr, Ipv4Addr, Ipv6Addr},
    str::FromStr,
};

use super::name::plain;

/// A range of addresses, such as `10.1.0.0/16`; one address without the number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
pub struct Network {
    address: IpAddr,
    /// Number of bits of the network.
    bits: u8,
}

/// A text that names no network.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected an address such as `10.0.0.7` or `fd00::7`, or a network such as `10.0.0.0/8`")]
pub struct NotANetwork;

impl Network {
    /// Returns whether `other` is a part of it.
    #[must_use]
    pub fn covers(&self, other: &Self) -> bool {
        self.bits <= other.bits && self.contains(other.address)
    }

    /// Returns whether it contains `address`. An IPv4 address that is written as an IPv6 one counts as IPv4.
    #[must_use]
    pub fn contains(&self, address: IpAddr) -> bool {
        match (self.address, plain(address)) {
            (IpAddr::V4(own), IpAddr::V4(other)) => {
                is_same(own.to_bits().into(), other.to_bits().into(), 32, self.bits)
            }
            (IpAddr::V6(own), IpAddr::V6(other)) => is_same(own.to_bits(), other.to_bits(), 128, self.bits),
            (IpAddr::V4(_), IpAddr::V6(_)) | (IpAddr::V6(_), IpAddr::V4(_)) => false,
        }
    }
}

fn is_same(own: u128, other: u128, width: u8, bits: u8) -> bool {
    let rest = u32::from(width.saturating_sub(bits));
    own.checked_shr(rest).unwrap_or(0) == other.checked_shr(rest).unwrap_or(0)
}

impl From<IpAddr> for Network {
    fn from(address: IpAddr) -> Self {
        let address = plain(address);
        Self { address, bits: if address.is_ipv4() { 32 } else { 128 } }
    }
}

impl FromStr for Network {
    type Err = NotANetwork;

    fn from_str(text: &str) -> Result<Self, NotANetwork> {
        let (address, bits) =
            text.split_once('/').map_or((text, None), |(address, bits)| (address, Some(bits)));
        let written: IpAddr = address.parse().map_err(|_| NotANetwork)?;
        let whole = Self::from(written);
        match bits {
            None => Ok(whole),
            // A mapped address has another number of bits than written.
            Some(_) if whole.address != written => Err(NotANetwork),
            Some(bits) => match bits.parse() {
                Ok(bits) if bits <= whole.bits => Ok(Self { bits, ..whole }),
                _ => Err(NotANetwork),
            },
        }
    }
}

impl fmt::Display for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let whole = if self.address.is_ipv4() { 32 } else { 128 };
        if self.bits == whole { self.address.fmt(f) } else { write!(f, "{}/{}", self.address, self.bits) }
    }
}

/// Returns the kind of a special address, for people; `None` for an address that any guest may reach.
pub(in crate::capability) fn special(address: IpAddr) -> Option<&'static str> {
    match plain(address) {
        IpAddr::V4(four) => special_4(four),
        IpAddr::V6(six) => special_6(six),
    }
}

/// The registry of special IPv4 addresses (RFC 6890 and its successors).
fn special_4(address: Ipv4Addr) -> Option<&'static str> {
    const RANGES: [(&str, u8, &str); 16] = [
        ("0.0.0.0", 8, "an address of this host"),
        ("10.0.0.0", 8, "a private address"),
        ("100.64.0.0", 10, "a shared address of providers"),
        ("127.0.0.0", 8, "a loopback address"),
        ("169.254.0.0", 16, "a link-local address"),
        ("172.16.0.0", 12, "a private address"),
        ("192.0.0.0", 24, "an address of protocols"),
        ("192.0.2.0", 24, "an address of documentation"),
        ("192.31.196.0", 24, "an address of protocols"),
        ("192.52.193.0", 24, "an address of protocols"),
        ("192.88.99.0", 24, "a relay address"),
        ("192.168.0.0", 16, "a private address"),
        ("198.18.0.0", 15, "an address of benchmarks"),
        ("198.51.100.0", 24, "an address of documentation"),
        ("203.0.113.0", 24, "an address of documentation"),
        ("224.0.0.0", 3, "a multicast or reserved address"),
    ];
    within(IpAddr::V4(address), &RANGES)
}

/// Addresses outside of the assigned unicast range, and within it those that lead elsewhere.
fn special_6(address: Ipv6Addr) -> Option<&'static str> {
    const RANGES: [(&str, u8, &str); 13] = [
        ("::", 128, "an address of this host"),
        ("::1", 128, "a loopback address"),
        ("fc00::", 7, "a private address"),
        ("fe80::", 10, "a link-local address"),
        ("fec0::", 10, "a private address"),
        ("ff00::", 8, "a multicast address"),
        ("64:ff9b::", 96, "an IPv4 address behind NAT64"),
        ("64:ff9b:1::", 48, "an IPv4 address behind NAT64"),
        ("2001::", 32, "an IPv4 address behind Teredo"),
        ("2001::", 23, "an address of protocols"),
        ("2001:db8::", 32, "an address of documentation"),
        ("2002::", 16, "an IPv4 address behind 6to4"),
        ("3fff::", 20, "an address of documentation"),
    ];
    let given_out = Network { address: Ipv6Addr::new(0x2000, 0, 0, 0, 0, 0, 0, 0).into(), bits: 3 };
    let named = within(IpAddr::V6(address), &RANGES);
    named.or_else(|| (!given_out.contains(address.into())).then_some("an unassigned address"))
}

fn within(address: IpAddr, ranges: &[(&str, u8, &'static str)]) -> Option<&'static str> {
    let holds = |(first, bits, _): &&(&str, u8, &str)| {
        first.parse().is_ok_and(|first| Network { address: first, bits: *bits }.contains(address))
    };
    ranges.iter().find(holds).map(|(.., what)| *what)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn internal_addresses_are_recognised_in_every_notation() {
        let inside = [
            "0.0.0.0",
            "0.1.2.3",
            "10.1.2.3",
            "100.64.0.1",
            "127.0.0.1",
            "127.255.255.254",
            "169.254.169.254",
            "172.16.0.1",
            "172.31.255.255",
            "192.0.0.8",
            "192.0.2.1",
            "192.88.99.1",
            "192.168.1.1",
            "198.18.0.1",
            "198.19.255.255",
            "198.51.100.7",
            "203.0.113.7",
            "224.0.0.1",
            "240.0.0.1",
            "255.255.255.255",
            "::",
            "::1",
            "::ffff:127.0.0.1",
            "::ffff:10.0.0.1",
            "::ffff:a9fe:a9fe",
            "::127.0.0.1",
            "64:ff9b::7f00:1",
            "64:ff9b:1::7f00:1",
            "2002:7f00:1::",
            "2001:0:7f00:1::",
            "2001:10::1",
            "2001:db8::1",
            "3fff::1",
            "fc00::1",
            "fd12:3456::1",
            "fe80::1",
            "fec0::1",
            "ff02::1",
            "100::1",
            "5f00::1",
            "4000::1",
        ];
        for text in inside {
            assert!(special(text.parse().unwrap()).is_some(), "{text}");
        }
        for text in [
            "1.1.1.1",
            "8.8.8.8",
            "172.15.0.1",
            "172.32.0.1",
            "192.167.1.1",
            "100.128.0.1",
            "223.255.255.255",
            "2606:4700::1111",
            "2a00:1450::1",
            "::ffff:8.8.8.8",
        ] {
            assert_eq!(special(text.parse().unwrap()), None, "{text}");
        }
    }

    #[test]
    fn networks_are_read_and_written() {
        let rows = [
            ("10.0.0.0/8", "10.255.0.1", true),
            ("10.0.0.0/8", "11.0.0.1", false),
            ("10.0.0.0/8", "::ffff:10.0.0.1", true),
            ("127.0.0.1", "127.0.0.1", true),
            ("127.0.0.1", "127.0.0.2", false),
            ("::ffff:127.0.0.1", "127.0.0.1", true),
            ("fd00::/8", "fd12::1", true),
            ("fd00::/8", "fe80::1", false),
            ("0.0.0.0/0", "8.8.8.8", true),
            ("0.0.0.0/0", "::1", false),
            ("::/0", "::1", true),
        ];
        for (network, address, expected) in rows {
            let read: Network = network.parse().unwrap();
            assert_eq!(read.contains(address.parse().unwrap()), expected, "{network} {address}");
        }
        for text in [
            "",
            "10.0.0.0/33",
            "10.0.0.0/",
            "10.0.0/8",
            "::/129",
            "host",
            "::ffff:10.0.0.0/104",
            "10.0.0.0/-1",
        ] {
            assert_eq!(text.parse::<Network>(), Err(NotANetwork), "{text}");
        }
        assert_eq!("10.0.0.0/8".parse::<Network>().unwrap().to_string(), "10.0.0.0/8");
        assert_eq!("::1".parse::<Network>().unwrap().to_string(), "::1");
    }
}
