// Which part of the page an address shows, and going back to where one was.

const VIEWS = { pairs: "pairs-view", pair: "pair-view" };
const scrolled = new Map(); // how far each address was scrolled when it was left
const titleOfPage = document.title;
let current = null, clicked = false;

function parts() {
  const [view, ...rest] = location.hash.slice(1).split("?");
  return { view: Object.hasOwn(VIEWS, view) ? view : "report", anchor: view, params: new URLSearchParams(rest.join("?")) };
}

function route() {
  const { view, anchor, params } = parts(), changed = current === null || current.view !== view;
  current = { view, hash: location.hash };
  for (const [name, id] of [["report", "report-view"], ...Object.entries(VIEWS)]) document.getElementById(id).hidden = name !== view;
  if (view === "pairs") showList(params);
  if (view === "pair") showPair(params, replace);
  const heading = view === "pair" ? document.querySelector("#pair-view h1") : null;
  document.title = heading ? `${heading.textContent} · ${titleOfPage}` : view === "pairs" ? `Pairs · ${titleOfPage}` : titleOfPage;
  settle(view, anchor, changed);
  markCurrent();
}

const MENU = [...document.querySelectorAll(".top nav a")];

/** Mark in the menu what one sees: the list of pairs, or the last section that has reached the header, or could. */
function markCurrent() {
  const atEnd = scrollY > 0 && scrollY + innerHeight >= document.documentElement.scrollHeight - 2;
  const reached = (link) => atEnd || document.getElementById(link.hash.slice(1)).getBoundingClientRect().top < document.querySelector(".top").offsetHeight + 80;
  const sections = MENU.filter((link) => link.hash !== "#pairs"), onReport = current.view === "report";
  const marked = onReport ? sections.filter(reached).pop() || sections[0] : MENU.find((link) => link.hash === "#pairs");
  for (const link of MENU) {
    if (link !== marked) link.removeAttribute("aria-current");
    else if (!link.hasAttribute("aria-current")) {
      link.setAttribute("aria-current", onReport ? "location" : "page");
      link.parentElement.scrollLeft = link.offsetLeft - link.parentElement.offsetLeft - link.parentElement.clientWidth / 2;
    }
  }
}

/** Scroll to where the address points when it was clicked, to where one was when one came back. */
function settle(view, anchor, changed) {
  const target = view === "report" && anchor ? document.getElementById(anchor) : null;
  if (!clicked && scrolled.has(current.hash)) scrollTo(0, scrolled.get(current.hash));
  else if (target) target.scrollIntoView();
  else if (changed || clicked) scrollTo(0, 0);
  if (clicked && view === "pair") document.querySelector("#pair-view h1")?.focus({ preventScroll: true });
  clicked = false;
}

/** Change the address without a step to go back to. */
function replace(hash) {
  history.replaceState(null, "", hash);
  const top = scrollY;
  route();
  scrollTo(0, top);
}

function ask(changes, quietly) {
  const next = address("pairs", parts().params, { page: "", ...changes });
  if (quietly) replace(next);
  else { clicked = false; location.hash = next; }
}

if (innerWidth <= 900) document.getElementById("filterbox").open = false; // a phone's first screen is for pairs
form.addEventListener("submit", (event) => event.preventDefault());
form.addEventListener("change", (event) => {
  const { name, value } = event.target;
  if (name === "sort") ask({ sort: value, dir: "" });
  else if (name === "family") ask({ family: value, task: tasksOf(value).includes(form.elements.task.value) ? form.elements.task.value : "" });
  else if (name && name !== "q") ask({ [name]: value });
});
form.elements.q.addEventListener("input", (event) => ask({ q: event.target.value }, true));
document.getElementById("reset").addEventListener("click", () => {
  const { params } = parts();
  location.hash = address("pairs", new URLSearchParams(), { planner: params.get("planner"), look: params.get("look") });
});
document.getElementById("look").addEventListener("click", (event) => {
  const value = event.target.dataset.value;
  if (value) replace(address("pairs", parts().params, { look: value === "cards" ? "" : value }));
});
document.getElementById("list").addEventListener("click", (event) => {
  const button = event.target.closest("button[data-sort]");
  if (!button) return;
  const asked = query(parts().params), metric = button.dataset.sort;
  const again = asked.sort === metric;
  ask({ sort: metric, dir: again ? (asked.dir === "asc" ? "desc" : "asc") : "" });
});
for (const group of document.querySelectorAll("[data-switch]")) {
  group.addEventListener("click", (event) => {
    const button = event.target.closest("button");
    if (!button) return;
    group.closest("[data-show]").dataset.show = button.dataset.value;
    for (const one of group.children) one.setAttribute("aria-pressed", String(one === button));
  });
}
document.addEventListener("click", (event) => {
  const link = event.target.closest('a[href^="#"]');
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey || event.button !== 0) return;
  clicked = true;
  if (link.getAttribute("href") === location.hash) route();
}, true);
document.addEventListener("keydown", (event) => {
  if (current.view !== "pair" || event.altKey || event.ctrlKey || event.metaKey || event.target.closest("input, select, textarea")) return;
  const rel = { ArrowLeft: "prev", ArrowRight: "next" }[event.key];
  if (rel) document.querySelector(`.crumbs a[rel="${rel}"]`)?.click();
});
addEventListener("scroll", () => {
  if (!current) return;
  scrolled.set(current.hash, scrollY);
  markCurrent();
}, { passive: true });
addEventListener("hashchange", route);
history.scrollRestoration = "manual";
route();
