// Elements, and the drawings: the plan view, the camera's view, the small ones of the gallery.

const SVG = "http://www.w3.org/2000/svg";

function filled(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value !== null && value !== undefined && value !== false) element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}
const el = (tag, attributes, ...children) => filled(document.createElement(tag), attributes, children);
const svg = (tag, attributes, ...children) => filled(document.createElementNS(SVG, tag), attributes, children);

const colour = (planner) => "c" + PLANNERS.indexOf(planner) % 8;
const points = (listed, place) => listed.map((point) => place(point).map((value) => value.toFixed(1)).join(",")).join(" ");

/** The part of the plan to show: region with its ring, the body at the start, and the ways. */
function extent(pair, ways) {
  const ring = PAIRS.clearance[pair] + 1;
  const marks = [...footprint([0, 0, 0, 0])];
  for (const [x, y] of quadOf(pair)) marks.push([x - ring, y - ring], [x + ring, y + ring]);
  for (const way of ways) for (const pose of poses(way)) marks.push(...footprint(pose));
  const near = marks.filter(([x, y]) => Math.abs(x) < 120 && Math.abs(y) < 120);
  const along = near.map(([x]) => x), across = near.map(([, y]) => y);
  return { back: Math.min(...along) - 1.5, front: Math.max(...along) + 1.5, right: Math.min(...across) - 1.5, left: Math.max(...across) + 1.5 };
}

/** Region with its clearance ring; `k` is pixels a metre. */
function regionShapes(pair, place, k) {
  const quad = points(quadOf(pair), place), width = 2 * PAIRS.clearance[pair] * k;
  return [
    svg("polygon", { class: "ring", points: quad, "stroke-width": width.toFixed(1) }),
    svg("polygon", { class: "region", points: quad }),
  ];
}

/** One way in the plan: swept body, line, and where the body is at whole seconds. */
function wayShapes(planner, way, variant, place, labelled) {
  const group = svg("g", { class: `${colour(planner)} ${variant}`, "data-planner": planner.name, "data-variant": variant });
  group.append(svg("g", { class: `tube ${variant}` }, sweep(way).map((one) => svg("polygon", { points: points(one, place) }))));
  const line = way.x.map((x, index) => [x, way.y[index]]);
  const seconds = [1, 2, 3, 4, 5].map((time) => poseAt(way, time)).filter((pose) => pose);
  if (variant === "edited") group.append(...seconds.map((pose) => svg("polygon", { class: "print", points: points(footprint(pose), place) })));
  group.append(svg("polyline", { class: `way ${variant}`, points: points(line, place) }));
  let free = Infinity; // labels of a body that stands would lie on each other
  for (const pose of variant === "edited" ? seconds : []) {
    const [x, y] = place([pose[1], pose[2]]);
    group.append(svg("circle", { class: "tick", cx: x.toFixed(1), cy: y.toFixed(1), r: 3.2 }));
    if (labelled && Math.abs(free - y) > 14) group.append(svg("text", { x: (x + 7).toFixed(1), y: (y + 4).toFixed(1) }, `${pose[0]} s`));
    free = y;
  }
  return group;
}

function egoShapes(place) {
  const body = footprint([0, 0, 0, 0]), nose = DATA.body[2] + DATA.body[0] / 2;
  const arrow = [[nose - 0.9, DATA.body[1] / 4], [nose - 0.35, 0], [nose - 0.9, -DATA.body[1] / 4]];
  return [svg("polygon", { class: "ego", points: points(body, place) }), svg("polyline", { class: "ego-nose", points: points(arrow, place) })];
}

/** The plan view, forward up: grid, region, chosen planners' ways (source dashed, edited solid), scale. */
function planView(pair, chosen) {
  const ways = chosen.flatMap((planner) => ["source", "edited"].map((variant) => [planner, variant, trajectoryOf(planner, pair, variant)]));
  const drawn = ways.filter(([, , way]) => way);
  const box = extent(pair, drawn.map(([, , way]) => way));
  const wide = Math.max(box.left - box.right, 16), high = Math.max(box.front - box.back, 18);
  const width = Math.max(280, Math.min(480, innerWidth - 60)), k = Math.min(width / wide, 600 / high), height = Math.round(high * k);
  const middle = (box.left + box.right) / 2;
  const place = ([x, y]) => [width / 2 - (y - middle) * k, (box.front - x) * k];
  const picture = svg("svg", { class: "bev", viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": "Plan view: region, swept body and trajectories" });
  for (let x = Math.ceil(box.back / 10) * 10; x <= box.front; x += 10) {
    const row = place([x, 0])[1].toFixed(1);
    picture.append(svg("line", { class: "gridline", x1: 0, x2: width, y1: row, y2: row }), svg("text", { x: 6, y: (row - 4).toFixed(1) }, `${x} m`));
  }
  picture.append(...regionShapes(pair, place, k));
  const labelled = chosen.length === 1;
  for (const variant of ["source", "edited"]) {
    picture.append(...drawn.filter(([, kind]) => kind === variant).map(([planner, , way]) => wayShapes(planner, way, variant, place, labelled)));
  }
  picture.append(svg("polygon", { class: "edge", points: points(quadOf(pair), place) })); // over the bodies that meet it
  const single = chosen.length === 1 ? drawn.find(([, kind]) => kind === "edited") : null;
  if (single && single[0].d[pair] > 0) picture.append(...gapShapes(single[0].d[pair], sweep(single[2]), quadOf(pair), place));
  picture.append(...egoShapes(place), scaleBar(k, width, height));
  return picture;
}

/** The shortest way from the swept body to the region, with the distance as it was scored. */
function gapShapes(distance, hulls, quad, place) {
  const [from, to] = hulls.map((one) => nearestPoints(one, quad)).reduce((best, one) => one[2] < best[2] ? one : best);
  const [[x1, y1], [x2, y2]] = [place(from), place(to)].map((point) => point.map((value) => value.toFixed(1)));
  return [svg("line", { class: "gap", x1, y1, x2, y2 }), svg("text", { class: "gaptext", x: (Number(x1) + Number(x2)) / 2, y: (Number(y1) + Number(y2)) / 2 - 7, "text-anchor": "middle" }, `${number(distance, "d")} m`)];
}

function scaleBar(k, width, height) {
  const metres = [1, 2, 5, 10, 20].find((size) => size * k > 60) || 20;
  const end = width - 14, start = end - metres * k, y = height - 14;
  return svg("g", { class: "scalebar" },
    svg("path", { class: "scale", d: `M${start} ${y - 5}V${y}H${end}V${y - 5}` }),
    svg("text", { x: (start + end) / 2, y: y - 6, "text-anchor": "middle" }, `${metres} m`));
}

const pixelPoints = (flat) => flat.reduce((text, value, index) => text + (index ? (index % 2 ? "," : " ") : "") + value, "");

/** A camera's picture with the region and the ways on the ground drawn over it. */
function cameraView(view, variant, chosen, small) {
  const [width, height] = view.size;
  const kinds = small ? ["edited"] : ["source", "edited"];
  const picture = svg("svg", { viewBox: `-0.5 -0.5 ${width} ${height}`, role: "img", "aria-label": `${view.sensor}, ${variant} picture` });
  if (small) picture.setAttribute("preserveAspectRatio", "xMidYMid slice");
  picture.append(svg("image", { href: "data:image/jpeg;base64," + view[variant], x: -0.5, y: -0.5, width, height, preserveAspectRatio: "none" }));
  const over = svg("g", { class: "seen" });
  for (const planner of chosen) over.append(...seenBody(view, planner));
  over.append(...view.region.map((flat) => svg("polygon", { class: "region", points: pixelPoints(flat) })));
  for (const kind of kinds) for (const planner of chosen) over.append(...seenWay(view, planner, kind));
  picture.append(over);
  return picture;
}

const wayIn = (view, planner, kind) => view.ways[PLANNERS.indexOf(planner)][kind === "source" ? 0 : 1];

/** The ground that the body passes, under all lines. */
function seenBody(view, planner) {
  const way = wayIn(view, planner, "edited");
  return way ? way.body.map((flat) => svg("polygon", { class: `lane ${colour(planner)}`, points: pixelPoints(flat) })) : [];
}

function seenWay(view, planner, kind) {
  const way = wayIn(view, planner, kind);
  if (!way) return [];
  const group = svg("g", { class: colour(planner), "data-planner": planner.name, "data-variant": kind });
  for (const flat of way.line) {
    if (kind === "edited") group.append(svg("polyline", { class: "halo", points: pixelPoints(flat) }));
    group.append(svg("polyline", { class: `way ${kind}`, points: pixelPoints(flat) }));
  }
  return [group];
}

/** A pair's small picture in the gallery: its first view, else the plan, forward to the right. */
function thumbnail(pair, planner) {
  const views = DATA.pictures[pair];
  if (views && views.length) return cameraView(views[0], "edited", [planner], true);
  const way = trajectoryOf(planner, pair, "edited"), box = extent(pair, way ? [way] : []);
  const width = 320, height = 180, k = Math.min(width / (box.front - box.back), height / (box.left - box.right));
  const start = (width - (box.front - box.back) * k) / 2, middle = (box.left + box.right) / 2;
  const place = ([x, y]) => [start + (x - box.back) * k, height / 2 - (y - middle) * k];
  const picture = svg("svg", { class: "bev", viewBox: `0 0 ${width} ${height}`, "aria-hidden": "true" });
  picture.append(...regionShapes(pair, place, k));
  if (way) picture.append(wayShapes(planner, way, "edited", place, false));
  picture.append(...egoShapes(place));
  return picture;
}

/** The line that stands for a planner. */
const swatch = (planner, variant) => svg("svg", { class: "line " + colour(planner), viewBox: "0 0 26 10", "aria-hidden": "true" },
  svg("line", { class: "way " + (variant || "edited"), x1: 2, x2: 24, y1: 5, y2: 5 }));
