// Opens the details of a task beside the picture, without leaving the page: the address is that of the page with the details.
export function openInside(main, refresh) {
  if (!document.getElementById("panel")) return;
  document.querySelector("ol.numbered li.marked")?.scrollIntoView({ block: "center" });
  let opener = null;

  main.addEventListener("click", (event) => {
    const link = event.target.closest("a");
    if (!link || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || !isInside(link)) return;
    event.preventDefault();
    if (!link.classList.contains("close")) opener = link.getAttribute("href");
    show(address(link), link.classList.contains("close"));
  });
  main.addEventListener("keydown", (event) => {
    const close = document.querySelector("#panel .close");
    if (event.key === "Escape" && close && event.target.closest("#panel")) close.click();
  });
  window.addEventListener("popstate", () => refresh());

  async function show(url, isClosed) {
    history.pushState(null, "", url);
    await refresh();
    if (isClosed) {
      const link = opener && main.querySelector(`a[href="${CSS.escape(opener)}"]`);
      (link ?? document.getElementById("view")).focus?.({ preventScroll: true });
      return;
    }
    const panel = document.getElementById("panel");
    panel.tabIndex = -1;
    panel.focus({ preventScroll: true });
    if (panel.getBoundingClientRect().top > window.innerHeight - 80) panel.scrollIntoView({ block: "start" });
  }

  function address(link) {
    return new URL(link.getAttribute("href"), window.location.href).href;
  }

  function isInside(link) {
    const url = new URL(link.getAttribute("href") ?? "", window.location.href);
    const isView = url.pathname === window.location.pathname && url.hash === "";
    const isSameView = (url.searchParams.get("view") ?? "graph") === (new URL(window.location.href).searchParams.get("view") ?? "graph");
    return isView && isSameView && ("inside" in link.dataset || link.closest(".picture") !== null);
  }
}
