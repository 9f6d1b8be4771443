// The strip over time: regimes, events, checkpoints and what ran beside the training.

function timeline() {
  const { marks, regimes } = DATA;
  const rows = [];
  if (regimes.segments.length) rows.push({ name: "regime", paint: paintRegimes, at: regimeAt });
  if (marks.events.length)
    rows.push({
      name: "events",
      paint: paintEvents,
      at: (step, near) => closest(marks.events, step, near, (one) => one.says),
    });
  if (marks.checkpoints.length)
    rows.push({
      name: "saved",
      paint: paintSaved,
      at: (step, near) => closest(marks.checkpoints, step, near, (one) => `checkpoint of step ${steps(one.step)}`),
    });
  if (marks.beside.length) rows.push({ name: "beside", paint: paintBeside, at: besideAt });
  const panel = make(
    "figure",
    { class: "panel wide strip", id: "panel-timeline", "aria-labelledby": "panel-timeline-title" },
    make("h3", { id: "panel-timeline-title" }, "Regimes, events, and checkpoints"),
  );
  if (!rows.length) {
    panel.append(
      empty("No KL and reward regimes, events, checkpoints, or other processes found."),
    );
    return { panel, draw() {} };
  }
  panel.append(...[regimeKey()].filter(Boolean));
  const missing = [
    !marks.events.length && "No events found in the log. ",
    !marks.checkpoints.length && "No checkpoint found on disk. ",
  ]
    .filter(Boolean)
    .join("");
  const said = make("p", { class: "said" }, missing);
  const host = make("div", { class: "plot" });
  panel.append(host, said);
  const high = 24;
  const draw = () => {
    let chart = null;
    const tell = (step) => {
      if (step === null || !chart) return void (said.textContent = missing);
      const near = (6 * (clock.view[1] - clock.view[0])) / Math.max(chart.over.clientWidth, 1);
      const words = rows.map((row) => row.at(step, near)).filter(Boolean);
      said.textContent = `step ${steps(step)}${words.length ? ": " : ""}${words.join(" \u00b7 ")}`;
    };
    chart = stepChart(host, {
      data: [clock.home, [0, 0]],
      series: [{}, { width: 0, points: { show: false } }],
      height: rows.length * high + 12,
      label: "Regimes, events, and checkpoints by step",
      scales: { y: { range: [0, rows.length] } },
      yAxis: false,
      hooks: { draw: [(u) => rows.forEach((row, place) => paintRow(u, row, place, high))] },
      tell,
    });
    return chart;
  };
  return { panel, draw };
}

/** Which colour is which regime; null where no regime could be told. */
function regimeKey() {
  const used = [...new Set(DATA.regimes.segments.map((one) => one.regime))];
  if (!used.length) return null;
  const swatch = (one) => make("i", { class: "swatch block", "data-colour": `regime-${one.replace("/", "-")}` });
  const entries = used.map((one) => make("span", { class: "entry" }, swatch(one), one));
  const key = make("p", { class: "key" }, "KL / reward: ", entries);
  paintSwatches(key);
  return key;
}

function paintRow(u, row, place, high) {
  const { ctx } = u;
  const top = u.bbox.top + place * high * devicePixelRatio;
  ctx.save();
  ctx.font = FONT.replace("11px", `${11 * devicePixelRatio}px`);
  ctx.fillStyle = colour("quiet");
  ctx.textAlign = "right";
  ctx.textBaseline = "middle";
  ctx.fillText(row.name, u.bbox.left - 8 * devicePixelRatio, top + (high / 2) * devicePixelRatio);
  ctx.beginPath();
  ctx.rect(u.bbox.left, u.bbox.top, u.bbox.width, u.bbox.height);
  ctx.clip();
  row.paint(u, top + 5 * devicePixelRatio, (high - 10) * devicePixelRatio);
  ctx.restore();
}

function block(u, from, to, top, height, style) {
  const first = u.valToPos(from, "x", true);
  u.ctx.fillStyle = style;
  u.ctx.fillRect(first, top, Math.max(u.valToPos(to, "x", true) - first - devicePixelRatio, devicePixelRatio), height);
}

function paintRegimes(u, top, height) {
  const parts = DATA.regimes.segments;
  parts.forEach((one, place) => {
    const to = place + 1 < parts.length ? parts[place + 1].from : one.to;
    block(u, one.from, to, top, height, colour(`regime-${one.regime.replace("/", "-")}`));
  });
}

function regimeAt(step) {
  const parts = DATA.regimes.segments;
  const place = parts.findLastIndex((one) => one.from <= step);
  const one = parts[place];
  return one && step <= (place + 1 < parts.length ? parts[place + 1].from : one.to)
    ? `KL ${one.regime.replace("/", ", reward ")} (${one.sure})`
    : "";
}

function paintEvents(u, top, height) {
  const { ctx } = u;
  ctx.fillStyle = colour("severity-concern");
  for (const one of DATA.marks.events) {
    const x = u.valToPos(one.step, "x", true);
    const half = height / 2;
    ctx.beginPath();
    ctx.moveTo(x, top);
    ctx.lineTo(x + half, top + height);
    ctx.lineTo(x - half, top + height);
    ctx.fill();
  }
}

function paintSaved(u, top, height) {
  const { ctx } = u;
  for (const one of DATA.marks.checkpoints) {
    ctx.beginPath();
    ctx.arc(u.valToPos(one.step, "x", true), top + height / 2, height / 3, 0, 7);
    const best = one.step === DATA.marks.best;
    ctx.strokeStyle = ctx.fillStyle = colour(best ? "verdict-continue" : "quiet");
    ctx.lineWidth = devicePixelRatio;
    if (one.complete === false) ctx.stroke();
    else ctx.fill();
  }
}

function paintBeside(u, top, height) {
  for (const one of DATA.marks.beside)
    block(u, one.first_step, one.last_step, top, height, one.p > 0.8 ? colour("severity-concern") : shade("quiet", 0.5));
}

const besideAt = (step) =>
  DATA.marks.beside
    .filter((one) => one.first_step <= step && step <= one.last_step)
    .map((one) => `${one.process}: ${one.effect} (${one.sure})`)
    .join(" \u00b7 ");

function closest(list, step, near, say) {
  const found = list.filter((one) => Math.abs(one.step - step) <= near);
  return found.slice(0, 3).map(say).join("; ");
}
