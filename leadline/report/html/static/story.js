// What is said, in words: the verdict, the findings and their places on the charts, what is normal, what was read.

const SIGNS = { continue: "\u2192", stop: "\u25a0", roll_back: "\u21b6", undecided: "?", finished: "\u2691" };

function meter(chance, label) {
  const bar = make(
    "span",
    {
      class: "meter",
      role: "meter",
      "aria-label": label,
      "aria-valuemin": 0,
      "aria-valuemax": 1,
      "aria-valuenow": chance.p,
      "aria-valuetext": chance.sure,
    },
    make("span", { class: "fill" }),
  );
  bar.firstChild.style.width = `${100 * chance.p}%`;
  return bar;
}

function fact(title, ...children) {
  return make("div", { class: "fact" }, make("h2", {}, title), children);
}

function verdict() {
  const { verdict: said, run } = DATA;
  const section = at("verdict");
  section.dataset.verdict = said.word;
  section.append(
    make("p", { class: "path" }, run.path),
    make(
      "h1",
      { id: "verdict-word" },
      make("span", { class: "sign", "aria-hidden": "true" }, SIGNS[said.word]),
      said.called,
    ),
    said.says ? make("p", { class: "sentence" }, said.says) : empty("Nothing more can be said of this run."),
    make("div", { class: "facts" }, goingOn(said), bestState(said.best), change(said), absent(said.missing)),
  );
}

function goingOn(said) {
  const parts = [];
  if (said.pays)
    parts.push(
      make("p", { class: "big" }, said.pays.chance),
      meter(said.pays, "Going on pays"),
      make("p", { class: "small" }, "chance of a gain worth having"),
    );
  else parts.push(empty("Whether going on pays could not be told."));
  if (said.pays && said.gain)
    parts.push(make("p", { class: "small" }, `${said.gain}${said.judged ? `, in ${said.judged}` : ""}.`));
  if (said.pays && said.worse)
    parts.push(
      make("p", { class: "small" }, `To end clearly worse than now: ${said.worse.words} (${said.worse.sure}).`),
    );
  if (!said.pays && said.judged) parts.push(make("p", { class: "small" }, `Judged by ${said.judged}.`));
  return fact(said.over ? "Is it worth extending?" : "Does going on pay?", parts);
}

function bestState(best) {
  if (!best) return fact("Best state", empty("No state could be named as the best."));
  const parts = [make("p", { class: "big" }, `step ${steps(best.step)}`)];
  if (best.chance)
    parts.push(
      meter(best.chance, "This is the best state"),
      make("p", { class: "small" }, `the best of all states: ${best.chance.sure}`),
    );
  if (best.path) {
    const path = make("code", { class: "copied" }, best.path);
    parts.push(make("p", { class: "checkpoint" }, path, copyButton(best.path, path)));
    parts.push(
      make(
        "p",
        { class: "small" },
        best.complete
          ? "Complete on disk."
          : best.complete === false
            ? "On disk, but not complete."
            : "On disk; whether it is complete cannot be told.",
      ),
    );
  } else {
    parts.push(make("p", { class: "small" }, "No checkpoint of it was found on disk."));
  }
  if (best.also.length)
    parts.push(
      make("p", { class: "small" }, `Several are about as good; evaluate ${best.also.map(steps).join(", ")} too.`),
    );
  return fact("Best state", parts);
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

function change(said) {
  if (said.over) return null;
  const parts = [];
  if (said.would_change.length)
    parts.push(
      make(
        "ul",
        {},
        said.would_change.map((one) => make("li", {}, one)),
      ),
    );
  else parts.push(empty("Nothing that could be named."));
  if (said.next_look !== null) parts.push(make("p", { class: "look" }, `Look again at step ${steps(said.next_look)}.`));
  return fact("What would change this", parts);
}

function absent(missing) {
  if (!missing.length) return fact("What was missing", empty("Nothing that was looked for."));
  return fact(
    "What was missing",
    make(
      "ul",
      {},
      missing.map((one) => make("li", {}, make("strong", {}, one.what), `: ${one.why}`)),
    ),
  );
}

function findings() {
  const body = at("findings-body");
  if (!DATA.findings.length) return void body.append(empty("Nothing out of the ordinary was found."));
  body.append(make("ol", { class: "findings" }, DATA.findings.map(finding)));
}

function finding(one) {
  const about = [one.chance && one.chance.sure, one.since !== null && `since step ${steps(one.since)}`]
    .filter(Boolean)
    .join(" \u00b7 ");
  return make(
    "li",
    { class: "finding", "data-severity": one.severity },
    make("span", { class: "severity" }, one.severity),
    make(
      "div",
      {},
      make("p", { class: "says" }, one.says),
      make("p", { class: "about" }, about, make("code", {}, one.id)),
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
            make("summary", {}, `The ${one.samples.length} samples behind this`),
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
  if (!DATA.expected.length) return void body.append(empty("Nothing in this run looks odd and is normal."));
  body.append(
    make("p", { class: "lead" }, "Looks odd, is not."),
    make(
      "ul",
      { class: "expected" },
      DATA.expected.map((one) =>
        make("li", {}, one.says),
      ),
    ),
  );
}

function onset() {
  const body = at("onset-body");
  const found = DATA.onset;
  if (!found)
    return void body.append(
      empty(
        "No order of events was found: nothing serious has a date, or the series that moved cannot be told apart in time.",
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
      list("Notes", run.notes),
      list(
        "Events",
        marks.events.map((one) => `step ${steps(one.step)}: ${one.says}`),
      ),
      list("Keys whose meaning is not known", run.unread, "keys"),
    ),
  );
  if (!signals.length) return void body.append(empty("No signal was understood."));
  const head = ["signal", "key in the log", "what it is", "points", "rows"];
  const table = make(
    "table",
    { class: "rows" },
    make("caption", {}, `${signals.length} signals`),
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
      make("summary", {}, `All ${signals.length} signals`),
      make("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Signals" }, table),
    ),
  );
}
