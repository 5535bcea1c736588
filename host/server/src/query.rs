//! The query of a request. All its errors are reported at once.

use std::time::Duration;

use phasm::{Value, engine::duration, store::view::ProblemView};

use crate::problem_response::ProblemResponse;

/// The parameters of a request's query.
pub(crate) struct Query {
    pairs: Vec<(String, String)>,
    known: Vec<&'static str>,
    faults: Vec<ProblemView>,
}

impl Query {
    pub(crate) fn read(query: Option<&str>) -> Self {
        let pairs = form_urlencoded::parse(query.unwrap_or_default().as_bytes());
        Self { pairs: pairs.into_owned().collect(), known: Vec::new(), faults: Vec::new() }
    }

    /// Returns a fault for each parameter with U+0000.
    pub(crate) fn nul_faults(&self) -> Vec<ProblemView> {
        nul_faults("query", &self.pairs)
    }

    /// Forgets those without a text, which a form sends all the same.
    pub(crate) fn leave_out_empty(&mut self) {
        self.pairs.retain(|(_, value)| !value.is_empty());
    }

    /// The text of a parameter, which may stand there once.
    pub(crate) fn text(&mut self, name: &'static str) -> Option<String> {
        self.known.push(name);
        let mut found = self.pairs.extract_if(.., |(key, _)| key == name).map(|(_, value)| value);
        let first = found.next();
        let again = found.last();
        if let Some(again) = again {
            self.fault(name, &again, "stands there twice; expected it once");
        }
        first
    }

    /// A parameter's value, `expected` to be such.
    pub(crate) fn parsed<T>(
        &mut self,
        name: &'static str,
        expected: &str,
        parse: impl Fn(&str) -> Option<T>,
    ) -> Option<T> {
        let text = self.text(name)?;
        let value = parse(&text);
        if value.is_none() {
            self.fault(name, &text, &format!("{text:?}; expected {expected}"));
        }
        value
    }

    /// A whole number within bounds.
    pub(crate) fn count(&mut self, name: &'static str, least: usize, most: usize) -> Option<usize> {
        let expected = format!("a whole number from {least} to {most}");
        self.parsed(name, &expected, |text| text.parse().ok().filter(|n| (least..=most).contains(n)))
    }

    /// A length of time with its unit.
    pub(crate) fn length(&mut self, name: &'static str, most: Duration) -> Option<Duration> {
        let expected = format!("a length of time up to {}s such as `30s`", most.as_secs());
        let parse = |text: &str| duration::parse(text).ok().map(Duration::from_millis);
        self.parsed(name, &expected, |text| parse(text).filter(|length| *length <= most))
    }

    /// `true` or `false`; a name alone is `true`.
    pub(crate) fn flag(&mut self, name: &'static str) -> bool {
        let parse = |text: &str| match text {
            "" | "true" => Some(true),
            "false" => Some(false),
            _ => None,
        };
        self.parsed(name, "`true` or `false`", parse).unwrap_or_default()
    }

    /// Returns the parameters whose names have that prefix, without the prefix.
    pub(crate) fn beginning(&mut self, prefix: &'static str) -> Vec<(String, String)> {
        let found = self.pairs.extract_if(.., |(key, _)| key.starts_with(prefix) && key.len() > prefix.len());
        let strip =
            |(key, value): (String, String)| (key.get(prefix.len()..).unwrap_or_default().to_owned(), value);
        found.map(strip).collect()
    }

    /// # Errors
    /// Reports all errors at once, unknown parameters included.
    pub(crate) fn done(&mut self) -> Result<(), ProblemResponse> {
        let expected = match self.known.as_slice() {
            [] => "none".to_owned(),
            known => known.join(", "),
        };
        for (name, value) in std::mem::take(&mut self.pairs) {
            self.fault(&name, &value, &format!("is not known here; expected one of: {expected}"));
        }
        if self.faults.is_empty() {
            Ok(())
        } else {
            Err(ProblemResponse::faults(std::mem::take(&mut self.faults)))
        }
    }

    fn fault(&mut self, name: &str, value: &str, message: &str) {
        self.faults.push(ProblemView {
            file: "query".to_owned(),
            code: "query",
            path: name.to_owned(),
            line: 0,
            column: 0,
            value: Some(Value::from(value)),
            message: message.to_owned(),
            hint: None,
        });
    }
}

/// Returns a fault for each field whose name or text has U+0000; `place` is where fields stand.
pub(crate) fn nul_faults(place: &'static str, fields: &[(String, String)]) -> Vec<ProblemView> {
    let is_wrong = |(name, text): &&(String, String)| name.contains('\0') || text.contains('\0');
    let fault = |(name, text): &(String, String)| ProblemView {
        file: place.to_owned(),
        code: place,
        path: name.clone(),
        line: 0,
        column: 0,
        value: Some(Value::from(text.as_str())),
        message: "U+0000 in the text; expected a text without it".to_owned(),
        hint: None,
    };
    fields.iter().filter(is_wrong).map(fault).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_fault_is_told_at_once() {
        let mut query = Query::read(Some("limit=0&wait=1y&a=b&limit=3&text=a%20b+c"));
        assert_eq!(query.count("limit", 1, 9), None);
        assert_eq!(query.length("wait", Duration::from_secs(60)), None);
        assert_eq!(query.text("text").as_deref(), Some("a b c"));
        let faults: Vec<_> = query.faults.iter().map(|fault| fault.path.as_str()).collect();
        assert_eq!(faults, ["limit", "limit", "wait"]);
        assert!(query.done().is_err());
    }

    #[test]
    fn what_is_known_and_right_is_no_fault() {
        let mut query = Query::read(Some("param.a=1&param.b=x&open&wait=30s"));
        assert_eq!(query.beginning("param."), [("a".into(), "1".into()), ("b".into(), "x".into())]);
        assert!(query.flag("open"));
        assert_eq!(query.length("wait", Duration::from_secs(60)), Some(Duration::from_secs(30)));
        assert!(query.done().is_ok());
    }
}
