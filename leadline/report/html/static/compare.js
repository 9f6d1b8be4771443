// Several runs on one page: the answer, every series of every group, the pairs, the settings.

const DASHES = [[], [7, 4], [2, 3], [10, 3, 2, 3]]; // groups of one colour, and all of them in grey, are told apart by these
const MANY = 8; // groups: with more, bands would hide one another
const dashOf = (place) => DASHES[place % DASHES.length];
const differs = (pair) => pair.told !== "no";

function answer() {
  const section = at("verdict");
  const { groups, charts } = DATA;
  const sure = charts[0].pairs.some((one) => differs(one) && one.seeds);
  section.dataset.verdict = sure ? "continue" : "undecided";
  section.append(
    make("p", { class: "path" }, `by ${DATA.by} \u00b7 ${span(...DATA.span)}`),
    make("h1", { id: "verdict-word" }, DATA.headline),
    ...DATA.says.map((one) => make("p", { class: "sentence" }, one)),
  );
  const columns = [["runs", (one) => one.runs], [`${DATA.by} at the end (80%)`, (one) => one.final], ["best", (one) => one.best]];
  if (groups.some((one) => one.verdict)) columns.push([`against ${groups[0].name}`, (one) => one.verdict]);
  const head = make("tr", {}, make("th", { scope: "col" }, "group"), columns.map(([name]) => make("th", { scope: "col" }, name)));
  const rows = groups.map((one) =>
    make("tr", {}, make("th", { scope: "row" }, make("i", { class: "swatch", "data-colour": one.colour }), one.name), columns.map(([name, say]) => make("td", { "data-label": name }, say(one)))),
  );
  section.append(scrolling("Groups", make("table", { class: "rows", id: "groups" }, make("thead", {}, head), make("tbody", {}, rows))));
  paintSwatches(section);
}

/** One series: bands and means of the groups, runs as thin lines, and from where on the surest gap is significant. */
function comparePanel(chart, place) {
  const title = make("h3", { id: `panel-${place}-title` }, chart.name);
  const panel = make("figure", { class: `panel${place ? "" : " wide"}`, id: `panel-${place}`, "aria-labelledby": `panel-${place}-title` }, title);
  const surest = chart.pairs.find(differs);
  panel.append(make("p", { class: "small" }, surest ? surest.says : chart.pairs.length ? "No significant difference." : ""));
  const told = legend(
    DATA.groups.map((group, number_) => ({
      name: group.name,
      colour: group.colour,
      at: (x) => {
        const band = chart.bands[number_];
        const where = x === null ? chart.x[chart.x.length - 1] : x;
        const [low, middle, high] = ["low", "middle", "high"].map((one) => along(chart.x, band[one], where));
        return middle === null ? "" : `${number(middle)} (${range(number(low), number(high))})`;
      },
    })),
  );
  const host = make("div", { class: "plot" });
  panel.append(told.list, host);
  told.tell(null);
  return { panel, draw: () => drawGroups(host, chart, place, surest, (x) => told.tell(x)) };
}

function drawGroups(host, chart, place, surest, tell) {
  const data = [chart.x];
  const series = [{}];
  const bands = [];
  const quiet = { points: { show: false }, label: "" };
  for (const run of chart.runs) {
    const { colour: name } = DATA.groups[run.group];
    data.push(run.y);
    series.push({ ...quiet, stroke: () => shade(name, 0.45), width: 1, dash: dashOf(run.group) });
  }
  DATA.groups.forEach((group, number_) => {
    const band = chart.bands[number_];
    const name = group.colour;
    if (DATA.groups.length <= MANY) {
      const first = series.length;
      data.push(band.high, band.low);
      series.push({ ...quiet, width: 0 }, { ...quiet, width: 0 });
      bands.push({ series: [first, first + 1], fill: () => shade(name, 0.16) });
    }
    data.push(band.middle);
    series.push({ ...quiet, stroke: () => colour(name), width: 2.25, dash: dashOf(number_), dot: true });
  });
  const gap = (u) => {
    if (!surest || surest.sure === null) return;
    rule(u, surest.sure, colour("quiet"), [5, 3]);
    flag(u, surest.sure, `significant from ${moment(surest.sure)}`, colour("quiet"));
  };
  return stepChart(host, { data, series, bands, height: place ? 210 : 320, above: 18, label: chart.name, hooks: { drawClear: [gap] }, tell });
}

function pairs() {
  const body = at("pairs-body");
  const found = DATA.charts.flatMap((chart, place) => chart.pairs.map((pair) => ({ ...pair, place, chart })));
  const told = found.filter(differs);
  const rest = found.filter((one) => !differs(one));
  const item = (one) => {
    const link = make("a", { href: `#panel-${one.place}` }, one.chart.name);
    if (one.sure !== null) {
      link.addEventListener("click", () => clock.point(one.sure, clock.home[1]));
    }
    return make("article", { class: "finding", "data-severity": differs(one) && one.seeds ? "concern" : "note" }, make("p", { class: "severity" }, one.word), make("div", {}, make("p", { class: "says" }, one.says), make("p", { class: "places" }, link)));
  };
  if (!found.length) return void body.append(empty("There is one group only, so there is no pair to compare."));
  body.append(...(told.length ? told.map(item) : [empty("No significant difference on any metric.")]));
  if (rest.length) body.append(make("details", {}, make("summary", {}, `${rest.length} more without a significant difference`), rest.map(item)));
}

function listed(host, heads, rows, why) {
  host.append(rows.length ? scrolling(heads[0], table(heads, rows.map((row) => row.map((one) => one ?? "none")))) : empty(why));
}

function settings() {
  const body = at("settings-body");
  const names = DATA.groups.map((one) => one.name);
  if (DATA.settings.some((one) => one.marks)) body.append(make("p", { class: "lead" }, "Any setting that is the same within each group and differs between them may be the cause of a difference."));
  listed(body, ["setting", ...names, ""], DATA.settings.map((one) => [one.name, ...one.values, one.marks ? "marks the groups" : "differs within a group"]), "No setting differs between the runs, as far as their files tell.");
}

function beginning() {
  answer();
  const panels = DATA.charts.map(comparePanel);
  at("panels").append(...panels.map((one) => one.panel));
  pairs();
  settings();
  const caveats = [...DATA.warnings, ...DATA.left_out.map((one) => `left out: ${one.name}: ${one.why}`), DATA.grouped, ...(DATA.clock ? [`the clock is read from ${DATA.clock}`] : [])];
  at("caveats-body").append(make("ul", { class: "notes sentences" }, caveats.map((one) => make("li", {}, one))));
  listed(at("run-body"), ["run", "group", "path", "framework", "first step", "last step"], DATA.runs.map((one) => [one.name, one.group, one.path, one.framework || "unknown", one.first_step, one.last_step]), "No run was read.");
  zoomLine();
  everything.push(...panels.map((one) => one.draw()));
  theme();
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") clock.reset();
  });
  root.dataset.ready = "yes";
}

beginning();
