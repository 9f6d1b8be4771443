// Panels of series: points, the band of their curve, the forecast, and what is named on the chart of the reward.

const FIRST = ["reward", "kl"]; // charts beside the headline
const SPIKY = 2.5; // times what nearly all points and the band need: from there on, single points would flatten the rest

/** The room that the bands and nearly all points in view need; null where that is about what all of them need. */
function withoutSpikes(lines) {
  const seen = [];
  const must = [];
  for (const { x, y, band } of lines) {
    for (let place = 0; place < x.length; place += 1)
      if (y[place] !== null && x[place] >= clock.view[0] && x[place] <= clock.view[1]) seen.push(y[place]);
    if (band)
      for (const side of ["low", "high"])
        band[side].forEach(
          (one, place) => band.steps[place] >= clock.view[0] && band.steps[place] <= clock.view[1] && must.push(one),
        );
  }
  if (seen.length < 20) return null;
  seen.sort((one, two) => one - two);
  const at = (share) => seen[Math.round(share * (seen.length - 1))];
  let [low, high] = [at(0.02), at(0.98)];
  for (const one of must) [low, high] = [Math.min(low, one), Math.max(high, one)];
  const all = Math.max(seen[seen.length - 1], high) - Math.min(seen[0], low);
  const pad = 0.25 * (high - low);
  return high > low && all > SPIKY * (high - low) ? [low - pad, high + pad] : null;
}

/** Small arrows at the edge for points that lie beyond it. */
function beyond(u, lines, names) {
  const { ctx, bbox } = u;
  const [low, high] = [u.scales.y.min, u.scales.y.max];
  const size = 3.5 * devicePixelRatio;
  lines.forEach((line, place) => {
    ctx.fillStyle = colour(names[place]);
    line.y.forEach((value, point) => {
      if (
        value === null ||
        (value <= high && value >= low) ||
        line.x[point] < clock.view[0] ||
        line.x[point] > clock.view[1]
      )
        return;
      const x = u.valToPos(line.x[point], "x", true);
      const way = value > high ? 1 : -1;
      const y = way > 0 ? bbox.top : bbox.top + bbox.height;
      ctx.beginPath();
      ctx.moveTo(x, y);
      ctx.lineTo(x - size, y + way * 1.6 * size);
      ctx.lineTo(x + size, y + way * 1.6 * size);
      ctx.fill();
    });
  });
}

/** The peak with its interval, the best state and the last step: what is named on the chart of the reward. */
function landmarksOf() {
  const { peak, best, now } = DATA.marks;
  const found = [];
  if (peak) found.push({ step: peak.step, words: `peak ${steps(peak.step)}`, name: "role-reward", dash: [5, 3] });
  if (best !== null) found.push({ step: best, words: `best ${steps(best)}`, name: "verdict-continue", dash: [] });
  if (clock.home && now !== null && clock.home[1] > now)
    found.push({ step: now, words: "forecast", name: "quiet", dash: [] });
  return found;
}

function landmarks(u) {
  const { peak } = DATA.marks;
  if (peak) paint(u, ...peak.interval, shade("role-reward", 0.1));
  landmarksOf().forEach(({ step, words, name, dash }, row) => {
    rule(u, step, colour(name), dash);
    flag(u, step, words, colour(name), row);
  });
}

/** What a series has to say at a step: its point, and where its curve runs. */
function spoken(xs, ys, band, step) {
  let place = step === null ? xs.length - 1 : nearest(xs, step);
  if (step === null) while (place > 0 && ys[place] === null) place -= 1;
  const inside = step === null || step <= xs[xs.length - 1] + Math.max(1, 0.01 * (xs[xs.length - 1] - xs[0]));
  const size = Math.max(...ys.map((one) => Math.abs(one)));
  const point = inside ? level(ys[place], size) : "";
  if (!band) return point;
  const where = step === null ? xs[place] : step;
  const [low, middle, high] = ["low", "middle", "high"].map((one) => along(band.steps, band[one], where));
  if (middle === null) return point;
  const curve = `${level(middle, size)} (${range(level(low, size), level(high, size))})`;
  if (!inside) return `forecast ${curve}`;
  return `${point} \u00b7 curve ${curve}`;
}

/** One panel: title, sentence, legend, chart. `names` are series; the first is the one the panel is about. */
function panelOf({ id, title, names, says, empty: why, wide, silent, note }) {
  const heading = make("h3", { id: `panel-${id}-title` }, title);
  const panel = make(
    "figure",
    {
      class: `panel${wide ? " wide" : ""}${silent ? " silent" : ""}`,
      id: `panel-${id}`,
      "aria-labelledby": `panel-${id}-title`,
    },
    heading,
  );
  if (!names.length) {
    panel.append(empty(why));
    return { panel, draw() {} };
  }
  if (silent)
    panel.append(make("p", { class: "tag" }, "carries no signal here"), make("p", { class: "says" }, silent));
  if (says) panel.append(make("p", { class: "says" }, says));
  const lines = names.map((name) => {
    const one = DATA.series[name];
    return {
      name,
      role: one.role,
      kind: one.kind,
      points: one.points,
      x: clock.steps(one.clock),
      y: one.y,
      band: DATA.bands[name] || null,
    };
  });
  const told = legend(
    lines.map((one, place) => ({
      name: one.name,
      colour: roleOf(one, place),
      at: (step) => spoken(one.x, one.y, one.band, step),
    })),
  );
  const host = make("div", { class: "plot" });
  panel.append(told.list, host);
  const foot = [
    note,
    ...lines
      .filter((one) => one.points > one.x.length)
      .map((one) => `${one.name}: ${steps(one.points)} points, drawn as each column's minimum and maximum`),
  ].filter(Boolean);
  if (foot.length) panel.append(make("p", { class: "foot" }, foot.join(". ") + "."));
  told.tell(null);
  const whole = { shown: false };
  const draw = () => {
    const spiky = withoutSpikes(lines) !== null;
    const chart = drawLines(host, lines, { id, title, wide, silent, whole, tell: (step) => told.tell(step) });
    if (spiky) panel.append(spikes(whole, chart));
    return chart;
  };
  return { panel, draw };
}

/** Says that single points lie beyond the edge, and brings them into view when asked. */
function spikes(whole, chart) {
  const words = make("span", {});
  const button = make("button", { type: "button", class: "plain" });
  const say = () => {
    words.textContent = whole.shown
      ? "Range covers every point."
      : "Arrows at the edge: single points outside the range.";
    button.textContent = whole.shown ? "Fit the curve" : "Fit every point";
  };
  button.addEventListener("click", () => {
    whole.shown = !whole.shown;
    say();
    chart.setScale("x", { min: clock.view[0], max: clock.view[1] });
  });
  say();
  return make("p", { class: "foot spikes" }, words, button);
}

const roleOf = (line, place) => (place === 2 ? "role-coherence" : `role-${line.role}`);

function drawLines(host, lines, { id, title, wide, silent, whole, tell }) {
  const tables = [];
  const series = [{}];
  const bands = [];
  lines.forEach((line, place) => {
    const name = roleOf(line, place);
    const few = line.x.length <= 80;
    if (line.band) {
      const { now } = line.band;
      for (const [from, to, alpha, dash] of [
        [0, now + 1, 0.2, []],
        [now, line.band.steps.length, 0.1, [4, 4]],
      ]) {
        if (to - from < 2) continue;
        const part = (one) => line.band[one].slice(from, to);
        tables.push([part("steps"), part("high"), part("low"), part("middle")]);
        const first = series.length;
        series.push(
          { width: 0, points: { show: false }, label: "" },
          { width: 0, points: { show: false }, label: "" },
          { stroke: () => colour(name), width: silent ? 1 : 2, dash, points: { show: false }, label: "" },
        );
        bands.push({ series: [first, first + 1], fill: () => shade(name, silent ? alpha / 2 : alpha) });
      }
    }
    tables.push([line.x, line.y]);
    series.push({
      dot: true,
      label: "",
      stroke: () => shade(name, line.band ? 0.45 : 0.9),
      width: line.band ? 1 : 1.25,
      spanGaps: false,
      points: { show: few, size: 4, width: 0, fill: () => shade(name, 0.75) },
    });
  });
  const data = uPlot.join(tables);
  const main = id === "reward" || id === "judged";
  return stepChart(host, {
    data,
    series,
    bands,
    height: FIRST.includes(id) ? 190 : main ? 300 : wide ? 240 : 190,
    above: main ? 13 * landmarksOf().length + 6 : 8,
    label: `${title} by step`,
    hooks: { draw: [(u) => beyond(u, lines, lines.map(roleOf)), ...(main ? [landmarks] : [])] },
    scales: { y: { range: (u, low, high) => (whole.shown ? null : withoutSpikes(lines)) || room(u, low, high) } },
    tell,
  });
}
