// Times as people say them, in their own zone, and lengths of what goes on: both go on while the page is open.
const UNITS = [["d", 86400], ["h", 3600], ["min", 60], ["s", 1]];
let started = false;

export function keepTime(root) {
  update(root);
  if (started) return;
  started = true;
  setInterval(() => update(document), 1000);
}

function update(root) {
  const now = Date.now();
  for (const time of root.querySelectorAll("time.relative")) {
    const at = Date.parse(time.dateTime);
    write(time, relative(now, at));
    if (!time.dataset.zoned) {
      time.dataset.zoned = "true";
      time.title = `${new Date(at).toLocaleString(undefined, { dateStyle: "medium", timeStyle: "long" })} · ${time.title}`;
    }
  }
  for (const time of root.querySelectorAll("time:not(.relative)")) {
    if (time.dataset.zoned) continue;
    time.dataset.zoned = "true";
    const local = new Date(time.dateTime).toLocaleString(undefined, { dateStyle: "medium", timeStyle: "long" });
    time.title = time.title ? `${local} · ${time.title}` : local;
  }
  // The clocks of a schedule, and those of the reader where they differ.
  for (const clock of root.querySelectorAll("li time + .clock")) {
    if (clock.dataset.zoned) continue;
    clock.dataset.zoned = "true";
    const at = new Date(clock.previousElementSibling.dateTime);
    const hours = at.toLocaleTimeString([], { hour: "2-digit", minute: "2-digit", hour12: false });
    if (!clock.textContent.includes(` ${hours}`)) clock.append(` (${hours} your time)`);
  }
  for (const counter of root.querySelectorAll(".counts")) write(counter, elapsed(Math.max(0, now - Date.parse(counter.dataset.since))));
}

function write(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

function relative(now, at) {
  const seconds = Math.floor(Math.abs(now - at) / 1000);
  const isPast = at <= now;
  if (isPast && seconds < 5) return "just now";
  if (seconds === 0) return "now";
  if (isPast && seconds >= 86400 && seconds < 172800) return "yesterday";
  if (seconds >= 31 * 86400) return new Date(at).toISOString().slice(0, 10);
  const [unit, length] = UNITS.find(([, length]) => seconds >= length);
  // What is to come is worth a second unit.
  const next = { d: ["h", 3600], h: ["min", 60] }[unit];
  const rest = next && !isPast ? Math.floor((seconds % length) / next[1]) : 0;
  const shown = `${Math.floor(seconds / length)} ${unit}${rest ? ` ${rest} ${next[0]}` : ""}`;
  return isPast ? `${shown} ago` : `in ${shown}`;
}

function elapsed(millis) {
  const seconds = Math.floor(millis / 1000);
  const two = (number) => String(number).padStart(2, "0");
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ${two(seconds % 60)} s`;
  if (seconds < 172800) return `${Math.floor(seconds / 3600)} h ${two(Math.floor((seconds % 3600) / 60))} min`;
  return `${Math.floor(seconds / 86400)} d ${two(Math.floor((seconds % 86400) / 3600))} h`;
}
