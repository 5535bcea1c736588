//! Operations whose operands never fit: values of these types have no order, no sum, no such element.

use crate::{
    document::{OperationAt, ReadAt},
    expr::{OperandSketch, Operation, Operator, Types},
    form::Site,
    plan::{ParameterType, resolve::index::Index},
    problem::codes::{expressions::IMPOSSIBLE_VALUE, warnings::NEVER_EQUAL},
    value::{Value, is_index},
};

use super::{kinds::ValueDomain, visible::Visible};

/// Reports `found` if no values of the types that are known fit its operator. Types that the document declares make it a problem;
/// those of literals and of values that the engine supplies a warning.
pub(super) fn check(index: &Index<'_>, scope: &Visible<'_>, found: &OperationAt<'_>) {
    let Operation { operator, symbol, operands: [left, right], .. } = found.operation;
    let (left, right) = (Side::of(scope, found, left), Side::of(scope, found, right));
    let Some(expected) = expected(*operator, &left, &right) else { return };
    let is_declared = left.is_declared || right.is_declared;
    if is_full(index, is_declared) {
        return;
    }
    let given = match operator {
        Operator::Negation | Operator::Truth | Operator::Filter(_) => left.words,
        Operator::Argument(_) => format!("{} as an argument", left.words),
        Operator::Index => format!("{} with {} in brackets", left.words, right.words),
        Operator::Equality
        | Operator::Order
        | Operator::Membership
        | Operator::Sum
        | Operator::Arithmetic => {
            format!("{} and {}", left.words, right.words)
        }
    };
    let message = if symbol.is_empty() {
        format!("the condition is {given}; expected {expected}")
    } else {
        format!("`{symbol}` is given {given}; expected {expected}")
    };
    let hint = hint(*operator, left.types, right.types);
    report(index, &found.site(), is_declared, message, hint);
}

/// Reports a path that goes on behind a value whose types are known and have no such member or element: a problem for a declared parameter,
/// a warning for a value that the engine supplies.
pub(super) fn check_member(index: &Index<'_>, scope: &Visible<'_>, found: &ReadAt<'_>) {
    let path: Vec<&str> = found.read.path.iter().map(|segment| &**segment).collect();
    let parameter = (1..path.len()).find_map(|length| {
        let (parameter, behind) = path.split_at(length);
        let known = scope.known(parameter)?;
        Some((parameter, behind.first()?, types(&known), known.is_parameter))
    });
    let Some((parameter, member, types, is_parameter)) = parameter else { return };
    let has_length = *member == "length" && types.meets(Types::STRING.or(Types::ARRAY));
    if types.meets(Types::OBJECT)
        || has_length
        || (is_index(member) && types.meets(Types::ARRAY))
        || is_full(index, is_parameter)
    {
        return;
    }
    let message = format!(
        "`{}` is {} and has no `{member}`; expected an object, or an array and a whole number",
        parameter.join("."),
        types.words()
    );
    report(index, &found.site(), is_parameter, message, None);
}

/// Returns whether the report takes no more: types that the document declares make a problem, others a warning.
fn is_full(index: &Index<'_>, is_declared: bool) -> bool {
    if is_declared { index.report.is_full() } else { index.report.is_full_of_warnings() }
}

/// Reports a problem if the document declares the types, else a warning.
fn report(index: &Index<'_>, site: &Site, is_declared: bool, message: String, hint: Option<String>) {
    if is_declared {
        index.report.problem(site.problem(&IMPOSSIBLE_VALUE, message).with_hint_if(hint));
    } else {
        index.report.warning(site.problem(&NEVER_EQUAL, message).with_hint_if(hint));
    }
}

/// An operand, with what is known of it here.
struct Side {
    types: Types,
    /// A whole number, or no literal number.
    is_whole: bool,
    /// False for a literal text that is neither `true` nor `false`.
    is_truth: bool,
    /// Whether its types follow from a declared parameter.
    is_declared: bool,
    words: String,
    /// The types of the elements of a literal list.
    elements: Option<Types>,
}

impl Side {
    fn of(scope: &Visible<'_>, found: &OperationAt<'_>, sketch: &OperandSketch) -> Self {
        let mut side = Self {
            types: Types::ANY,
            is_whole: true,
            is_truth: true,
            is_declared: false,
            words: String::new(),
            elements: None,
        };
        side.types = side.types_of(scope, found, sketch);
        side.words = match sketch {
            OperandSketch::Read(read) => {
                let path = found.path(*read).join(".");
                format!("`{path}` ({})", side.types.words())
            }
            OperandSketch::Literal(Value::Null) => "null".to_owned(),
            OperandSketch::Literal(literal @ (Value::Bool(_) | Value::Number(_) | Value::String(_))) => {
                format!("{} {}", side.types.words(), crate::problem::shortened(literal.clone()).to_json())
            }
            OperandSketch::Literal(_)
            | OperandSketch::Types(_)
            | OperandSketch::Either(_)
            | OperandSketch::Sum(_) => side.types.words(),
        };
        if let OperandSketch::Literal(literal) = sketch {
            side.is_whole = match literal {
                Value::Number(number) => number.as_f64().is_none_or(|double| double.fract() == 0.0),
                Value::Null | Value::Bool(_) | Value::String(_) | Value::Array(_) | Value::Object(_) => true,
            };
            side.is_truth = literal.as_str().is_none_or(|text| ["true", "false"].contains(&text));
            side.elements =
                literal.as_array().map(|items| items.iter().map(Types::of).fold(Types::NONE, Types::or));
        }
        side
    }

    fn types_of(&mut self, scope: &Visible<'_>, found: &OperationAt<'_>, sketch: &OperandSketch) -> Types {
        match sketch {
            OperandSketch::Types(types) => *types,
            OperandSketch::Literal(value) => Types::of(value),
            OperandSketch::Either(pair) => {
                let [one, other] = &**pair;
                self.types_of(scope, found, one).or(self.types_of(scope, found, other))
            }
            OperandSketch::Sum(operands) => {
                let types = operands.iter().map(|operand| self.types_of(scope, found, operand));
                let common = types.fold(SUMMABLE, Types::and);
                // A sum of nothing is reported where it stands.
                if common == Types::NONE { Types::ANY } else { common }
            }
            OperandSketch::Read(read) => match scope.known(&found.path(*read)) {
                None => Types::ANY,
                Some(known) => {
                    let types = types(&known);
                    self.is_declared |= known.is_parameter && types != Types::ANY;
                    types
                }
            },
        }
    }
}

const SUMMABLE: Types = Types::NUMBER.or(Types::STRING).or(Types::ARRAY);
const ORDERED: Types = Types::NUMBER.or(Types::STRING);
/// The texts `true` and `false` are conditions, too.
const TRUTHS: Types = Types::BOOLEAN.or(Types::STRING);

fn types(known: &ValueDomain<'_>) -> Types {
    if !known.allowed.is_empty() {
        return known.allowed.iter().map(Types::of).fold(Types::NONE, Types::or);
    }
    match known.kind {
        ParameterType::Any => Types::ANY,
        ParameterType::String => Types::STRING,
        ParameterType::Number | ParameterType::Integer => Types::NUMBER,
        ParameterType::Boolean => Types::BOOLEAN,
        ParameterType::Object => Types::OBJECT,
        ParameterType::Array => Types::ARRAY,
    }
}

/// Returns the operands that would fit, where these never do.
fn expected(operator: Operator, left: &Side, right: &Side) -> Option<String> {
    let both = left.types.and(right.types);
    // A null that is written stands for what may be missing, which only the run can tell.
    if left.types == Types::NONE || right.types == Types::NONE {
        return None;
    }
    let (fits, expected) = match operator {
        Operator::Equality => (both != Types::NONE, "two values of one type"),
        Operator::Order => (both.meets(ORDERED), "two numbers or two strings"),
        Operator::Sum => (both.meets(SUMMABLE), "two numbers, two strings or two arrays"),
        Operator::Arithmetic | Operator::Negation => (both.meets(Types::NUMBER), "numbers"),
        Operator::Truth => (left.is_truth && left.types.meets(TRUTHS), "true or false"),
        Operator::Filter(types) | Operator::Argument(types) => {
            return (!left.types.meets(types)).then(|| types.words());
        }
        Operator::Membership => {
            (is_member(left, right), "an element of an array, a key of an object or a part of a string")
        }
        Operator::Index => {
            (is_indexed(left, right), "an array with a whole number, or an object with a string")
        }
    };
    (!fits).then(|| expected.to_owned())
}

fn is_member(item: &Side, holder: &Side) -> bool {
    let in_text = Types::OBJECT.or(Types::STRING);
    match holder.elements {
        Some(elements) => elements == Types::NONE || elements.meets(item.types),
        None => {
            holder.types.meets(Types::ARRAY)
                || (holder.types.meets(in_text) && item.types.meets(Types::STRING))
        }
    }
}

fn is_indexed(holder: &Side, at: &Side) -> bool {
    let by_number = Types::ARRAY.or(Types::STRING);
    let numbered = holder.types.meets(by_number) && at.types.meets(Types::NUMBER) && at.is_whole;
    let named = holder.types.meets(Types::OBJECT.or(by_number)) && at.types.meets(Types::STRING);
    numbered || named
}

fn hint(operator: Operator, left: Types, right: Types) -> Option<String> {
    let has = |types: Types| left == types || right == types;
    let mixed = has(Types::NUMBER) && has(Types::STRING);
    let hint = match operator {
        Operator::Equality | Operator::Order | Operator::Arithmetic if mixed => {
            "`x | float` makes a number of a text; or declare the parameter as a number"
        }
        Operator::Sum if mixed => "`x | string` makes a text of a number, `x | float` a number of a text",
        Operator::Truth if has(Types::NUMBER) => "compare it, as in `x != 0`",
        Operator::Truth if has(Types::ARRAY) || has(Types::OBJECT) => {
            "compare its length, as in `x | length > 0`"
        }
        Operator::Sum if has(Types::STRING) => "`x | string` makes a text of any value",
        Operator::Equality
        | Operator::Order
        | Operator::Membership
        | Operator::Sum
        | Operator::Arithmetic
        | Operator::Negation
        | Operator::Index
        | Operator::Truth
        | Operator::Filter(_)
        | Operator::Argument(_) => return None,
    };
    Some(hint.to_owned())
}
