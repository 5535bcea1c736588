// Keeps a page up to date: when something has changed the same page is fetched again, and what differs in its parts is exchanged.
// What somebody reads, fills in or has the focus in stays where it is.
import { Idiomorph } from "./idiomorph.js";
import { offerCopies } from "./copy.js";
import { keepTime } from "./clock.js";
import { offerZoom } from "./zoom.js";

// After a lost connection the browser tries again by itself, unless the server refused.
const RETRY = 3000;

// Returns what fetches the page again, and resolves when its parts are exchanged.
export function keepUpToDate(main) {
  let running = null;
  let again = false;
  let source = null;
  if (main.dataset.live && window.EventSource) connect();
  window.addEventListener("pagehide", () => source?.close());
  return refresh;

  function connect() {
    source = new EventSource(main.dataset.live);
    source.addEventListener("changed", refresh);
    source.addEventListener("end-of-stream", () => {});
    source.addEventListener("open", () => connected(true));
    source.addEventListener("error", () => {
      connected(false);
      if (source.readyState !== EventSource.CLOSED) return;
      setTimeout(connect, RETRY);
    });
  }

  function connected(isConnected) {
    const notice = document.getElementById("connection");
    if (notice.hidden === isConnected) return;
    notice.hidden = isConnected;
  }

  function refresh() {
    again = true;
    running ??= exchangeAll().finally(() => {
      running = null;
    });
    return running;
  }

  async function exchangeAll() {
    while (again) {
      again = false;
      await exchange().catch(() => {});
    }
  }

  async function exchange() {
    const response = await fetch(window.location.href, { headers: { accept: "text/html" } });
    if (response.redirected && new URL(response.url).pathname === "/login") {
      window.location.reload();
      return;
    }
    if (!response.ok || response.redirected) return;
    const next = new DOMParser().parseFromString(await response.text(), "text/html");
    const nextMain = next.getElementById("main");
    for (const part of main.querySelectorAll("[data-part]")) {
      const other = nextMain.querySelector("#" + CSS.escape(part.id));
      if (other) morph(part, other);
    }
    offerCopies(main);
    keepTime(main);
    offerZoom(main);
    tell(next, nextMain);
    if (!nextMain.dataset.live) source?.close();
  }

  function tell(next, nextMain) {
    document.title = next.title;
    const icon = next.querySelector("link[rel=icon]")?.getAttribute("href");
    if (icon) document.querySelector("link[rel=icon]").setAttribute("href", icon);
    const standing = nextMain.dataset.standing;
    if (standing && standing !== main.dataset.standing) {
      main.dataset.standing = standing;
      document.getElementById("told").textContent = standing;
    }
  }
}

function morph(part, other) {
  const scrolled = [...part.querySelectorAll(".picture, pre")].map((one) => [one, one.scrollLeft, one.scrollTop]);
  Idiomorph.morph(part, other.innerHTML, {
    morphStyle: "innerHTML",
    ignoreActiveValue: true,
    callbacks: {
      // A form that is being filled in stays; clocks and copy buttons are the scripts' own.
      beforeNodeMorphed: (now, next) => !(now.dataset && ("keep" in now.dataset || isSameTime(now, next))),
      beforeNodeRemoved: (node) => !(node.dataset && "own" in node.dataset),
      beforeAttributeUpdated: (name, node) => !(name === "open" && node.tagName === "DETAILS") && !(name === "style"),
    },
  });
  for (const [one, left, top] of scrolled) [one.scrollLeft, one.scrollTop] = [left, top];
}

function isSameTime(now, next) {
  return now.tagName === "TIME" && now.dateTime === next.dateTime;
}
