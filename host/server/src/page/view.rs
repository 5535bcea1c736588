//! Views of a run: the tabs of its page.

use phasm::engine::event::TaskId;

/// Views of a run.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum View {
    Graph,
    Timeline,
    Tasks,
    Logs,
    Definition,
    Events,
}

impl View {
    pub(super) const ALL: [Self; 6] =
        [Self::Graph, Self::Timeline, Self::Tasks, Self::Logs, Self::Definition, Self::Events];

    /// The word in addresses.
    pub(super) const fn word(self) -> &'static str {
        match self {
            Self::Graph => "graph",
            Self::Timeline => "timeline",
            Self::Tasks => "tasks",
            Self::Logs => "logs",
            Self::Definition => "definition",
            Self::Events => "events",
        }
    }

    /// The word of its tab.
    pub(super) const fn title(self) -> &'static str {
        match self {
            Self::Graph => "Graph",
            Self::Timeline => "Timeline",
            Self::Tasks => "Tasks",
            Self::Logs => "Logs",
            Self::Definition => "Definition",
            Self::Events => "Events",
        }
    }

    /// Returns the part of the view's address that keeps a task run selected, where it has one beside it.
    pub(super) fn of_task(self, selected: Option<TaskId>) -> String {
        let shown = selected.filter(|_| self.beside_tasks() == self);
        shown.map(|task| format!("&task={task}")).unwrap_or_default()
    }

    /// Returns the view beside which a task run is shown: itself, or the graph where it has no room for that.
    pub(super) const fn beside_tasks(self) -> Self {
        match self {
            Self::Graph | Self::Timeline | Self::Tasks | Self::Definition => self,
            Self::Logs | Self::Events => Self::Graph,
        }
    }
}
