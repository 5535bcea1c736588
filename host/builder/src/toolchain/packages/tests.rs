use super::*;

const BOOKWORM: &str = "\
     rustc | 1.63.0+dfsg1-2 | http://archive.example/debian bookworm/main amd64 Packages
 rustc-web | 1.96.0+dfsg1-1~deb12u2 | http://archive.example/debian-security bookworm-security/main amd64 Packages
 rustc-web | 1.85.0+dfsg3-1~deb12u3 | http://archive.example/debian bookworm/main amd64 Packages
  rust-src | 1.63.0+dfsg1-2 | http://archive.example/debian bookworm/main amd64 Packages
rust-web-src | 1.96.0+dfsg1-1~deb12u2 | http://archive.example/debian-security bookworm-security/main amd64 Packages
rust-web-src | 1.85.0+dfsg3-1~deb12u3 | http://archive.example/debian bookworm/main amd64 Packages
";
/// The compiler was rebuilt there, its architecture-independent source was not.
const TRIXIE: &str = "\
     rustc | 1.85.1+dfsg1-1+deb13u1 | http://archive.example/debian trixie/main amd64 Packages
 rustc-web | 1.96.0+dfsg1-1~deb13u1+b1 | http://archive.example/debian trixie/main amd64 Packages
  rust-src | 1.85.1+dfsg1-1+deb13u1 | http://archive.example/debian trixie/main amd64 Packages
rust-web-src | 1.96.0+dfsg1-1~deb13u1 | http://archive.example/debian trixie/main amd64 Packages
";
const UBUNTU: &str = "\
     rustc | 1.75.0+dfsg0ubuntu1 | http://archive.example/ubuntu noble/universe amd64 Packages
rustc-1.95 | 1.95.0+dfsg0ubuntu2 | http://archive.example/ubuntu noble-updates/universe amd64 Packages
rustc-1.95 | 1.95.0+dfsg0ubuntu1 | http://archive.example/ubuntu noble-updates/universe amd64 Packages
rustc-1.100 | 1.100.0+dfsg0ubuntu1 | http://archive.example/ubuntu noble-updates/universe amd64 Packages
rust-1.95-src | 1.95.0+dfsg0ubuntu2 | http://archive.example/ubuntu noble-updates/universe amd64 Packages
rust-1.95-src | 1.95.0+dfsg0ubuntu1 | http://archive.example/ubuntu noble-updates/universe amd64 Packages
rust-1.100-src | 1.100.0+dfsg0ubuntu1 | http://archive.example/ubuntu noble-updates/universe amd64 Packages
";

fn chosen(madison: &str, minimum: &str) -> Option<(String, String)> {
    let (compiler, source) = choose(&parse_madison(madison), minimum.parse().unwrap())?;
    Some((compiler.exactly(), source.exactly()))
}

#[test]
fn the_newest_compiler_with_its_source_is_chosen() {
    let without_source = BOOKWORM.replace("rust-web-src | 1.96", "rust-web-src | 1.97");
    let rows = [
        (BOOKWORM, "1.95", Some(("rustc-web=1.96.0+dfsg1-1~deb12u2", "rust-web-src=1.96.0+dfsg1-1~deb12u2"))),
        (
            TRIXIE,
            "1.95",
            Some(("rustc-web=1.96.0+dfsg1-1~deb13u1+b1", "rust-web-src=1.96.0+dfsg1-1~deb13u1")),
        ),
        (UBUNTU, "1.95", Some(("rustc-1.100=1.100.0+dfsg0ubuntu1", "rust-1.100-src=1.100.0+dfsg0ubuntu1"))),
        (BOOKWORM, "1.97", None),
        (&without_source, "1.95", None),
        (
            &without_source,
            "1.80",
            Some(("rustc-web=1.85.0+dfsg3-1~deb12u3", "rust-web-src=1.85.0+dfsg3-1~deb12u3")),
        ),
        ("", "1.0", None),
    ];
    for (madison, minimum, expected) in rows {
        let expected = expected.map(|(compiler, source)| (compiler.to_owned(), source.to_owned()));
        assert_eq!(chosen(madison, minimum), expected, "{minimum}: {madison}");
    }
    let of_equals = UBUNTU.lines().filter(|line| !line.contains("1.100")).collect::<Vec<_>>().join("\n");
    assert_eq!(chosen(&of_equals, "1.95").unwrap().0, "rustc-1.95=1.95.0+dfsg0ubuntu2");
}

#[test]
fn madison_gives_binary_packages_and_their_archive() {
    let text = "\
 wasi-libc | 0.0~git20220510.9886d3d-2 | http://archive.example/debian bookworm/main amd64 Packages
 wasi-libc | 0.0~git20220510.9886d3d-2 | http://archive.example/debian bookworm/main Sources
 wasi-libc | 1 | http://mirror/debian/ bookworm/main amd64 Packages
N: Unable to locate package x
";
    let archives =
        parse_madison(text).into_iter().map(|package| (package.name, package.archive)).collect::<Vec<_>>();
    let expected = ["http://archive.example/debian", "http://mirror/debian"];
    assert_eq!(archives, expected.map(|archive| ("wasi-libc".to_owned(), archive.to_owned())));
}

#[test]
fn a_simulation_gives_what_the_system_lacks() {
    let text = "\
NOTE: This is only a simulation!
Remv rustup [1.26]
Inst libllvm22 (1:22.1.8-1~deb12u1 Debian-Security:12/oldstable-security [amd64])
Inst libc6 [2.36-9+deb12u9] (2.36-9+deb12u13 Debian:12.15/oldstable [amd64]) []
Inst rustc-web [1.85.0+dfsg3-1] (1.96.0+dfsg1-1~deb12u2 Debian-Security:12/oldstable-security [amd64])
Inst rust-web-src (1.96.0+dfsg1-1~deb12u2 Debian-Security:12/oldstable-security [all])
Conf libllvm22 (1:22.1.8-1~deb12u1 Debian-Security:12/oldstable-security [amd64])
";
    assert_eq!(
        parse_simulation(text, &["rustc-web", "rust-web-src"]),
        [
            "libllvm22=1:22.1.8-1~deb12u1",
            "rustc-web=1.96.0+dfsg1-1~deb12u2",
            "rust-web-src=1.96.0+dfsg1-1~deb12u2"
        ]
    );
}

#[test]
fn sources_are_named_after_their_compiler() {
    for (compiler, source) in
        [("rustc", "rust-src"), ("rustc-web", "rust-web-src"), ("rustc-1.95", "rust-1.95-src")]
    {
        assert_eq!(source_name(compiler), source);
    }
}

#[test]
fn releases_compare_by_number() {
    let rows = [
        ("1.95", Some("1.95.0")),
        ("1.96.0+dfsg1-1~deb12u2", Some("1.96.0")),
        ("1.98.0-nightly", Some("1.98.0")),
        ("1.100.2", Some("1.100.2")),
        ("", None),
        ("nightly", None),
        ("1..2", None),
        ("99999999999.1", None),
    ];
    for (text, expected) in rows {
        let release = text.parse::<Release>().ok();
        assert_eq!(release.map(|release| release.to_string()).as_deref(), expected, "{text:?}");
    }
    assert!("1.100.0".parse::<Release>().unwrap() > "1.96.3".parse().unwrap());
}
