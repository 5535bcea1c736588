// The logs of all tasks of a run while they are written. The log of an attempt that has ended takes the place of its lines.
import { add, line } from "./lines.js";

export function followAll(logs) {
  const source = new EventSource(logs.dataset.logs);
  const wanted = logs.dataset.text ?? "";
  window.addEventListener("pagehide", () => source.close());
  source.addEventListener("line", (event) => {
    const { task, attempt, level, text } = JSON.parse(event.data);
    if (text.includes(wanted)) add(section(task, attempt), [line(level, text)]);
  });
  source.addEventListener("log", (event) => {
    const { task, attempt, lines } = JSON.parse(event.data);
    const shown = lines.filter(({ text }) => text.includes(wanted));
    if (shown.length === 0) return;
    const pre = section(task, attempt);
    pre.replaceChildren();
    add(pre, shown.map(({ level, text }) => line(level, text)));
  });
  source.addEventListener("end", () => source.close());

  // The lines of an attempt.
  function section(task, attempt) {
    const name = `${task}@${attempt}`;
    const found = logs.querySelector(`[data-log="${CSS.escape(name)}"] pre`);
    if (found) return found;
    const made = document.createElement("section");
    made.className = "log";
    made.dataset.log = name;
    made.setAttribute("aria-label", `Log of ${task}, attempt ${attempt}`);
    const title = document.createElement("p");
    title.className = "attempt";
    title.textContent = attempt > 1 ? `${task} attempt ${attempt}` : task;
    const pre = document.createElement("pre");
    pre.className = "lines";
    pre.tabIndex = 0;
    made.append(title, pre);
    logs.append(made);
    return pre;
  }
}
