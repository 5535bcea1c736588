//! `loop`: one body, many iterations.

mod sequence;

use std::sync::Arc;

use serde_json::json;

use crate::{
    expr::ValueTemplate,
    form::{
        Cursor, Field, Form, Name, Object, Refusal, Report, Rule, Site, TEXT, TEXTS, Table, When, Words,
        whole, word,
    },
    problem::codes::shape,
    settings::{Aggregate, AggregateStrategy, Tolerance},
    tree::{Key, Tree, TreeNode},
    value::Value,
};

use super::{
    ExprDoc, ParametersDoc, ValueDoc,
    container::{
        CHILDREN_TOLERANCE, CONTAINER_CONDITIONS, CONTAINER_INPUTS, CONTAINER_NAME, CONTAINER_OUTPUTS,
        CONTAINER_TIMEOUT, NOT_A_CONTAINERS,
    },
    expression::{CONDITION, EXPRESSION, VALUE},
    foreign,
    parameters::ARGUMENTS,
};

use self::sequence::SEQUENCE;

/// `loop`, without what all templates have.
#[derive(Clone, Debug)]
pub(crate) struct LoopDoc {
    pub(crate) body: Option<Name>,
    pub(crate) over: OverDoc,
    /// Where that is written.
    pub(crate) over_site: Option<Site>,
    pub(crate) concurrency: Option<u32>,
    pub(crate) max_iterations: Option<u32>,
    pub(crate) arguments: ParametersDoc,
    pub(crate) strategy: AggregateStrategy,
    pub(crate) aggregated: Option<Vec<Name>>,
    pub(crate) continue_on: Option<Tolerance>,
}

/// One of `items`.
#[derive(Clone, Debug)]
pub(crate) struct ItemDoc {
    pub(crate) value: ValueDoc,
    /// Where the fields of an object stand, which are arguments by name.
    pub(crate) fields: Vec<(Arc<str>, Site)>,
}

/// The source of a loop's iterations.
#[derive(Clone, Debug)]
pub(crate) enum OverDoc {
    Items(Vec<ItemDoc>),
    Sequence(Vec<Value>),
    ItemsFrom(ExprDoc),
    Repeat(ExprDoc),
    /// Could not be read, which has been reported.
    Unreadable,
}

const OVER: &[&str] = &["items", "itemsFrom", "sequence", "repeatCondition"];

pub(super) static LOOP: Table = Table::closed(
    "loop",
    "One template, run for each item or number, or until a condition is no longer true.",
    &[
        &CONTAINER_NAME,
        &BODY,
        &ITEMS,
        &ITEMS_FROM,
        &SEQUENCE_FIELD,
        &REPEAT_CONDITION,
        &CONCURRENCY,
        &MAX_ITERATIONS,
        &LOOP_ARGUMENTS,
        &AGGREGATE,
        &CONTAINER_INPUTS,
        &CONTAINER_OUTPUTS,
        &CHILDREN_TOLERANCE,
        &CONTAINER_CONDITIONS,
        &CONTAINER_TIMEOUT,
    ],
    &[
        Rule::Needed {
            field: "maxIterations",
            when: When::With("repeatCondition"),
            expected: "how often the body may run at most",
        },
        Rule::Refused(Refusal {
            fields: &["concurrency"],
            when: When::With("repeatCondition"),
            entry: &shape::NOT_ALLOWED,
            why: "next to `repeatCondition`; expected none, as iterations follow each other",
            hint: "remove it",
        }),
        NOT_A_CONTAINERS,
        Rule::ExactlyOne(OVER),
    ],
)
.knowing(foreign::LOOPS);

static BODY: Field<Name> =
    Field::required("body", "the name of a template", TEXT, "Name of the template that each iteration runs.");

static ITEMS: Field<Vec<ItemDoc>> = Field::optional(
    "items",
    Form::new(items, |_| json!({ "type": "array" })),
    "The items; strings in them may hold `{{ }}`, and an object's members become arguments by name.",
);

static ITEMS_FROM: Field<ExprDoc> = Field::optional(
    "itemsFrom",
    EXPRESSION,
    "Gives the items when the loop opens: a list, or JSON text of one; null is none.",
);

static SEQUENCE_FIELD: Field<Vec<Value>> =
    Field::optional("sequence", SEQUENCE, "The items are numbers, or texts with numbers in them.");

static REPEAT_CONDITION: Field<ExprDoc> = Field::optional(
    "repeatCondition",
    CONDITION,
    "Evaluated after each iteration: true makes another; the first one always runs. Needs `maxIterations`.",
);

static CONCURRENCY: Field<u32> = Field::optional(
    "concurrency",
    whole::<u32, 0, { u32::MAX as i64 }>().or_expression(),
    "Iterations that may be open at once; 0 is no bound. Not with `repeatCondition`.",
)
.or("0");

static MAX_ITERATIONS: Field<u32> = Field::optional(
    "maxIterations",
    whole::<u32, 1, { u32::MAX as i64 }>().or_expression(),
    "Iterations at most; reaching it ends the loop normally, with a warning.",
)
.such_as(&["100"]);

static LOOP_ARGUMENTS: Field<ParametersDoc> = Field::optional(
    "arguments",
    ARGUMENTS,
    "Arguments of each iteration; they take precedence over members of the item, and see `loop.item` and `loop.index`.",
);

static AGGREGATE: Field<(AggregateStrategy, Option<Vec<Name>>)> = Field::optional(
    "aggregate",
    Form::new(aggregate, |defs| defs.object(&AGGREGATE_TABLE)),
    "How the iterations' outputs become the loop's.",
);

static AGGREGATE_TABLE: Table = Table::closed(
    "aggregate",
    "How the outputs of iterations become the loop's.",
    &[&STRATEGY, &AGGREGATED],
    &[],
);

static STRATEGY: Field<AggregateStrategy> = Field::optional(
    "strategy",
    word::<AggregateStrategy>(),
    "The last or first succeeded iteration's value, by index; or a list of all, with null for iterations that did not succeed.",
)
.or("last");

static AGGREGATED: Field<Vec<Name>> =
    Field::optional("parameters", TEXTS, "Names of the outputs to aggregate; absent: all.");

impl Words for AggregateStrategy {
    const WORDS: &'static [(&'static str, Self)] =
        &[("last", Self::Last), ("first", Self::First), ("list", Self::List)];
}

impl LoopDoc {
    pub(super) fn read(object: &Object<'_, '_>) -> Self {
        let (strategy, aggregated) = object.optional(&AGGREGATE).unwrap_or_default();
        Self {
            body: object.optional(&BODY),
            over: OverDoc::read(object),
            over_site: OVER.iter().find_map(|field| object.key_site(field)),
            concurrency: object.optional(&CONCURRENCY).filter(|most| *most > 0),
            max_iterations: object.optional(&MAX_ITERATIONS),
            arguments: ParametersDoc::field(object, &LOOP_ARGUMENTS),
            strategy,
            aggregated,
            continue_on: object.optional(&CHILDREN_TOLERANCE),
        }
    }

    pub(crate) fn aggregate(&self) -> Aggregate {
        let names = |names: &Vec<Name>| names.iter().map(|name| name.value.clone()).collect();
        Aggregate { strategy: self.strategy, parameters: self.aggregated.as_ref().map(names) }
    }
}

fn aggregate(cursor: &Cursor<'_>, report: &Report) -> Option<(AggregateStrategy, Option<Vec<Name>>)> {
    let object = cursor.object(&AGGREGATE_TABLE, report)?;
    Some((object.or_default(&STRATEGY), object.optional(&AGGREGATED)))
}

impl OverDoc {
    fn read(object: &Object<'_, '_>) -> Self {
        let over = match object.only(OVER) {
            Some("items") => object.optional(&ITEMS).map(Self::Items),
            Some("itemsFrom") => object.optional(&ITEMS_FROM).map(Self::ItemsFrom),
            Some("sequence") => object.optional(&SEQUENCE_FIELD).map(Self::Sequence),
            Some(_) => object.optional(&REPEAT_CONDITION).map(Self::Repeat),
            None => None,
        };
        over.unwrap_or(Self::Unreadable)
    }

    /// The items as the plan has them.
    pub(crate) fn items(&self) -> Option<Vec<ValueTemplate>> {
        match self {
            Self::Items(items) => Some(items.iter().map(|item| item.value.value.clone()).collect()),
            Self::Sequence(values) => Some(values.iter().cloned().map(ValueTemplate::Literal).collect()),
            Self::ItemsFrom(_) | Self::Repeat(_) | Self::Unreadable => None,
        }
    }
}

fn items(cursor: &Cursor<'_>, report: &Report) -> Option<Vec<ItemDoc>> {
    if let TreeNode::String(text) = &cursor.tree.node
        && (text.contains("{{") || text.contains('.'))
    {
        let problem = cursor.mismatch("a list");
        report.problem(problem.with_hint(format!("for a list that is calculated write `itemsFrom: {text}`")));
        return None;
    }
    let items = cursor.items(report)?;
    let count = items.len();
    let list: Vec<_> = items.filter_map(|item| ItemDoc::read(&item, report)).collect();
    (list.len() == count).then_some(list)
}

impl ItemDoc {
    fn read(cursor: &Cursor<'_>, report: &Report) -> Option<Self> {
        let value = VALUE.read(cursor, report)?;
        let fields = match &cursor.tree.node {
            TreeNode::Object(members) => {
                let field = |(key, tree): &(Key, Tree)| {
                    let path = cursor.path.key(key.name.clone());
                    (key.name.clone(), Site { path, span: tree.span })
                };
                members.iter().map(field).collect()
            }
            TreeNode::Null
            | TreeNode::Bool(_)
            | TreeNode::Number(_)
            | TreeNode::String(_)
            | TreeNode::Array(_) => Vec::new(),
        };
        Some(Self { value, fields })
    }
}
