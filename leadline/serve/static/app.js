"use strict";
// Keeps the page up to date: a stream says that something changed, and the page asks for itself again.
(() => {
  const status = document.getElementById("status");
  const main = document.getElementById("main");
  const report = document.getElementById("report");
  let waiting = null;

  async function again() {
    waiting = null;
    if (main.contains(document.activeElement) && document.activeElement.matches("input, select, textarea")) {
      later(2000); // somebody writes there
      return;
    }
    if (document.querySelector("input[name=run]:checked") || document.body.dataset.grown) return;
    const answer = await fetch(location.href, { headers: { accept: "text/html" } });
    if (!answer.ok) return;
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    if (report) { // what stands around it; the report itself reloads when its files grow
      for (const part of ["needs", "about", "looks", "said"]) {
        const fresh = page.getElementById(part);
        if (fresh) document.getElementById(part)?.replaceWith(fresh);
      }
      return;
    }
    const focused = document.activeElement && document.activeElement.getAttribute("href");
    main.replaceChildren(...page.getElementById("main").childNodes);
    if (focused) document.querySelector(`a[href="${CSS.escape(focused)}"]`)?.focus();
    scrolling();
  }

  function later(after) {
    if (waiting === null) waiting = setTimeout(again, after);
  }

  function reload(number) {
    const view = report.contentWindow;
    const place = view ? view.scrollY : 0;
    report.addEventListener("load", () => report.contentWindow.scrollTo(0, place), { once: true });
    report.src = report.src.split("?")[0] + "?at=" + encodeURIComponent(number);
    status.textContent = "new rows at " + new Date().toLocaleTimeString();
  }

  const events = new EventSource(document.body.dataset.live + "?cursor=" + document.body.dataset.change);
  events.addEventListener("changed", () => later(300));
  events.addEventListener("grew", (event) => { if (report) reload(event.data); });
  events.onopen = () => { status.textContent = "live"; };
  events.onerror = () => { status.textContent = "not connected"; };
  addEventListener("pagehide", () => events.close());

  function scrolling() {
    const more = document.getElementById("more");
    if (!more) return;
    const seen = new IntersectionObserver(async (entries) => {
      if (!entries.some((entry) => entry.isIntersecting)) return;
      seen.disconnect();
      const answer = await fetch(more.href);
      if (!answer.ok) return;
      document.body.dataset.grown = "1";
      const page = new DOMParser().parseFromString(await answer.text(), "text/html");
      document.querySelector("tbody").append(...page.querySelectorAll("tbody tr"));
      document.getElementById("count").replaceChildren(page.getElementById("count").textContent);
      const next = page.getElementById("more");
      if (next) { more.href = next.href; scrolling(); } else more.remove();
    }, { rootMargin: "600px" });
    seen.observe(more);
  }
  scrolling();
})();
