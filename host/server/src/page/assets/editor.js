// The editor: numbers of lines, marks where problems are, and what is found while one types.
const PATIENCE = 300;
// After so long what was found of an earlier text is taken back.
const LATE = 1000;

export function edit(form) {
  const text = form.querySelector("#document");
  const gutter = document.createElement("div");
  gutter.className = "gutter";
  gutter.setAttribute("aria-hidden", "true");
  text.before(gutter);
  text.parentElement.classList.add("numbered");
  let timer = 0;
  let asked = 0;

  text.addEventListener("input", () => {
    number();
    clearTimeout(timer);
    timer = setTimeout(check, PATIENCE);
  });
  text.addEventListener("scroll", () => {
    gutter.scrollTop = text.scrollTop;
  });
  text.addEventListener("keydown", indent);
  form.addEventListener("click", (event) => {
    const at = event.target.closest("button.place");
    if (at) go(Number(at.dataset.line), Number(at.dataset.column));
  });
  form.addEventListener("submit", () => form.setAttribute("aria-busy", "true"));
  for (const example of document.querySelectorAll(".examples a")) {
    example.addEventListener("click", (event) => {
      const isTouched = text.value !== text.defaultValue;
      if (isTouched && !window.confirm("Replace the text with the example?")) event.preventDefault();
    });
  }
  window.addEventListener("pageshow", () => form.removeAttribute("aria-busy"));
  number();
  mark();
  if ("pending" in form.querySelector("#report").dataset) check();

  function number() {
    const lines = text.value.split("\n").length;
    if (gutter.childElementCount === lines) return;
    gutter.replaceChildren(...Array.from({ length: lines }, (_, at) => {
      const line = document.createElement("span");
      line.textContent = at + 1;
      return line;
    }));
    mark();
  }

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
    const next = new DOMParser().parseFromString(await answer.text(), "text/html").getElementById("report");
    keepArguments(next);
    document.getElementById("report").replaceWith(document.importNode(next, true));
    mark();
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
    for (const line of gutter.children) {
      line.className = "";
      line.removeAttribute("title");
    }
    for (const found of form.querySelectorAll("#report li[data-line]")) {
      const line = Number(found.dataset.line);
      const at = gutter.children[line - 1];
      if (!at) continue;
      at.className = found.parentElement.classList.contains("warnings") ? "warned" : "wrong";
      at.title = found.textContent.trim();
      const place = found.querySelector("span.place");
      if (place) place.replaceWith(button(place.textContent, found.dataset));
    }
    text.setAttribute("aria-invalid", String(form.querySelector("#report .problems:not(.warnings)") !== null));
  }

  function button(label, { line, column }) {
    const made = document.createElement("button");
    made.type = "button";
    made.className = "place";
    made.textContent = label;
    [made.dataset.line, made.dataset.column] = [line, column];
    return made;
  }

  function go(line, column) {
    const before = text.value.split("\n").slice(0, line - 1).join("\n").length + (line > 1 ? 1 : 0);
    const at = before + Math.max(column - 1, 0);
    text.focus();
    text.setSelectionRange(at, at);
    text.scrollTop = Math.max(0, (line - 5) * parseFloat(getComputedStyle(text).lineHeight));
  }

  // Enter goes on as deep as the line before; Tab stays what leaves the field.
  function indent(event) {
    if (event.key !== "Enter" || event.isComposing || event.shiftKey) return;
    const before = text.value.slice(0, text.selectionStart).split("\n").pop();
    const depth = before.match(/^ */)[0];
    if (!depth) return;
    event.preventDefault();
    text.setRangeText(`\n${depth}`, text.selectionStart, text.selectionEnd, "end");
    text.dispatchEvent(new Event("input", { bubbles: true }));
  }
}
