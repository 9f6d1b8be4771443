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
      ["power", (one) => one.power !== null && `${number(one.power)} W`],
      ["memory", (one) => one.memory !== null && `${number(one.memory)} GB`],
    ].filter(([, say]) => used.uses.some(say));
    const rows = used.uses.map((one) =>
      make(
        "tr",
        {},
        make("th", { scope: "row" }, one.name),
        columns.map(([, say]) => make("td", { class: "number" }, say(one) || "not sampled")),
      ),
    );
    const head = make(
      "tr",
      {},
      make("th", { scope: "col" }, "phase"),
      columns.map(([name]) => make("th", { scope: "col", class: "number" }, name)),
    );
    const caption = used.bottleneck ? `By phase; ${used.bottleneck} is the bottleneck` : "By phase";
    body.append(
      make(
        "div",
        { class: "beside" },
        make("div", {}, notes),
        make(
          "table",
          { class: "rows aside" },
          make("caption", {}, caption),
          make("thead", {}, head),
          make("tbody", {}, rows),
        ),
      ),
    );
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
              .map((other) => span(other.from, other.to))
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
  const entries = names.map((name, place) => ({
    name,
    colour: `phase-${place % 7}`,
    swatch: "block",
    at: (step) => `${number(raw[place][step === null ? used.steps.length - 1 : nearest(used.steps, step)])} s`,
  }));
  entries.push({
    name: "whole step",
    colour: "ink",
    at: (step) => `${number(used.whole[step === null ? used.steps.length - 1 : nearest(used.steps, step)])} s`,
  });
  if (used.power)
    entries.push({
      name: "power",
      colour: "role-power",
      at: (step) =>
        `${number(used.power.watts[step === null ? used.power.steps.length - 1 : nearest(used.power.steps, step)])} W`,
    });
  const told = legend(entries);
  told.tell(null);
  const host = make("div", { class: "plot" });
  const title = many ? "Step time by phase (s)" : "Step time (s)";
  body.append(
    make(
      "figure",
      { class: "panel wide", id: "panel-machine", "aria-labelledby": "panel-machine-title" },
      make("h3", { id: "panel-machine-title" }, used.power ? `${title} and GPU power (W)` : title),
      told.list,
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
      tell: (step) => told.tell(step),
    });
  };
}
