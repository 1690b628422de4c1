// The list of pairs: filters, order, gallery and table. Everything it shows is said by the address.

const PAGE_SIZE = 24;
const FILTERS = ["planner", "outcome", "family", "task", "split", "pictures", "sort", "q"];
const form = document.getElementById("filters");

/** What an address asks for; unknown values ask for nothing. */
function query(params) {
  const found = Object.fromEntries([...FILTERS, "with", "dir", "page", "look"].map((key) => [key, params.get(key) || ""]));
  const known = (key, values) => { if (!values.includes(found[key])) found[key] = ""; };
  const names = PLANNERS.map((planner) => planner.name);
  known("planner", names); known("with", names);
  for (const key of ["family", "task", "split"]) known(key, used(key));
  known("sort", [...METRICS.map(([metric]) => metric), "mean", "difference"]);
  known("dir", ["asc", "desc"]); known("look", ["cards", "table"]);
  if (found.task && !tasksOf(found.family).includes(found.task)) found.task = "";
  found.planner = found.planner || names[0];
  found.by = PLANNERS[names.indexOf(found.planner)];
  found.rival = found.with ? PLANNERS[names.indexOf(found.with)] : null;
  found.dir = found.dir || (RAISED.has(found.sort) || found.sort === "difference" ? "desc" : "asc");
  return found;
}

const usedWords = {};
/** The families, tasks or splits that occur, in order. */
function used(key) {
  if (!usedWords[key]) usedWords[key] = [...new Set(PAIRS[key])].map(word).sort();
  return usedWords[key];
}

/** The tasks of a family, of all families when it is empty. */
function tasksOf(family) {
  const key = `task ${family}`;
  if (!usedWords[key]) usedWords[key] = used("task").filter((task) => !family || PAIRS.task.some((number, pair) => word(number) === task && familyOf(pair) === family));
  return usedWords[key];
}

const texts = [];
/** What the search looks at: the pair's own texts. */
function textOf(pair) {
  if (texts[pair] === undefined) {
    const parts = [PAIRS.id[pair], sceneOf(pair), taskOf(pair), shown(taskOf(pair)), familyOf(pair), shown(familyOf(pair))];
    texts[pair] = parts.join("\n").toLowerCase();
  }
  return texts[pair];
}

function isIn(pair, asked) {
  if (asked.family && familyOf(pair) !== asked.family) return false;
  if (asked.task && taskOf(pair) !== asked.task) return false;
  if (asked.split && splitOf(pair) !== asked.split) return false;
  if (asked.pictures && !DATA.pictures[pair]) return false;
  if (asked.rival && !hasOutcome(asked.rival, pair, "scored")) return false;
  return isFound(pair, asked);
}

/** Whether each word of the search occurs: in the pair's own texts, the outcome as shown, or the reasons for it. */
function isFound(pair, asked) {
  const wanted = asked.q.toLowerCase().split(/\s+/).filter((part) => part);
  if (!wanted.length) return true;
  const told = [outcomeText(asked.by, pair), ...[asked.by.reason, asked.by.edited, asked.by.edited_why].map((column) => word(column[pair]))];
  const text = [textOf(pair), ...told].join("\n").toLowerCase();
  return wanted.every((part) => text.includes(part));
}

/** Pairs that fit all but the outcome, and those that fit it too, in order. */
function listed(asked) {
  const around = [];
  for (let pair = 0; pair < COUNT; pair++) if (isIn(pair, asked)) around.push(pair);
  const found = around.filter((pair) => hasOutcome(asked.by, pair, asked.outcome));
  if (asked.sort) found.sort(ordered(asked));
  else if (asked.dir === "desc") found.reverse();
  return { around, found };
}

const means = [];
/** Mean HCC over the ranked planners; failures count 0. */
function meanOf(pair) {
  if (means[pair] === undefined) {
    const values = RANKED.filter((planner) => hasOutcome(planner, pair, "counted")).map((planner) => planner.hcc[pair] ?? 0);
    means[pair] = values.length ? values.reduce((sum, value) => sum + value, 0) / values.length : null;
  }
  return means[pair];
}

function valueOf(pair, asked) {
  if (asked.sort === "mean") return meanOf(pair);
  if (asked.sort === "difference") return asked.rival ? Math.abs(asked.by.hcc[pair] - asked.rival.hcc[pair]) : null;
  return asked.by[asked.sort][pair];
}

/** By value, those without one last, then by pair. */
function ordered(asked) {
  const sign = asked.dir === "desc" ? -1 : 1;
  return (a, b) => {
    const one = valueOf(a, asked), other = valueOf(b, asked);
    if (one === null || other === null) return (one === null) - (other === null) || a - b;
    return sign * (one - other) || a - b;
  };
}

/** The address of a list or pair with some of its words changed; empty ones are left out. */
function address(view, params, changes) {
  const next = new URLSearchParams(params);
  for (const [key, value] of Object.entries(changes)) if (value) next.set(key, value); else next.delete(key);
  const text = [...next].map(([key, value]) => `${key}=${encodeURIComponent(value)}`).join("&");
  return `#${view}` + (text ? `?${text}` : "");
}

function options(name, values, chosen) {
  const select = form.elements[name];
  select.replaceChildren(...values.map(([value, text]) => el("option", { value, selected: value === chosen }, text)));
  select.classList.toggle("active", Boolean(chosen) && name !== "planner" && name !== "sort");
}

function outcomeOptions(asked, around) {
  const planner = asked.by, kinds = [["", "any"], ["scored", "scored"], ["contact", "contact"], ["clear", "clear"], ["near", "clear, nearer than required"], ["counted", "scored or failed"], ["paired", "scored, source too"], ["failed", "failed"]];
  const codes = new Set(around.filter((pair) => outcomeOf(planner, pair) === "failed").map((pair) => word(planner.edited[pair])));
  if (asked.outcome.startsWith("failed:")) codes.add(asked.outcome.slice(7));
  kinds.push(...[...codes].sort().map((code) => [`failed:${code}`, `failed: ${failureText(code)}`]), ["ineligible", "ineligible"]);
  return kinds.map(([value, text]) => [value, `${text} (${around.filter((pair) => hasOutcome(planner, pair, value)).length.toLocaleString("en")})`]);
}

function showFilters(asked, around) {
  const all = (key) => [["", "all"], ...used(key).map((value) => [value, key === "split" && value === "none" ? "no official split" : shown(value)])];
  options("planner", PLANNERS.map((planner) => [planner.name, planner.name + (planner.oracle ? " (oracle)" : "")]), asked.planner);
  options("outcome", outcomeOptions(asked, around), asked.outcome);
  for (const key of ["family", "split"]) options(key, all(key), asked[key]);
  options("task", [["", "all"], ...tasksOf(asked.family).map((value) => [value, shown(value)])], asked.task);
  const sorts = [["", "pair"], ...METRICS, ["mean", "mean HCC of planners"]];
  if (asked.rival) sorts.push(["difference", "HCC difference"]);
  options("sort", sorts, asked.sort);
  form.elements.pictures.value = asked.pictures;
  form.elements.pictures.classList.toggle("active", Boolean(asked.pictures));
  if (form.elements.q.value !== asked.q) form.elements.q.value = asked.q;
  form.elements.q.classList.toggle("active", Boolean(asked.q));
  const active = [asked.outcome.replace("failed:", "failed: "), shown(asked.family), shown(asked.task), asked.split, asked.pictures && "with pictures", asked.q].filter((part) => part);
  document.getElementById("filtered").textContent = active.length ? `Filters: ${active.join(", ")}` : "Filters";
}

function outcomeText(planner, pair) {
  const outcome = outcomeOf(planner, pair);
  return outcome === "failed" ? `failed: ${failureText(word(planner.edited[pair]))}` : outcome;
}

function badge(planner, pair) { return el("span", { class: `badge ${outcomeOf(planner, pair)}` }, outcomeText(planner, pair)); }

/** How all planners fare on a pair: a coloured bar each, in the order of the leaderboard. */
function strip(pair) {
  const bars = PLANNERS.map((planner) => {
    const outcome = outcomeOf(planner, pair), value = planner.hcc[pair];
    const step = outcome === "failed" ? "failed" : value === null ? "none" : "t" + Math.min(7, Math.floor(8 * value));
    return el("i", { class: step, title: `${planner.name}: ${value === null ? outcome : "HCC " + number(value, "hcc") + " %"}` });
  });
  return el("div", { class: "strip", "aria-hidden": "true" }, bars);
}

function card(pair, asked, params) {
  const planner = asked.by, extra = asked.sort && !["hcc", "ur", "d", "mean", "difference"].includes(asked.sort) ? asked.sort : "cts";
  const figure = (value, metric, label) => el("span", {}, number(value, metric) + (value === null ? "" : unit(metric)), el("small", {}, label));
  return el("li", {}, el("a", { class: "paircard", href: address("pair", params, { id: PAIRS.id[pair] }), "data-pair": pair },
    el("div", { class: "thumb" }, thumbnail(pair, planner), el("span", { class: "tag" }, badge(planner, pair))),
    el("div", { class: "body" },
      el("b", {}, shown(taskOf(pair))),
      el("span", { class: "where", translate: "no" }, `${sceneOf(pair)} · ${shown(familyOf(pair))}`),
      el("div", { class: "numbers" }, figure(planner.hcc[pair], "hcc", "HCC"), figure(planner.d[pair], "d", "distance"),
        figure(planner[extra][pair], extra, METRICS.find(([metric]) => metric === extra)[1])),
      strip(pair))));
}

function cards(found, asked, params) { return el("ul", { class: "cards" }, found.map((pair) => card(pair, asked, params))); }

function table(found, asked, params) {
  const head = (metric, text) => {
    const sorted = asked.sort === metric, up = asked.dir === "asc";
    const button = el("button", { type: "button", "data-sort": metric }, text);
    return el("th", { scope: "col", class: metric ? "num" : "", "aria-sort": sorted ? (up ? "ascending" : "descending") : null }, button);
  };
  const columns = METRICS.map(([metric, text]) => head(metric, PERCENT.has(metric) ? `${text} %` : `${text} m`));
  const rows = found.map((pair) => el("tr", { "data-pair": pair },
    el("th", { scope: "row" }, el("a", { href: address("pair", params, { id: PAIRS.id[pair] }) }, shown(taskOf(pair))),
      el("span", { class: "where", translate: "no" }, `${sceneOf(pair)} · ${shown(familyOf(pair))}`)),
    el("td", { "data-label": "Outcome" }, badge(asked.by, pair)),
    METRICS.map(([metric, text]) => el("td", { class: "num", "data-label": text }, number(asked.by[metric][pair], metric)))));
  return el("div", { class: "listtable" }, el("table", {},
    el("thead", {}, el("tr", {}, head("", "Pair"), el("th", { scope: "col" }, "Outcome"), columns)), el("tbody", {}, rows)));
}

function pager(count, current, params) {
  const last = Math.max(1, Math.ceil(count / PAGE_SIZE));
  if (last === 1) return [];
  const step = (page, text) => page < 1 || page > last ? null : el("a", { href: address("pairs", params, { page: page === 1 ? "" : String(page) }), rel: page < current ? "prev" : "next" }, text);
  return [step(current - 1, "← Previous"), el("span", {}, `page ${current} of ${last}`), step(current + 1, "Next →")].filter((one) => one);
}

function showList(params) {
  const asked = query(params), { around, found } = listed(asked);
  const last = Math.max(1, Math.ceil(found.length / PAGE_SIZE)), current = Math.min(last, Math.max(1, Number.parseInt(asked.page, 10) || 1));
  showFilters(asked, around);
  document.getElementById("count").replaceChildren(el("b", {}, found.length.toLocaleString("en")), ` of ${COUNT.toLocaleString("en")} pairs, planner `, el("b", { translate: "no" }, asked.planner));
  const note = document.getElementById("with");
  note.hidden = !asked.rival;
  if (asked.rival) note.replaceChildren("Only pairs that ", el("b", { translate: "no" }, asked.with), " has scored too. ", el("a", { href: address("pairs", params, { with: "", sort: "" }) }, "Show all"));
  const part = found.slice((current - 1) * PAGE_SIZE, current * PAGE_SIZE);
  const look = asked.look || "cards";
  for (const button of document.querySelectorAll("#look button")) button.setAttribute("aria-pressed", String(button.dataset.value === look));
  document.getElementById("bars").hidden = look === "table";
  const list = part.length ? (look === "table" ? table : cards)(part, asked, params) : el("p", { class: "empty" }, "No pair fits these filters.");
  document.getElementById("list").replaceChildren(list);
  document.getElementById("pager").replaceChildren(...pager(found.length, current, params));
}
