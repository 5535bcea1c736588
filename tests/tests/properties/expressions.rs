//! Laws of the expression language (R-X1 to R-X9) that need no second evaluator.

use std::sync::Arc;

use phasm_engine::{
    expr::{Doubts, Env, EvalError, Expr},
    value::{Map, Number, Value},
};
use phasm_tests::fuzz;
use proptest::{collection::vec, prelude::*};

/// Five values as the variables a to e.
#[derive(Clone, Debug)]
struct Variables([Value; 5]);

impl Env for Variables {
    fn get(&self, path: &[Arc<str>]) -> Value {
        let [root, rest @ ..] = path else { return Value::Null };
        let position = ["a", "b", "c", "d", "e"].iter().position(|name| *name == root.as_ref());
        let Some(value) = position.map(|position| &self.0[position]) else { return Value::Null };
        rest.iter().try_fold(value, |value, segment| value.member(segment)).cloned().unwrap_or_default()
    }
}

impl Variables {
    fn eval(&self, text: &str) -> Result<Value, EvalError> {
        let expr =
            Expr::compile(text).unwrap_or_else(|error| panic!("{error} at {} in {text}", error.offset));
        expr.eval(self, &mut Doubts::default())
    }

    /// Whether two expressions have equal values here, or both none.
    fn agree(&self, one: &str, other: &str) -> bool {
        let text = |expression| self.eval(expression).ok().map(|value| value.to_json());
        text(one) == text(other)
    }

    fn holds(&self, text: &str) -> bool {
        self.eval(text) == Ok(true.into())
    }
}

fn number() -> impl Strategy<Value = Value> {
    let double = prop_oneof![
        any::<f64>().prop_filter("finite", |n| n.is_finite()),
        (-20..20_i32).prop_map(|n| f64::from(n) / 4.0),
        Just(2_f64.powi(53)),
    ];
    prop_oneof![
        (-3..4_i64).prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(|n| Value::Number(n.into())),
        double.prop_map(|n| Value::Number(Number::from_f64(n).unwrap())),
    ]
}

fn scalar() -> impl Strategy<Value = Value> {
    prop_oneof![
        1 => Just(Value::Null),
        1 => any::<bool>().prop_map(Value::from),
        3 => number(),
        2 => "true|false|[ab]{0,3}|\\PC{0,4}".prop_map(Value::from),
    ]
}

fn value() -> impl Strategy<Value = Value> {
    scalar().prop_recursive(3, 16, 4, |inner| {
        let key = "[ab]|\\PC{0,3}".prop_map(Arc::from);
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map(key, inner, 0..4).prop_map(|map: Map| map.into()),
        ]
    })
}

prop_compose! {
    /// Often the same value twice, or nearly.
    fn variables()(values in [value(), value(), value(), value(), value()], twin in any::<bool>()) -> Variables {
        let [a, b, c, d, e] = values;
        Variables([a.clone(), if twin { a } else { b }, c, d, e])
    }
}

prop_compose! {
    fn numbers()(values in [number(), number(), number(), number(), number()]) -> Variables {
        Variables(values)
    }
}

/// How tightly operators bind, tightest first: what is written, and what it means.
const PRECEDENCE: [(&str, &str); 40] = [
    // Path, call, index and filter before unary operators.
    ("-a.b", "-(a.b)"),
    ("-a[b]", "-(a[b])"),
    ("-a | string", "-(a | string)"),
    ("!a | default(true)", "!(a | default(true))"),
    ("not a.lower() == b", "not ((a.lower()) == b)"),
    ("a | default(b) | length", "(a | default(b)) | length"),
    // Unary before products.
    ("-a * b", "(-a) * b"),
    ("a * -b", "a * (-b)"),
    ("- -a", "-(-a)"),
    ("!a == b", "(!a) == b"),
    // Products before sums, from left to right.
    ("a + b * c", "a + (b * c)"),
    ("a * b + c", "(a * b) + c"),
    ("a - b / c", "a - (b / c)"),
    ("a % b - c", "(a % b) - c"),
    ("a / b / c", "(a / b) / c"),
    ("a / b * c", "(a / b) * c"),
    ("a % b * c", "(a % b) * c"),
    ("a - b - c", "(a - b) - c"),
    ("a - b + c", "(a - b) + c"),
    ("a + b | string", "a + (b | string)"),
    // Sums before comparisons.
    ("a + b == c + d", "(a + b) == (c + d)"),
    ("a < b - c", "a < (b - c)"),
    ("a + b in c", "(a + b) in c"),
    ("a not in b + c", "a not in (b + c)"),
    // Comparisons before `not`.
    ("not a == b", "not (a == b)"),
    ("not a in b", "not (a in b)"),
    ("not a not in b", "not (a not in b)"),
    ("not not a == b", "not (not (a == b))"),
    // `not` before `and`.
    ("not a and b", "(not a) and b"),
    ("a && not b == c && d", "(a && (not (b == c))) && d"),
    // `and` before `or`.
    ("a or b and c", "a or (b and c)"),
    ("a && b || c", "(a && b) || c"),
    ("a == b and c == d", "(a == b) and (c == d)"),
    ("a || b and c || d", "(a || (b and c)) || d"),
    // Everything before the choice, which leans to the right.
    ("a or b ? c : d", "(a or b) ? c : d"),
    ("a == b ? c : d", "(a == b) ? c : d"),
    ("a ? b : c ? d : e", "a ? b : (c ? d : e)"),
    ("a ? b ? c : d : e", "a ? (b ? c : d) : e"),
    ("a ? b : c or d", "a ? b : (c or d)"),
    ("a ? b : c | default(d)", "a ? b : (c | default(d))"),
];

proptest! {
    #[test]
    fn literals_mean_themselves(value in value(), single in any::<bool>()) {
        let text = value.to_json();
        // In a text that begins a placeholder (R-X8).
        prop_assume!(!text.contains("{{"));
        let env = Variables(std::array::from_fn(|_| value.clone()));
        prop_assert_eq!(env.eval(&text).map(|found| found.to_json()), Ok(text.clone()));
        let equals = format!("a == {text}");
        prop_assert!(env.holds(&equals), "{}", equals);
        if let (Value::String(word), true) = (&value, single) {
            let quoted = format!("'{}'", word.replace('\\', "\\\\").replace('\'', "\\'"));
            prop_assert_eq!(env.eval(&quoted), Ok(value.clone()));
        }
    }

    #[test]
    fn operators_bind_as_tightly_as_specified(mixed in variables(), numbers in numbers(), flags in any::<[bool; 5]>()) {
        let flags = Variables(flags.map(Value::from));
        for env in [mixed, numbers, flags] {
            for (written, meant) in PRECEDENCE {
                prop_assert!(env.agree(written, meant), "{written} is not {meant} in {env:?}");
            }
        }
    }

    #[test]
    fn equality_is_an_equivalence(env in variables()) {
        prop_assert!(env.holds("a == a and not (a != a)"));
        prop_assert!(env.agree("a == b", "b == a"));
        prop_assert!(env.agree("a != b", "not (a == b)"));
        prop_assert!(env.holds("not (a == b and b == c) or a == c"));
        prop_assert!(env.holds("(a == null) == (null == a)"));
        let null = env.0[0].is_null();
        prop_assert_eq!(env.holds("a == null"), null, "null equals nothing else");
    }

    /// Two numbers or two texts have exactly one order; anything else has none.
    #[test]
    fn orders_are_total_or_not_there(env in variables(), numbers in numbers()) {
        for env in [env, numbers] {
            let ordered = matches!(
                (&env.0[0], &env.0[1]),
                (Value::Number(_), Value::Number(_)) | (Value::String(_), Value::String(_))
            );
            let count = ["a < b", "a == b", "a > b"].iter().filter(|text| env.holds(text)).count();
            if ordered {
                prop_assert_eq!(count, 1, "{:?}", env);
                prop_assert!(env.agree("a <= b", "a < b or a == b") && env.agree("a >= b", "not (a < b)"));
            } else {
                prop_assert!(env.holds("not (a < b or a > b or a <= b or a >= b)"), "{:?}", env);
            }
            prop_assert!(env.agree("a < b", "b > a") && env.agree("a <= b", "b >= a"));
            prop_assert!(env.holds("not (a < b and b < c) or a < c"));
        }
    }

    #[test]
    fn membership_is_of_elements_keys_and_parts(env in variables()) {
        prop_assert!(env.holds("a in [b, a]") && env.holds("not (a in [])"));
        prop_assert!(env.agree("a in [b, c]", "a == b or a == c"));
        prop_assert!(env.agree("a not in b", "not (a in b)"));
        let expected = match (&env.0[0], &env.0[1]) {
            (Value::String(part), Value::String(text)) => Some(text.contains(part.as_ref())),
            (Value::String(key), Value::Object(map)) => Some(map.contains_key(key)),
            (_, Value::Array(_)) => None,
            _ => Some(false),
        };
        if let Some(expected) = expected {
            prop_assert_eq!(env.holds("a in b"), expected, "{:?}", env);
        }
    }

    /// A missing value is null, and null goes through everything but arithmetic.
    #[test]
    fn null_is_nothing(env in variables()) {
        for missing in ["zz.y.x", "zz['k'][0]", "a['no such key'].b", "[][0]", "{}['k']", "null"] {
            prop_assert_eq!(env.eval(missing), Ok(Value::Null), "{}", missing);
            for filter in ["lower", "length", "first", "int", "join(',')", "contains('x')", "round", "tojson"] {
                prop_assert_eq!(env.eval(&format!("({missing}) | {filter}")), Ok(Value::Null), "{}", filter);
            }
            let default = format!("({missing}) | default(a)");
            prop_assert!(env.agree(&default, "a"), "{}", default);
            for operator in ["<", "<=", ">", ">=", "in"] {
                prop_assert!(!env.holds(&format!("{missing} {operator} 1")), "{missing} {operator}");
            }
            for operator in ["+", "-", "*", "/", "%"] {
                prop_assert!(env.eval(&format!("{missing} {operator} a")).is_err(), "{missing} {operator}");
            }
            prop_assert!(env.holds(&format!("not ({missing})")), "null is false");
        }
        prop_assert!(env.agree("a | default(b)", "a == null ? b : a"));
    }

    #[test]
    fn arithmetic_is_checked_and_keeps_integers(a in any::<i64>(), b in any::<i64>(), small in -50..50_i64) {
        let env = Variables([a.into(), b.into(), small.into(), Value::Null, Value::Null]);
        let value = |n: Option<i64>| n.map(|n| Value::from(n).to_json());
        let found = |text: &str| env.eval(text).ok().map(|value| value.to_json());
        prop_assert_eq!(found("a + b"), value(a.checked_add(b)));
        prop_assert_eq!(found("a - b"), value(a.checked_sub(b)));
        prop_assert_eq!(found("a * c"), value(a.checked_mul(small)));
        prop_assert_eq!(found("-a"), value(a.checked_neg()));
        match a.checked_rem(small) {
            None => prop_assert_eq!(found("a / c").or(found("a % c")).filter(|_| small == 0), None),
            Some(0) => prop_assert_eq!(found("a / c"), value(a.checked_div(small))),
            Some(rest) => {
                prop_assert_eq!(found("a % c"), value(Some(rest)));
                prop_assert!(found("a / c").is_some_and(|n| n.contains(['.', 'e'])), "not exact, so a double");
            }
        }
    }

    #[test]
    fn any_text_keeps_the_promises_of_the_fuzz_target(
        text in "\\PC{0,40}|([a-e.0-9'\"()\\[\\]{}|?:!<>=&+*/% -]|in|not|and|or|null|lower|default\\(1\\)){0,20}"
    ) {
        fuzz::expression(text.as_bytes());
        fuzz::expression(format!("{{{{{text}}}}}").as_bytes());
    }
}
