// One pair: plan view beside the cameras' views, each planner's figures, why there is none where there is none.

/** Planners that are drawn: those that the address names, else the list's. */
function chosenPlanners(params) {
  const names = params.has("show") ? params.get("show").split(",") : [encodeURIComponent(query(params).planner)];
  return PLANNERS.filter((planner) => names.includes(encodeURIComponent(planner.name)));
}

function showPair(params, replace) {
  const view = document.getElementById("pair-view"), pair = PAIRS.id.indexOf(params.get("id"));
  if (pair < 0) {
    view.replaceChildren(el("p", { class: "empty" }, "This report has no such pair. ", el("a", { href: "#pairs" }, "Show all pairs")));
    return;
  }
  const chosen = chosenPlanners(params), views = DATA.pictures[pair] || [];
  view.replaceChildren(crumbs(pair, params), el("div", { class: "panel" },
    el("h1", { tabindex: "-1" }, shown(taskOf(pair))),
    el("p", { class: "id" }, el("code", { translate: "no" }, PAIRS.id[pair])),
    facts(pair),
    chips(pair, chosen, params, replace),
    el("div", { class: "stage" }, plan(pair, chosen), pictures(pair, views, chosen, params, replace), results(pair, chosen))));
}

function crumbs(pair, params) {
  const back = new URLSearchParams(params);
  for (const key of ["id", "show", "cam", "variant"]) back.delete(key);
  const asked = query(params), { found } = listed(asked), place = found.indexOf(pair);
  const page = place < 0 ? "" : String(Math.floor(place / PAGE_SIZE) + 1);
  const step = (other, text, rel) => other === undefined ? null : el("a", { class: "plain", href: address("pair", params, { id: PAIRS.id[other] }), rel }, text);
  return el("nav", { class: "crumbs", "aria-label": "Way back" },
    el("a", { class: "plain", id: "back", href: address("pairs", back, { page: page === "1" ? "" : page }) }, `← ${found.length.toLocaleString("en")} pairs`),
    el("span", { class: "spring" }), place < 0 ? null : [step(found[place - 1], "← Previous", "prev"), step(found[place + 1], "Next →", "next")]);
}

function facts(pair) {
  const quad = quadOf(pair), nearest = Math.min(...quad.map(([x]) => x));
  const entries = [["Family", shown(familyOf(pair))], ["Scene", sceneOf(pair)], ["Split", splitOf(pair)],
    ["Clearance required", `${PAIRS.clearance[pair].toFixed(1)} m`], ["Region begins", `${nearest.toFixed(1)} m ahead of the rear axle`]];
  return el("dl", { class: "facts" }, entries.map(([name, value]) => el("div", {}, el("dt", {}, name), el("dd", {}, value))));
}

function chips(pair, chosen, params, replace) {
  const toggled = (planner) => PLANNERS.filter((one) => (one === planner) !== chosen.includes(one)).map((one) => encodeURIComponent(one.name)).join(",");
  const buttons = PLANNERS.map((planner) => {
    const button = el("button", { type: "button", class: "chip", "aria-pressed": String(chosen.includes(planner)), "data-planner": planner.name },
      swatch(planner), el("span", { translate: "no" }, planner.name), planner.oracle ? el("span", { class: "badge oracle" }, "oracle") : null);
    button.addEventListener("click", () => replace(address("pair", params, { show: toggled(planner) || "," })));
    return button;
  });
  return el("div", { class: "chips", role: "group", "aria-label": "Planners that are drawn" }, buttons);
}

function key(label, ...shapes) { return el("li", {}, svg("svg", { viewBox: "0 0 26 12", "aria-hidden": "true" }, shapes), label); }

/** What is drawn in the plan, and nothing else; in no planner's colour when there are several. */
function plan(pair, chosen) {
  const has = (variant) => chosen.some((planner) => planner[variant + "_path"][pair] >= 0);
  const line = (variant) => svg("line", { class: "way " + variant, x1: 1, x2: 25, y1: 6, y2: 6 });
  const shade = chosen.length === 1 ? colour(chosen[0]) : "several";
  const entries = [
    has("edited") && key("on edited pictures", svg("g", { class: shade }, line("edited"))),
    has("source") && key("on source pictures", svg("g", { class: shade }, line("source"))),
    (has("edited") || has("source")) && key("swept body", svg("g", { class: shade }, svg("rect", { class: "tube", x: 1, y: 1, width: 24, height: 10 }))),
    key("hazard region", svg("rect", { class: "region", x: 2, y: 2, width: 22, height: 8 })),
    key(`clearance ${PAIRS.clearance[pair].toFixed(1)} m`, svg("rect", { class: "ring", x: 1, y: 1, width: 24, height: 10 }))];
  return el("div", { class: "card" }, planView(pair, chosen), el("ul", { class: "key" }, entries));
}

function switcher(label, values, current, change) {
  const buttons = values.map(([value, text]) => {
    const button = el("button", { type: "button", "data-value": value, "aria-pressed": String(value === current) }, text);
    button.addEventListener("click", () => change(value));
    return button;
  });
  return el("div", { class: "switch", role: "group", "aria-label": label }, buttons);
}

function pictures(pair, views, chosen, params, replace) {
  if (!views.length) {
    return el("div", { class: "nopicture" }, "No picture of this pair is in this report.", el("code", { translate: "no" }, `exceptiondrive show ${PAIRS.id[pair]}`));
  }
  const view = views.find((one) => one.sensor === params.get("cam")) || views[0];
  const variant = params.get("variant") === "source" ? "source" : "edited";
  const change = (name) => (value) => replace(address("pair", params, { [name]: value }));
  return el("div", { class: "card views" },
    el("div", { class: "tools" },
      switcher("Picture", [["source", "Source"], ["edited", "Edited"]], variant, change("variant")),
      views.length > 1 ? switcher("Camera", views.map((one) => [one.sensor, one.sensor]), view.sensor, change("cam")) : el("span", { class: "unit", translate: "no" }, view.sensor)),
    el("div", { class: "picture" }, cameraView(view, variant, chosen, false)));
}

function why(planner, pair) {
  const parts = [word(planner.reason[pair]), word(planner.edited_why[pair]), word(planner.source_why[pair])].filter((part) => part);
  return parts.filter((part, index) => !parts.slice(0, index).some((other) => other.includes(part))).join(" · "); // a score's reason has the planner's own in it
}

function results(pair, chosen) {
  const shownMetrics = METRICS.filter(([metric]) => metric !== "ur");
  const bodies = PLANNERS.map((planner) => el("tbody", { class: chosen.includes(planner) ? "chosen" : "", "data-planner": planner.name },
    el("tr", {},
      el("th", { scope: "row" }, swatch(planner), el("span", { translate: "no" }, planner.name), planner.oracle ? [" ", el("span", { class: "badge oracle" }, "oracle")] : null),
      el("td", { "data-label": "Edited" }, badge(planner, pair)),
      shownMetrics.map(([metric, text]) => el("td", { class: "num", "data-label": text }, number(planner[metric][pair], metric)))),
    why(planner, pair) ? el("tr", { class: "why" }, el("td", { colspan: 2 + shownMetrics.length }, why(planner, pair))) : null));
  const heads = shownMetrics.map(([metric, text]) => el("th", { scope: "col", class: "num" }, PERCENT.has(metric) ? `${text} %` : `${text} m`));
  return el("div", { class: "card results" }, el("h2", {}, "Scores of this pair"), el("table", {},
    el("thead", {}, el("tr", {}, el("th", { scope: "col" }, "Planner"), el("th", { scope: "col" }, "Edited"), heads)), bodies));
}
