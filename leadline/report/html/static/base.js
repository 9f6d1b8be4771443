"use strict";
// What every part uses: the data, elements whose text is only ever text, numbers, colours.

const DATA = JSON.parse(document.getElementById("data").textContent);
// A metric may be called "constructor": what is looked up by name holds our entries alone.
for (const one of Object.values(DATA)) if (one && typeof one === "object" && !Array.isArray(one)) Object.setPrototypeOf(one, null);

const at = (id) => document.getElementById(id);

/** An element. Strings among the children become text, never markup. */
function make(tag, attributes, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name === "on") {
      for (const [event, handler] of Object.entries(value)) element.addEventListener(event, handler);
    } else {
      element.setAttribute(name, value === true ? "" : String(value));
    }
  }
  for (const child of children.flat(Infinity)) {
    if (child === null || child === undefined || child === false || child === "") continue;
    element.append(child instanceof Node ? child : document.createTextNode(String(child)));
  }
  return element;
}

const empty = (sentence) => make("p", { class: "empty" }, sentence);

/** A table: the first cell of a row names it, the cells from column `numbers` on hold numbers. */
function table(heads, rows, { caption, numbers = heads.length, ...attributes } = {}) {
  const kind = (place) => (place < numbers ? null : "number");
  const head = heads.map((one, place) => make("th", { scope: "col", class: kind(place) }, one));
  const cells = ([first, ...others]) => [
    make("th", { scope: "row" }, first),
    others.map((one, place) => make("td", { class: kind(place + 1) }, one)),
  ];
  return make(
    "table",
    { class: "rows", ...attributes },
    caption ? make("caption", {}, caption) : null,
    make("thead", {}, make("tr", {}, head)),
    make("tbody", {}, rows.map((row) => make("tr", {}, cells(row)))),
  );
}

/** A wide table in a box that scrolls. */
const scrolling = (name, content) =>
  make("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": name }, content);

/** A number as a person would write it: `digits` significant ones, an exponent only where nobody would do without. */
function number(value, digits = 3) {
  if (value === null || value === undefined || !Number.isFinite(value)) return "none";
  const size = Math.abs(value);
  if (size !== 0 && (size < 1e-4 || size >= 1e6))
    return value.toExponential(Math.max(digits - 1, 0)).replace("e+", "e");
  if (size >= 1000) return Math.round(value).toLocaleString("en-US");
  return String(Number(value.toPrecision(digits)));
}

/** A level of a metric whose largest value is `size`: to a thousandth of it or so. */
function level(value, size) {
  if (value === null || !Number.isFinite(value) || !(size >= 1e-4 && size < 1000) || Number.isInteger(value))
    return number(value);
  const large = Math.abs(value);
  const decimals = size < 0.01 ? 1 - Math.floor(Math.log10(size)) : large < 1 ? 3 : large < 10 ? 2 : 1;
  return value.toFixed(decimals).replace(/^-(0\.?0*)$/, "$1");
}

const range = (low, high) => (/^-/.test(high) ? `${low} to ${high}` : `${low}\u2013${high}`);
const steps = (value) => Math.round(value).toLocaleString("en-US");
const compact = new Intl.NumberFormat("en-US", { notation: "compact", maximumFractionDigits: 2 });
const percent = (share) => `${Math.round(100 * share)}%`;
const UNIT = DATA.unit || "step"; // what the clock counts
const moment = (value) => (UNIT === "step" ? `step ${steps(value)}` : `${steps(value)} ${UNIT}`);
const span = (from, to) =>
  from === to
    ? moment(from)
    : `${UNIT === "step" ? "steps " : ""}${steps(from)}\u2013${UNIT === "step" ? steps(to) : moment(to)}`;

// Colours are custom properties of the style sheet; canvases ask for them by name.
const root = document.documentElement;
let known = new Map();

function colour(name) {
  if (!known.has(name)) known.set(name, getComputedStyle(root).getPropertyValue(`--${name}`).trim() || "#888888");
  return known.get(name);
}

function shade(name, alpha) {
  const hex = colour(name);
  const part = (first) => parseInt(hex.slice(first, first + 2), 16);
  return `rgba(${part(1)}, ${part(3)}, ${part(5)}, ${alpha})`;
}

const darkWanted = window.matchMedia("(prefers-color-scheme: dark)");
const isDark = () => (root.dataset.theme ? root.dataset.theme === "dark" : darkWanted.matches);
