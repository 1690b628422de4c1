// Geometry in the plan, as data_registry/paths.py has it: headings, the steps of a tube, the hulls it is made of.

const TURN = 2 * Math.PI;
const wrapped = (angle) => Math.PI - ((((Math.PI - angle) % TURN) + TURN) % TURN);

/** Headings from positions: central difference, last backward; slow ones held, reversing turned. */
function headings(t, x, y) {
  const found = t.map(() => 0);
  for (let index = 1; index < t.length; index++) {
    const after = Math.min(index + 1, t.length - 1);
    const dx = x[after] - x[index - 1], dy = y[after] - y[index - 1], span = t[after] - t[index - 1];
    found[index] = found[index - 1];
    if (span > 0 && Math.hypot(dx, dy) / span >= 0.3) {
      const heading = Math.atan2(dy, dx);
      found[index] = Math.abs(wrapped(heading - found[index - 1])) > Math.PI / 2 ? wrapped(heading + Math.PI) : heading;
    }
  }
  return found;
}

/** Poses [t, x, y, heading] with none farther from the next than 0.1 s, 5 degrees or 1 m. */
function poses(way) {
  const found = [[way.t[0], way.x[0], way.y[0], way.heading[0]]];
  for (let index = 1; index < way.t.length; index++) {
    const [t, x, y, heading] = ["t", "x", "y", "heading"].map((key) => way[key][index - 1]);
    const dt = way.t[index] - t, dx = way.x[index] - x, dy = way.y[index] - y, turn = wrapped(way.heading[index] - heading);
    const largest = Math.max(dt / 0.1, Math.abs(turn) / (Math.PI / 36), Math.hypot(dx, dy));
    const steps = Math.min(2000, Math.max(1, Math.ceil(largest - 1e-9)));
    for (let step = 1; step <= steps; step++) {
      const share = step / steps;
      found.push([t + share * dt, x + share * dx, y + share * dy, wrapped(heading + share * turn)]);
    }
  }
  return found;
}

/** Corners of the body at a pose, from front left counter-clockwise. */
function footprint([, x, y, heading]) {
  const [length, width, ahead] = DATA.body, c = Math.cos(heading), s = Math.sin(heading);
  return [[1, 1], [-1, 1], [-1, -1], [1, -1]].map(([along, across]) => {
    const u = ahead + along * length / 2, v = across * width / 2;
    return [x + u * c - v * s, y + u * s + v * c];
  });
}

/** Convex hull of points, counter-clockwise. */
function hull(points) {
  const sorted = [...points].sort((a, b) => a[0] - b[0] || a[1] - b[1]);
  const turn = (a, b, c) => (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);
  const half = (listed) => {
    const kept = [];
    for (const point of listed) {
      while (kept.length > 1 && turn(kept[kept.length - 2], kept[kept.length - 1], point) <= 0) kept.pop();
      kept.push(point);
    }
    return kept.slice(0, -1);
  };
  return [...half(sorted), ...half(sorted.reverse())];
}

/** The hulls whose union the body sweeps. */
function sweep(way) {
  const bodies = poses(way).map(footprint);
  return bodies.length === 1 ? bodies : bodies.slice(1).map((body, index) => hull([...bodies[index], ...body]));
}

/** The nearest points of two polygons that do not meet, and how far they are apart. */
function nearestPoints(one, other) {
  let best = [null, null, Infinity];
  const look = (vertices, sides, swap) => {
    for (const [px, py] of vertices) {
      for (let index = 0; index < sides.length; index++) {
        const [ax, ay] = sides[index], [bx, by] = sides[(index + 1) % sides.length];
        const length = (bx - ax) ** 2 + (by - ay) ** 2;
        const share = length ? Math.min(1, Math.max(0, ((px - ax) * (bx - ax) + (py - ay) * (by - ay)) / length)) : 0;
        const foot = [ax + share * (bx - ax), ay + share * (by - ay)], apart = Math.hypot(px - foot[0], py - foot[1]);
        if (apart < best[2]) best = swap ? [foot, [px, py], apart] : [[px, py], foot, apart];
      }
    }
  };
  look(one, other, false);
  look(other, one, true);
  return best;
}

/** The pose at a time, null when the trajectory does not reach it. */
function poseAt(way, time) {
  const last = way.t.length - 1;
  if (time > way.t[last] + 1e-6) return null;
  let index = 1;
  while (index < last && way.t[index] < time) index++;
  if (last === 0) return [way.t[0], way.x[0], way.y[0], way.heading[0]];
  const share = Math.min(1, (time - way.t[index - 1]) / (way.t[index] - way.t[index - 1]));
  const between = (key) => way[key][index - 1] + share * (way[key][index] - way[key][index - 1]);
  return [time, between("x"), between("y"), way.heading[index - 1] + share * wrapped(way.heading[index] - way.heading[index - 1])];
}
