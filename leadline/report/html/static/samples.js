// The samples: early beside late, high reward beside low, with what only one side has marked in the text.

const viewer = {
  mode: "time",
  left: 0,
  right: DATA.samples.steps.length - 1,
  here: DATA.samples.steps.length - 1,
  reward: "any",

  start() {
    const body = at("samples-body");
    const list = DATA.samples.steps;
    if (!list.length) return void body.append(empty(DATA.samples.empty));
    if (list.length < 2) this.mode = "reward";
    this.modes = make(
      "div",
      { class: "modes", role: "group", "aria-label": "What to compare" },
      this.button("time", "Early vs. late", list.length < 2),
      this.button("reward", "High vs. low reward", false),
    );
    this.controls = make("div", { class: "controls" });
    this.told = make("div", { class: "told", "aria-live": "polite" });
    this.columns = make("div", { class: "columns" });
    body.append(this.modes, this.controls, this.told, this.columns);
    this.lay();
  },

  button(mode, words, disabled) {
    return make(
      "button",
      {
        type: "button",
        class: "plain",
        "data-mode": mode,
        disabled,
        on: { click: () => ((this.mode = mode), this.lay()) },
      },
      words,
    );
  },

  /** Show two steps side by side, the kept ones nearest to what was asked for. */
  open(from, to) {
    const list = DATA.samples.steps.map((one) => one.step);
    if (list.length < 2) return;
    this.mode = "time";
    this.left = nearest(list, from);
    this.right = nearest(list, to);
    if (this.left === this.right && this.left > 0) this.left = 0;
    this.lay();
  },

  slider(name, key) {
    const list = DATA.samples.steps;
    const shown = make("output", { class: "number" }, `step ${steps(list[this[key]].step)}`);
    const input = make("input", {
      type: "range",
      min: 0,
      max: list.length - 1,
      step: 1,
      value: this[key],
      "data-side": key,
      "aria-label": `${name}: step`,
      "aria-valuetext": `step ${list[this[key]].step}`,
    });
    input.addEventListener("input", () => {
      this[key] = Number(input.value);
      shown.textContent = `step ${steps(list[this[key]].step)}`;
      input.setAttribute("aria-valuetext", shown.textContent);
      this.fill();
    });
    return make("label", { class: "slider" }, make("span", {}, name), input, shown);
  },

  lay() {
    for (const one of this.modes.children) one.setAttribute("aria-pressed", one.dataset.mode === this.mode);
    if (this.mode === "time") {
      const which = make(
        "select",
        { "aria-label": "Which samples" },
        ["any", "high", "low"].map((one) =>
          make(
            "option",
            { value: one, selected: one === this.reward },
            { any: "any reward", high: "high reward first", low: "low reward first" }[one],
          ),
        ),
      );
      which.addEventListener("change", () => ((this.reward = which.value), this.fill()));
      this.controls.replaceChildren(
        this.slider("Left", "left"),
        this.slider("Right", "right"),
        make("label", { class: "which" }, make("span", {}, "Show"), which),
      );
    } else {
      this.controls.replaceChildren(this.slider("At", "here"));
    }
    this.fill();
  },

  fill() {
    const list = DATA.samples.steps;
    if (this.mode === "time") {
      const [left, right] = [list[this.left], list[this.right]];
      this.told.replaceChildren(...this.shared(DATA.samples.late, "late samples", "early samples"));
      this.columns.replaceChildren(
        this.column(heading(left), this.some(left.samples), ["early", "late"]),
        this.column(heading(right), this.some(right.samples), ["late", "early"]),
      );
      return;
    }
    const one = list[this.here];
    this.told.replaceChildren(...this.shared(one.pair, "high-reward samples", "low-reward samples"));
    const scored = one.samples.filter((sample) => sample.score !== null);
    const middle = scored.length ? (scored[0].score + scored[scored.length - 1].score) / 2 : null;
    const tied = scored.length && scored[0].score === scored[scored.length - 1].score;
    if (!scored.length || tied) {
      const why = tied
        ? `All samples shown earned the same reward, ${number(scored[0].score)}, so there is no high or low to compare.`
        : "These samples carry no reward, so there is no high or low to compare.";
      this.columns.replaceChildren(empty(why), this.column(heading(one), one.samples.slice(0, 4), ["high", "low"]));
      return;
    }
    this.columns.replaceChildren(
      this.column(
        `high reward, ${heading(one)}`,
        scored.filter((sample) => sample.score > middle),
        ["high", "low"],
      ),
      this.column(`low reward, ${heading(one)}`, scored.filter((sample) => sample.score <= middle).reverse(), [
        "low",
        "high",
      ]),
    );
  },

  some(samples) {
    const ranked = this.reward === "low" ? [...samples].reverse() : samples;
    if (this.reward !== "any" || ranked.length <= 4) return ranked.slice(0, 4);
    return [0, 1, ranked.length - 2, ranked.length - 1].map((place) => ranked[place]);
  },

  shared(pair, here, there) {
    if (!pair.enough)
      return [
        empty(`Too few samples to tell what only one side shares (${pair.here} and ${pair.there} were looked at).`),
      ];
    const sides = [
      [pair.only_here, here, there, "first"],
      [pair.only_there, there, here, "second"],
    ].filter(([found]) => found.length);
    if (!sides.length)
      return [
        empty(
          `No phrase is common in the ${pair.here} ${here} and rare in the ${pair.there} ${there} that were looked at, or the other way round.`,
        ),
      ];
    const lines = sides.map(([found, one, other, kind]) =>
      make(
        "p",
        { class: "shared" },
        `Common only in ${one}: `,
        found.map((phrase) =>
          make(
            "span",
            { class: "phrase" },
            make("mark", { class: kind, dir: "auto" }, phrase.phrase),
            ` ${percent(phrase.here)} of ${one.split(" ")[0]}, ${percent(phrase.there)} of ${other.split(" ")[0]}`,
          ),
        ),
      ),
    );
    if (pair.masked)
      lines.push(make("p", { class: "small" }, "# stands for any digit, <end> for where a sample ends."));
    return lines;
  },

  column(title, samples, [own, other]) {
    return make(
      "div",
      { class: "column" },
      make("h3", {}, title),
      samples.length ? samples.map((sample) => card(sample, own, other)) : empty("None."),
    );
  },
};

const heading = (one) => `step ${steps(one.step)}${one.mean === null ? "" : `, mean reward ${number(one.mean)}`}`;

function card(sample, own, other) {
  const kind = own === "early" || own === "low" ? "second" : "first";
  const output = sample.output && marked(sample.output, sample[own], kind, sample[other]);
  return quoted("article", `reward ${number(sample.score)} \u00b7 ${steps(sample.length)} characters`, sample, output);
}

/** The text in pieces, those that only this side shares marked; those of the other side marked as such. */
function marked(text, own, kind, foreign) {
  const spans = [];
  for (let place = 0; place < own.length; place += 2) spans.push([own[place], own[place + 1], kind]);
  for (let place = 0; place < foreign.length; place += 2)
    spans.push([foreign[place], foreign[place + 1], kind === "first" ? "second" : "first"]);
  spans.sort((one, two) => one[0] - two[0]);
  const pieces = [];
  let last = 0;
  for (const [from, to, name] of spans) {
    if (from < last) continue;
    if (from > last) pieces.push(text.slice(last, from));
    pieces.push(make("mark", { class: name }, text.slice(from, to)));
    last = to;
  }
  pieces.push(text.slice(last));
  return pieces;
}
