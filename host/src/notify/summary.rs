//! How the notices of a run stand, in short.

use schemars::JsonSchema;
use serde::Serialize;

use super::{NoticeProgress, NoticeView};
use crate::store::{Notices, ReadStore, StoreError};

/// Notices that are counted: the latest.
const COUNTED: usize = 100;

/// State of the latest deliveries of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct NoticeSummary {
    /// Notifications that wait for delivery.
    pub waiting: usize,
    /// Notifications that were delivered.
    pub delivered: usize,
    /// Notifications that were given up.
    pub given_up: usize,
    /// Notifications that the endpoint does not want.
    pub gone: usize,
    /// Why the latest delivery failed: the endpoint and its response.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failure: Option<String>,
    /// Whether there are earlier ones, which are not counted.
    pub more: bool,
}

impl NoticeSummary {
    /// Number of views that a summary needs, with one more to tell that there are others.
    pub const ENOUGH: usize = COUNTED + 1;

    /// The summary of a run's notifications, the latest first; none if there are none.
    #[must_use]
    pub fn of(views: &[NoticeView]) -> Option<Self> {
        let mut summary = Self { more: views.len() > COUNTED, ..Self::default() };
        for view in views.iter().take(COUNTED) {
            let count = match view.standing {
                NoticeProgress::Waiting => &mut summary.waiting,
                NoticeProgress::Delivered => &mut summary.delivered,
                NoticeProgress::GivenUp | NoticeProgress::Damaged => &mut summary.given_up,
                NoticeProgress::Gone => &mut summary.gone,
            };
            *count += 1;
            if let (None, Some(why)) = (&summary.failure, &view.failure) {
                summary.failure = Some(format!("{}: {why}", view.endpoint));
            }
        }
        (!views.is_empty()).then_some(summary)
    }

    /// The summary of a stored run.
    ///
    /// # Errors
    /// When the notifications cannot be read.
    pub async fn read(store: &dyn ReadStore, run_id: &str) -> Result<Option<Self>, StoreError> {
        Ok(Self::of(&notices_of(store, run_id, Self::ENOUGH).await?))
    }

    /// In words, as `1 waiting, 2 delivered`.
    #[must_use]
    pub fn counts(&self) -> String {
        let Self { waiting, delivered, given_up, gone, failure: _, more } = self;
        let counts =
            [(waiting, "waiting"), (delivered, "delivered"), (given_up, "given up"), (gone, "not wanted")];
        let counts = counts.iter().filter(|(count, _)| **count > 0);
        let mut words: Vec<_> = counts.map(|(count, word)| format!("{count} {word}")).collect();
        words.extend(more.then(|| "earlier ones".to_owned()));
        words.join(", ")
    }
}

/// The notices of a run, the latest first, `limit` at most.
///
/// # Errors
/// When they cannot be read.
pub async fn notices_of(
    store: &dyn ReadStore,
    run_id: &str,
    limit: usize,
) -> Result<Vec<NoticeView>, StoreError> {
    let wanted = Notices { run_id: run_id.into(), endpoint: None, before: None, limit };
    Ok(store.notices(wanted).await?.iter().map(NoticeView::of).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn view(standing: NoticeProgress, failure: Option<&str>) -> NoticeView {
        NoticeView {
            id: "r_1_chat".to_owned(),
            endpoint: "chat".into(),
            kind: "run.failed".to_owned(),
            seq: 1,
            at: String::new(),
            standing,
            tries: 1,
            due: None,
            tried_at: None,
            status: None,
            failure: failure.map(ToOwned::to_owned),
        }
    }

    /// R-Y8.
    #[test]
    fn notices_are_counted_by_how_they_stand() {
        use NoticeProgress::{Delivered, GivenUp, Gone, Waiting};
        assert_eq!(NoticeSummary::of(&[]), None);
        let views = [
            view(Delivered, None),
            view(Waiting, Some("it answered 404")),
            view(GivenUp, Some("it answered 500")),
            view(Gone, None),
            view(Delivered, None),
        ];
        let summary = NoticeSummary::of(&views).unwrap();
        assert_eq!(summary.counts(), "1 waiting, 2 delivered, 1 given up, 1 not wanted");
        assert_eq!(summary.failure.as_deref(), Some("chat: it answered 404"), "the latest");
        let many = vec![view(Delivered, None); NoticeSummary::ENOUGH];
        assert_eq!(NoticeSummary::of(&many).unwrap().counts(), "100 delivered, earlier ones");
    }
}
