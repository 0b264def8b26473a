(() => {
  const form = document.getElementById("finding-filters");
  if (!form) return;
  const findings = [...document.querySelectorAll("article.finding")];
  const find = document.getElementById("find");
  const words = new Map(findings.map((part) => [part, part.textContent.toLowerCase()]));

  // Severities and words; a group of which nothing is shown is not shown either.
  const filter = () => {
    const severities = new Set([...form.querySelectorAll("input[name=severity]:checked")].map((box) => box.value));
    const wanted = find.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    for (const part of findings) {
      const fits = severities.has(part.dataset.severity) && wanted.every((word) => words.get(part).includes(word));
      part.hidden = !fits;
      if (fits) shown += 1;
    }
    for (const group of document.querySelectorAll("section.group")) {
      group.hidden = !group.querySelector("article.finding:not([hidden])");
    }
    document.getElementById("finding-count").textContent = `${shown} of ${findings.length} shown`;
  };
  form.hidden = false;
  form.addEventListener("input", filter);
  form.addEventListener("submit", (event) => event.preventDefault());
  const setOpen = (open) => {
    document.querySelectorAll("article.finding:not([hidden]) > details.read").forEach((part) => { part.open = open; });
  };
  document.getElementById("open-findings").addEventListener("click", () => setOpen(true));
  document.getElementById("close-findings").addEventListener("click", () => setOpen(false));
  filter();

  // A link to a finding opens it, also where a filter hides it.
  const openTarget = () => {
    const target = location.hash.startsWith("#finding-F") && document.getElementById(location.hash.slice(1));
    if (!target) return;
    if (target.hidden) {
      form.reset();
      filter();
    }
    target.querySelector("details.read").open = true;
    target.scrollIntoView();
  };
  addEventListener("hashchange", openTarget);
  openTarget();
})();
