// What every page has around its content: the line that tells what is in view, light and dark.

function zoomLine() {
  const line = at("zoom");
  const words = make("span", {});
  line.append(
    words,
    make("button", { type: "button", class: "plain", on: { click: () => clock.reset() } }, "Show all steps"),
  );
  clock.told.push(() => {
    line.hidden = !clock.zoomed && !clock.marked;
    if (!line.hidden)
      words.textContent = `In view: ${span(Math.ceil(clock.view[0]), Math.floor(clock.view[1]))}${clock.marked ? `; marked: ${span(...clock.marked)}` : ""}.`;
  });
}

function theme() {
  const button = at("theme");
  const name = () => {
    button.textContent = isDark() ? "Light" : "Dark";
    button.setAttribute("aria-label", `Switch to ${isDark() ? "light" : "dark"} colors`);
  };
  const repaint = () => {
    known = new Map();
    name();
    for (const one of new Set([...everything, ...clock.charts])) one.redraw(false, false);
  };
  button.addEventListener("click", () => {
    root.dataset.theme = isDark() ? "light" : "dark";
    repaint();
  });
  darkWanted.addEventListener("change", repaint);
  let before = null;
  window.addEventListener("beforeprint", () => {
    before = root.dataset.theme || "";
    root.dataset.theme = "light";
    for (const one of document.querySelectorAll("details")) one.open = true;
    repaint();
  });
  window.addEventListener("afterprint", () => {
    if (before) root.dataset.theme = before;
    else delete root.dataset.theme;
    repaint();
  });
  name();
}

const everything = []; // all charts, to be painted anew in other colours
