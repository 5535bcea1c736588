// Keeps a page up to date: when something has changed the same page is asked for again, and the parts of it that differ
// are exchanged. What somebody reads, fills in or has the focus in stays where it is.
import { offerCopies } from "./copy.js";

export function keepUpToDate(main) {
  const address = main.dataset.live;
  if (!address || !window.EventSource) return;
  for (const part of main.querySelectorAll("[data-part]")) shown.set(part, part.innerHTML);
  let running = false;
  let again = false;
  const source = new EventSource(address);
  source.addEventListener("changed", refresh);
  source.addEventListener("end-of-stream", () => {});
  window.addEventListener("pagehide", () => source.close());

  async function refresh() {
    if (running) {
      again = true;
      return;
    }
    running = true;
    do {
      again = false;
      await exchange().catch(() => {});
    } while (again);
    running = false;
  }

  async function exchange() {
    const answer = await fetch(window.location.href, { headers: { accept: "text/html" } });
    if (!answer.ok || answer.redirected) return;
    const text = await answer.text();
    const next = new DOMParser().parseFromString(text, "text/html").getElementById("main");
    for (const part of main.querySelectorAll("[data-part]")) {
      const other = next.querySelector("#" + CSS.escape(part.id));
      if (other) replace(part, other);
    }
    tell(next);
    if (!next.dataset.live) source.close();
  }

  function tell(next) {
    const standing = next.dataset.standing;
    if (standing && standing !== main.dataset.standing) {
      main.dataset.standing = standing;
      document.getElementById("told").textContent = standing;
      document.title = next.ownerDocument.title;
    }
  }
}

// What was asked for last of each part: scripts have added to what stands there.
const shown = new WeakMap();

function replace(part, other) {
  if (part.innerHTML === other.innerHTML) return;
  const filledIn = part.contains(document.activeElement) && part.querySelector("input:not([type=hidden]), textarea, select");
  const still = "keep" in part.dataset && part.firstElementChild && other.firstElementChild;
  if (filledIn || still) return;
  if (shown.get(part) === other.innerHTML) return;
  shown.set(part, other.innerHTML);
  const scrolled = [...part.querySelectorAll(".picture, pre")].map((one) => [one.scrollLeft, one.scrollTop]);
  const focus = focused(part);
  part.replaceChildren(...document.importNode(other, true).childNodes);
  offerCopies(part);
  [...part.querySelectorAll(".picture, pre")].forEach((one, at) => {
    if (scrolled[at]) [one.scrollLeft, one.scrollTop] = scrolled[at];
  });
  if (focus) part.querySelector(focus)?.focus({ preventScroll: true });
}

// How what has the focus is found again.
function focused(part) {
  const active = document.activeElement;
  if (!part.contains(active)) return null;
  if (active.id) return "#" + CSS.escape(active.id);
  const href = active.getAttribute("href");
  return href ? `a[href="${CSS.escape(href)}"]` : null;
}
