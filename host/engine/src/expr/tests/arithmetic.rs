//! Numbers: results, their types, and what has none.

use super::*;

const ENV: &str = r#"{"i": 7, "x": 2.5, "s": "ab", "n": null, "list": [1], "o": {}, "t": true,
    "max": 9223372036854775807, "min": -9223372036854775808, "big": 18446744073709551615, "huge": 1e308}"#;

/// R-X6.
#[test]
fn results() {
    check(
        ENV,
        &[
            ("1 + 2", "3"),
            ("1 + 2.0", "3.0"),
            ("1.5 + 1.5", "3.0"),
            ("1 - 2", "-1"),
            ("2 * 3", "6"),
            ("2 * 0.5", "1.0"),
            ("6 / 3", "2"),
            ("7 / 2", "3.5"),
            ("-7 / 2", "-3.5"),
            ("6.0 / 3", "2.0"),
            ("1 / 3", "0.3333333333333333"),
            ("7 % 3", "1"),
            ("-7 % 3", "-1"),
            ("7 % -3", "1"),
            ("7.5 % 2", "1.5"),
            ("i % 2 == 1", "true"),
            ("-i", "-7"),
            ("-x", "-2.5"),
            ("- -i", "7"),
            ("0.1 + 0.2", "0.30000000000000004"),
            ("max", "9223372036854775807"),
            ("max - 1 + 1", "9223372036854775807"),
            ("max + 1.0 == 9223372036854775808.0", "true"),
            ("min % -1", "0"),
            ("min + max", "-1"),
            ("big - big", "0"),
            ("big / 5", "3689348814741910323"),
            ("big % 10", "5"),
            ("s + 'cd'", r#""abcd""#),
            ("s + s + s", r#""ababab""#),
            ("s + ''", r#""ab""#),
            ("list + [2] + list", "[1,2,1]"),
            ("[] + []", "[]"),
            ("'a' + (1 | string)", r#""a1""#),
        ],
    );
}

/// R-X6.
#[test]
fn what_has_no_result() {
    check_fails(
        ENV,
        &[
            ("1 / 0", "division by zero in integer 1 / integer 0"),
            ("1 % 0", "division by zero"),
            ("1.5 / 0.0", "division by zero"),
            ("x % 0", "division by zero"),
            ("0 / 0", "division by zero"),
            ("max + 1", "the result is out of range in integer 9223372036854775807 + integer 1"),
            ("min - 1", "out of range"),
            ("max * 2", "out of range"),
            ("min / -1", "out of range"),
            ("-min", "out of range"),
            ("big + 0", "out of range"),
            ("-big", "out of range"),
            ("big * big * big", "out of range"),
            ("huge * 10", "out of range"),
            ("huge + huge", "out of range"),
            ("-huge - huge", "out of range"),
            ("huge / 0.1", "out of range"),
            ("1 + n", "`+` cannot combine integer 1 + null"),
            ("n + 1", "cannot combine null + integer 1"),
            ("n * n", "cannot combine null * null"),
            ("missing - 1", "cannot combine null - integer 1"),
            ("-n", "`-` works on numbers, not on null"),
            ("-s", "`-` works on numbers, not on string \"ab\""),
            ("s + 1", "`+` cannot combine string \"ab\" + integer 1"),
            ("1 + s", "cannot combine integer 1 + string \"ab\""),
            ("s - s", "`-` cannot combine"),
            ("s * 3", "`*` cannot combine string \"ab\" * integer 3"),
            ("s / 2", "`/` cannot combine"),
            ("s % 2", "`%` cannot combine"),
            ("list - list", "cannot combine an array of 1 - an array of 1"),
            ("list + 1", "cannot combine"),
            ("list * 2", "cannot combine"),
            ("o + o", "cannot combine an object of 0 + an object of 0"),
            ("t + 1", "cannot combine boolean true + integer 1"),
            ("t + t", "cannot combine"),
            ("1 + 2 + n + 4", "cannot combine integer 3 + null"),
            (
                "'0123456789012345678901234567890123456789tail' + 1",
                "\"0123456789012345678901234567890123456789…\"",
            ),
        ],
    );
}

/// Integers of JSON outside of `i64` pass unchanged where nothing is computed.
#[test]
fn large_integers_pass_through() {
    check(
        ENV,
        &[
            ("big", "18446744073709551615"),
            ("[big]", "[18446744073709551615]"),
            ("t ? big : 0", "18446744073709551615"),
            ("n | default(big)", "18446744073709551615"),
            ("big | string", r#""18446744073709551615""#),
            ("big | int", "18446744073709551615"),
            ("'18446744073709551615' | fromjson", "18446744073709551615"),
            ("big | round", "18446744073709551615"),
        ],
    );
}
