"use strict";
// Keeps the page up to date: it asks whether something changed, and then asks for itself again.
(() => {
  const status = document.getElementById("status");
  const main = document.getElementById("main");
  const report = document.getElementById("report");
  const most = 500; // rows the server gives at a time
  const between = 2000; // milliseconds between looks
  let waiting = null;

  async function again() {
    waiting = null;
    const focused = document.activeElement;
    if (main.contains(focused) && focused.matches("input:not([type=checkbox]), select, textarea") && focused.value) {
      later(2000); // somebody writes there
      return;
    }
    const busy = () => document.querySelector("input[name=run]:checked") || main.querySelectorAll("tbody tr").length > most;
    if (busy()) return;
    const answer = await fetch(location.href, { headers: { accept: "text/html" } });
    if (!answer.ok) return;
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    if (busy()) return; // selected meanwhile
    if (report) { // what stands around it; the report itself reloads when its files grow
      for (const part of ["needs", "about", "looks", "said"]) {
        const fresh = page.getElementById(part);
        if (fresh) document.getElementById(part)?.replaceWith(fresh);
      }
      return;
    }
    const link = focused && focused.getAttribute("href");
    const name = document.querySelector("input[name=who]")?.value;
    main.replaceChildren(...page.getElementById("main").childNodes);
    const who = document.querySelector("input[name=who]");
    if (who && name) who.value = name;
    if (link) document.querySelector(`a[href="${CSS.escape(link)}"]`)?.focus();
    scrolling();
  }

  function later(after) {
    if (waiting === null) waiting = setTimeout(again, after);
  }

  function reload(mark) {
    const view = report.contentWindow;
    const place = view ? view.scrollY : 0;
    report.addEventListener("load", () => report.contentWindow.scrollTo(0, place), { once: true });
    report.src = report.src.split("?")[0] + "?at=" + encodeURIComponent(mark);
    status.textContent = "new rows at " + new Date().toLocaleTimeString();
  }

  let change = Number(document.body.dataset.change);
  let mark = null; // of the files of an open run
  let connected = null;

  async function news() {
    let told = null;
    try {
      const answer = await fetch(document.body.dataset.news);
      if (answer.ok) told = await answer.json();
    } catch { /* the server does not answer now */ }
    if (connected !== (told !== null)) {
      connected = told !== null;
      status.textContent = connected ? "live" : "not connected";
    }
    if (!told) return;
    if (told.change !== change) later(300);
    if (report && mark !== null && told.mark !== mark) reload(told.mark);
    ({ change, mark = null } = told);
  }

  async function watching() {
    if (!document.hidden) await news();
    setTimeout(watching, between);
  }
  watching();

  // Acknowledge and mute in place: the rows change, and the page stays where it is.
  document.addEventListener("submit", async (event) => {
    const form = event.target;
    if (!form.matches(".says") || !event.submitter || event.submitter.value === "compare") return;
    event.preventDefault();
    const [what, about] = event.submitter.value.split(" ");
    const body = new URLSearchParams(new FormData(form));
    body.set("what", event.submitter.value);
    const row = event.submitter.closest("li");
    const rows = row ? [row] : about
      ? [...event.submitter.closest("section").querySelectorAll("li")]
      : [...form.querySelectorAll("li, tr")].filter((one) => one.querySelector("input[name=run]:checked"));
    const keys = await say(body);
    if (!keys) {
      status.textContent = about || rows.length ? "not saved" : "no run selected";
      return;
    }
    for (const one of rows) {
      one.classList.add("done");
      for (const part of one.querySelectorAll("button, input")) part.disabled = true;
      const box = one.querySelector("input[name=run]");
      if (box) box.checked = false;
    }
    const undo = document.createElement("button");
    undo.textContent = "Undo";
    undo.onclick = async () => {
      body.delete("run");
      body.set("what", "unmute");
      for (const key of keys) body.append("run", key);
      status.textContent = (await say(body)) ? "taken back" : "not saved";
    };
    const named = row ? row.querySelector("h3, h4").textContent : keys.length === 1 ? "1 run" : keys.length + " runs";
    status.replaceChildren((what === "mute" ? "muted " : "acknowledged ") + named + " ", undo);
    clearTimeout(waiting);
    waiting = setTimeout(again, 1500);
  });

  // Says it, and gives the keys of the runs it was said of; null if it was not saved.
  async function say(body) {
    const answer = await fetch("/say", { method: "POST", body, headers: { accept: "application/json" } });
    return answer.ok ? (await answer.json()).keys : null;
  }

  document.addEventListener("change", (event) => {
    if (event.target.id !== "all") return;
    for (const box of document.querySelectorAll("tbody input[name=run]")) box.checked = event.target.checked;
  });

  // An address holds what was chosen, and nothing that was left as it is.
  document.addEventListener("formdata", (event) => {
    if (!event.target.matches("[role=search]")) return;
    const chosen = [...event.formData].filter(([name, value]) => value && !(name === "sort" && value === "urgency"));
    for (const name of new Set(event.formData.keys())) event.formData.delete(name);
    for (const [name, value] of chosen) event.formData.append(name, value);
  });

  // What is new is told from the visit before: that time lasts as long as the browser's session, or until it is seen.
  const cookie = (name) => document.cookie.match("(?:^|; )" + name + "=([0-9]+)")?.[1];
  const keep = (name, lasting) => {
    const value = name === "leadline_since" && !lasting ? cookie("leadline_last") : null;
    const age = name === "leadline_last" ? "; max-age=31536000" : "";
    document.cookie = name + "=" + (value || Math.floor(Date.now() / 1000)) + "; path=/; samesite=strict" + age;
  };
  if (!cookie("leadline_since")) keep("leadline_since", false);
  addEventListener("pagehide", () => keep("leadline_last", true));
  document.addEventListener("click", (event) => {
    if (event.target.id !== "seen") return;
    keep("leadline_since", true);
    again();
  });

  document.addEventListener("keydown", (event) => {
    if (event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey) return;
    if (document.activeElement.matches("input:not([type=checkbox]), select, textarea")) return;
    event.preventDefault();
    document.querySelector("input[type=search]")?.focus();
  });

  function scrolling() {
    const more = document.getElementById("more");
    if (!more) return;
    const seen = new IntersectionObserver(async (entries) => {
      if (!entries.some((entry) => entry.isIntersecting)) return;
      seen.disconnect();
      const answer = await fetch(more.href);
      if (!answer.ok) return;
      const page = new DOMParser().parseFromString(await answer.text(), "text/html");
      document.querySelector("tbody").append(...page.querySelectorAll("tbody tr"));
      document.getElementById("count").replaceChildren(page.getElementById("count").textContent);
      const here = new URL(location.href); // so that a reload shows as many rows, and keeps its place
      here.searchParams.delete("first");
      here.searchParams.set("size", Math.min(document.querySelectorAll("tbody tr").length, most));
      history.replaceState(history.state, "", here);
      const next = page.getElementById("more");
      if (next) { more.href = next.href; scrolling(); } else more.remove();
    }, { rootMargin: "600px" });
    seen.observe(more);
  }
  scrolling();
})();
