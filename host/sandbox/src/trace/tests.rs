use super::*;

const GOOD: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

/// R-O1: a `traceparent` that does not follow W3C counts as absent.
#[test]
fn an_invalid_traceparent_counts_as_absent() {
    let read = TraceContext::read(GOOD, None).unwrap();
    assert_eq!((read.parent().as_str(), read.is_sampled()), (GOOD, true));
    let trace = "0af7651916cd43dd8448eb211c80319c";
    let zeros = "0".repeat(32);
    let wrong = [
        String::new(),
        "-".repeat(55),
        GOOD[..54].to_owned(),
        format!("{GOOD}-"),
        format!("{GOOD}0"),
        format!("{GOOD}{}", "-a".repeat(100_000)),
        GOOD.to_uppercase(),
        GOOD.replacen("00", "ff", 1),
        GOOD.replacen("00", "0g", 1),
        GOOD.replacen("00", "0", 1),
        GOOD.replace("-01", "-0x"),
        GOOD.replace("-01", "-1 "),
        GOOD.replace(trace, &zeros),
        GOOD.replace("b7ad6b7169203331", "0000000000000000"),
        GOOD.replace('-', "_"),
        GOOD.replacen("0af7", "0-f7", 1),
        format!("cc-{trace}-b7ad6b7169203331-01x"),
        format!("00-{trace}-b7ad6b7169203331-é"),
        format!("00-{trace}-b7ad6b716920333é"),
        "\0".repeat(55),
    ];
    for text in wrong {
        assert_eq!(TraceContext::read(&text, Some("a=1")), None, "{text:.80}");
    }
}

/// R-O1: a later version may say more.
#[test]
fn the_known_fields_of_a_later_version_are_read() {
    for more in ["", "-", "-what-comes-then"] {
        let later = format!("cc{}{more}", &GOOD[2..]);
        assert_eq!(
            TraceContext::read(&later, None).map(|read| read.parent()).as_deref(),
            Some(GOOD),
            "{later}"
        );
    }
    let flags = TraceContext::read(&GOOD.replace("-01", "-fe"), None).unwrap();
    assert!(!flags.is_sampled() && flags.parent().ends_with("-02"), "{flags}");
}

/// R-O1: an invalid state does not invalidate the parent.
#[test]
fn a_state_is_passed_on_as_far_as_it_is_one() {
    let state =
        |text: &str| TraceContext::read(GOOD, Some(text)).unwrap().state.map(|state| state.to_string());
    let kept = [
        ("a=1", "a=1"),
        (" a=1 ,\tb/c=x y , , t1@sys=!", "a=1,b/c=x y,t1@sys=!"),
        (&*format!("a={},b=2", "x".repeat(256)), &*format!("a={},b=2", "x".repeat(256))),
    ];
    for (given, passed) in kept {
        assert_eq!(state(given).as_deref(), Some(passed), "{given}");
    }
    let many = (0..33).map(|n| format!("k{n}=v")).collect::<Vec<_>>().join(",");
    let wrong =
        ["", ",", "a", "a=", "=1", "A=1", "a=1,a=2", "a=1\u{1}", "a=é", "1a=1", "a@B=1", "a==", &many];
    for given in wrong {
        assert_eq!(state(given), None, "{given}");
    }
    let long = format!("a={},b={},c={}", "x".repeat(200), "y".repeat(200), "z".repeat(200));
    assert_eq!(state(&long), Some(format!("a={},b={}", "x".repeat(200), "y".repeat(200))));
    let short = (0..32).map(|n| format!("k{n:02}={}", "v".repeat(30))).collect::<Vec<_>>().join(",");
    let left = state(&short).unwrap();
    assert!(left.len() <= 512 && short.starts_with(&left) && left.len() > 450, "{left}");
}

#[test]
fn a_stored_context_is_read_again() {
    let context = TraceContext::read(GOOD, Some("a=1,b=2 3")).unwrap();
    assert_eq!(context.to_string().parse(), Ok(context));
    let alone = TraceContext::new(TraceId::of_run("r"), SpanId::of("a"), false);
    assert_eq!(alone.to_string().parse(), Ok(alone));
    assert_eq!("".parse::<TraceContext>(), Err(NotAContext));
}
