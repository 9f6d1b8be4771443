// A chart against the step: axes, marks behind it, zoom, keyboard and legend. Drawn by uPlot.

const LEFT = 56; // pixels for the numbers of the y axis: the same everywhere, so that steps stand under one another
const FONT = '11px ui-sans-serif, system-ui, -apple-system, "Segoe UI", Roboto, sans-serif';

const MOST_RULES = 24; // events in view: more would hatch the chart; the strip still shows them

function axes(height, right) {
  const quiet = () => colour("quiet");
  const grid = { stroke: () => shade("quiet", 0.14), width: 1 };
  const plain = { stroke: quiet, font: FONT, ticks: { show: false }, gap: 6 };
  const list = [
    {
      ...plain,
      grid: { show: false },
      size: 24,
      space: 64,
      values: (_, marks) =>
        marks.map((one) => (Number.isInteger(one) ? (Math.abs(one) < 1e6 ? steps(one) : compact.format(one)) : "")),
    },
    {
      ...plain,
      grid,
      size: LEFT,
      space: Math.max(height / 5, 26),
      values: (_, marks) => marks.map((one) => number(one, 3)),
    },
  ];
  if (right)
    list.push({
      ...plain,
      grid: { show: false },
      side: 1,
      scale: "right",
      size: 48,
      space: 30,
      values: (_, marks) => marks.map((one) => number(one, 3)),
    });
  return list;
}

function room(u, low, high) {
  if (low === null || high === null || !Number.isFinite(low) || !Number.isFinite(high)) return [0, 1];
  const pad = high > low ? 0.06 * (high - low) : Math.abs(high) * 0.1 || 1;
  return [low - pad, high + pad];
}

/** Paint over the height of the plot between two steps. */
function paint(u, from, to, style) {
  const { left, top, width, height } = u.bbox;
  const first = Math.max(u.valToPos(from, "x", true), left);
  const last = Math.min(u.valToPos(to, "x", true), left + width);
  if (last < left || first > left + width) return;
  u.ctx.fillStyle = style;
  u.ctx.fillRect(first, top, Math.max(last - first, devicePixelRatio), height);
}

function rule(u, step, style, dash = []) {
  const { left, top, width, height } = u.bbox;
  const x = Math.round(u.valToPos(step, "x", true)) - 0.5;
  if (x < left - 1 || x > left + width) return;
  const { ctx } = u;
  ctx.save();
  ctx.strokeStyle = style;
  ctx.lineWidth = devicePixelRatio;
  ctx.setLineDash(dash.map((one) => one * devicePixelRatio));
  ctx.beginPath();
  ctx.moveTo(x, top);
  ctx.lineTo(x, top + height);
  ctx.stroke();
  ctx.restore();
}

/** A word above the plot, at a step. */
function flag(u, step, words, style, row = 0) {
  const { left, top, width } = u.bbox;
  const x = u.valToPos(step, "x", true);
  if (x < left || x > left + width) return;
  const { ctx } = u;
  ctx.save();
  ctx.font = FONT.replace("11px", `${11 * devicePixelRatio}px`);
  ctx.fillStyle = style;
  ctx.textBaseline = "bottom";
  const fits = x + ctx.measureText(words).width + 8 * devicePixelRatio < left + width;
  ctx.textAlign = fits ? "left" : "right";
  ctx.fillText(words, x + (fits ? -1 : 1) * devicePixelRatio, top - (2 + 13 * row) * devicePixelRatio);
  ctx.restore();
}

/** What lies behind every chart of steps: the forecast's ground, processes, events, and what a finding points at. */
function ground(u) {
  const { marks } = DATA;
  if (marks.now !== null && clock.home && clock.home[1] > marks.now)
    paint(u, marks.now, clock.home[1], shade("quiet", 0.08));
  for (const one of marks.beside) if (one.p > 0.8) paint(u, one.first_step, one.last_step, shade("severity-concern", 0.12));
  if (clock.marked) paint(u, clock.marked[0], clock.marked[1], shade("role-reward", 0.14));
  const seen = marks.events.filter((one) => one.step >= clock.view[0] && one.step <= clock.view[1]);
  if (seen.length <= MOST_RULES) for (const one of seen) rule(u, one.step, shade("quiet", 0.35), [2, 3]);
}

function edges(u) {
  if (!clock.marked) return;
  for (const step of clock.marked) rule(u, step, shade("role-reward", 0.8), [4, 3]);
}

/** One chart on the shared clock. `tell(step)` writes what stands there; null: the pointer is away. */
function stepChart(
  host,
  { data, series, bands = [], height, label, hooks = {}, scales = {}, right = false, yAxis = true, above = 8, tell },
) {
  const list = axes(height, right);
  if (!yAxis) list[1] = { ...list[1], values: () => [], grid: { show: false } };
  if (!yAxis) list[0] = { ...list[0], show: false };
  const options = {
    width: Math.max(host.clientWidth, 120),
    height,
    legend: { show: false },
    padding: [above, right ? 4 : 14, yAxis ? 0 : 4, 0],
    cursor: {
      y: false,
      drag: { x: true, y: false, dist: 6, setScale: false },
      points: { show: (u, place) => (series[place] && series[place].dot ? undefined : false), size: 7 },
      sync: {
        key: "step",
        scales: ["x", null],
        filters: { pub: (type) => type === "mousemove", sub: (type) => type === "mousemove" },
      },
      bind: { dblclick: () => () => (clock.reset(), null) },
    },
    scales: { x: { time: false, range: () => clock.view }, y: { range: room }, ...scales },
    axes: list,
    series: [{}, ...series.slice(1)],
    bands,
    hooks: {
      ready: [(u) => clock.charts.push(u)],
      drawClear: [ground, ...(hooks.drawClear || [])],
      draw: [...(hooks.draw || []), edges],
      setSelect: [
        (u) => {
          if (u.select.width < 4) return;
          const from = u.posToVal(u.select.left, "x");
          const to = u.posToVal(u.select.left + u.select.width, "x");
          u.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
          clock.show(from, to);
        },
      ],
      setScale: [
        (u, key) => {
          if (key !== "x") return;
          host.dataset.from = u.scales.x.min;
          host.dataset.to = u.scales.x.max;
        },
      ],
      setCursor: [
        (u) => {
          const step = u.cursor.left >= 0 ? u.posToVal(u.cursor.left, "x") : null;
          tell(step);
          if (u.cursor.event) clock.hover(step); // the chart the pointer is on speaks for all
        },
      ],
    },
  };
  const chart = new uPlot(options, data, host);
  host.tabIndex = 0;
  host.setAttribute("role", "img");
  host.setAttribute(
    "aria-label",
    `${label}. Left and right move along the steps, plus and minus zoom, Escape shows all.`,
  );
  host.addEventListener("keydown", (event) => walk(event, chart));
  // Who walks along the chart by keyboard hears what is written above it; a moving mouse would drown the reader.
  const told = host.parentElement.querySelector(".legend, .said");
  host.addEventListener("focus", () => told && told.setAttribute("aria-live", "polite"));
  host.addEventListener("blur", () => {
    if (told) told.removeAttribute("aria-live");
    chart.setCursor({ left: -10, top: -10 });
  });
  new ResizeObserver(() => {
    const width = host.clientWidth;
    if (width > 0 && width !== chart.width) chart.setSize({ width, height });
  }).observe(host);
  return chart;
}

/** A chart by keyboard. */
function walk(event, chart) {
  const plot = chart.over.clientWidth;
  const here = chart.cursor.left >= 0 ? chart.cursor.left : plot;
  const move = { ArrowLeft: -1, ArrowRight: 1, PageUp: -10, PageDown: 10 }[event.key];
  if (move) {
    const one = Math.max(plot / (clock.view[1] - clock.view[0]), 2);
    const left = Math.min(Math.max(here + move * one, 0), plot);
    chart.setCursor({ left, top: 1 });
    clock.hover(chart.posToVal(left, "x"));
  } else if (event.key === "+" || event.key === "=" || event.key === "-") {
    const middle = chart.posToVal(here, "x");
    const factor = event.key === "-" ? 2 : 0.5;
    clock.show(middle - (middle - clock.view[0]) * factor, middle + (clock.view[1] - middle) * factor);
  } else {
    return;
  }
  event.preventDefault();
}

/** The legend of a panel, which also tells the values under the pointer. */
function legend(entries) {
  const where = make("span", { class: "step" });
  const values = entries.map(() => make("span", { class: "value" }));
  const list = make(
    "div",
    { class: "legend" },
    entries.map((one, place) =>
      make(
        "span",
        { class: "entry" },
        make("i", { class: `swatch ${one.swatch || ""}`, "data-colour": one.colour }),
        make("span", { class: "name" }, one.name),
        values[place],
      ),
    ),
    where,
  );
  paintSwatches(list);
  return {
    list,
    tell(step) {
      const shown = step === null ? null : step;
      where.textContent = shown === null ? "" : moment(shown);
      entries.forEach((one, place) => (values[place].textContent = one.at(shown)));
    },
  };
}

function paintSwatches(within) {
  for (const one of within.querySelectorAll("[data-colour]"))
    one.style.setProperty("--swatch", `var(--${one.dataset.colour})`);
}
