"use strict";
(() => {
  const byId = (id) => document.getElementById(id);
  const all = (selector, root = document) => [...root.querySelectorAll(selector)];
  const element = (name, className, text) => {
    const made = document.createElement(name);
    if (className) made.className = className;
    if (text !== undefined) made.textContent = text;
    return made;
  };

  // What needs this script is hidden where it does not run.
  all(".scripted").forEach((part) => { part.hidden = false; });

  // Filters: of the answers, and of every row and column that is about one.
  const filters = byId("filters");
  const filterAnswers = () => {
    const answers = all("article.answer");
    const filter = () => {
      const states = new Set(all("input[name=state]:checked", filters).map((box) => box.value));
      const select = byId("filter-vote");
      const vote = select ? select.value : "";
      const shown = new Set();
      for (const answer of answers) {
        const votes = answer.dataset.votes.split(" ");
        if (states.has(answer.dataset.state) && (!vote || votes.includes(vote))) shown.add(answer.dataset.answer);
      }
      all("[data-answer]").forEach((part) => { part.hidden = !shown.has(part.dataset.answer); });
      byId("filter-count").textContent = `${shown.size} of ${answers.length} shown`;
    };
    filters.hidden = false;
    filters.addEventListener("change", filter);
    filters.addEventListener("submit", (event) => event.preventDefault());
    const setOpen = (open) => {
      all("article.answer:not([hidden]) > details.read").forEach((part) => { part.open = open; });
    };
    byId("open-all").addEventListener("click", () => setOpen(true));
    byId("close-all").addEventListener("click", () => setOpen(false));
    filter();
  };
  if (filters) filterAnswers();

  // A link to an answer opens it.
  const openTarget = () => {
    const target = location.hash.startsWith("#answer-") && byId(location.hash.slice(1));
    const read = target && target.querySelector("details.read");
    if (read) read.open = true;
  };
  addEventListener("hashchange", openTarget);
  openTarget();

  // On paper nothing can be opened; what was closed is closed again afterwards. Raw texts would only repeat.
  let opened = [];
  addEventListener("beforeprint", () => {
    opened = all("details:not([open]):not(.source):not(.long)");
    opened.forEach((part) => { part.open = true; });
  });
  addEventListener("afterprint", () => {
    opened.forEach((part) => { part.open = false; });
    opened = [];
  });

  // Two answers next to each other.
  const panes = byId("panes");
  if (!panes) return;
  const shared = JSON.parse(byId("pairs").textContent);
  const left = byId("left");
  const right = byId("right");
  const view = byId("view");
  const note = byId("compare-note");
  const around = 3;
  const mostRows = 6000;
  const mostLines = 4000;

  const source = (id, selector) => byId(`answer-${id}`).querySelector(selector);
  const label = (select) => `Answer ${select.selectedOptions[0].textContent}`;
  const lines = (id) => {
    const text = source(id, "pre.raw").textContent;
    const found = text.split("\n");
    if (found[found.length - 1] === "") found.pop();
    return found.slice(0, mostLines);
  };

  const pane = (select, selector) => {
    const made = element("section", "pane");
    made.setAttribute("aria-label", label(select));
    made.append(element("h3", "", label(select)));
    const copy = source(select.value, selector).cloneNode(true);
    copy.removeAttribute("id");
    made.append(copy);
    return made;
  };

  // The stretches that both share, with what is between them.
  const steps = (a, b, runs) => {
    const found = [];
    let x = 0;
    let y = 0;
    for (const [from, to, count] of [...runs, [a.length, b.length, 0]]) {
      if (from > x || to > y) found.push({ same: false, left: a.slice(x, from), right: b.slice(y, to) });
      if (count) found.push({ same: true, left: a.slice(from, from + count) });
      x = from + count;
      y = to + count;
    }
    return found;
  };

  const cell = (kind, sign, words, text) => {
    const made = element("td", kind);
    if (text === undefined) return made;
    const mark = element("span", "sign", sign);
    mark.setAttribute("aria-hidden", "true");
    made.append(mark);
    if (words) made.append(element("span", "vh", `${words}: `));
    made.append(text);
    return made;
  };

  const differences = () => {
    const [one, other] = [left.value, right.value];
    const direct = shared[`${one} ${other}`];
    const reversed = shared[`${other} ${one}`];
    const a = lines(one);
    const b = lines(other);
    let runs = direct || (reversed && reversed.map(([x, y, count]) => [y, x, count]));
    if (one === other) runs = [[0, 0, a.length]];
    if (!runs) {
      note.textContent = "These two were not compared when the report was made: there was no room for so many differences.";
      return undefined;
    }
    const equal = runs.reduce((sum, run) => sum + run[2], 0);
    note.textContent = `${equal} lines are the same; ${a.length - equal} are only on the left, ${b.length - equal} only on the right.`;
    const table = element("table", "diff");
    table.append(element("caption", "vh", `Differences of answer ${one} and answer ${other}`));
    const head = table.createTHead().insertRow();
    for (const select of [left, right]) {
      const title = element("th", "", label(select));
      title.scope = "col";
      head.append(title);
    }
    const body = table.createTBody();
    let rows = 0;
    const add = (kind, ...cells) => {
      rows += 1;
      if (rows > mostRows) return;
      const row = element("tr", kind);
      row.append(...cells);
      body.append(row);
    };
    const same = (text) => add("same", cell("", " ", "", text), cell("", " ", "", text));
    const skipped = (count) => {
      const wide = element("td", "skipped", `${count} lines that are the same`);
      wide.colSpan = 2;
      add("", wide);
    };
    for (const step of steps(a, b, runs)) {
      if (!step.same) {
        for (let at = 0; at < Math.max(step.left.length, step.right.length); at += 1) {
          add("", cell(at < step.left.length ? "gone" : "", "−", "only on the left", step.left[at]),
            cell(at < step.right.length ? "new" : "", "+", "only on the right", step.right[at]));
        }
      } else if (step.left.length > 2 * around + 1) {
        step.left.slice(0, around).forEach(same);
        skipped(step.left.length - 2 * around);
        step.left.slice(-around).forEach(same);
      } else {
        step.left.forEach(same);
      }
    }
    if (rows > mostRows) note.textContent += ` Shown are the first ${mostRows} of ${rows} rows.`;
    return table;
  };

  const compare = () => {
    note.textContent = "";
    panes.replaceChildren();
    panes.classList.toggle("one", view.value === "diff");
    if (view.value === "diff") {
      const table = differences();
      if (table) panes.append(table);
    } else {
      const selector = view.value === "raw" ? "pre.raw" : ".body";
      panes.append(pane(left, selector), pane(right, selector));
    }
  };

  byId("comparison").addEventListener("change", compare);
  byId("comparison").addEventListener("submit", (event) => event.preventDefault());
  byId("swap").addEventListener("click", () => {
    [left.value, right.value] = [right.value, left.value];
    compare();
  });
  right.selectedIndex = 1;

  // Copies of long answers are made when somebody comes to look at them.
  const seen = new IntersectionObserver((entries) => {
    if (entries.some((entry) => entry.isIntersecting)) {
      seen.disconnect();
      compare();
    }
  }, { rootMargin: "400px" });
  seen.observe(byId("compare"));
})();
