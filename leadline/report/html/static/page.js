// Puts the page together.

/** Charts of every other series, on demand. */
const picker = {
  shown: new Map(),
  FOUND: 40, // names listed at once

  start() {
    const body = at("others");
    const onPanels = new Set(DATA.panels.flatMap((one) => one.names));
    this.names = Object.keys(DATA.series)
      .filter((name) => !onPanels.has(name))
      .sort();
    if (!this.names.length) return void body.append(empty("There are no others."));
    const search = make("input", {
      type: "search",
      id: "search",
      placeholder: "Search by name or key",
      autocomplete: "off",
      spellcheck: "false",
    });
    this.list = make("ul", { class: "names", id: "names" });
    this.count = make("p", { class: "small", role: "status" });
    this.panels = make("div", { class: "panels" });
    search.addEventListener("input", () => this.offer(search.value));
    body.append(
      make(
        "div",
        { class: "search" },
        make("label", { for: "search" }, `${this.names.length} more metrics; choose any to plot`),
        search,
      ),
      this.list,
      this.count,
      this.panels,
    );
    this.offer("");
  },

  offer(wanted) {
    const word = wanted.trim().toLowerCase();
    const found = this.names.filter((name) => `${name} ${DATA.series[name].key}`.toLowerCase().includes(word));
    this.list.replaceChildren(
      ...found.slice(0, this.FOUND).map((name) =>
        make(
          "li",
          {},
          make(
            "button",
            {
              type: "button",
              class: "plain name",
              "aria-pressed": this.shown.has(name),
              title: DATA.series[name].kind,
              on: { click: () => this.toggle(name) },
            },
            name,
          ),
        ),
      ),
    );
    this.count.textContent =
      found.length > this.FOUND
        ? `Showing ${this.FOUND} of ${found.length}; search to find the rest.`
        : found.length
          ? ""
          : "No metric matches.";
    this.wanted = wanted;
  },

  toggle(name) {
    if (!this.shown.has(name)) return void this.add(name);
    const { panel, chart } = this.shown.get(name);
    clock.charts.splice(clock.charts.indexOf(chart), 1);
    chart.destroy();
    panel.remove();
    this.shown.delete(name);
    this.offer(this.wanted);
  },

  add(name) {
    if (!this.shown.has(name)) {
      const one = panelOf({
        id: `other-${this.names.indexOf(name)}`,
        title: name,
        names: [name],
        says: DATA.series[name].kind,
        empty: "",
        note: "Points as logged, no fitted curve",
      });
      this.panels.append(one.panel);
      this.shown.set(name, { panel: one.panel, chart: one.draw() });
      this.offer(this.wanted);
    }
    return this.shown.get(name).panel;
  },
};

function start() {
  verdict();
  findings();
  const panels = DATA.panels.map((one) => ({ first: FIRST.includes(one.id), ...panelOf(one) }));
  // The reward comes after the headline and before the lines: on a phone it is the first thing below the fold.
  const [reward, ...others] = panels.filter((one) => one.first).map((one) => one.panel);
  if (reward) at("verdict").firstChild.after(reward);
  at("verdict").append(...others);
  panels.unshift(timeline());
  at("panels").append(...panels.filter((one) => !one.first).map((one) => one.panel));
  const later = [portrait(), machine()];
  onset();
  normal();
  whatWasRead();
  zoomLine();
  if (clock.home)
    everything.push(...[...panels.map((one) => one.draw), ...later].map((draw) => draw()).filter(Boolean));
  picker.start();
  viewer.start();
  theme();
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") clock.reset();
  });
  root.dataset.ready = "yes";
}

start();
