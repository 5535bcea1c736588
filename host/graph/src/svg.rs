//! Pictures as SVG.

mod graph;
mod timeline;

pub use self::{graph::graph_svg, timeline::timeline_svg};
use crate::{
    STYLE,
    diagram::Diagram,
    label::{Kind, Label},
    markup::{Markup, escaped},
};

/// How a picture is written.
#[derive(Clone, Copy, Debug, Default)]
pub struct SvgOptions<'a> {
    /// Prefix of the address of a task run's page; its number follows. With `None`, boxes are no links.
    pub links: Option<&'a str>,
    /// Without the stylesheet, which the page around it has.
    pub embedded: bool,
}

/// The outermost element of a picture.
struct Frame<'a> {
    width: i32,
    height: i32,
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
        let mut out = Markup::default();
        out.put(format_args!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"phasm\" role=\"{role}\" aria-label=\"{title}\" \
             viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\">\n<title>{title}</title>\n\
             <desc>{description}</desc>\n"
        ));
        if !options.embedded {
            out.put(format_args!("<style>\n{STYLE}</style>\n"));
        }
        out.put(format_args!("<rect class=\"phasm-page\" width=\"{width}\" height=\"{height}\"/>\n"));
        out
    }
}

/// Begins a link to the page of a task run. Returns whether there is one to end.
fn begin_link(out: &mut Markup, options: SvgOptions<'_>, label: &Label) -> bool {
    let (Some(links), Some(task)) = (options.links, label.task) else { return false };
    let links = escaped(links);
    let name = escaped(&format!("{}, {}", label.name, label.note));
    out.put(format_args!("<a href=\"{links}{task}\" aria-label=\"{name}\">"));
    true
}

/// Returns the title of a picture.
fn title(kind: &str, diagram: &Diagram) -> String {
    let run = diagram.run_id.as_ref().map(|run_id| format!(", run {run_id}")).unwrap_or_default();
    format!("{kind} of {}{run}", diagram.name)
}

/// Returns the description for screen readers: tasks by phase, and how much is not drawn.
fn describe(diagram: &Diagram) -> String {
    let mut description = diagram.tally().summary();
    let hidden = diagram.nodes.iter().filter(|node| node.label.kind == Kind::More);
    let hidden: u64 = hidden.map(|node| node.tally.tasks()).sum();
    if hidden > 0 {
        description = format!("{description}; {hidden} of them are not drawn one by one");
    }
    if diagram.lines_left_out > 0 {
        description = format!("{description}; {} lines are left out", diagram.lines_left_out);
    }
    description
}
