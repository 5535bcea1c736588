// Lines of a task while it writes them. When an attempt has ended, its log is a part of the page.
const MOST = 2000;

export function follow(lines) {
  const source = new EventSource(lines.dataset.stream);
  window.addEventListener("pagehide", () => source.close());
  source.addEventListener("open", () => {
    lines.dataset.open = "";
  });
  source.addEventListener("line", (event) => {
    const { level, text } = JSON.parse(event.data);
    add(lines, [line(level, text)]);
  });
  source.addEventListener("missed", (event) => {
    const line = document.createElement("div");
    line.className = "none";
    line.textContent = `… ${JSON.parse(event.data).count} lines came too fast`;
    lines.append(line);
  });
  source.addEventListener("log", () => lines.replaceChildren());
  source.addEventListener("end", () => source.close());
}

// A line with its level, which lines of other programs may lack.
export function line(level, text) {
  const made = document.createElement("div");
  if (level) {
    const word = document.createElement("span");
    word.className = `level ${level}`;
    word.textContent = level;
    made.append(word, " ");
  }
  made.append(text);
  return made;
}

// Adds lines at the end, and stays there if one was there; the first ones go if there are too many.
export function add(pre, lines) {
  const atEnd = pre.scrollTop + pre.clientHeight >= pre.scrollHeight - 8;
  pre.append(...lines);
  while (pre.childElementCount > MOST) pre.firstElementChild.remove();
  if (atEnd) pre.scrollTop = pre.scrollHeight;
}
