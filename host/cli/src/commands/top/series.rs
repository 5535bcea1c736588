//! Metrics of a server that are shown.

/// Samples, as Prometheus reads them.
pub(super) struct Series<'t>(Vec<(&'t str, &'t str, f64)>);

impl<'t> Series<'t> {
    pub(super) fn read(text: &'t str) -> Self {
        let sample = |line: &'t str| {
            let (id, value) = line.rsplit_once(' ').filter(|_| !line.starts_with('#'))?;
            let (name, labels) = id.split_once('{').unwrap_or((id, ""));
            Some((name, labels, value.parse().ok()?))
        };
        Self(text.lines().filter_map(sample).collect())
    }

    /// All samples of a name together; nothing, if there is none.
    pub(super) fn sum(&self, name: &str) -> Option<f64> {
        self.sum_of(name, "")
    }

    /// Returns the sum of the series of a name with such a label, as `state="due"`.
    pub(super) fn sum_of(&self, name: &str, label: &str) -> Option<f64> {
        let fits = |sample: &&(&str, &str, f64)| sample.0 == name && sample.1.contains(label);
        self.0.iter().filter(fits).map(|sample| sample.2).reduce(|a, b| a + b)
    }

    /// The same of what is counted in whole numbers.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a count, within bounds")]
    pub(super) fn count_of(&self, name: &str, label: &str) -> Option<u64> {
        self.sum_of(name, label).map(|count| count.clamp(0.0, 1e15) as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_are_summed_by_name_and_label() {
        let text =
            "# TYPE a counter\na_total{x=\"1\",y=\"2\"} 3\na_total{x=\"2\"} 4.5\nb 1\nnonsense\n# EOF\n";
        let series = Series::read(text);
        assert_eq!((series.sum("a_total"), series.sum("b"), series.sum("c")), (Some(7.5), Some(1.0), None));
        assert_eq!(series.count_of("a_total", "x=\"2\""), Some(4));
        assert_eq!(series.count_of("a_total", "x=\"3\""), None);
    }
}
