// What is said, in words: the verdict, the findings and their places on the charts, what is normal, what was read.

const SIGNS = { continue: "\u2192", stop: "\u25a0", roll_back: "\u21b6", undecided: "?", finished: "\u2691" };
const FAILED = "\u2716"; // a run that ended badly

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
  if (!DATA.findings.length) return void body.append(empty("Nothing unusual was found."));
  body.append(make("ol", { class: "findings" }, DATA.findings.map(finding)));
}

function finding(one) {
  return make(
    "li",
    { class: "finding", "data-severity": one.severity },
    make("span", { class: "severity" }, one.severity),
    make(
      "div",
      {},
      make("p", { class: "says" }, one.says, " ", make("span", { class: "id" }, `[${one.id}, ${one.chance}]`)),
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
            one.samples.map(quoted),
          )
        : null,
    ),
  );
}

function placeLink(place, since) {
  const where = `${place.signal}, ${span(place.from, place.to)}`;
  const words = place.text ? `${where}: ${place.text}` : where;
  if (!place.target) return make("span", {}, words);
  const id =
    place.target === "samples" || place.target === "machine"
      ? place.target
      : place.target === "other"
        ? "others"
        : `panel-${place.target}`;
  return make("a", { href: `#${id}`, on: { click: (event) => (event.preventDefault(), goTo(place, since)) } }, words);
}

/** Show the place a finding speaks of: its panel, its steps, its samples. */
function goTo(place, since) {
  let target = at(place.target === "machine" ? "machine" : `panel-${place.target}`);
  if (place.target === "samples") {
    viewer.open(place.from, place.to);
    target = at("samples");
  } else {
    if (place.target === "other") target = picker.add(place.signal);
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

function quoted(sample) {
  return make(
    "blockquote",
    { class: "sample" },
    make("p", { class: "about" }, `step ${steps(sample.step)} \u00b7 reward ${number(sample.score)}`),
    sample.prompt ? make("pre", { class: "prompt", dir: "auto" }, sample.prompt) : null,
    make("pre", { class: "output", dir: "auto" }, sample.output || "(empty)"),
    sample.left_out
      ? make("p", { class: "small" }, `${steps(sample.left_out)} characters left out in the middle`)
      : null,
  );
}

function normal() {
  const body = at("normal-body");
  if (!DATA.expected.length) return void body.append(empty("Nothing in this run looks odd but is expected."));
  body.append(
    make(
      "ul",
      { class: "expected" },
      DATA.expected.map((one) => make("li", {}, one.says)),
    ),
  );
}

function onset() {
  const body = at("onset-body");
  const found = DATA.onset;
  if (!found)
    return void body.append(
      empty(
        "No order of changes was found: no serious finding has a date, or the metrics moved at the same time.",
      ),
    );
  body.append(make("p", { class: "lead" }, found.says));
  if (!found.order.length) return;
  const first = Math.min(...found.order.map((one) => one.from));
  const last = Math.max(...found.order.map((one) => one.to));
  const wide = Math.max(last - first, 1);
  const list = make(
    "ol",
    { class: "onset" },
    found.order.map((one) => {
      const bar = make("span", { class: "when" });
      const track = make("span", { class: "track", "aria-hidden": "true" }, bar);
      bar.style.left = `${(96 * (one.from - first)) / wide}%`;
      bar.style.width = `${Math.max((96 * (one.to - one.from)) / wide, 2)}%`;
      return make(
        "li",
        {},
        make("span", { class: "name" }, one.name),
        track,
        make("span", { class: "number" }, span(one.from, one.to)),
      );
    }),
  );
  body.append(list);
}

function whatWasRead() {
  const body = at("run-body");
  const { run, signals, marks } = DATA;
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
      run.facts.map((one) => make("div", {}, make("dt", {}, one.name), make("dd", {}, one.value))),
    ),
  );
  body.append(
    make(
      "div",
      { class: "lists" },
      list(
        "Missing",
        run.missing.map((one) => `${one.what}: ${one.why}`),
      ),
      list("Notes", run.notes),
      list(
        "Events",
        marks.events.map((one) => `step ${steps(one.step)}: ${one.says}`),
      ),
      list("Unmapped keys", run.unread, "keys"),
    ),
  );
  if (!signals.length) return void body.append(empty("No metric was recognized."));
  const head = ["metric", "log key", "kind", "points", "rows"];
  const table = make(
    "table",
    { class: "rows" },
    make("caption", {}, `${signals.length} metrics`),
    make(
      "thead",
      {},
      make(
        "tr",
        {},
        head.map((one, place) => make("th", { scope: "col", class: place > 2 ? "number" : "" }, one)),
      ),
    ),
    make(
      "tbody",
      {},
      signals.map((one) =>
        make(
          "tr",
          {},
          make("th", { scope: "row" }, one.name),
          make("td", {}, make("code", {}, one.key)),
          make("td", {}, one.kind),
          make("td", { class: "number" }, steps(one.points)),
          make("td", { class: "number" }, steps(one.rows)),
        ),
      ),
    ),
  );
  body.append(
    make(
      "details",
      { class: "signals" },
      make("summary", {}, `All ${signals.length} metrics`),
      make("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Metrics" }, table),
    ),
  );
}
