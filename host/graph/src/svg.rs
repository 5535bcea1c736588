//! Pictures as SVG.

mod graph;
mod loops;
mod timeline;

use phasm_engine::event::TaskId;

pub use self::{graph::graph_svg, timeline::timeline_svg};
use crate::{
    STYLE,
    diagram::Diagram,
    label::{Kind, Label},
    markup::{Markup, escaped},
    model::Node,
};

/// How a picture is written.
#[derive(Clone, Copy, Debug, Default)]
pub struct SvgOptions<'a> {
    /// Prefix of the address of a task run's page; its number follows. With `None`, boxes are no links.
    pub links: Option<&'a str>,
    /// Without the stylesheet, which the page around it has. Links and boxes have the number of their task in `data-task`, and a
    /// timeline is as wide as the page.
    pub embedded: bool,
    /// Task run that is marked as the one that the page shows.
    pub selected: Option<TaskId>,
}

/// The outermost element of a picture.
struct Frame<'a> {
    width: i32,
    height: i32,
    /// Whether the picture is as wide as the page around it.
    is_fluid: bool,
    title: &'a str,
    description: &'a str,
}

impl Frame<'_> {
    /// Begins the picture. With links its role is a group, as screen readers do not reach into an image.
    fn begin(&self, options: SvgOptions<'_>) -> Markup {
        let Self { width, height, .. } = self;
        let role = if options.links.is_some() { "group" } else { "img" };
        let title = escaped(self.title);
        let description = escaped(self.description);
        // A view box would shrink the letters of a narrow picture.
        let (class, size) = if self.is_fluid {
            (" phasm-fluid", format!("width=\"100%\" height=\"{height}\""))
        } else {
            ("", format!("viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\""))
        };
        let mut out = Markup::default();
        out.put(format_args!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"phasm phasm-picture{class}\" role=\"{role}\" aria-label=\"{title}\" \
             {size}>\n<title>{title}</title>\n<desc>{description}</desc>\n"
        ));
        if !options.embedded {
            out.put(format_args!("<style>\n{STYLE}</style>\n"));
        }
        if !self.is_fluid {
            out.put(format_args!("<rect class=\"phasm-page\" width=\"{width}\" height=\"{height}\"/>\n"));
        }
        out
    }
}

/// The group of a task's elements, and the link around it.
struct TaskGroup<'a> {
    options: SvgOptions<'a>,
    label: &'a Label,
    /// Task run whose page the link leads to.
    leads_to: Option<TaskId>,
    class: &'a str,
}

impl TaskGroup<'_> {
    /// Begins the group. Returns its end.
    fn begin(&self, out: &mut Markup) -> &'static str {
        let Self { options, label, class, .. } = self;
        let is_selected = label.task.is_some() && label.task == options.selected;
        let mut data = String::new();
        if let Some(task) = label.task.filter(|_| options.embedded) {
            data = format!(" data-task=\"{task}\"");
        }
        let link = options.links.zip(self.leads_to);
        if let Some((links, task)) = link {
            let links = escaped(links);
            let texts = [&label.name, &label.note, &label.detail].map(String::as_str);
            let texts: Vec<_> = texts.into_iter().filter(|text| !text.is_empty()).collect();
            let name = escaped(&texts.join(", "));
            let current = if is_selected { " aria-current=\"true\"" } else { "" };
            out.put(format_args!("<a href=\"{links}{task}\" aria-label=\"{name}\"{data}{current}>"));
            data.clear();
        }
        let selected = if is_selected { " phasm-selected" } else { "" };
        let title = escaped(&label.title);
        out.put(format_args!("<g class=\"{class}{selected}\"{data}><title>{title}</title>"));
        if link.is_some() { "</g></a>\n" } else { "</g>\n" }
    }
}

/// Returns the title of a picture.
fn title(kind: &str, diagram: &Diagram) -> String {
    let run = diagram.run_id.as_ref().map(|run_id| format!(", run {run_id}")).unwrap_or_default();
    format!("{kind} of {}{run}", diagram.name)
}

/// Returns the description for screen readers: tasks by phase, and how much is not drawn.
fn describe(diagram: &Diagram) -> String {
    let mut description = diagram.tally().summary();
    let is_count = |node: &&Node| node.label.kind == Kind::More || node.iterations.is_some();
    let hidden = diagram.nodes.iter().filter(is_count);
    let hidden: u64 = hidden.map(|node| node.tally.tasks()).sum();
    if hidden > 0 {
        description = format!("{description}; {hidden} of them are not drawn one by one");
    }
    if diagram.lines_left_out > 0 {
        description = format!("{description}; {} lines are left out", diagram.lines_left_out);
    }
    description
}
