"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const n = data.id.length;
  const byId = (name) => document.getElementById(name);
  const [list, space, rows, count] = ["list", "space", "rows", "count"].map(byId);
  const errors = data.S.map((s, at) => s + data.D[at] + data.I[at]);
  const worst = Array.from({ length: n }, (_, at) => at).sort((a, b) => errors[b] - errors[a] || a - b);
  const NOTHING = "\v";
  let shown = [];
  let height = 96;

  const tests = {
    "": () => true,
    E: (at) => errors[at] > 0,
    S: (at) => data.S[at] > 0,
    D: (at) => data.D[at] > 0,
    I: (at) => data.I[at] > 0,
    N: (at) => errors[at] === 0,
  };

  function wanted(option) {
    if (!option.value) return "";
    const { r, o } = option.dataset;
    const letter = { sub: "S", del: "D", ins: "I" }[option.value];
    return `${letter}${r || NOTHING}\n${o || NOTHING}\t`;
  }

  function choose() {
    const test = tests[byId("kind").value];
    const step = wanted(byId("pair").selectedOptions[0]);
    const text = byId("text").value;
    const holds = (at) => {
      const own = data.steps[at];
      const found = own.startsWith(step) || own.includes("\t" + step);
      return found && (!text || own.includes(text) || data.id[at].includes(text) || data.place[at].includes(text));
    };
    const order = byId("order").value === "worst" ? worst : data.id.map((_, at) => at);
    shown = order.filter((at) => test(at) && (!(step || text) || holds(at)));
    count.textContent = `${shown.length} of ${n} segments`;
    space.style.height = `${shown.length * height}px`;
    list.scrollTop = 0;
    draw();
  }

  function element(tag, name, text) {
    const made = document.createElement(tag);
    made.className = name;
    if (text !== undefined) made.textContent = text;
    return made;
  }

  function segment(at) {
    const made = element("div", "segment");
    const counts = `${data.S[at]} S, ${data.D[at]} D, ${data.I[at]} I`;
    const times = `${data.begin[at]} to ${data.end[at]} s`;
    made.append(element("div", "where", `${data.id[at]} ${data.place[at]}, ${times}: ${counts}`));
    for (const step of data.steps[at].split("\t")) {
      if (!step) continue;
      const [first, second] = step.slice(1).split("\n");
      const pair = element("span", `pair ${step[0]}`);
      for (const side of [first, second === undefined ? first : second]) {
        pair.append(element("span", "", side === NOTHING ? "*" : side || "()"));
      }
      made.append(pair);
    }
    return made;
  }

  function draw() {
    const first = Math.max(Math.floor(list.scrollTop / height) - 3, 0);
    const last = Math.min(first + Math.ceil(list.clientHeight / height) + 8, shown.length);
    rows.style.top = `${first * height}px`;
    rows.replaceChildren(...shown.slice(first, last).map(segment));
  }

  for (const name of ["tools", "list"]) byId(name).hidden = false;
  byId("worst").hidden = true;
  list.addEventListener("scroll", () => requestAnimationFrame(draw));
  for (const name of ["kind", "pair", "order"]) byId(name).addEventListener("change", choose);
  byId("text").addEventListener("input", choose);
  choose();
  if (rows.firstChild) {
    height = rows.firstChild.getBoundingClientRect().height || height;
    choose();
  }
})();
