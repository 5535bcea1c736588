//! Addresses that a page may link to.

/// Characters of an address that is reported.
const MAX_SHOWN_CHARS: usize = 200;
/// Addresses that are reported at most.
const MAX_REPORTED: usize = 100;

/// Whether an address has no scheme, or one of these. Browsers skip blanks and control characters, so that they hide nothing here.
pub(crate) fn is_allowed(address: &str, schemes: &[String]) -> bool {
    let plain: String = address.chars().filter(|c| !c.is_control() && !c.is_whitespace()).collect();
    let end = plain.find([':', '/', '?', '#', '\\']).unwrap_or(plain.len());
    if plain.get(end..).is_none_or(|rest| !rest.starts_with(':')) {
        return true;
    }
    plain.get(..end).is_some_and(|scheme| schemes.iter().any(|known| known.eq_ignore_ascii_case(scheme)))
}

/// Addresses that were left out.
#[derive(Default)]
pub(crate) struct BlockList(Vec<String>);

impl BlockList {
    pub(crate) fn add(&mut self, address: &str) {
        let shown: String = address.chars().take(MAX_SHOWN_CHARS).collect();
        if self.0.len() < MAX_REPORTED && !self.0.contains(&shown) {
            self.0.push(shown);
        }
    }

    pub(crate) fn into_list(self) -> Vec<String> {
        self.0
    }
}
