// What the page has more where scripts run. Everything works without.
import { keepUpToDate } from "./live.js";
import { edit } from "./editor.js";
import { follow } from "./lines.js";
import { offerCopies } from "./copy.js";

document.addEventListener("submit", (event) => {
  const question = event.target.dataset.confirm;
  if (question && !window.confirm(question)) event.preventDefault();
});

keepUpToDate(document.getElementById("main"));
offerCopies(document);
const form = document.querySelector("form[data-editor]");
if (form) edit(form);
const lines = document.getElementById("lines");
if (lines) follow(lines);
