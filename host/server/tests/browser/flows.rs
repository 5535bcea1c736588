//! Tasks that people come to the page for: finding a failure among many, deciding, running again, by keyboard too, and with a key.

use serde_json::json;

use super::{
    Visit,
    driver::keys::{ENTER, ESCAPE},
    editor::{TEXT, type_document},
    nothing_was_wrong, watch_for_errors,
};
use crate::site::{Site, customers, release, workflow};

/// R-A113, R-A114: of 500 iterations two failed; which customers these were, and what their logs say, is found without leaving the run.
#[test]
fn the_failed_iteration_of_many_is_found() {
    let Some(visit) = Visit::begin() else { return };
    let browser = &visit.browser;
    let run = visit.site.settled(&customers(500));
    visit.go("/runs");
    browser.until_says("2 of 500 failed (tolerated)");
    visit.check();
    browser.click("tbody a.row");
    browser.until_says("2 failed tasks");
    browser.until_says("customer-137");
    watch_for_errors(browser);
    visit.check();
    visit.picture("loop");
    browser.click(".failed-tasks a");
    browser.until("document.querySelector('#panel .close')");
    browser.until_says("customer-137 has no address");
    browser.until("document.querySelector('#panel').innerText.includes('looking at customer-137')");
    assert!(browser.address().contains("task="), "{}", browser.address());
    visit.check();
    visit.picture("panel");
    nothing_was_wrong(browser);
    browser.click("#panel .close");
    browser.until("!document.querySelector('#panel .close')");
    browser.run("history.back()");
    browser.until("document.querySelector('#panel .close')");
    visit.go(&format!("/runs/{}?view=logs&text=customer-402", run.id()));
    browser.until_says("looking at customer-402");
    assert!(!browser.run("return document.body.innerText").to_string().contains("looking at customer-137"));
    visit.check();
}

/// R-A115: what waits is found across runs; it is rejected with a comment, which the run then shows.
#[test]
fn a_release_is_rejected_with_a_comment() {
    let Some(visit) = Visit::begin() else { return };
    let browser = &visit.browser;
    let run = visit.site.settled(&release("work"));
    visit.go("/runs");
    browser.until_says("Waiting for approval");
    browser.click(".chip.asks");
    browser.until("document.querySelectorAll('tbody tr').length === 1");
    visit.check();
    visit.go("/waiting");
    browser.until_says("Release 1.4.0 to everybody?");
    visit.check();
    visit.picture("waiting");
    browser.fill_in("[name$='.comment']", "not on a Friday");
    browser.click("section.ask button[value=false]");
    browser.until("document.querySelector('#title').innerText.includes('Failed')");
    browser.until_says("not on a Friday");
    visit.check();
    let failed = visit.site.runtime.block_on(run.wait()).unwrap();
    assert_eq!(failed.phase.as_str(), "Failed");
    browser.click("#acts form:last-child button");
    browser.until_says("Rerun of");
    browser.until_says("Release 1.4.0 to everybody?");
    browser.click("section.ask button[value=true]");
    browser.until("document.querySelector('#title').innerText.includes('Succeeded')");
}

/// R-A117, R-A118: a failed run is edited and run again, and both runs lead to each other; the reference is one step away.
#[test]
fn a_run_is_edited_and_run_again() {
    let Some(visit) = Visit::begin() else { return };
    let browser = &visit.browser;
    let run = visit.site.settled(&workflow("regression", &["name: tests, executor: { type: fail }"]));
    visit.go(&format!("/runs/{}", run.id()));
    browser.click("#acts a.button");
    browser.until(TEXT);
    browser.until_says("Edit and run again");
    type_document(browser, &workflow("regression", &["name: tests, template: worl"]));
    browser.until("document.querySelector('.problems a[href^=\"/reference/errors#P\"]')");
    type_document(browser, &workflow("regression", &["name: tests, template: work"]));
    browser.until("document.querySelector('button[value=submit]')");
    visit.check();
    browser.click("button[value=submit]");
    browser.until("document.querySelector('#title').innerText.includes('Succeeded')");
    browser.until_says("Rerun of");
    visit.check();
    browser.click("#summary .help a");
    browser.until_says("Run again as");
    visit.check();
    visit.go("/reference");
    browser.until_says("Fields of a workflow file");
    visit.check();
    visit.go("/reference/errors#P022");
    browser.until_says("Task that does not exist");
    visit.check();
}

/// A form that is being filled in stays while the run goes on around it.
#[test]
fn a_comment_stays_while_the_run_goes_on() {
    let Some(visit) = Visit::begin() else { return };
    let browser = &visit.browser;
    let run = visit.site.submit(&workflow(
        "both",
        &["name: ask, executor: { type: approval }", "name: build, executor: { type: talk }"],
    ));
    visit.go(&format!("/runs/{}", run.id()));
    watch_for_errors(browser);
    browser.until("document.querySelector(\"[name$='.comment']\")");
    browser.fill_in("[name$='.comment']", "half a sent");
    browser.run("document.activeElement.blur()");
    visit.site.say();
    visit.site.say();
    browser.until("document.querySelector('.tally').innerText.includes('1 succeeded')");
    assert_eq!(browser.run("return document.querySelector(\"[name$='.comment']\").value"), "half a sent");
    nothing_was_wrong(browser);
}

/// A whole flow without a mouse: the run is opened, its failed task read, closed, and run again.
#[test]
fn a_keyboard_is_enough() {
    let Some(visit) = Visit::begin() else { return };
    let browser = &visit.browser;
    visit.site.settled(&workflow("regression", &["name: tests, executor: { type: fail }"]));
    visit.go("/runs");
    let at = |selector: &str| format!("document.activeElement.matches({})", json!(selector));
    browser.tab_to(&at("a.row"));
    browser.press(ENTER);
    browser.until_says("1 failed task");
    browser.tab_to(&at(".failed-tasks a"));
    browser.press(ENTER);
    browser.until("document.activeElement.id === 'panel'");
    browser.until_says("2 of 318 tests failed");
    browser.press(ESCAPE);
    browser.until("!document.querySelector('#panel .close')");
    browser.until("document.activeElement.matches('.failed-tasks a')");
    visit.go(&browser.path());
    browser.tab_to("document.activeElement.innerText === 'Run the failed part again'");
    browser.press(ENTER);
    browser.until_says("Rerun of");
}

/// Keys: one signs in, does what the key may, is named as the one who approved, and signs out.
#[test]
fn who_approves_is_signed_in() {
    let Some(visit) = Visit::of(Site::with_keys) else { return };
    let browser = &visit.browser;
    visit.site.settled(&release("work"));
    visit.go("/waiting");
    browser.until("document.querySelector('form [name=key]')");
    visit.check();
    browser.fill_in("[name=key]", visit.site.key());
    browser.click("main form button");
    browser.until_says("Release 1.4.0 to everybody?");
    browser.until_says("as ada");
    assert_eq!(browser.run("return document.querySelectorAll(\"[name$='.by']\").length"), 0);
    visit.check();
    browser.click("section.ask button[value=true]");
    browser.until("document.querySelector('#title').innerText.includes('Succeeded')");
    browser.until_says("approved by ada");
    browser.click(".who button");
    browser.until("document.querySelector('form [name=key]')");
}

/// A page says that the server is gone, and goes on when it is back.
#[test]
fn a_lost_connection_is_said() {
    let Some(mut visit) = Visit::begin() else { return };
    visit.go("/runs");
    visit.browser.until("document.querySelector('#connection').hidden");
    visit.site.stop();
    visit.browser.until("!document.querySelector('#connection').hidden");
    visit.browser.until_says("The connection to the server is lost");
    visit.site.start();
    visit.browser.until("document.querySelector('#connection').hidden");
    visit.site.settled(&workflow("afterwards", &["name: collect, template: work"]));
    visit.browser.until_says("afterwards");
}
