// What is said, in words: the verdict, the findings and their places on the charts, what is normal, what was read.

const SIGNS = { continue: "\u2192", stop: "\u25a0", roll_back: "\u21b6", undecided: "?", finished: "\u2691" };
const FAILED = "\u2716"; // a run that ended badly
const TIMELINE = "timeline.order"; // the finding that relates the others

/** The headline, and the labeled lines below it; page.js puts the curves beside them. */
function verdict() {
  const { verdict: said } = DATA;
  const section = at("verdict");
  section.dataset.verdict = said.color;
  const head = make(
    "div",
    { class: "head" },
    make("p", { class: "path" }, said.read.join(" \u00b7 ")),
    make(
      "h1",
      { id: "verdict-word" },
      make("span", { class: "sign", "aria-hidden": "true" }, said.color === said.word ? SIGNS[said.word] : FAILED),
      make("span", { class: "headline" }, said.headline.replace(/ (?=[\u00b7\u2192]|now\))|(?<=\u2192) /g, "\u00a0")), // no line begins with a dot
    ),
  );
  section.append(head);
  const lines = said.lines.map((one) => labeled(one, said.keep));
  if (lines.length) section.append(make("dl", { class: "lines" }, lines));
}

function labeled({ label, says, sample }, path) {
  const row = (...words) => make("div", {}, make("dt", {}, label), make("dd", {}, words));
  if (!path || !["keep", "best"].includes(label) || !says.startsWith(path))
    return row(make("span", { class: sample ? "quoted" : "" }, says));
  const where = make("code", { class: "copied" }, path);
  return row(where, says.slice(path.length), " ", copyButton(path, where));
}

function copyButton(words, shown) {
  const button = make("button", { type: "button", class: "plain copy" }, "Copy path");
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(words);
      button.textContent = "Copied";
    } catch {
      getSelection().selectAllChildren(shown); // no clipboard here: the reader copies what is selected
      button.textContent = "Selected";
    }
    setTimeout(() => (button.textContent = "Copy path"), 2000);
  });
  return button;
}

function findings() {
  const body = at("findings-body");
  const found = DATA.findings.filter((one) => one.id !== TIMELINE);
  if (!found.length) return void body.append(empty("Nothing unusual was found."));
  body.append(make("ol", { class: "findings" }, found.map(finding)));
}

function finding(one) {
  return make(
    "li",
    { class: "finding", "data-severity": one.severity },
    make("span", { class: "severity" }, one.severity),
    make(
      "div",
      {},
      make("p", { class: "says" }, one.says, " ", make("span", { class: "id" }, `[${one.id}, ${one.sure}]`)),
      one.places.length
        ? make(
            "ul",
            { class: "places" },
            one.places.map((place) => make("li", {}, placeLink(place, one.since))),
          )
        : null,
      one.samples.length
        ? make(
            "details",
            {},
            make("summary", {}, `${one.samples.length} samples behind this`),
            one.samples.map((sample) =>
              quoted("blockquote", `step ${steps(sample.step)} \u00b7 reward ${number(sample.score)}`, sample, sample.output),
            ),
          )
        : null,
    ),
  );
}

function placeLink(place, since) {
  const where = `${place.signal}, ${span(place.from, place.to)}`;
  const words = place.text ? `${where}: ${place.text}` : where;
  const id = whereShown(place.signal);
  if (!id) return make("span", {}, words);
  return make("a", { href: `#${id}`, on: { click: (event) => (event.preventDefault(), goTo(place, id, since)) } }, words);
}

/** Where a finding can be checked: on the panel that shows the series, on demand among the others, or nowhere. */
function whereShown(signal) {
  if (signal === "rollouts") return "samples";
  const panel = DATA.panels.find((one) => one.names.includes(signal));
  if (panel) return `panel-${panel.id}`;
  return /^(time|gpu)\//.test(signal) ? "machine" : signal in DATA.series ? "others" : null;
}

/** Show the place a finding speaks of: its panel, its steps, its samples. */
function goTo(place, id, since) {
  let target = at(id);
  if (id === "samples") viewer.open(place.from, place.to);
  else {
    if (id === "others") target = picker.add(place.signal);
    // What is said of the whole run is marked from where it began to hold.
    const whole = place.from <= clock.home[0] && since !== null && since < place.to;
    clock.point(whole ? since : place.from, place.to);
  }
  if (!target) return;
  target.scrollIntoView({
    behavior: matchMedia("(prefers-reduced-motion: reduce)").matches ? "auto" : "smooth",
    block: "start",
  });
  target.classList.remove("lit");
  void target.offsetWidth; // so that the same place lights up again
  target.classList.add("lit");
  const focus = target.querySelector(".plot[tabindex]") || target.querySelector("input, button");
  if (focus) focus.focus({ preventScroll: true });
}

/** A sample with a line about it; `output` is its text, marked or not. */
function quoted(tag, about, { prompt, left_out }, output) {
  return make(
    tag,
    { class: "sample" },
    make("p", { class: "about" }, about),
    prompt ? make("pre", { class: "prompt", dir: "auto" }, prompt) : null,
    make("pre", { class: "output", dir: "auto" }, output || "(empty)"),
    left_out ? make("p", { class: "small" }, `${steps(left_out)} characters left out in the middle`) : null,
  );
}

function normal() {
  const body = at("normal-body");
  if (!DATA.expected.length) return void body.append(empty("Nothing in this run looks odd but is expected."));
  body.append(
    make(
      "ul",
      { class: "expected" },
      DATA.expected.map((one) => make("li", {}, one)),
    ),
  );
}

function onset() {
  const body = at("onset-body");
  const found = DATA.findings.find((one) => one.id === TIMELINE);
  if (!found)
    return void body.append(
      empty(
        "No order of changes was found: no serious finding has a date, or the metrics moved at the same time.",
      ),
    );
  body.append(make("p", { class: "lead" }, found.says));
  if (!found.places.length) return;
  const first = Math.min(...found.places.map((one) => one.from));
  const last = Math.max(...found.places.map((one) => one.to));
  const wide = Math.max(last - first, 1);
  const list = make(
    "ol",
    { class: "onset" },
    found.places.map((one) => {
      const bar = make("span", { class: "when" });
      const track = make("span", { class: "track", "aria-hidden": "true" }, bar);
      bar.style.left = `${(96 * (one.from - first)) / wide}%`;
      bar.style.width = `${Math.max((96 * (one.to - one.from)) / wide, 2)}%`;
      return make(
        "li",
        {},
        make("span", { class: "name" }, one.signal),
        track,
        make("span", { class: "number" }, span(one.from, one.to)),
      );
    }),
  );
  body.append(list);
}

function whatWasRead() {
  const body = at("run-body");
  const { run, marks } = DATA;
  const { signals } = run;
  const list = (title, items, kind = "sentences") =>
    items.length
      ? make(
          "div",
          {},
          make("h3", {}, title),
          make(
            "ul",
            { class: kind },
            items.map((one) => make("li", {}, one)),
          ),
        )
      : null;
  body.append(
    make(
      "dl",
      { class: "about-run" },
      run.facts.map(([name, value]) => make("div", {}, make("dt", {}, name), make("dd", {}, value))),
    ),
  );
  body.append(
    make(
      "div",
      { class: "lists" },
      list("Missing", run.missing),
      list("Notes", run.notes),
      list(
        "Events",
        marks.events.map((one) => `step ${steps(one.step)}: ${one.says}`),
      ),
      list("Unmapped keys", run.unread, "keys"),
    ),
  );
  if (!signals.length) return void body.append(empty("No metric was recognized."));
  const known = table(
    ["metric", "log key", "kind", "points", "rows"],
    signals.map((one) => [one.name, make("code", {}, one.key), one.kind, steps(one.points), steps(one.rows)]),
    { caption: `${signals.length} metrics`, numbers: 3 },
  );
  body.append(
    make(
      "details",
      { class: "signals" },
      make("summary", {}, `All ${signals.length} metrics`),
      scrolling("Metrics", known),
    ),
  );
}
