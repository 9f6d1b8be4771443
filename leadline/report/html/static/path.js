// Reward against the distance from the reference: one path through time, coloured by regime.

function drawPath(host, tell) {
  const { steps: when, distance, reward } = DATA.path;
  const height = 340;
  const low = (list) => Math.min(...list);
  const high = (list) => Math.max(...list);
  const padded = (list) => room(null, low(list), high(list));
  const regimeOf = (step) => {
    const place = DATA.regimes.segments.findLastIndex((one) => one.from <= step);
    return place < 0 ? "undecided" : DATA.regimes.segments[place].regime;
  };
  let shown = null; // the place on the path under the pointer
  const dot = (u, place, size, filled) => {
    const { ctx } = u;
    ctx.beginPath();
    ctx.arc(
      u.valToPos(distance[place], "x", true),
      u.valToPos(reward[place], "y", true),
      size * devicePixelRatio,
      0,
      7,
    );
    ctx.fillStyle = filled ? colour("ink") : colour("ground");
    ctx.strokeStyle = colour("ink");
    ctx.lineWidth = 2 * devicePixelRatio;
    ctx.fill();
    ctx.stroke();
  };
  const note = (u, place, words) => {
    const { ctx } = u;
    ctx.font = FONT.replace("11px", `${11 * devicePixelRatio}px`);
    ctx.fillStyle = colour("quiet");
    const x = u.valToPos(distance[place], "x", true);
    ctx.textAlign = x > u.bbox.left + u.bbox.width * 0.8 ? "right" : "left";
    ctx.textBaseline = "top";
    const where = [
      words,
      x + (ctx.textAlign === "left" ? 7 : -7) * devicePixelRatio,
      u.valToPos(reward[place], "y", true) + 5 * devicePixelRatio,
    ];
    ctx.strokeStyle = colour("ground"); // a rim, so that it can be read on the path
    ctx.lineWidth = 3 * devicePixelRatio;
    ctx.strokeText(...where);
    ctx.fillText(...where);
  };
  const draw = (u) => {
    const { ctx } = u;
    ctx.save();
    ctx.lineCap = "round";
    for (let place = 1; place < when.length; place += 1) {
      const inView = when[place] >= clock.view[0] && when[place - 1] <= clock.view[1];
      ctx.strokeStyle = colour(`regime-${regimeOf(when[place - 1]).replace("/", "-")}`);
      ctx.globalAlpha = inView ? 1 : 0.2;
      ctx.lineWidth = 3 * devicePixelRatio;
      ctx.beginPath();
      ctx.moveTo(u.valToPos(distance[place - 1], "x", true), u.valToPos(reward[place - 1], "y", true));
      ctx.lineTo(u.valToPos(distance[place], "x", true), u.valToPos(reward[place], "y", true));
      ctx.stroke();
    }
    ctx.globalAlpha = 1;
    const last = when.length - 1;
    note(u, 0, `step ${steps(when[0])}`);
    note(u, last, `step ${steps(when[last])}`);
    // Some steps along the way, where they stand clear of one another.
    const named = [0, last];
    const away = (one, other) =>
      Math.hypot(
        u.valToPos(distance[one], "x") - u.valToPos(distance[other], "x"),
        u.valToPos(reward[one], "y") - u.valToPos(reward[other], "y"),
      );
    for (let place = 1; place < last; place += 1) {
      if (named.every((other) => away(place, other) > 64)) {
        named.push(place);
        dot(u, place, 2, true);
        note(u, place, steps(when[place]));
      }
    }
    dot(u, 0, 5, false);
    dot(u, last, 5, true);
    if (shown !== null) dot(u, shown, 6, false);
    ctx.restore();
  };
  const list = axes(height, false);
  list[0] = {
    ...list[0],
    size: 28,
    label: "distance from the reference, sqrt(KL)",
    labelFont: FONT,
    labelSize: 18,
    labelGap: 2,
    values: (_, marks) => marks.map((one) => number(one)),
    grid: list[1].grid,
  };
  list[1] = { ...list[1], label: undefined };
  const chart = new uPlot(
    {
      width: Math.max(host.clientWidth, 120),
      height,
      legend: { show: false },
      padding: [16, 16, 0, 0],
      cursor: { x: false, y: false, drag: { x: false, y: false }, points: { show: false } },
      scales: { x: { time: false, range: () => padded(distance) }, y: { range: () => padded(reward) } },
      axes: list,
      series: [{}, { width: 0, points: { show: false } }],
      hooks: {
        draw: [draw],
        setCursor: [
          (u) => {
            if (!u.cursor.event) return;
            if (u.cursor.left < 0) return point(null, true);
            let best = null;
            let least = 40;
            for (let place = 0; place < when.length; place += 1) {
              const away = Math.hypot(
                u.valToPos(distance[place], "x") - u.cursor.left,
                u.valToPos(reward[place], "y") - u.cursor.top,
              );
              if (away < least) [best, least] = [place, away];
            }
            point(best, true);
          },
        ],
      },
    },
    [
      [low(distance), high(distance)],
      [low(reward), high(reward)],
    ],
    host,
  );
  const point = (place, speak) => {
    if (place === shown) return;
    shown = place;
    tell(place);
    chart.redraw(false, false);
    if (speak)
      for (const other of clock.charts)
        other.setCursor(
          { left: place === null ? -10 : other.valToPos(when[place], "x"), top: place === null ? -10 : 1 },
          false,
          false,
        );
  };
  clock.watchers.push((step) =>
    point(step === null || step > when[when.length - 1] ? null : nearest(when, step), false),
  );
  clock.told.push(() => chart.redraw(false, false));
  host.tabIndex = 0;
  host.setAttribute("role", "img");
  host.setAttribute(
    "aria-label",
    "Reward vs. KL to reference as a path through time, colored by regime. Left and right move along it.",
  );
  host.addEventListener("keydown", (event) => {
    const move = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (!move) return;
    point(Math.min(Math.max((shown === null ? when.length - 1 : shown) + move, 0), when.length - 1), true);
    event.preventDefault();
  });
  new ResizeObserver(() => {
    const width = host.clientWidth;
    if (width > 0 && width !== chart.width) chart.setSize({ width, height });
  }).observe(host);
  return chart;
}

function portrait() {
  const body = at("portrait-body");
  const { regimes } = DATA;
  if (!DATA.path) {
    body.append(
      empty(
        regimes.says
          ? `Nothing to plot: ${regimes.says}.`
          : "Needs both KL to reference and reward; at least one was not logged.",
      ),
    );
    return () => {};
  }
  const clear = regimes.regime !== "undecided" && regimes.regime !== "no_kl";
  body.append(
    make("p", { class: "lead" }, `${regimes.says}${regimes.sure && clear ? ` (${regimes.sure})` : ""}.`),
  );
  const said = make("p", { class: "said" }, "Each point is one step; hover to see which.");
  const host = make("div", { class: "plot" });
  const found = table(
    ["steps", "KL / reward", "confidence"],
    regimes.segments.map((one) => [`${steps(one.from)}\u2013${steps(one.to)}`, one.regime, one.sure]),
    { caption: "Regimes over the run", numbers: 2 },
  );
  body.append(
    make(
      "div",
      { class: "beside" },
      make(
        "figure",
        { class: "panel", id: "panel-path", "aria-label": "Reward vs. KL" },
        regimeKey(),
        host,
        said,
      ),
      make("div", { class: "aside" }, regimes.segments.length ? found : empty("No regimes identified.")),
    ),
  );
  return () =>
    drawPath(host, (place) => {
      const { path } = DATA;
      said.textContent =
        place === null
          ? "Each point is one step; hover to see which."
          : `step ${steps(path.steps[place])} \u00b7 KL ${number(path.kl[place])} \u00b7 reward ${number(path.reward[place])}`;
    });
}
