//! Random expressions against a second, naive evaluator.

use proptest::prelude::*;

use super::*;

/// An expression as a tree, independent of the parser's own.
#[derive(Clone, Debug)]
enum Term {
    Int(i64),
    Float(f64),
    Bool(bool),
    Null,
    Text(&'static str),
    /// A variable by its index in [`VARIABLES`].
    Variable(usize),
    Negate(Box<Term>),
    Not(Box<Term>),
    Binary(Box<Term>, &'static str, Box<Term>),
    Choose(Box<Term>, Box<Term>, Box<Term>),
}

const VARIABLES: [&str; 5] = ["i", "x.y", "t['s']", "m", "flag"];
const ENV: &str = r#"{"i": 7, "x": {"y": -2.5}, "t": {"s": "ab"}, "flag": true}"#;
const OPERATORS: [&str; 15] =
    ["+", "-", "*", "/", "%", "==", "!=", "<", "<=", ">", ">=", "&&", "or", "in", "not in"];

fn term() -> impl Strategy<Value = Term> {
    let leaf = prop_oneof![
        4 => (-20_i64..20).prop_map(Term::Int),
        1 => prop_oneof![Just(i64::MAX), Just(i64::MIN), Just(i64::MAX - 1), Just(1 << 53)].prop_map(Term::Int),
        2 => (-40_i32..40).prop_map(|n| Term::Float(f64::from(n) / 4.0)),
        1 => prop_oneof![Just(1e300), Just(-1e300), Just(0.1)].prop_map(Term::Float),
        1 => any::<bool>().prop_map(Term::Bool),
        1 => Just(Term::Null),
        1 => prop_oneof![Just(""), Just("a"), Just("ab"), Just("true"), Just("é'\"\\\n")].prop_map(Term::Text),
        3 => (0..VARIABLES.len()).prop_map(Term::Variable),
    ];
    leaf.prop_recursive(6, 40, 3, |inner| {
        let boxed = inner.prop_map(Box::new).boxed();
        prop_oneof![
            1 => boxed.clone().prop_map(Term::Negate),
            1 => boxed.clone().prop_map(Term::Not),
            8 => (boxed.clone(), prop::sample::select(&OPERATORS[..]), boxed.clone())
                .prop_map(|(a, op, b)| Term::Binary(a, op, b)),
            1 => (boxed.clone(), boxed.clone(), boxed).prop_map(|(a, b, c)| Term::Choose(a, b, c)),
        ]
    })
}

/// How tightly the printed term binds, as in the grammar.
fn level(term: &Term) -> u8 {
    match term {
        Term::Choose(..) => 0,
        Term::Binary(_, "or", _) => 1,
        Term::Binary(_, "&&", _) => 2,
        Term::Not(_) => 3,
        Term::Binary(_, "+" | "-", _) => 5,
        Term::Binary(_, "*" | "/" | "%", _) => 6,
        Term::Binary(..) => 4,
        Term::Negate(_) => 7,
        Term::Int(_) | Term::Float(_) | Term::Bool(_) | Term::Null | Term::Text(_) | Term::Variable(_) => 8,
    }
}

/// The term with no more parentheses than it needs.
fn print(term: &Term, least: u8) -> String {
    let own = level(term);
    let text = match term {
        Term::Int(n) if *n < 0 => format!("({n})"),
        Term::Int(n) => n.to_string(),
        Term::Float(f) => format!("({f:?})"),
        Term::Bool(b) => b.to_string(),
        Term::Null => "null".to_owned(),
        Term::Text(text) => Value::from(*text).to_json(),
        Term::Variable(index) => VARIABLES[*index].to_owned(),
        Term::Negate(inner) => format!("- {}", print(inner, own)),
        Term::Not(inner) => format!("not {}", print(inner, own)),
        // Comparisons cannot be chained on either side; the others lean to the left.
        Term::Binary(a, op, b) => {
            format!("{} {op} {}", print(a, own + u8::from(own == 4)), print(b, own + 1))
        }
        Term::Choose(a, b, c) => format!("{} ? {} : {}", print(a, 1), print(b, 0), print(c, 0)),
    };
    if own < least { format!("({text})") } else { text }
}

/// A value of the naive evaluator; an error is `None`.
fn evaluate(term: &Term) -> Option<Value> {
    Some(match term {
        Term::Int(n) => (*n).into(),
        Term::Float(f) => float(*f)?,
        Term::Bool(b) => (*b).into(),
        Term::Null => Value::Null,
        Term::Text(text) => (*text).into(),
        Term::Variable(index) => match index {
            0 => 7.into(),
            1 => float(-2.5)?,
            2 => "ab".into(),
            3 => Value::Null,
            _ => true.into(),
        },
        Term::Negate(inner) => {
            // A negative number is a literal, negative zero too.
            if let Some(literal) = literal(inner) {
                return float(-literal);
            }
            let Value::Number(n) = evaluate(inner)? else { return None };
            match n.as_i64() {
                Some(int) => int.checked_neg()?.into(),
                // Zero less the number: no operation makes a negative zero.
                None => float(0.0 - n.as_f64()?)?,
            }
        }
        Term::Not(inner) => (!truth(&evaluate(inner)?)?).into(),
        Term::Binary(a, "&&", b) => (truth(&evaluate(a)?)? && truth(&evaluate(b)?)?).into(),
        Term::Binary(a, "or", b) => (truth(&evaluate(a)?)? || truth(&evaluate(b)?)?).into(),
        Term::Binary(a, op, b) => binary(&evaluate(a)?, op, &evaluate(b)?)?,
        Term::Choose(a, b, c) => evaluate(if truth(&evaluate(a)?)? { b } else { c })?,
    })
}

fn float(f: f64) -> Option<Value> {
    crate::value::Number::from_f64(f).map(Value::Number)
}

fn truth(value: &Value) -> Option<bool> {
    match value {
        Value::Null => Some(false),
        Value::Bool(b) => Some(*b),
        Value::String(text) => text.parse().ok(),
        Value::Number(_) | Value::Array(_) | Value::Object(_) => None,
    }
}

fn binary(a: &Value, op: &str, b: &Value) -> Option<Value> {
    let order = compare(a, b);
    Some(Value::Bool(match op {
        "==" => same(a, b),
        "!=" => !same(a, b),
        "<" => order.is_some_and(std::cmp::Ordering::is_lt),
        "<=" => order.is_some_and(std::cmp::Ordering::is_le),
        ">" => order.is_some_and(std::cmp::Ordering::is_gt),
        ">=" => order.is_some_and(std::cmp::Ordering::is_ge),
        "in" => part(a, b),
        "not in" => !part(a, b),
        _ => return arithmetic(a, op, b),
    }))
}

fn part(a: &Value, b: &Value) -> bool {
    matches!((a, b), (Value::String(a), Value::String(b)) if b.contains(a.as_ref()))
}

/// The double that a term without operations says.
fn literal(term: &Term) -> Option<f64> {
    match term {
        Term::Float(f) => Some(*f),
        Term::Negate(inner) => literal(inner).map(|f| -f),
        Term::Int(_)
        | Term::Bool(_)
        | Term::Null
        | Term::Text(_)
        | Term::Variable(_)
        | Term::Not(_)
        | Term::Binary(..)
        | Term::Choose(..) => None,
    }
}

fn same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(_), Value::Number(_)) => compare(a, b).is_some_and(std::cmp::Ordering::is_eq),
        _ => a == b,
    }
}

/// Whole numbers by their digits, others as doubles: the generator makes no double that is whole and beyond 2^53
/// but those whose magnitude decides.
fn compare(a: &Value, b: &Value) -> Option<std::cmp::Ordering> {
    match (a, b) {
        (Value::String(a), Value::String(b)) => Some(a.cmp(b)),
        (Value::Number(x), Value::Number(y)) => match (x.as_i64(), y.as_i64()) {
            (Some(x), Some(y)) => Some(x.cmp(&y)),
            (Some(x), None) => exact(x, y.as_f64()?),
            (None, Some(y)) => exact(y, x.as_f64()?).map(std::cmp::Ordering::reverse),
            (None, None) => x.as_f64()?.partial_cmp(&y.as_f64()?),
        },
        _ => None,
    }
}

/// An integer against a double, by way of decimal digits.
fn exact(int: i64, float: f64) -> Option<std::cmp::Ordering> {
    if float.abs() > 1e19 {
        return 0.0.partial_cmp(&float);
    }
    let digits = format!("{float:.40}");
    let (whole, fraction) = digits.split_once('.')?;
    let whole: i128 = whole.parse().ok()?;
    let rest = if fraction.bytes().all(|b| b == b'0') { 0.0 } else { float };
    Some(i128::from(int).cmp(&whole).then(0.0.partial_cmp(&rest)?))
}

fn arithmetic(a: &Value, op: &str, b: &Value) -> Option<Value> {
    match (a, b) {
        (Value::String(a), Value::String(b)) if op == "+" => Some(format!("{a}{b}").into()),
        (Value::Number(x), Value::Number(y)) => match (x.as_i64(), y.as_i64()) {
            (Some(x), Some(y)) => integers(x, op, y),
            _ => floats(x.as_f64()?, op, y.as_f64()?),
        },
        _ => None,
    }
}

fn integers(x: i64, op: &str, y: i64) -> Option<Value> {
    Some(match op {
        "+" => x.checked_add(y)?.into(),
        "-" => x.checked_sub(y)?.into(),
        "*" => x.checked_mul(y)?.into(),
        "%" if y == -1 => 0.into(),
        "%" => x.checked_rem(y)?.into(),
        _ if y != 0 && (y == -1 || x % y == 0) => x.checked_div(y)?.into(),
        _ => return floats(x as f64, op, y as f64),
    })
}

fn floats(x: f64, op: &str, y: f64) -> Option<Value> {
    match op {
        "+" => float(x + y),
        "-" => float(x - y),
        "*" => float(x * y),
        _ if y == 0.0 => None,
        "/" => float(x / y),
        _ => float(x % y),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn evaluation_agrees_with_the_reference(term in term()) {
        let text = print(&term, 0);
        let expr = Expr::compile(&text).map_err(|e| TestCaseError::fail(format!("{e} in {text}")))?;
        let actual = expr.eval(&Json::new(ENV), &mut Doubts::default());
        let expected = evaluate(&term);
        prop_assert_eq!(
            actual.as_ref().ok().map(Value::to_json), expected.as_ref().map(Value::to_json), "{} is {:?}", text, actual
        );
    }

    #[test]
    fn parentheses_change_nothing(term in term()) {
        let env = Json::new(ENV);
        let bare = Expr::compile(&print(&term, 0)).unwrap().eval(&env, &mut Doubts::default());
        let wrapped = Expr::compile(&format!("{{{{ ({}) }}}}", print(&term, 0))).unwrap().eval(&env, &mut Doubts::default());
        prop_assert_eq!(bare.ok().map(|v| v.to_json()), wrapped.ok().map(|v| v.to_json()));
    }
}

/// R-X5: the page of expressions has every filter.
#[test]
fn the_page_has_every_filter() {
    let page = include_str!("../../../../docs/reference/expressions.md");
    for filter in &filter::FILTERS {
        let written = [format!("`{}`", filter.name), format!("`{}(", filter.name)];
        assert!(written.iter().any(|text| page.contains(text)), "{}", filter.name);
    }
}
