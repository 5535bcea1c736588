//! The page in a browser: what people do there, whether everybody can, and what it looks like.
//!
//! `UPDATE_PICTURES=1` writes what it looks like to `host/docs/pictures`.
#![cfg(unix)]
#![expect(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic, reason = "tests")]

mod driver;
mod editor;
mod flows;
mod site;

use std::{env, fs, io::Write as _, path::Path};

use serde_json::{Value, json};

use self::{
    driver::Browser,
    editor::{TEXT, in_text, type_document},
    site::{Site, release, workflow},
};

fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

/// The rules of axe, where they are installed: `.ci/run` does that.
fn rules() -> Option<String> {
    let path = root().join("target/axe/axe.min.js");
    let found = fs::read_to_string(&path).ok();
    if found.is_none() {
        let said = format!(
            "accessibility was left out: no {} (the file of the npm package axe-core)\n",
            path.display()
        );
        assert!(env::var_os("PHASM_TEST_ALL").is_none(), "{said}");
        std::io::stderr().write_all(said.as_bytes()).unwrap();
    }
    found
}

/// A browser that looks at a site.
struct Visit {
    browser: Browser,
    site: Site,
    rules: Option<String>,
    _profile: tempfile::TempDir,
}

impl Visit {
    fn begin() -> Option<Self> {
        Self::of(Site::open)
    }

    fn of(site: impl FnOnce() -> Site) -> Option<Self> {
        let profile = tempfile::tempdir().unwrap();
        let browser = Browser::open(profile.path())?;
        Some(Self { browser, site: site(), rules: rules(), _profile: profile })
    }

    /// Each row of a list takes two lines on a phone.
    fn has_short_rows(&self) {
        self.browser.looks(390, false);
        let heights = self
            .browser
            .run("return [...document.querySelectorAll('tbody tr')].map((row) => row.offsetHeight)");
        let heights = heights.as_array().unwrap();
        assert!(
            !heights.is_empty() && heights.iter().all(|height| height.as_u64().unwrap() < 90),
            "{heights:?}"
        );
        self.browser.looks(1280, false);
    }

    fn go(&self, path: &str) {
        self.browser.go(&self.site.url(path));
    }

    /// Everybody can use the page that is shown: by axe's rules, dark and light; and nothing is wider than a phone but what scrolls.
    fn check(&self) {
        for (width, dark) in [(1280, false), (1280, true), (390, false)] {
            self.browser.looks(width, dark);
            let wide = self.browser.run("return document.documentElement.scrollWidth - window.innerWidth");
            assert!(wide.as_i64().unwrap() <= 0, "{wide} too wide at {width}: {}", self.browser.address());
            let Some(rules) = &self.rules else { continue };
            self.browser.run(rules);
            let found = self.browser.run_async(
                "const done = arguments[0]; axe.run().then((found) => done(found.violations.map((one) => \
                 [one.id, one.help, one.nodes.slice(0, 3).map((node) => node.html + ' ' + node.failureSummary)])), \
                 (error) => done(String(error)));",
            );
            assert_eq!(found, json!([]), "{} at {width}, dark {dark}: {found:#}", self.browser.address());
        }
        self.browser.looks(1280, false);
    }

    /// Takes a picture of the page where `UPDATE_PICTURES` is set.
    fn picture(&self, name: &str) {
        if env::var_os("UPDATE_PICTURES").is_none() {
            return;
        }
        let folder = root().join("host/docs/pictures");
        fs::create_dir_all(&folder).unwrap();
        self.browser.looks(1280, false);
        self.browser.run("window.scrollTo(0, 0)");
        self.browser.grows(1280, 1250);
        self.browser.picture(&folder.join(format!("{name}.png")));
        self.whole_pictures(name);
    }

    /// Takes pictures of the whole page, light, dark and on a phone, to be looked at: they are not kept.
    fn whole_pictures(&self, name: &str) {
        let folder = root().join("target/pictures");
        fs::create_dir_all(&folder).unwrap();
        for (look, width, dark) in [("light", 1280, false), ("dark", 1280, true), ("phone", 390, false)] {
            self.browser.looks(width, dark);
            self.browser.grows(width, 4000);
            self.browser.picture(&folder.join(format!("{name}-{look}.png")));
        }
        self.browser.looks(1280, false);
    }
}

/// Nothing went wrong in scripts, and the policy let all through.
fn watch_for_errors(browser: &Browser) {
    browser.run(
        "window.wrong = []; addEventListener('error', (e) => wrong.push(String(e.message))); \
         addEventListener('securitypolicyviolation', (e) => wrong.push(e.violatedDirective + ' ' + e.blockedURI));",
    );
}

fn nothing_was_wrong(browser: &Browser) {
    assert_eq!(browser.run("return window.wrong"), json!([]));
}

/// The editor shows a problem where it is while one types, then the parameters, and the run as it goes on.
#[test]
fn a_workflow_is_written_and_submitted() {
    let Some(visit) = Visit::begin() else { return };
    let browser = &visit.browser;
    visit.go("/");
    browser.until_says("No run yet");
    visit.check();
    browser.click("main a.button");
    watch_for_errors(browser);
    browser.until(TEXT);
    visit.check();
    type_document(
        browser,
        "apiVersion: aether/v1\nkind: Workflow\nmetadata: { name: hello }\nspec:\nentrypoint: main\n",
    );
    browser.until(&in_text(".cm-lint-marker-error"));
    browser.until_says("unknown field entrypoint");
    assert_eq!(browser.run(&format!("return {TEXT}.getAttribute('aria-invalid')")), "true");
    visit.check();
    visit.picture("submit");
    let line = browser.run("return document.querySelector('#report button.place').dataset.line");
    browser.click("#report button.place");
    let at = browser.run(&format!("return {}.innerText", in_text(".cm-lineNumbers .cm-activeLineGutter")));
    assert_eq!(at, line);
    assert_eq!(browser.run("return document.activeElement.id"), "text");
    nothing_was_wrong(browser);
    let document = workflow("hello", &["name: greet, executor: { type: work }"]).replace(
        "  templates:",
        "  arguments:\n    parameters: [{ name: who, type: string, default: world }]\n  templates:",
    );
    type_document(browser, &document);
    browser.until("document.querySelector('[name=\"param.who\"]')");
    browser.clear("[name='param.who']");
    browser.fill_in("[name='param.who']", "Ada");
    browser.click("button[value=submit]");
    browser.until_says("Run again");
    browser.until_says("Ada");
    visit.check();
}

/// While a document is being looked at for long, what was found of the one before is not offered any more.
#[test]
fn what_was_found_of_an_earlier_text_is_taken_back() {
    let Some(visit) = Visit::begin() else { return };
    let browser = &visit.browser;
    visit.go("/submit");
    browser.until_says("Submit a run of hello");
    let typed = |name: &str| {
        browser.run(&format!(
            "const t = document.querySelector('#document'); t.value = t.value.replace(/name: \\w+/, 'name: {name}'); \
             t.dispatchEvent(new Event('input', {{ bubbles: true }}))"
        ));
    };
    browser.run(
        "const send = window.fetch; window.fetch = (...what) => new Promise((resolve) => { window.goOn = () => resolve(send(...what)); })",
    );
    typed("other");
    browser.until("document.querySelector('button[value=submit]').disabled");
    browser.until_says("is being built, which may take minutes");
    assert!(
        !browser.run("return document.body.innerText").to_string().contains("The workflow file is valid")
    );
    browser.run("window.goOn()");
    browser.until_says("Submit a run of other");
    browser.until("!document.querySelector('button[value=submit]').disabled");
    browser.run("window.fetch = () => Promise.reject(new Error('gone'))");
    typed("third");
    browser.until_says("The server cannot be reached");
    assert_eq!(browser.run("return document.querySelector('button[value=submit]').disabled"), false);
}

/// A run is followed while it goes on, asks, is answered, and ends: without loading the page again.
#[test]
fn a_run_is_followed_and_answered() {
    let Some(visit) = Visit::begin() else { return };
    let browser = &visit.browser;
    let run = visit.site.submit(&release("talk"));
    let address = format!("/runs/{}", run.id());
    visit.go(&format!("{address}/tasks/2"));
    watch_for_errors(browser);
    browser.until("document.querySelector('#lines').dataset.open === ''");
    visit.site.say();
    browser.until_says("compiling part 3 of 3");
    browser.until_says("<b>this takes longer</b>");
    visit.check();
    visit.site.say();
    browser.until("document.querySelector('#title').innerText.includes('Succeeded')");
    browser.until("document.querySelector('#logs').innerText.includes('compiling part 3 of 3')");
    browser.until("document.querySelector('#told').innerText.includes('build is Succeeded')");
    nothing_was_wrong(browser);
    visit.go(&address);
    watch_for_errors(browser);
    browser.until_says("Release 1.4.0 to everybody?");
    for view in ["graph", "timeline", "tasks", "logs", "definition", "events"] {
        visit.go(&format!("{address}?view={view}"));
        visit.check();
        if ["graph", "timeline"].contains(&view) {
            visit.picture(view);
        }
    }
    visit.go(&address);
    browser.until_says("Release 1.4.0 to everybody?");
    visit.check();
    visit.picture("approve");
    browser.fill_in("[name$='.by']", "Ada");
    browser.click("section.ask button[value=true]");
    browser.until("document.querySelector('#title').innerText.includes('Succeeded')");
    let ended = visit.site.runtime.block_on(run.wait()).unwrap();
    let approve = ended.tasks.iter().find(|task| &*task.task_name == "approve").unwrap();
    let given: Vec<_> =
        approve.outputs.iter().map(|output| (&*output.name, output.value.to_json())).collect();
    assert!(given.contains(&("by", "\"Ada\"".to_owned())), "{given:?}");
    visit.go(&format!("{address}/tasks/4"));
    browser.until_says("Attempt 1 returned code 2, which means Failed.");
    visit.check();
    visit.picture("task");
}

/// A list of runs changes while one looks at it; a run is cancelled and run again.
#[test]
fn runs_are_listed_cancelled_and_run_again() {
    let Some(visit) = Visit::begin() else { return };
    let browser = &visit.browser;
    for name in ["nightly-audit", "ingest", "nightly-audit"] {
        visit.site.settled(&workflow(
            name,
            &["name: collect, template: work", "name: report, template: work, dependencies: [collect]"],
        ));
    }
    visit.site.settled(&workflow("regression", &["name: tests, executor: { type: fail }"]));
    visit.site.settled(&release("work"));
    visit.go("/runs");
    watch_for_errors(browser);
    let slow = visit.site.submit(&workflow("backup", &["name: copy, executor: { type: talk }"]));
    browser.until_says("backup");
    browser.until("[...document.querySelectorAll('tbody tr')].some((row) => row.innerText.includes('backup') && row.innerText.includes('Running'))");
    nothing_was_wrong(browser);
    visit.check();
    visit.picture("runs");
    browser.fill_in("#text", "regress\n");
    browser.until("document.querySelectorAll('tbody tr').length === 1");
    browser.click("tbody a.row");
    browser.until_says("Run the failed part again");
    browser.click("#acts form:last-child button");
    browser.until_says("Rerun of");
    visit.go(&format!("/runs/{}", slow.id()));
    browser.click("#acts button.danger");
    browser.until("document.querySelector('#title').innerText.includes('Cancelled')");
    visit.go("/plugins");
    visit.check();
    let many = workflow("many", &["name: all, template: packages"])
        .replace("items: [linux, macos, windows]", "sequence: { start: 1, count: 3000 }");
    let many = visit.site.settled(&many);
    for view in ["graph", "timeline", "tasks", "events"] {
        visit.go(&format!("/runs/{}?view={view}", many.id()));
        let elements: Value = browser.run("return document.querySelectorAll('*').length");
        assert!(elements.as_u64().unwrap() < 5_000, "{view}: {elements}");
    }
    visit.go(&format!("/runs/{}", many.id()));
    browser.until_says("3000 of 3000 Succeeded");
}

/// A component that says this of itself, in a file that a browser can send.
fn component(site: &Site, manifest: &Value) -> String {
    let guests = root().join("tests/guests");
    let text = fs::read_to_string(guests.join("echo.wat")).unwrap();
    let world = fs::read_to_string(guests.join("world.wat")).unwrap();
    let bytes = wat::parse_str(world.replace(";; GUEST", &text)).unwrap();
    let manifest: phasm::plugins::Manifest = serde_json::from_value(manifest.clone()).unwrap();
    let file = site.dir.path().join("greet.wasm");
    fs::write(&file, manifest.embed(&bytes).unwrap()).unwrap();
    file.to_str().unwrap().to_owned()
}

/// R-A66: a plugin is added from a file, looked at, held, approved and removed.
#[test]
fn a_plugin_is_added_approved_and_removed() {
    let Some(visit) = Visit::of(Site::with_library) else { return };
    let browser = &visit.browser;
    let says = |version: &str, wants: Value| {
        json!({ "name": "greet", "version": version, "description": "Writes a greeting", "wants": wants,
            "retry": { "limit": 3, "delay": "1s" },
            "inputs": { "type": "object", "required": ["who"], "properties": {
                "who": { "type": "string", "description": "Whom to greet" },
                "times": { "type": "integer", "default": 1, "description": "How often" } } },
            "outputs": { "type": "object", "properties": { "greeting": { "type": "string", "description": "What was said" } } } })
    };
    let asks = json!({ "http": ["GET https://api.example.com/v1/*"] });
    visit.go("/plugins");
    watch_for_errors(browser);
    browser.until_says("No plugin yet");
    visit.check();
    nothing_was_wrong(browser);
    browser.fill_in("#component", &component(&visit.site, &json!({})));
    browser.click("form.sheet button");
    browser.until("document.querySelector('#called-wrong')");
    browser.until_says("does not say its version");
    visit.check();
    for (version, wants) in [
        ("1.0.0", asks.clone()),
        ("1.1.0", json!({ "http": ["https://api.example.com/v1/*"], "env": ["TOKEN"] })),
    ] {
        visit.go("/plugins");
        browser.fill_in("#component", &component(&visit.site, &says(version, wants)));
        browser.click("form.sheet button");
        browser.until_says("A step that uses it");
        browser.until_says(&format!("greet@{version}"));
        visit.check();
    }
    browser.until_says("It is held");
    visit.picture("plugin");
    visit.go("/plugins");
    browser.until_says("it asks for the environment variable TOKEN");
    visit.check();
    visit.has_short_rows();
    visit.picture("plugins");
    browser.click("tbody a");
    browser.until_says("Approve…");
    watch_for_errors(browser);
    browser.click("details.confirm:first-child summary");
    visit.check();
    nothing_was_wrong(browser);
    browser.click("details.confirm:first-child button");
    browser.until("!document.querySelector('.callout.ask')");
    browser.click("details.confirm summary");
    browser.click("details.confirm button");
    browser.until("document.querySelectorAll('tbody tr').length === 1");
}

/// A new user submits the example, saves it, runs it by its name, answers an approval, and cancels another run.
#[test]
fn a_newcomer_needs_no_manual() {
    let Some(visit) = Visit::begin() else { return };
    let browser = &visit.browser;
    visit.go("/");
    browser.until_says("No run yet");
    browser.click(".empty a");
    watch_for_errors(browser);
    browser.until_says("The workflow file is valid.");
    nothing_was_wrong(browser);
    browser.clear("[name='param.who']");
    browser.fill_in("[name='param.who']", "Ada");
    browser.click("button[value=submit]");
    browser.until("document.querySelector('#title').innerText.includes('Succeeded')");
    browser.click("#acts a.button");
    browser.until_says("Submit a run of hello");
    assert_eq!(browser.run("return document.querySelector('[name=\"param.who\"]').value"), "Ada");
    visit.go("/submit");
    browser.until_says("Save it as the workflow hello");
    browser.click("button[value=save]");
    browser.until("document.querySelector('h1').innerText === 'hello'");
    visit.check();
    browser.fill_in("[name='param.who']", ", all of you");
    browser.click("main form button");
    browser.until_says("world, all of you");
    browser.until_says("Saved under its name");
    browser.click("nav a[href='/submit']");
    browser.click(".examples summary");
    browser.click("a[href='/submit?example=approval']");
    browser.until_says("Submit a run of release");
    visit.check();
    browser.click("button[value=submit]");
    browser.until_says("main/approve");
    browser.click("section.ask button[value=true]");
    browser.until("document.querySelector('#title').innerText.includes('Succeeded')");
    visit.go("/submit?example=approval");
    browser.click("button[value=submit]");
    browser.until("document.querySelector('section.ask')");
    browser.click("#acts button.danger");
    browser.until("document.querySelector('#title').innerText.includes('Cancelled')");
}

/// A schedule is written, with its next instants while one types, kept, triggered, paused and removed; a page of it that is open hears of that.
#[test]
fn a_schedule_is_written_and_looked_after() {
    let Some(visit) = Visit::begin() else { return };
    let browser = &visit.browser;
    visit.go("/schedules");
    browser.until_says("No schedule");
    visit.check();
    browser.click(".head a.button");
    watch_for_errors(browser);
    browser.until("document.querySelectorAll('#comes time').length === 5");
    visit.check();
    visit.picture("schedule-written");
    let typed = |old: &str, new: &str| {
        browser.run(&format!(
            "const t = document.querySelector('#document'); t.value = t.value.replace({}, {}); \
             t.dispatchEvent(new Event('input', {{ bubbles: true }}))",
            json!(old),
            json!(new)
        ));
    };
    typed("Europe/Berlin", "Europe/Berlinn");
    browser.until(&in_text(".cm-lint-marker-error"));
    browser.until_says("1 error");
    typed("Europe/Berlinn", "America/New_York");
    browser.until_says("in the time zone America/New_York");
    browser.click("button[value=keep]");
    browser.until_says("No runs yet.");
    visit.check();
    watch_for_errors(browser);
    browser.click("section form button");
    browser.until("document.querySelector('#title').innerText.includes('Succeeded')");
    // The parts above the link change when the run ends.
    browser.until_says("Run again");
    browser.click("#facts a[href='/schedules/default/report']");
    browser.until_says("triggered");
    // Another client pauses the schedule: the page shows it by itself.
    visit.site.suspend("default", "report");
    browser.until_says("Paused by a user.");
    browser.click("#acts button");
    browser.until("document.querySelector('#acts button').innerText === 'Pause'");
    visit.check();
    visit.picture("schedule");
    visit.go("/schedules");
    visit.check();
    browser.click("tbody th a");
    browser.click("#acts a.danger");
    browser.until_says("Remove the schedule report?");
    visit.check();
    browser.click("form .danger, form button.danger");
    browser.until_says("No schedule");
}

/// A schedule whose runs fail is found in the list, with the reason on its page; on a phone each schedule takes two lines.
#[test]
fn a_failing_schedule_is_seen() {
    let Some(visit) = Visit::begin() else { return };
    let browser = &visit.browser;
    let nightly = |name: &str, work: &str| {
        workflow(name, &[&format!("name: collect, executor: {{ type: {work} }}")])
            .replace("kind: Workflow", "kind: CronWorkflow")
            .replace(
                "spec:\n",
                "spec:\n  schedule: \"0 3 * * *\"\n  timezone: Europe/Berlin\n  workflowSpec:\n",
            )
            .replace("  entrypoint: main\n  templates:\n    -", "    entrypoint: main\n    templates:\n    -")
    };
    visit.site.fire("backup", &nightly("backup", "work"), 2);
    visit.site.fire("report", &nightly("report", "fail"), 4);
    visit.go("/schedules");
    browser.until_says("4 failures in a row");
    visit.check();
    visit.has_short_rows();
    browser.click("tbody tr:last-child th a");
    browser.until_says("2 of 318 tests failed");
    browser.until_says("failing");
    visit.check();
    browser.click(".strip li:last-child a");
    browser.until("document.querySelector('#title').innerText.includes('Failed')");
}

/// The page of the API is short, and a link to a request opens it.
#[test]
fn the_api_is_looked_up() {
    let Some(visit) = Visit::begin() else { return };
    let browser = &visit.browser;
    visit.go("/v1/docs");
    visit.check();
    let height = browser.run("return document.documentElement.scrollHeight");
    assert!(height.as_u64().unwrap() <= 4000, "{height}");
    visit.go("/v1/docs#resumeTask");
    browser.until("document.querySelector('#resumeTask').checkVisibility()");
    browser.until_says("/tasks/approve/resume");
    visit.check();
}

/// Saved workflows have versions, each to be looked at and run; runs are found by namespace and label.
#[test]
fn workflows_have_versions() {
    let Some(visit) = Visit::begin() else { return };
    let browser = &visit.browser;
    for tasks in [
        &["name: collect, template: work"][..],
        &["name: collect, template: work", "name: report, template: work"],
    ] {
        visit.site.save(&workflow("audit", tasks));
    }
    visit.go("/workflows");
    visit.check();
    browser.click("tbody th a");
    browser.until("document.querySelectorAll('table tbody tr').length === 2");
    visit.check();
    visit.picture("workflow");
    browser.click("tbody tr:last-child a");
    browser.until_says("Submit a run of this version");
    assert!(
        !browser
            .run("return document.querySelector('pre.document').innerText")
            .to_string()
            .contains("report")
    );
    browser.click("main form button");
    browser.until("document.querySelector('#title').innerText.includes('Succeeded')");
    visit.go("/runs");
    browser.fill_in("#label", "team=platform\n");
    browser.until(
        "location.search.includes('team%3Dplatform') && document.querySelectorAll('tbody tr').length === 1",
    );
    visit.check();
    browser.clear("#label");
    browser.fill_in("#label", "team\n");
    browser.until_says("expected such as");
    visit.check();
}
