//! `tracestate`: a list of additions by the systems on the way.

use std::sync::Arc;

/// Maximum number of members.
const MAX_MEMBERS: usize = 32;
/// Maximum length of the list, in bytes. Long members are dropped first, then the last ones, which are the oldest.
const MAX_BYTES: usize = 512;
/// Length from which a member is dropped first, in bytes.
const LONG_MEMBER_BYTES: usize = 128;

/// Reads the list in the form in which it is passed on; `None` if it is invalid, or empty.
pub(super) fn read(text: &str) -> Option<Arc<str>> {
    let members = text.split(',').map(|member| member.trim_matches([' ', '\t']));
    // Further members are not examined: the list is invalid anyway.
    let mut members: Vec<&str> = members.filter(|member| !member.is_empty()).take(MAX_MEMBERS + 1).collect();
    let keys = || members.iter().map(|member| member.split('=').next());
    let is_list = members.len() <= MAX_MEMBERS && members.iter().all(|member| is_member(member));
    if !is_list || keys().enumerate().any(|(at, key)| keys().take(at).any(|before| before == key)) {
        return None;
    }
    let length = |members: &[&str]| members.iter().map(|member| member.len() + 1).sum::<usize>();
    while length(&members) > MAX_BYTES + 1 {
        match members.iter().rposition(|member| member.len() > LONG_MEMBER_BYTES) {
            Some(long) => drop(members.remove(long)),
            None => drop(members.pop()),
        }
    }
    (!members.is_empty()).then(|| members.join(",").into())
}

fn is_member(member: &str) -> bool {
    member.split_once('=').is_some_and(|(key, value)| is_key(key) && is_value(value))
}

/// Returns whether a key is valid: a name, or one at a system: `a/b` of up to 256 characters, or `tenant@system` of up to 241 and
/// 14.
fn is_key(key: &str) -> bool {
    let is_part = |part: &str, longest: usize, first: fn(&u8) -> bool| {
        let rest = |b: &u8| matches!(b, b'a'..=b'z' | b'0'..=b'9' | b'_' | b'-' | b'*' | b'/');
        part.len() <= longest && part.as_bytes().first().is_some_and(first) && part.bytes().all(|b| rest(&b))
    };
    let letter: fn(&u8) -> bool = u8::is_ascii_lowercase;
    match key.split_once('@') {
        Some((tenant, system)) => {
            is_part(tenant, 241, |b| b.is_ascii_lowercase() || b.is_ascii_digit())
                && is_part(system, 14, letter)
        }
        None => is_part(key, 256, letter),
    }
}

/// Returns whether a value is valid: up to 256 visible characters, with spaces between them.
fn is_value(value: &str) -> bool {
    let is_text = |b: u8| (b' '..=b'~').contains(&b) && b != b',' && b != b'=';
    (1..=256).contains(&value.len()) && !value.ends_with(' ') && value.bytes().all(is_text)
}
