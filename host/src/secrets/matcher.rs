//! Finds many texts at once, in time that grows with the text alone.

use std::{borrow::Cow, ops::Range};

use aho_corasick::{Input, MatchKind, automaton::Automaton as _, nfa::noncontiguous::NFA};

use super::forms::Form;

/// The replacement of a secret's text.
pub(super) const HIDDEN: &str = "•••";

/// A longer form is found by its beginning, and hidden as far as it goes on: one that was cut off, too.
const HEAD: usize = 64;

/// Looks for forms of secrets.
pub(super) struct Matcher {
    forms: Vec<Form>,
    /// Nothing where it could not be made: then all is hidden.
    heads: Option<NFA>,
}

impl Matcher {
    pub(super) fn new(mut forms: Vec<Form>) -> Self {
        forms.retain(|form| !form.text.is_empty());
        forms.sort_unstable();
        forms.dedup();
        let heads = forms.iter().map(|form| head(form.text.as_bytes()));
        let heads = NFA::builder().match_kind(MatchKind::Standard).prefilter(false).build(heads).ok();
        Self { forms, heads }
    }

    /// `text` without any of them.
    pub(super) fn hide<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let found = self.find(text);
        if found.is_empty() {
            return text.into();
        }
        let (mut hidden, mut from) = (String::with_capacity(text.len()), 0);
        for Range { start, end } in found {
            hidden += text.get(from..start).unwrap_or_default();
            hidden += HIDDEN;
            from = text.ceil_char_boundary(end);
        }
        hidden += text.get(from..).unwrap_or_default();
        hidden.into()
    }

    /// Where they are, in order; what touches is one.
    fn find(&self, text: &str) -> Vec<Range<usize>> {
        let whole = || Vec::from_iter(Some(0..text.len()).filter(|all| !all.is_empty()));
        let Some(heads) = &self.heads else { return whole() };
        let Ok(hits) = heads.try_find_overlapping_iter(Input::new(text)) else { return whole() };
        let mut found: Vec<Range<usize>> = Vec::new();
        for hit in hits {
            let Some(form) = self.forms.get(hit.pattern().as_usize()) else { continue };
            let known = found.last().map_or(0, |last| last.end);
            let mut range = form.range(text.as_bytes(), hit.start(), hit.end().max(known));
            while let Some(last) = found.pop_if(|last| last.end >= range.start) {
                range = range.start.min(last.start)..range.end.max(last.end);
            }
            found.push(range);
        }
        found
    }
}

impl Form {
    /// Returns the range to hide in a text in which this form begins at `start`. At least the text up to `known` is known to
    /// match, or to be hidden, so that nothing is compared twice.
    fn range(&self, text: &[u8], start: usize, known: usize) -> Range<usize> {
        let rest = self.text.as_bytes().get(known - start..).unwrap_or_default();
        let (rest_of_text, before) =
            (text.get(known..).unwrap_or_default(), text.get(..start).unwrap_or_default());
        let same = rest.iter().zip(rest_of_text).take_while(|(a, b)| a == b).count();
        let is_whole = same == rest.len();
        let behind =
            rest_of_text.get(same..).unwrap_or_default().iter().take(if is_whole { self.behind } else { 0 });
        let behind = behind.take_while(|byte| is_base64(**byte)).count();
        let before = before.iter().rev().take(self.before).take_while(|byte| is_base64(**byte)).count();
        start - before..known + same + behind
    }
}

fn head(text: &[u8]) -> &[u8] {
    text.get(..HEAD).unwrap_or(text)
}

fn is_base64(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"+/-_".contains(&byte)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hidden<'t>(forms: &[&str], text: &'t str) -> Cow<'t, str> {
        Matcher::new(forms.iter().map(|form| Form::from((*form).to_owned())).collect()).hide(text)
    }

    #[test]
    fn what_overlaps_is_hidden_as_one() {
        let long = "0123456789".repeat(20);
        let rows: [(&[&str], &str, &str); 8] = [
            (&[], "abc", "abc"),
            (&["abcd", "cdef"], "xabcdefx", "x•••x"),
            (&["abcd", "bc", "d"], "abcd d abc", "••• ••• a•••"),
            (&["a", "aaa"], "aaaa b a", "••• b •••"),
            (&["é"], "aéé", "a•••"),
            (&[&long], &long, "•••"),
            (&[&long], &long[..100], "•••"),
            (&[&long], &long[..60], &long[..60]),
        ];
        for (forms, text, expected) in rows {
            assert_eq!(hidden(forms, text), expected, "{forms:?} {text}");
        }
        let periodic = "a".repeat(10_000);
        assert_eq!(hidden(&[&periodic, &format!("{periodic}b")], &"a".repeat(1 << 20)), "•••");
    }
}
