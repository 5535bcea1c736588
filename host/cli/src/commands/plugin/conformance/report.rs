//! The report of a test, for people and for programs.

use std::{fs, io, path::Path, time::Duration};

use phasm::plugins::PluginView;
use quick_xml::{
    Writer,
    events::{BytesDecl, Event},
};
use serde::{Serialize, Serializer};

use crate::terminal::text;

/// Result of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Verdict {
    Passed,
    Failed,
    /// There was nothing to check, or a grant was missing.
    Skipped,
}

/// A check that was made.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Check {
    pub(super) group: &'static str,
    pub(super) name: String,
    pub(super) verdict: Verdict,
    /// The reason for a failure, or what came of it; often empty.
    pub(super) detail: String,
    #[serde(rename = "milliseconds", serialize_with = "milliseconds")]
    pub(super) took: Duration,
}

impl Check {
    pub(super) fn new(
        group: &'static str,
        name: impl Into<String>,
        verdict: Verdict,
        detail: String,
    ) -> Self {
        Self { group, name: name.into(), verdict, detail, took: Duration::ZERO }
    }

    pub(super) fn took(self, took: Duration) -> Self {
        Self { took, ..self }
    }

    /// Returns the line for it.
    pub(super) fn line(&self) -> String {
        let sign = match self.verdict {
            Verdict::Passed => "✓".to_owned(),
            Verdict::Failed => text::bad("✗"),
            Verdict::Skipped => text::dim("–"),
        };
        let name = text::clean(&self.name);
        let detail = text::printed(&self.detail);
        let lead = format!("{sign} {}: {name}", self.group);
        match (self.verdict, detail.is_empty()) {
            (_, true) => format!("{lead}\n"),
            (Verdict::Failed, false) => format!("{lead}\n    {detail}\n"),
            (Verdict::Passed | Verdict::Skipped, false) => {
                format!("{lead}  {}\n", text::dim(text::short(&detail, 100)))
            }
        }
    }
}

/// Sizes and times of a plugin on this machine.
#[derive(Clone, Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Figures {
    /// Size of the component.
    pub(super) bytes: u64,
    /// Time of a compilation without a cache.
    #[serde(rename = "firstCompileMs", serialize_with = "optional_milliseconds")]
    pub(super) first_compile: Option<Duration>,
    /// Median time of a call.
    #[serde(rename = "warmCallMs", serialize_with = "optional_milliseconds")]
    pub(super) warm_call: Option<Duration>,
    /// Least memory that the first example succeeds with, a power of two, in bytes.
    pub(super) least_memory: Option<u64>,
}

/// All checks of a plugin.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Report {
    plugin: String,
    version: Option<String>,
    digest: String,
    pub(super) figures: Figures,
    pub(super) checks: Vec<Check>,
}

impl Report {
    pub(super) fn new(view: &PluginView) -> Self {
        Self {
            plugin: view.name.clone(),
            version: view.version.clone(),
            digest: view.digest.clone(),
            figures: Figures::default(),
            checks: Vec::new(),
        }
    }

    fn count(&self, verdict: Verdict) -> usize {
        self.checks.iter().filter(|check| check.verdict == verdict).count()
    }

    /// Whether no check failed.
    pub(super) fn is_good(&self) -> bool {
        self.count(Verdict::Failed) == 0
    }

    /// Returns the last lines: counts and figures.
    pub(super) fn summary(&self) -> String {
        let milliseconds = |time: Duration| format!("{:.1} ms", time.as_secs_f64() * 1e3);
        let Figures { bytes, first_compile, warm_call, least_memory } = self.figures;
        let mut figures = vec![format!("{} KiB", bytes.div_ceil(1024))];
        figures.extend(first_compile.map(|time| format!("first compile {}", milliseconds(time))));
        figures.extend(warm_call.map(|time| format!("a call {}", milliseconds(time))));
        figures.extend(least_memory.map(|bytes| format!("works with {} MiB of memory", bytes >> 20)));
        let [passed, failed, skipped] =
            [Verdict::Passed, Verdict::Failed, Verdict::Skipped].map(|verdict| self.count(verdict));
        format!(
            "\n{}: {passed} passed, {failed} failed, {skipped} skipped\n{}\n",
            text::bold(text::clean(&self.plugin)),
            text::dim(figures.join(" · "))
        )
    }

    /// Writes the report as JUnit XML: a suite for each group of checks.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub(super) fn write_junit(&self, file: &Path) -> io::Result<()> {
        let mut xml = Writer::new_with_indent(Vec::new(), b' ', 2);
        xml.write_event(Event::Decl(BytesDecl::new("1.0", Some("UTF-8"), None)))?;
        let suites = xml.create_element("testsuites").with_attribute(("name", &*self.plugin));
        suites.write_inner_content(|xml| {
            self.checks
                .chunk_by(|one, next| one.group == next.group)
                .try_for_each(|group| self.write_suite(xml, group))
        })?;
        fs::write(file, xml.into_inner())
    }

    fn write_suite(&self, xml: &mut Writer<Vec<u8>>, group: &[Check]) -> io::Result<()> {
        let name = group.first().map_or("", |check| check.group);
        let count = |verdict| group.iter().filter(|check| check.verdict == verdict).count().to_string();
        let suite = xml.create_element("testsuite").with_attributes([
            ("name", name),
            ("tests", &*group.len().to_string()),
            ("failures", &*count(Verdict::Failed)),
            ("skipped", &*count(Verdict::Skipped)),
        ]);
        suite.write_inner_content(|xml| group.iter().try_for_each(|check| self.write_case(xml, check)))?;
        Ok(())
    }

    fn write_case(&self, xml: &mut Writer<Vec<u8>>, check: &Check) -> io::Result<()> {
        // Characters that no XML may have stand in names of checks for what they are, as on a terminal.
        let (name, detail) = (text::clean(&check.name), text::clean(&check.detail));
        let case = xml.create_element("testcase").with_attributes([
            ("classname", &*format!("{}.{}", self.plugin, check.group)),
            ("name", &*name),
            ("time", &*format!("{:.6}", check.took.as_secs_f64())),
        ]);
        let element = match check.verdict {
            Verdict::Passed => return case.write_empty().map(drop),
            Verdict::Failed => "failure",
            Verdict::Skipped => "skipped",
        };
        case.write_inner_content(|xml| {
            xml.create_element(element).with_attribute(("message", &*detail)).write_empty().map(drop)
        })?;
        Ok(())
    }
}

fn milliseconds<S: Serializer>(time: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
    // Whole microseconds are exact enough, and short.
    serializer.serialize_f64((time.as_secs_f64() * 1e6).round() / 1e3)
}

fn optional_milliseconds<S: Serializer>(time: &Option<Duration>, serializer: S) -> Result<S::Ok, S::Error> {
    match time {
        Some(time) => milliseconds(time, serializer),
        None => serializer.serialize_none(),
    }
}
