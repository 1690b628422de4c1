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

/** Where the body is at whole seconds. */
const atSeconds = (way) => [1, 2, 3, 4, 5].map((time) => poseAt(way, time)).filter((pose) => pose);

/** One way in the plan: swept body, line, and where the body is at whole seconds. */
function wayShapes(planner, way, variant, place) {
  const group = svg("g", { class: `${colour(planner)} ${variant}`, "data-planner": planner.name, "data-variant": variant });
  group.append(svg("g", { class: `tube ${variant}` }, sweep(way).map((one) => svg("polygon", { points: points(one, place) }))));
  const line = way.x.map((x, index) => [x, way.y[index]]);
  const seconds = atSeconds(way);
  if (variant === "edited") group.append(...seconds.map((pose) => svg("polygon", { class: "print", points: points(footprint(pose), place) })));
  group.append(svg("polyline", { class: `way ${variant}`, points: points(line, place) }));
  for (const pose of variant === "edited" ? seconds : []) {
    const [x, y] = place([pose[1], pose[2]]);
    group.append(svg("circle", { class: "tick", cx: x.toFixed(1), cy: y.toFixed(1), r: 3.2 }));
  }
  return group;
}

/** Texts of the plan, each where it fits among those before it: of a body that stands, or of several on one way. */
class Labels {
  constructor(width) { this.width = width; this.boxes = []; }

  /** The text at the first place [x, y] (its left end, its base line) that is free; null when none is. */
  at(places, text, name) {
    const wide = 6.4 * text.length + 4;
    for (const [x, y] of places) {
      const box = [x, y - 11, x + wide, y + 3];
      if (x < 0 || box[2] > this.width || this.boxes.some((one) => box[0] < one[2] && one[0] < box[2] && box[1] < one[3] && one[1] < box[3])) continue;
      this.boxes.push(box);
      return svg("text", { class: name, x: x.toFixed(1), y: y.toFixed(1) }, text);
    }
    return null;
  }
}

/** The seconds of a way, beside the body; those of a body that stands together, such as 2 – 3 s. */
function timeLabels(way, place, labels) {
  const spots = [];
  for (const pose of atSeconds(way)) {
    const [x, y] = place([pose[1], pose[2]]), last = spots[spots.length - 1];
    if (last && Math.hypot(x - last.x, y - last.y) < 6) last.until = pose[0];
    else spots.push({ x, y, pose, from: pose[0], until: pose[0] });
  }
  return spots.map(({ y, pose, from, until }) => {
    const across = footprint(pose).map((corner) => place(corner)[0]), text = from === until ? `${from} s` : `${from} – ${until} s`;
    const right = Math.max(...across) + 5, left = Math.min(...across) - 9 - 6.4 * text.length;
    return labels.at([4, -11, 19].flatMap((down) => [[right, y + down], [left, y + down]]), text, "time");
  });
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
  picture.append(...regionShapes(pair, place, k), ...egoShapes(place)); // below the ways: short ones end inside the body
  for (const variant of ["source", "edited"]) {
    picture.append(...drawn.filter(([, kind]) => kind === variant).map(([planner, , way]) => wayShapes(planner, way, variant, place)));
  }
  picture.append(svg("polygon", { class: "edge", points: points(quadOf(pair), place) })); // over the bodies that meet it
  const labels = new Labels(width), edited = drawn.filter(([, kind]) => kind === "edited"), told = [];
  for (const [planner, , way] of edited) {
    if (planner.d[pair] > 0) told.push([planner, gapShapes(planner.d[pair], sweep(way), quadOf(pair), place, labels)]);
  }
  for (const [planner, , way] of edited) told.push([planner, timeLabels(way, place, labels)]);
  const name = (planner) => "texts " + (chosen.length > 1 ? "many " : "") + colour(planner);
  picture.append(...told.map(([planner, shapes]) => svg("g", { class: name(planner) }, shapes)), scaleBar(k, width, height));
  return picture;
}

/** The shortest way from the swept body to the region, with the distance as it was scored. */
function gapShapes(distance, hulls, quad, place, labels) {
  const [from, to] = hulls.map((one) => nearestPoints(one, quad)).reduce((best, one) => one[2] < best[2] ? one : best);
  const [[x1, y1], [x2, y2]] = [place(from), place(to)], text = `${number(distance, "d")} m`;
  const beside = [0.5, 0.3, 0.7, 0.15, 0.85].flatMap((share) => {
    const x = x1 + share * (x2 - x1), y = y1 + share * (y2 - y1) + 4;
    return [[x + 6, y], [x - 10 - 6.4 * text.length, y]];
  });
  const ends = { x1: x1.toFixed(1), y1: y1.toFixed(1), x2: x2.toFixed(1), y2: y2.toFixed(1) };
  return [svg("line", { class: "gap", ...ends }), labels.at(beside, text, "gaptext")];
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
  picture.append(...regionShapes(pair, place, k), ...egoShapes(place));
  if (way) picture.append(wayShapes(planner, way, "edited", place));
  return picture;
}

/** The line that stands for a planner. */
const swatch = (planner, variant) => svg("svg", { class: "line " + colour(planner), viewBox: "0 0 26 10", "aria-hidden": "true" },
  svg("line", { class: "way " + (variant || "edited"), x1: 2, x2: 24, y1: 5, y2: 5 }));
