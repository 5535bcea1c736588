use std::{ffi::OsString, fs, path::Path};

use super::*;
use crate::notify::DEFAULT_PHASES;
use phasm_artifacts::{Addressing, ArtifactPlace};
use phasm_engine::phase::Phase;
use phasm_sandbox::{AwsSigning, Isolation, Quota, Randomness, WallClock};

fn parse_at(dir: &Path, text: &str) -> Result<Config, Problems> {
    let env = |name: &str| (name == "DB_PASSWORD").then(|| OsString::from("hunter2"));
    Config::parse_in(text, &ConfigSource { dir, env: &env, is_root: false })
}

fn parse(text: &str) -> Result<Config, Problems> {
    parse_at(Path::new("/nowhere"), text)
}

/// `code line:column path`, in order.
fn found(problems: &[Problem]) -> Vec<String> {
    problems.iter().map(|p| format!("{} {}:{} {}", p.code, p.line, p.column, p.path)).collect()
}

#[test]
fn everything_there_is() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("cert.pem"), "CERT\r\n").unwrap();
    fs::create_dir(dir.path().join("in")).unwrap();
    let text = r#"
plugins = ["../plugins", "/abs"]
[grants.file]
dirs = [{ host = "in", guest = "/in" }, { host = "out", guest = "/out", mode = "rw", create = true, max-size = "1 MiB", max-files = 10 }]
env = { LANG = "C" }
http = []
wall-clock = "real"
random-seed = 7
[vars]
region = "eu"
sizes = [1, 2.5, { deep = true }]
day = 2024-01-31
[secrets]
db = { password = { env = "DB_PASSWORD" }, cert = { file = "cert.pem" } }
[limits]
memory = "32 MiB"
output = 1000
table-elements = 10
slots = 7
threads = 3
kept-log = 0
"#;
    let config = parse_at(dir.path(), text).unwrap();
    assert_eq!(config.warnings, []);
    assert_eq!(config.plugins, [dir.path().join("../plugins"), "/abs".into()]);
    let file = config.grants.get("file").unwrap();
    let dirs: Vec<_> = file.dirs.iter().map(|d| (d.host.clone(), d.guest.as_str(), d.read_only)).collect();
    assert_eq!(dirs, [(dir.path().join("in"), "/in", true), (dir.path().join("out"), "/out", false)]);
    let quotas: Vec<_> = file.dirs.iter().map(|d| d.quota).collect();
    assert_eq!(quotas, [Quota::default(), Quota { bytes: Some(1 << 20), files: Some(10) }]);
    assert_eq!(file.env.get("LANG").map(String::as_str), Some("C"));
    assert_eq!((file.wall_clock, file.random), (WallClock::Real, Randomness::Seeded(7)));
    assert_eq!(config.create, [dir.path().join("out")]);
    let vars = phasm_engine::value::Value::from(config.vars.clone()).to_json();
    assert_eq!(vars, r#"{"day":"2024-01-31","region":"eu","sizes":[1,2.5,{"deep":true}]}"#);
    let secret = |key: &str| {
        let reference = phasm_engine::plan::SecretRef { name: "db".into(), key: key.into() };
        config.secrets.get(&reference).map(ToString::to_string)
    };
    assert_eq!((secret("password").as_deref(), secret("cert").as_deref()), (Some("hunter2"), Some("CERT")));
    let limits = Limits::default();
    assert_eq!((config.limits.memory, config.limits.output), (32 << 20, 1000));
    assert_eq!((config.limits.table_elements, config.limits.stack), (10, limits.stack));
    assert_eq!((config.slots, config.threads.map(NonZeroUsize::get)), (Some(7), Some(3)));
    assert_eq!(config.kept_log, Some(0));
    config.create_dirs().unwrap();
    assert!(dir.path().join("out").is_dir());
}

#[test]
fn nothing_is_a_configuration_too() {
    let config = parse("").unwrap();
    assert!(config.plugins.is_empty() && config.grants.is_empty() && config.secrets.is_empty());
    assert_eq!((config.limits, config.slots), (Limits::default(), None));
}

#[test]
fn all_problems_at_once_in_order_with_places() {
    let text = r#"plugin = []
plugins = "x"
[grants]
file = 3
[grants.a]
dirs = [{ host = "x" }, { host = "x", guest = "/x", mode = "rx" }, { host = "/", guest = "" }, 5]
env = { N = 1 }
[secrets]
db = { p = { env = "A", file = "b" }, q = {} }
[limits]
memory = "64 megs"
slots = 0
log = -1
kept-log = "0"
memroy = 1
"#;
    let problems = parse(text).unwrap_err();
    assert_eq!(
        found(&problems),
        [
            "P011 1:1 plugin",
            "P010 2:11 plugins",
            "P010 4:8 grants.file",
            "P013 6:9 grants.a.dirs[0].guest",
            "P014 6:60 grants.a.dirs[1].mode",
            "P017 6:90 grants.a.dirs[2].guest",
            "P010 6:96 grants.a.dirs[3]",
            "P010 7:13 grants.a.env.N",
            "P016 9:25 secrets.db.p",
            "P016 9:43 secrets.db.q",
            "P037 11:10 limits.memory",
            "P015 12:9 limits.slots",
            "P037 13:7 limits.log",
            "P037 14:12 limits.kept-log",
            "P011 15:1 limits.memroy",
        ]
    );
    let hints: Vec<_> = problems.iter().filter_map(|p| p.hint.as_deref()).collect();
    for hint in ["did you mean `plugins`?", "did you mean `memory`?", "put it in quotes"] {
        assert!(hints.contains(&hint), "{hints:?}");
    }
}

#[test]
fn every_syntax_error_is_told() {
    let problems = parse("a = \nb = [1,\n[limits\n").unwrap_err();
    assert!(problems.iter().all(|p| p.code == "C001" && p.line > 0), "{problems:?}");
    let twice = parse("plugins = []\nplugins = []\n").unwrap_err();
    assert_eq!(found(&twice), ["C001 2:1 "]);
    let range = parse("[vars]\na = 9223372036854775808\nb = inf\n").unwrap_err();
    assert_eq!(found(&range), ["P015 2:5 vars.a", "P015 3:5 vars.b"]);
}

/// R-I20.
#[test]
fn a_wall_clock_is_real_or_stands() {
    let clock = |value: &str| {
        let config = parse(&format!("[grants.a]\nwall-clock = {value}\n"));
        config.map(|config| config.grants.get("a").unwrap().wall_clock)
    };
    let day = std::time::Duration::from_secs(86_400);
    for text in ["\"1970-01-02T00:00:00Z\"", "1970-01-02T00:00:00Z"] {
        assert_eq!(clock(text), Ok(WallClock::Standing(day)), "{text}");
    }
    assert_eq!(clock("\"real\""), Ok(WallClock::Real));
    for text in ["\"now\"", "\"1969-12-31T23:59:59Z\"", "\"1970-13-02T00:00:00Z\""] {
        assert_eq!(found(&clock(text).unwrap_err()), ["P014 2:14 grants.a.wall-clock"], "{text}");
    }
    assert_eq!(found(&clock("3").unwrap_err()), ["P010 2:14 grants.a.wall-clock"]);
}

/// R-I27.
#[test]
fn isolation_is_a_plugins_or_everybodys() {
    let config = parse("[grants.a]\nisolation = \"process\"\n[grants.b]\n[limits]\nprocesses = 3\n").unwrap();
    let of = |name: &str| config.grants.get(name).unwrap().isolation;
    assert_eq!((of("a"), of("b"), config.isolation), (Some(Isolation::Process), None, Isolation::Shared));
    assert_eq!(config.processes, Some(3));
    assert_eq!(parse("[limits]\nisolation = \"process\"\n").unwrap().isolation, Isolation::Process);
    assert_eq!(
        found(&parse("[limits]\nisolation = \"none\"\n").unwrap_err()),
        ["P014 2:13 limits.isolation"]
    );
}

#[test]
fn doubts_stop_nothing() {
    let text = r#"[grants.file]
dirs = [{ host = "gone", guest = "/gone" }]
[secrets]
db = { a = { env = "NOT_SET" }, b = { file = "not-there" } }
"#;
    let config = parse(text).unwrap();
    let expected =
        ["C103 2:18 grants.file.dirs[0].host", "C102 4:20 secrets.db.a.env", "C102 4:46 secrets.db.b.file"];
    assert_eq!(found(&config.warnings), expected);
    assert!(config.secrets.is_empty());
    let unknown = config.unknown_grants(&["files".into(), "jq".into()]);
    assert_eq!(found(&unknown), ["C104 1:9 grants.file"]);
    assert_eq!(unknown.first().unwrap().hint.as_deref(), Some("did you mean `files`?"));
    assert_eq!(config.unknown_grants(&["file".into()]), []);
}

/// R-I140, R-I142: every text that is no pattern or no network is told with its place and with what is right.
#[test]
fn connections_are_granted_by_patterns() {
    let text = r#"[grants.sql]
tcp = ["db.internal:5432", "db.internal", "10.0.0.0/8:1", "*.example.com:443"]
tcp-networks = ["10.0.0.0/8", "localhost"]
[limits]
tcp-sent = "1 MiB"
tcp-connections = 3
tcp-connect-time = "2s"
"#;
    let problems = found(&parse(text).unwrap_err());
    let expected = [
        "C014 2:28 grants.sql.tcp[1]",
        "C014 2:43 grants.sql.tcp[2]",
        "C008 3:31 grants.sql.tcp-networks[1]",
    ];
    assert_eq!(problems, expected);
    let right = text.replace(", \"db.internal\", \"10.0.0.0/8:1\"", "").replace(", \"localhost\"", "");
    let config = parse(&right).unwrap();
    let tcp = &config.grants["sql"].tcp;
    assert_eq!(
        tcp.allow.iter().map(ToString::to_string).collect::<Vec<_>>(),
        ["db.internal:5432", "*.example.com:443"]
    );
    assert_eq!(tcp.networks[0].to_string(), "10.0.0.0/8");
    assert_eq!((config.limits.tcp_sent, config.limits.tcp_connections), (1 << 20, 3));
    assert_eq!(config.limits.tcp_connect_time.as_secs(), 2);
}

/// R-I21, R-I22, R-I26: what is no pattern, no address and no certificate is told with its place.
#[test]
fn what_may_be_asked_of_the_network_is_read() {
    let text = r#"[grants.http]
http = ["GET https://*.example.com/v1/*", "example.org"]
http-networks = ["10.0.0.0/8", "localhost"]
[http]
hosts = { "A.example" = ["10.0.0.1", "b"] }
roots = ["not-there.pem"]
[secrets]
api = { token = { env = "DB_PASSWORD", egress = ["api.example.com"] } }
"#;
    let expected = [
        "C007 2:43 grants.http.http[1]",
        "C008 3:32 grants.http.http-networks[1]",
        "C008 5:38 http.hosts[\"A.example\"][1]",
        "C009 6:10 http.roots[0]",
        "C007 8:50 secrets.api.token.egress[0]",
    ];
    let mut problems = found(&parse(text).unwrap_err());
    problems.sort_unstable_by_key(|problem| problem.split(' ').nth(1).map(str::to_owned));
    assert_eq!(problems, expected);
    let right = text.replace(", \"example.org\"", "").replace(", \"localhost\"", "").replace(", \"b\"", "");
    let right = right
        .replace("roots = [\"not-there.pem\"]", "time = \"2s\"\nrequests = 3")
        .replace("\"api.", "\"https://api.");
    let config = parse(&right).unwrap();
    let http = config.grants["http"].http.clone();
    assert_eq!(http.allow[0].to_string(), "GET https://*.example.com/v1/*");
    assert_eq!(http.networks[0].to_string(), "10.0.0.0/8");
    assert_eq!((config.http.limits.requests, config.http.limits.time.as_secs()), (3, 2));
    assert_eq!(config.http.hosts["a.example"].len(), 1);
    let secret = config.secrets.egress().next().unwrap();
    let reference = phasm_engine::plan::SecretRef { name: "api".into(), key: "token".into() };
    assert_eq!(config.secrets.get(&reference), Some(&secret.placeholder));
    assert!(
        secret.placeholder != secret.value && !config.secrets.hide(&secret.value).contains(&*secret.value)
    );
}

/// R-I149: a key that signs requests needs its id, its region and destinations; others have none of them.
#[test]
fn a_key_that_signs_requests_is_read() {
    let text = r#"[secrets.s3]
key = { env = "DB_PASSWORD", sign = "aws-sigv4", access-key-id = "AKID", region = "eu-central-1", egress = ["https://*.example.com"] }
"#;
    let config = parse(text).unwrap();
    let signing = config.secrets.egress().next().unwrap().signing.clone().unwrap();
    let AwsSigning { access_key_id, region, service } = signing;
    assert_eq!([&*access_key_id, &*region, &*service], ["AKID", "eu-central-1", "s3"]);
    let bare = parse("[secrets.s3]\nkey = { env = \"DB_PASSWORD\", sign = \"aws-sigv4\" }\n").unwrap_err();
    let mut bare = found(&bare);
    bare.sort_unstable();
    assert_eq!(
        bare,
        [
            "P013 2:7 secrets.s3.key.access-key-id",
            "P013 2:7 secrets.s3.key.egress",
            "P013 2:7 secrets.s3.key.region",
        ]
    );
    let other = parse("[secrets.s3]\nkey = { env = \"DB_PASSWORD\", region = \"x\" }\n").unwrap_err();
    assert_eq!(found(&other), ["P018 2:30 secrets.s3.key.region"]);
    let word = text.replace("aws-sigv4", "aws-v4");
    assert_eq!(found(&parse(&word).unwrap_err()), ["P014 2:37 secrets.s3.key.sign"]);
}

#[test]
fn the_guest_sees_each_path_once() {
    let text = "[grants.a]\ndirs = [{ host = \"/\", guest = \"/x\" }, { host = \"/\", guest = \"/x\" }]\n";
    assert_eq!(found(&parse(text).unwrap_err()), ["C006 2:61 grants.a.dirs[1].guest"]);
}

/// The documented default of a limit is its default.
#[test]
fn documented_defaults_are_the_limits() {
    let schema = schema();
    let defaults = schema["$defs"]["limits"]["properties"].as_object().unwrap().iter();
    let written: String =
        defaults.filter_map(|(name, limit)| Some(format!("{name} = {}\n", limit.get("default")?))).collect();
    assert_eq!(written.lines().count(), 27, "{written}");
    let config = parse(&format!("[limits]\n{written}")).unwrap();
    let standard = SandboxConfig::default();
    assert_eq!((config.limits, config.slots), (standard.limits, Some(standard.slots)));
    assert_eq!(config.kept_log, Some(crate::watch::attempt_log::DEFAULT_LOG_BYTES as u64));
    let defaults = schema["$defs"]["http"]["properties"].as_object().unwrap().iter();
    let written: String =
        defaults.filter_map(|(name, limit)| Some(format!("{name} = {}\n", limit.get("default")?))).collect();
    assert_eq!(written.lines().count(), 10, "{written}");
    assert_eq!(parse(&format!("[http]\n{written}")).unwrap().http.limits, standard.http.limits);
}

#[test]
fn codes_are_unique() {
    let codes: Vec<_> = codes::ENTRIES.iter().map(|entry| entry.code).collect();
    let mut sorted = codes.clone();
    sorted.sort_unstable();
    sorted.dedup();
    assert_eq!(codes, sorted);
    assert_eq!(codes::find("c001").map(|entry| entry.code), Some("C001"));
}

/// R-I28.
#[test]
fn tenants_have_namespaces_and_a_weight() {
    let text = "[tenants]\nacme = { namespaces = [\"prod\"], weight = 3, quotas = { running = 2, open-runs = 9 } }\nguests = {}\n";
    let configured = parse(text).unwrap().tenants;
    let quotas = configured["acme"].quotas;
    assert_eq!((quotas.running, quotas.open_runs, quotas.queued), (Some(2), Some(9), None));
    let tenants = crate::tenants::tenant::shares(&configured);
    let whose = |namespace: &str| tenants.of(&namespace.into());
    assert_eq!([&*whose("prod"), &*whose("guests"), &*whose("acme")], ["acme", "guests", "acme"]);
    assert_eq!([tenants.weight("acme"), tenants.weight("guests"), tenants.weight("unknown")], [3, 1, 1]);
    let twice = "[tenants]\na = { namespaces = [\"prod\"] }\nb = { namespaces = [\"prod\"], weight = 0 }\n";
    assert_eq!(
        found(&parse(twice).unwrap_err()),
        ["C010 3:21 tenants.b.namespaces[0]", "P015 3:39 tenants.b.weight"]
    );
}

/// R-Q6.
#[test]
fn a_tenant_has_what_is_its_own() {
    let text = r#"[tenants.acme]
plugins = ["own"]
root = "acme"
secrets = { db = { password = { env = "DB_PASSWORD" } } }
[tenants.acme.grants.file]
dirs = [{ host = "data/../in", guest = "/in", create = true }]
"#;
    let config = parse(text).unwrap();
    let acme = &config.tenants["acme"];
    assert!(acme.plugins[0].ends_with("own") && acme.own_dirs && !acme.secrets.is_empty());
    assert!(acme.grants["file"].dirs[0].host.ends_with("acme/data/../in"), "{:?}", acme.grants);
    assert!(config.create[0].ends_with("acme/data/../in") && config.secrets.is_empty());
    for outside in ["../x", "/x", "a/../../x"] {
        let text = text.replace("data/../in", outside);
        assert_eq!(
            found(&parse(&text).unwrap_err()),
            ["C011 6:18 tenants.acme.grants.file.dirs[0].host"],
            "{outside}"
        );
    }
}

/// R-I40: a limit that bounds nothing is told, with the one that counts.
#[test]
fn limits_above_others_are_doubtful() {
    let text = "
        [limits]
        memory = '64 MiB'
        cpu = '10s'
        [http]
        requests = 10
        [tenants.acme]
        limits = { memory = '1 GiB', cpu = '5s', http-requests = 11, log = '1 MiB' }
        grants = { jq = { limits = { cpu = '6s', memory = '65 MiB' } } }
        [grants.jq]
        limits = { output = '9 MiB', random = '1 KiB' }
    ";
    let warned: Vec<_> = parse(text).unwrap().warnings.into_iter().filter(|one| one.code == "C105").collect();
    let told: Vec<_> = warned.iter().map(|one| format!("{}: {}", one.path, one.message)).collect();
    let expected = [
        "tenants.acme.limits.memory: 1024 MiB is above the limits of `[limits]` for every attempt, 64 MiB, which counts; expected 64 MiB or less",
        "tenants.acme.limits.http-requests: 11 is above the limits of `[http]` for every attempt, 10, which counts; expected 10 or less",
        "tenants.acme.grants.jq.limits.cpu: 6s is above `limits` of tenant `acme`, 5s, which counts; expected 5s or less",
        "tenants.acme.grants.jq.limits.memory: 65 MiB is above the limits of `[limits]` for every attempt, 64 MiB, which counts; expected 64 MiB or less",
        "grants.jq.limits.output: 9 MiB is above the limits of `[limits]` for every attempt, 8 MiB, which counts; expected 8 MiB or less",
    ];
    assert_eq!(told, expected);
}

/// R-Y1, R-Y4: who is told is what it should be, or every problem at once; secrets are shown by none of them.
#[test]
fn who_is_told_is_read() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("hook.key"), "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw\n").unwrap();
    let text = r#"
[notify.chat]
url = "https://hooks.example/services/T0"
secrets = [{ file = "hook.key" }, { env = "NOT_SET" }]
on = ["Failed", "Suspended"]
namespaces = ["default"]
[notify.all]
url = "http://127.0.0.1:9000"
secrets = [{ file = "hook.key" }]
named = true
inside = true
"#;
    let config = parse_at(dir.path(), text).unwrap();
    assert_eq!(found(&config.warnings).len(), 1, "{:?}", config.warnings);
    let (chat, all) = (&config.endpoints["chat"], &config.endpoints["all"]);
    assert_eq!((chat.on.as_slice(), chat.secrets.len()), ([Phase::Failed, Phase::Suspended].as_slice(), 1));
    assert_eq!((&*chat.namespaces, chat.named, chat.inside), (["default".into()].as_slice(), false, false));
    assert_eq!((all.on.as_slice(), all.named, all.inside), (DEFAULT_PHASES, true, true));
    assert!(!format!("{config:?}").contains("MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"));

    fs::write(dir.path().join("wrong.key"), "hunter2").unwrap();
    let wrong = r#"
[notify."Our chat"]
url = "hooks.example"
secrets = [{ file = "wrong.key" }]
on = ["Ended"]
[notify.b]
url = "https://user:hunter2@hooks.example/"
[notify.c]
url = "https://*.example/"
secrets = [{}]
"#;
    let problems = parse_at(dir.path(), wrong).unwrap_err();
    let codes: Vec<_> = problems.iter().map(|problem| problem.code).collect();
    for code in ["C021", "C022", "C023"] {
        assert!(codes.contains(&code), "{problems}");
    }
    assert_eq!(codes.iter().filter(|code| **code == "C022").count(), 3, "{problems}");
    assert!(problems.iter().any(|problem| problem.message.contains("missing field `secrets`")), "{problems}");
    assert!(problems.iter().any(|problem| problem.message.contains("`Ended`")), "{problems}");
    assert!(!problems.to_string().contains("hunter2"), "{problems}");
}

/// R-I170: every fault of a bucket is reported at once, and a key that is not there is a warning. The key is in no text.
#[test]
fn a_bucket_is_read_and_checked() {
    let text = "[artifacts.bucket]\nendpoint = \"https://s3.example\"\nname = \"files\"\nregion = \"eu\"\naccess-key-id = \"A\"\n";
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("s3.key"), "hunter2\n").unwrap();
    let config =
        parse_at(dir.path(), &format!("{text}secret-access-key = {{ file = \"s3.key\" }}\n")).unwrap();
    let Some(ArtifactPlace::Bucket { bucket, work: None }) = &config.artifact_place else {
        panic!("{:?}", config.artifact_place)
    };
    assert_eq!(
        (&*bucket.key.secret, bucket.cache_bytes, bucket.addressing),
        ("hunter2", 4 << 30, Addressing::Path)
    );
    assert!(!format!("{config:?}").contains("hunter2"));
    let config = parse_at(dir.path(), &format!("{text}secret-access-key = {{ file = \"none\" }}\n")).unwrap();
    assert_eq!(found(&config.warnings).len(), 1, "{:?}", config.warnings);

    let wrong = "[artifacts.bucket]\nendpoint = \"s3.example\"\nname = \"a\"\nprefix = \"a b\"\n";
    let problems = parse_at(dir.path(), wrong).unwrap_err();
    let count = |code| problems.iter().filter(|problem| problem.code == code).count();
    assert_eq!((count("C030"), count("P013")), (3, 3), "{problems}");
}

/// The password in a URL does not appear in the problem, which may be logged.
#[test]
fn a_password_in_a_url_is_refused_and_not_repeated() {
    for text in [
        "[telemetry]\notlp = \"https://ada:hunter2@otel.example\"",
        "[telemetry]\notlp = \"https://otel.example?key=hunter2\"",
        "[notify.chat]\nurl = \"https://ada:hunter2@hooks.example\"\nsecrets = []",
    ] {
        let problems = parse(text).unwrap_err();
        let problem = problems.iter().next().unwrap();
        let said = format!("{} {:?} {:?}", problem.message, problem.value, problem.hint);
        assert!(!said.contains("hunter2") && said.contains("password"), "{text}: {said}");
    }
}

/// R-L7: a directory that several plugins see is written once.
#[test]
fn a_directory_is_shared_by_plugins() {
    let text = r#"
[grants.file]
dirs = [{ host = "own", guest = "/own", create = true }]
env = { A = "1" }
[[dirs]]
host = "work"
guest = "/w"
mode = "rw"
create = true
max-files = 7
plugins = ["file", "git"]
[[dirs]]
host = "."
guest = "/own"
plugins = ["jq"]
"#;
    let config = parse(text).unwrap();
    let seen = |plugin: &str| -> Vec<(String, bool)> {
        config.grants[plugin].dirs.iter().map(|dir| (dir.guest.clone(), dir.read_only)).collect()
    };
    let shared = ("/w".to_owned(), false);
    assert_eq!(seen("file"), [("/own".to_owned(), true), shared.clone()]);
    assert_eq!((seen("git"), seen("jq")), (vec![shared], vec![("/own".to_owned(), true)]));
    assert_eq!(config.grants["file"].dirs[1], config.grants["git"].dirs[0]);
    assert!(config.grants["file"].env.contains_key("A") && config.create.len() == 2);
    assert!(config.grants["git"].dirs[0].host.is_absolute());
    let twice = text.replace("\"jq\"", "\"file\"");
    assert_eq!(found(&parse(&twice).unwrap_err()), ["C006 14:9 dirs[1].guest"]);
    let unnamed = text.replace("plugins = [\"jq\"]\n", "");
    assert_eq!(parse(&unnamed).unwrap_err().len(), 1);
}
