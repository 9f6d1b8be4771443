// Where the time of a step goes, the power drawn meanwhile, and other processes.

/** Step time by phase, stacked, with power beside it. */
function machine() {
  const body = at("machine-body");
  const { machine: used, marks } = DATA;
  const notes = used.notes.length
    ? make(
        "ul",
        { class: "notes sentences" },
        used.notes.map((one) => make("li", {}, one)),
      )
    : null;
  if (used.uses.length) {
    const columns = [
      ["share of step time", (one) => percent(one.share)],
      ["power", (one) => one.power_w !== null && `${number(one.power_w)} W`],
      ["memory", (one) => one.memory_gb !== null && `${number(one.memory_gb)} GB`],
    ].filter(([, say]) => used.uses.some(say));
    const uses = table(
      ["phase", ...columns.map(([name]) => name)],
      used.uses.map((one) => [one.name, ...columns.map(([, say]) => say(one) || "not sampled")]),
      {
        caption: used.bottleneck ? `By phase; ${used.bottleneck} is the bottleneck` : "By phase",
        class: "rows aside",
        numbers: 1,
      },
    );
    body.append(make("div", { class: "beside" }, make("div", {}, notes), uses));
  } else if (notes) body.append(notes);
  let draw = () => {};
  if (used.steps.length) draw = stacked(body);
  else body.append(empty("Step time was not logged."));
  if (!used.power) body.append(empty("GPU power was not recorded."));
  if (marks.beside.length) {
    body.append(
      make("h3", {}, "Other processes"),
      make(
        "ul",
        { class: "notes" },
        [...new Map(marks.beside.map((one) => [one.process, one])).values()].map((one) =>
          make(
            "li",
            {},
            make("strong", {}, one.process),
            `: ${one.effect} (${one.sure}), ${marks.beside
              .filter((other) => other.process === one.process)
              .map((other) => span(other.first_step, other.last_step))
              .join("; ")}`,
          ),
        ),
      ),
    );
  } else body.append(empty("No other processes recorded."));
  return draw;
}

function stacked(body) {
  const { machine: used } = DATA;
  const names = used.phases.map((one) => one.name);
  const raw = used.phases.map((one) => one.seconds);
  let sum = used.steps.map(() => 0);
  const heaps = raw.map((seconds) => (sum = sum.map((below, place) => below + (seconds[place] || 0))));
  const many = names.length;
  const told = (xs, ys, unit) => (step) => `${number(ys[step === null ? xs.length - 1 : nearest(xs, step)])} ${unit}`;
  const entries = names.map((name, place) => ({
    name,
    colour: `phase-${place % 7}`,
    swatch: "block",
    at: told(used.steps, raw[place], "s"),
  }));
  entries.push({ name: "whole step", colour: "ink", at: told(used.steps, used.whole, "s") });
  if (used.power)
    entries.push({ name: "power", colour: "role-power", at: told(used.power.steps, used.power.watts, "W") });
  const key = legend(entries);
  key.tell(null);
  const host = make("div", { class: "plot" });
  const title = many ? "Step time by phase (s)" : "Step time (s)";
  body.append(
    make(
      "figure",
      { class: "panel wide", id: "panel-machine", "aria-labelledby": "panel-machine-title" },
      make("h3", { id: "panel-machine-title" }, used.power ? `${title} and GPU power (W)` : title),
      key.list,
      host,
      many ? null : make("p", { class: "foot" }, "Phases were not timed separately."),
    ),
  );
  return () => {
    const tables = [[used.steps, ...heaps, used.whole]];
    const series = [{}];
    const bands = [];
    heaps.forEach((_, place) => {
      const name = `phase-${place % 7}`;
      series.push({
        label: "",
        width: 0.5,
        stroke: () => colour(name),
        points: { show: false },
        fill: place ? undefined : () => shade(name, 0.75),
        fillTo: 0,
      });
      if (place) bands.push({ series: [place + 1, place], fill: () => shade(name, 0.75) });
    });
    series.push({
      label: "",
      width: 1,
      stroke: () => shade("ink", many ? 0.55 : 0.8),
      points: { show: false },
      dot: true,
    });
    if (used.power) {
      tables.push([used.power.steps, used.power.watts]);
      series.push({
        label: "",
        width: 2,
        stroke: () => colour("role-power"),
        scale: "right",
        points: { show: false },
        dot: true,
      });
    }
    return stepChart(host, {
      data: uPlot.join(tables),
      series,
      bands,
      height: 260,
      label: title,
      right: Boolean(used.power),
      scales: {
        y: { range: (u, low, high) => [0, high > 0 ? 1.06 * high : 1] },
        right: { range: (u, low, high) => [0, high > 0 ? 1.1 * high : 1] },
      },
      tell: (step) => key.tell(step),
    });
  };
}
