// The editor: errors at their lines, the form and the graph of the text, while one types.
const PATIENCE = 300;
// After so long the findings of an earlier text are taken back.
const LATE = 1000;

// The text that was written last in this tab.
const DRAFT = "draft";

export function edit(form) {
  const text = form.querySelector("#document");
  let editor = null;
  let timer = 0;
  let asked = 0;
  const keepsDraft = "draft" in form.dataset;

  text.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(check, PATIENCE);
    if (keepsDraft) sessionStorage.setItem(DRAFT, text.value);
  });
  if (keepsDraft) offerDraft(form, text);
  form.addEventListener("click", (event) => {
    const at = event.target.closest("button.place");
    if (at) editor?.go(Number(at.dataset.line), Number(at.dataset.column));
  });
  form.addEventListener("submit", () => form.setAttribute("aria-busy", "true"));
  for (const example of document.querySelectorAll(".examples a")) {
    example.addEventListener("click", (event) => {
      const isTouched = text.value !== text.defaultValue;
      if (isTouched && !window.confirm("Replace the text with the example?")) event.preventDefault();
    });
  }
  window.addEventListener("pageshow", () => form.removeAttribute("aria-busy"));
  // A browser that goes back keeps the text that was typed.
  if ("pending" in form.querySelector("#report").dataset || text.value !== text.defaultValue) check();
  // Without its file the text area stays.
  import("./text.js").then(({ open }) => {
    editor = open(text);
    mark();
  });

  async function check() {
    const mine = ++asked;
    form.querySelector(".findings").dataset.busy = "";
    const late = setTimeout(() => mine === asked && takeBack(), LATE);
    const answer = await fetch(form.dataset.editor, { method: "POST", body: new URLSearchParams(new FormData(form)) }).catch(() => null);
    clearTimeout(late);
    if (mine !== asked) return;
    delete form.querySelector(".findings").dataset.busy;
    if (!answer || !answer.ok) {
      offer(true);
      return told(answer ? `The server refused to check it: ${answer.status}` : "The server cannot be reached", "bad");
    }
    show(new DOMParser().parseFromString(await answer.text(), "text/html"));
  }

  function show(found) {
    const report = found.getElementById("report");
    keepArguments(report);
    document.getElementById("report").replaceWith(document.importNode(report, true));
    draw(found.getElementById("plan"));
    if (keepsDraft) {
      document.title = document.title.replace(/^.*(?= · )/, report.dataset.title);
      document.querySelector("h1").textContent = report.dataset.title;
    }
    mark();
  }

  // While the text has errors the graph of the last text without errors stays.
  function draw(next) {
    const plan = form.querySelector("#plan");
    const [before, after] = [plan.querySelector(".picture"), next.querySelector(".picture")];
    if (!before || after) plan.replaceChildren(...document.importNode(next, true).childNodes);
    plan.classList.toggle("outdated", Boolean(before && !after));
  }

  function takeBack() {
    offer(false);
    told(form.dataset.late, "");
  }

  function offer(isCurrent) {
    for (const button of form.querySelectorAll("#acts button")) button.disabled = !isCurrent;
  }

  function told(what, how) {
    const line = document.createElement("p");
    line.className = how;
    line.textContent = what;
    form.querySelector(".findings").replaceChildren(line);
  }

  // Where the parameters are the same, what was filled in stays, and the focus with it.
  function keepArguments(next) {
    const [now, then] = [form.querySelector("#arguments"), next.querySelector("#arguments")];
    if (now && then && now.dataset.keys === then.dataset.keys) then.replaceWith(now.cloneNode(true));
  }

  function mark() {
    if (!editor) return;
    const found = [...form.querySelectorAll("#report li[data-line]")].filter((one) => Number(one.dataset.line) > 0);
    editor.mark(found.map((one) => ({
      line: Number(one.dataset.line),
      column: Number(one.dataset.column),
      severity: one.parentElement.classList.contains("warnings") ? "warning" : "error",
      message: [...one.querySelectorAll(".said, .hint, .expected")].map((part) => part.textContent).join("\n"),
    })));
    for (const one of found) {
      const place = one.querySelector("span.place");
      if (place) place.replaceWith(button(place.textContent, one.dataset));
    }
  }

  function button(label, { line, column }) {
    const made = document.createElement("button");
    made.type = "button";
    made.className = "place";
    made.textContent = label;
    [made.dataset.line, made.dataset.column] = [line, column];
    return made;
  }
}

// Offers the text that was written last, which leaving the page has closed.
function offerDraft(form, text) {
  const draft = sessionStorage.getItem(DRAFT);
  if (!draft || draft.replaceAll("\r\n", "\n") === text.value) return;
  const line = document.createElement("p");
  line.className = "help";
  const button = document.createElement("button");
  button.type = "button";
  button.className = "plain";
  const name = /\bname:\s*([\w./-]+)/.exec(draft)?.[1];
  button.textContent = `Continue with your last text${name ? ` (${name})` : ""}`;
  button.addEventListener("click", () => {
    text.value = draft;
    text.dispatchEvent(new Event("input", { bubbles: true }));
    line.remove();
  });
  line.append(button);
  form.before(line);
}
