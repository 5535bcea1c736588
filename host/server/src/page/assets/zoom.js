// Makes pictures larger and smaller. Without scripts they fit the width.
const STEP = 1.25;
const MOST = 3;

export function offerZoom(root) {
  for (const picture of root.querySelectorAll(".picture[data-zoom]")) {
    const svg = picture.querySelector("svg");
    if (!svg) continue;
    apply(picture, svg);
    if (picture.previousElementSibling?.classList.contains("zoom")) continue;
    picture.before(buttons(picture));
    drag(picture);
  }
}

function buttons(picture) {
  const bar = document.createElement("div");
  bar.className = "zoom";
  bar.dataset.own = "";
  const offer = (label, text, act) => {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "plain";
    button.textContent = text;
    button.setAttribute("aria-label", label);
    button.addEventListener("click", act);
    bar.append(button);
  };
  const svg = () => picture.querySelector("svg");
  offer("Make the picture smaller", "−", () => scale(picture, current(picture) / STEP));
  offer("Make the picture larger", "+", () => scale(picture, current(picture) * STEP));
  offer("Fit the picture to the page", "Fit", () => {
    delete picture.dataset.scale;
    apply(picture, svg());
  });
  return bar;
}

function natural(svg) {
  return Number(svg.getAttribute("width")) || svg.viewBox.baseVal.width;
}

function current(picture) {
  return picture.querySelector("svg").getBoundingClientRect().width / natural(picture.querySelector("svg"));
}

function scale(picture, factor) {
  picture.dataset.scale = String(Math.min(MOST, Math.max(0.1, factor)));
  apply(picture, picture.querySelector("svg"));
}

function apply(picture, svg) {
  const factor = Number(picture.dataset.scale);
  svg.style.maxWidth = factor ? "none" : "";
  svg.style.width = factor ? `${natural(svg) * factor}px` : "";
}

// What is larger than its place is moved by dragging it.
function drag(picture) {
  let from = null;
  picture.addEventListener("pointerdown", (event) => {
    if (event.button !== 0 || event.pointerType === "touch") return;
    from = { x: event.clientX, y: event.clientY, left: picture.scrollLeft, top: picture.scrollTop, moved: false };
  });
  picture.addEventListener("pointermove", (event) => {
    if (!from) return;
    const [x, y] = [event.clientX - from.x, event.clientY - from.y];
    from.moved ||= Math.abs(x) + Math.abs(y) > 5;
    if (from.moved) [picture.scrollLeft, picture.scrollTop] = [from.left - x, from.top - y];
  });
  window.addEventListener("pointerup", () => {
    const moved = from?.moved;
    from = null;
    if (moved) picture.addEventListener("click", stop, { capture: true, once: true });
    setTimeout(() => picture.removeEventListener("click", stop, { capture: true }), 0);
  });
  // The drag of a link would take its address along.
  picture.addEventListener("dragstart", (event) => event.preventDefault());
}

function stop(event) {
  event.preventDefault();
  event.stopPropagation();
}
