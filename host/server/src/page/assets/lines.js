// What a task writes while it writes it. When an attempt has ended, its log is a part of the page.
const MOST = 2000;

export function follow(lines) {
  const source = new EventSource(lines.dataset.stream);
  window.addEventListener("pagehide", () => source.close());
  source.addEventListener("open", () => {
    lines.dataset.open = "";
  });
  source.addEventListener("line", (event) => {
    const { level, text } = JSON.parse(event.data);
    const atEnd = lines.scrollTop + lines.clientHeight >= lines.scrollHeight - 8;
    const word = document.createElement("span");
    word.className = `level ${level}`;
    word.textContent = level;
    const line = document.createElement("div");
    line.append(word, ` ${text}`);
    lines.append(line);
    while (lines.childElementCount > MOST) lines.firstElementChild.remove();
    if (atEnd) lines.scrollTop = lines.scrollHeight;
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
