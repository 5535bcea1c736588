// Ids and commands can be copied.
export function offerCopies(root) {
  if (!navigator.clipboard) return;
  for (const one of root.querySelectorAll("[data-copy]")) {
    if (one.nextElementSibling?.classList.contains("copy")) continue;
    const button = document.createElement("button");
    button.type = "button";
    button.className = "copy";
    button.dataset.own = "";
    button.textContent = "copy";
    button.setAttribute("aria-label", one.dataset.copy ? `Copy ${one.dataset.copy}` : "Copy the command");
    button.addEventListener("click", async () => {
      await navigator.clipboard.writeText(one.dataset.copy || one.textContent);
      document.getElementById("told").textContent = "Copied";
      button.classList.add("done");
      setTimeout(() => button.classList.remove("done"), 1200);
    });
    one.after(button);
  }
}
