//! Three hosts on one database, whose connections are cut and held up, and which is restarted.

use std::{path::PathBuf, sync::Arc, thread, time::Duration};

use phasm::store::PostgresReader;
use rustix::process::Signal;

use crate::{
    digest::Digest,
    kills,
    process::Process,
    proxy::Proxy,
    random::Random,
    round::{Expectations, Round, undisturbed},
    server::{Server, server},
    tally::{KILLS, Tally},
    workload::{ANSWER, WORKLOADS},
};

/// Hosts on one database.
const HOSTS: usize = 3;
/// Kills of one database.
const A_ROUND: u32 = 50;
/// Clients that try to submit a run one after the other.
const MOST_TRIES: u32 = 100;
/// A host is gone when nothing is heard of it for a second.
const LEASE: &str = "lease=1";
/// Looks at what is open in a quiet house, a tenth of a second each, after which it is not taken to end.
const MOST_LOOKS: u32 = 900;

const LOST: &str = "answer of an exchange lost";

struct Cluster<'t> {
    round: Round<'t>,
    server: &'static Server,
    /// URL of the database, without the faulty proxy.
    url: String,
    proxy: Proxy,
    hosts: Vec<Process>,
    submitted: usize,
}

/// The folder of a server's socket, from a URL of it.
fn socket(url: &str) -> PathBuf {
    let (_, rest) = url.split_once('@').unwrap();
    rest.split_once('/').unwrap().0.replace("%2F", "/").into()
}

impl<'t> Cluster<'t> {
    fn new(random: &'t mut Random, server: &'static Server, kills: u32, number: u32) -> Self {
        let schema = format!("torture{number}");
        let url = server.url(&schema);
        let proxy = Proxy::to(&socket(&url));
        let way = proxy.dir().display().to_string().replace('/', "%2F");
        let store = format!("postgres://phasm@{way}/postgres?schema={schema}&{LEASE}");
        let round = Round::new(random, &store, kills);
        round.bench.write("few.toml", "[limits]\nslots = 2\n");
        let mut cluster = Self { round, server, url, proxy, hosts: Vec::new(), submitted: 0 };
        for _ in 0..HOSTS {
            cluster.open();
        }
        cluster
    }

    /// Another host; some have so few slots that they offer attempts to the others.
    fn open(&mut self) {
        let mut arguments = vec!["serve", "--grace", "50ms", "--json"];
        if self.round.random.chance(60) {
            arguments.extend(["--config", "few.toml"]);
        }
        let host = self.round.start(&arguments);
        self.hosts.push(host);
    }

    /// Submits a run. A client may hang up, and retries use the same key.
    fn submit(&mut self) {
        let (name, _) = *self.round.random.pick(&WORKLOADS);
        self.submitted += 1;
        let (file, key) = (format!("{name}.yaml"), format!("{name}-{}", self.submitted));
        for _ in 0..MOST_TRIES {
            let mut client = self.round.start(&["submit", &file, "--key", &key]);
            if self.round.random.chance(25) {
                let moment = self.round.millis(0, 400);
                client.listen(moment);
                self.hang_up(&mut client);
            }
            let succeeded = client.end().is_some_and(|status| status.success());
            let id = client.said.iter().find(|line| line.len() == 36).cloned();
            if let Some(id) = id {
                self.round.promised(id);
                if succeeded {
                    return;
                }
            }
        }
        self.fail(&format!("{key} cannot be submitted"));
    }

    /// Processes that only send requests are not counted as hosts.
    fn hang_up(&mut self, client: &mut Process) {
        if client.signal(Signal::KILL) {
            self.round.tally.count("SIGKILL of a client");
        }
    }

    /// Disturbs a process.
    fn strike(&mut self) {
        match self.round.random.below(20) {
            0..9 => self.kill(Signal::KILL),
            9..11 => self.kill(Signal::TERM),
            11 => self.freeze(),
            12 => self.cut(),
            13..16 => self.lose(),
            16 => self.hold_up(),
            17..19 => self.set_a_clock(),
            _ => self.restart(),
        }
        let pause = self.round.millis(0, 200);
        thread::sleep(pause);
    }

    fn any(&mut self) -> usize {
        usize::try_from(self.round.random.below(self.hosts.len() as u64)).unwrap()
    }

    /// A host ends, and another begins.
    fn kill(&mut self, signal: Signal) {
        let victim = self.any();
        let mut host = self.hosts.swap_remove(victim);
        self.round.note(&format!("{signal:?} to a host"));
        if signal == Signal::KILL {
            self.round.kill(&mut host);
        } else {
            self.round.tally.count("SIGTERM");
            host.signal(signal);
        }
        let mut statuses = if signal == Signal::TERM { vec![143, -1] } else { vec![-1] };
        // A process that finds no database at its start reports it and ends.
        host.listen(Duration::from_millis(1));
        if host.said.iter().any(|line| line.contains("the store cannot be used")) {
            statuses.push(2);
        }
        self.round.end(&mut host, &statuses);
        self.open();
    }

    /// A host sleeps, mostly for longer than its lease, and goes on.
    fn freeze(&mut self) {
        let victim = self.any();
        let length = self.round.millis(100, 2500);
        self.round.note(&format!("a host sleeps for {length:?}"));
        self.round.tally.count("SIGSTOP");
        let host = self.hosts.get_mut(victim).unwrap();
        host.signal(Signal::STOP);
        thread::sleep(length);
        host.signal(Signal::CONT);
    }

    fn cut(&mut self) {
        self.round.note("connections are cut");
        self.round.tally.count("connections cut");
        self.proxy.cut();
    }

    /// Exchanges of attempts happen, and their responses are lost.
    fn lose(&mut self) {
        let exchanges = 1 + u32::try_from(self.round.random.below(4)).unwrap();
        self.round.note(&format!("{exchanges} exchanges get no answer"));
        self.proxy.lose(exchanges);
    }

    /// At most one host has a wrong clock: with none right no host would know what is due.
    fn set_a_clock(&mut self) {
        self.hosts.iter().flat_map(|host| &host.clock).for_each(|clock| clock.set(0));
        let victim = self.any();
        self.round.set_clock(self.hosts.get(victim).unwrap());
    }

    fn hold_up(&mut self) {
        let (each, length) = (self.round.millis(5, 200), self.round.millis(100, 1500));
        self.round.note(&format!("each piece is held up by {each:?} for {length:?}"));
        self.round.tally.count("connections held up");
        self.proxy.delay(each);
        thread::sleep(length);
        self.proxy.delay(Duration::ZERO);
    }

    fn restart(&mut self) {
        self.round.note("the database is restarted");
        self.round.tally.count("database restarted");
        self.server.control("stop");
        let pause = self.round.millis(0, 800);
        thread::sleep(pause);
        self.server.control("start");
    }

    fn runs(&mut self) -> Vec<Digest> {
        if self.submitted == 0 {
            // There may be no tables yet.
            return Vec::new();
        }
        let store = PostgresReader::open(&self.url);
        self.round.runs(store.map(|store| Arc::new(store) as _).map_err(|error| error.to_string()))
    }

    /// Answers suspended tasks. A client that hangs up may or may not have been heard.
    fn answer(&mut self, runs: &[Digest]) {
        for run in runs.iter().filter(|run| !run.asks.is_empty()) {
            let mut client =
                self.round.start(&["resume", &run.row.head.run_id, "ask", ANSWER, "--grace", "0"]);
            if self.round.left > 0 && self.round.random.chance(40) {
                let moment = self.round.millis(0, 600);
                client.listen(moment);
                self.hang_up(&mut client);
            }
            // The answer may come too late, or the database may be away.
            client.end();
        }
    }

    fn fail(&mut self, why: &str) -> ! {
        let hosts = self.hosts.iter_mut().map(|host| {
            host.listen(Duration::ZERO);
            host.said.join("\n")
        });
        let hosts: Vec<String> = hosts.collect();
        self.round.fail(&format!("{why}\nhosts said\n{}", hosts.join("\n--\n")))
    }

    fn play(mut self, expected: &Expectations) -> Tally {
        while self.round.left > 0 {
            for _ in 0..self.round.random.below(3) {
                self.submit();
            }
            self.strike();
            if self.round.random.chance(20) {
                let runs = self.runs();
                self.answer(&runs);
            }
        }
        let runs = self.ended();
        if runs.len() != self.submitted {
            self.fail(&format!("{} runs of {} that were submitted", runs.len(), self.submitted));
        }
        self.round.check(&runs, expected);
        (0..self.proxy.lost()).for_each(|_| self.round.tally.count(LOST));
        self.round.tally
    }

    /// All runs, once they have ended.
    fn ended(&mut self) -> Vec<Digest> {
        for _ in 0..MOST_LOOKS {
            let runs = self.runs();
            if runs.iter().all(|run| !run.row.status.open) {
                return runs;
            }
            self.answer(&runs);
            thread::sleep(Duration::from_millis(100));
        }
        let open = self.runs().into_iter().filter(|run| run.row.status.open);
        let open: Vec<String> = open.map(|run| format!("{:?}\n{}", run.row, run.text)).collect();
        self.fail(&format!("these do not end\n{}", open.join("\n")))
    }
}

/// R-H1, R-H2, R-H10 to R-H14, R-L16, R-L17, R-T11: whatever is done to hosts, clients, their database and the way to it.
#[test]
fn runs_of_a_database_survive_those_who_drive_them() {
    let Some(server) = server() else { return };
    let expected = undisturbed();
    let mut random = Random::new(2);
    let (wanted, mut tally) = (kills().div_ceil(2), Tally::default());
    for number in 0.. {
        let left = wanted.saturating_sub(tally.of(KILLS));
        if left == 0 {
            break;
        }
        tally.add(Cluster::new(&mut random, server, left.min(A_ROUND), number).play(&expected));
    }
    tally.say("runs of a database");
    assert!(tally.of(LOST) > 0, "no exchange of attempts was met");
}
