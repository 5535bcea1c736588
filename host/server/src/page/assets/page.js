// What the page has more where scripts run. Everything works without.
import { keepUpToDate } from "./live.js";
import { edit } from "./editor.js";
import { follow } from "./lines.js";
import { followAll } from "./run-logs.js";
import { offerCopies } from "./copy.js";
import { keepTime } from "./clock.js";
import { openInside } from "./inside.js";
import { offerZoom } from "./zoom.js";

document.addEventListener("submit", (event) => {
  const question = event.target.dataset.confirm;
  if (question && !window.confirm(question)) event.preventDefault();
});
// Filters apply as one chooses.
document.addEventListener("change", (event) => {
  const form = event.target.form;
  if (form && "apply" in form.dataset) form.requestSubmit();
});

// A name that was typed stands in the next form, too.
for (const field of document.querySelectorAll("[data-remember]")) {
  field.value ||= localStorage.getItem("name") ?? "";
  field.addEventListener("change", () => localStorage.setItem("name", field.value));
}
// A filter, a tab or a choice leads to the same page again: the focus stays where it was.
const FOCUS = "focus";
window.addEventListener("pagehide", () => {
  const at = document.activeElement;
  const isChoice = at?.closest(".tabs, .chips");
  const place = isChoice ? ".tabs [aria-current], .chips [aria-current]" : at?.id && at.closest("form") ? `#${CSS.escape(at.id)}` : "";
  sessionStorage.setItem(FOCUS, JSON.stringify({ path: window.location.pathname, place }));
});
const last = JSON.parse(sessionStorage.getItem(FOCUS) ?? "{}");
if (last.place && last.path === window.location.pathname) document.querySelector(last.place)?.focus({ preventScroll: true });

const main = document.getElementById("main");
const refresh = keepUpToDate(main);
openInside(main, refresh);
offerCopies(document);
keepTime(document);
offerZoom(document);
const form = document.querySelector("form[data-editor]");
if (form) edit(form);
const lines = document.getElementById("lines");
if (lines) follow(lines);
const logs = document.querySelector("[data-logs]");
if (logs) followAll(logs);
