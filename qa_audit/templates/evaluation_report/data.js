"use strict";
// The page's data, and how it is read. Every text in it may be hostile: it only ever becomes a text node or an attribute.

const DATA = JSON.parse(document.getElementById("data").textContent);
const PAIRS = DATA.pairs, PLANNERS = DATA.planners, COUNT = PAIRS.id.length;
const PERCENT = new Set(["hcc", "ur", "hpr"]);
const METRICS = [["hcc", "HCC"], ["ur", "UR"], ["hpr", "HPR"], ["d", "Distance"], ["cts", "CTS"], ["cts_x", "CTS along"], ["cts_y", "CTS across"]];
const RANKED = PLANNERS.filter((planner) => !planner.oracle);
const RAISED = new Set(["ur", "cts", "cts_x", "cts_y"]); // sorted with the largest first: the pairs of interest

const word = (number) => DATA.words[number];
const shown = (text) => Object.hasOwn(DATA.titles, text) ? DATA.titles[text] : text;
const taskOf = (pair) => word(PAIRS.task[pair]);
const familyOf = (pair) => word(PAIRS.family[pair]);
const sceneOf = (pair) => word(PAIRS.scene[pair]);
const splitOf = (pair) => word(PAIRS.split[pair]);

const FAILURES = {
  parse_failed: "answer not readable", truncated: "answer cut off", missing: "no answer", error: "planner's error", not_finite: "not finite",
  length: "lengths differ", order: "times not increasing", start: "does not start at 0", short: "too short", heading_start: "wrong first heading",
};
const failureText = (code) => Object.hasOwn(FAILURES, code) ? FAILURES[code] : code;

function number(value, metric) {
  if (value === null || value === undefined) return "–";
  const text = PERCENT.has(metric) ? (100 * value).toFixed(1) : value.toFixed(2);
  return text.replace("-", "−");
}

function unit(metric) { return PERCENT.has(metric) ? " %" : " m"; }

/** contact, clear, failed or ineligible: what became of a planner's edited prediction. */
function outcomeOf(planner, pair) {
  const became = word(planner.edited[pair]);
  if (became === "ok") return planner.ur[pair] === 1 ? "contact" : "clear";
  return became === "ineligible" ? "ineligible" : "failed";
}

function hasOutcome(planner, pair, wanted) {
  if (!wanted) return true;
  const outcome = outcomeOf(planner, pair), scored = outcome === "contact" || outcome === "clear";
  if (wanted === "scored") return scored;
  if (wanted === "counted") return outcome !== "ineligible";
  if (wanted === "paired") return scored && word(planner.source[pair]) === "ok";
  if (wanted === "near") return outcome === "clear" && planner.hcc[pair] < 1;
  if (wanted.startsWith("failed:")) return outcome === "failed" && word(planner.edited[pair]) === wanted.slice(7);
  return outcome === wanted;
}

const LETTER = new Map([..."ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"].map((sign, index) => [sign, index]));

/** Whole numbers from their letters: groups of five bits, low ones first, zigzag. */
function numbers(text) {
  const found = [];
  let value = 0, place = 1;
  for (const sign of text) {
    const digit = LETTER.get(sign);
    value += (digit & 31) * place;
    place *= 32;
    if (digit < 32) {
      found.push(value % 2 ? -(value + 1) / 2 : value / 2);
      value = 0; place = 1;
    }
  }
  return found;
}

/** One trajectory {t, x, y, heading}: seconds, metres, radians; null for none. Its text holds second differences. */
function trajectory(index) {
  if (index < 0) return null;
  const t = DATA.paths.grids[DATA.paths.grid[index]].map((time) => time / 1000);
  const values = numbers(DATA.paths.text[index]), count = t.length;
  const row = (start, per) => {
    let step = 0, value = 0;
    return values.slice(start, start + count).map((change) => { step += change; value += step; return value / per; });
  };
  const x = row(0, 100), y = row(count, 100);
  const heading = values.length > 2 * count ? row(2 * count, 1000) : headings(t, x, y);
  return { t, x, y, heading };
}

function trajectoryOf(planner, pair, variant) { return trajectory(planner[variant + "_path"][pair]); }

function quadOf(pair) {
  const flat = PAIRS.quad[pair];
  return [0, 2, 4, 6].map((index) => [flat[index], flat[index + 1]]);
}
