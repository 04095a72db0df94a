"use strict";
(() => {
const $ = (selector, root = document) => root.querySelector(selector);
const $$ = (selector, root = document) => [...root.querySelectorAll(selector)];
const data = JSON.parse($("#page-data").textContent);
const hidden = new Set();  // places of systems that the filter leaves out

/* Text and numbers */
const printable = (text) => String(text).replace(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu,
  (c) => (c === "\u200c" || c === "\u200d" ? c : "\ufffd"));
const number = (value) => (value === null || value === undefined ? NaN : Number(String(value).replace("inf", "Infinity")));
const plain = (value) => (Number.isNaN(value) ? null : Number.isFinite(value) ? value : value > 0 ? "inf" : "-inf");
function short(value) {
  if (Number.isNaN(value)) return "—";
  const sign = value < 0 ? "−" : "", size = Math.abs(value);
  if (size === Infinity) return sign + "∞";
  if (Number.isInteger(size) && size < 1e6) return sign + size;
  return sign + (size >= 1e-3 && size < 1e6 ? size.toFixed(4) : size.toExponential(2));
}
function make(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}
const bdi = (text) => make("bdi", {}, printable(text));
const nameOf = (place) => data.systems[place].name;

/* Files: everything shown, without asking anybody */
const guarded = (text) => (/^[=+\-@\t\r\n＝＋－＠]/u.test(text) && Number.isNaN(Number(text)) ? "'" + text : text);
const field = (value) => {
  const text = guarded(value === null || value === undefined ? "" : String(value));
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
};
const csv = (rows) => rows.map((row) => row.map(field).join(",")).join("\r\n") + "\r\n";
function hand(name, type, text) {
  const url = URL.createObjectURL(new Blob([text], { type }));
  const link = make("a", { href: url, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(url), 1000);
}
const base = `${data.evaluation}-${data.run}`.replace(/[^\w.-]+/g, "_").slice(0, 80);
function cellText(cell) {
  if ($(".undefined", cell)) return "";
  const values = $$("data[value]", cell);
  if (values.length === 1) return values[0].value;
  const copy = cell.cloneNode(true);
  $$(".arrow, .bar, .badge, .tie, [aria-hidden=true]", copy).forEach((one) => one.remove());
  return copy.textContent.replace(/\s+/g, " ").trim();
}
function tableRows(table) {
  return $$("tr", table).map((row) => [...row.cells].flatMap((cell) => {
    const text = cellText(cell);
    return [text, ...Array(Math.max(cell.colSpan - 1, 0)).fill("")];
  }));
}
function caption(table) {
  const board = table.closest("article"), title = board && $("h3", board);
  const told = [title, table.caption].filter(Boolean).map((one) => one.textContent.replace(/\s+/g, " ").trim());
  return told.join(": ");
}
function queryRows() {
  const rows = [];
  const names = [...new Set(data.maps.flatMap((map) => Object.keys(map.columns)))];
  rows.push(["query_set", "dataset", "system", "query", "text", ...names]);
  for (const map of data.maps) map.systems.forEach((place, s) => map.ids.forEach((id, k) => {
    rows.push([map.q, map.d, nameOf(place), id, map.texts[k], ...names.map((name) => plain(map.columns[name] ? value(map, name, s, k) : NaN))]);
  }));
  return rows;
}
const bytes = (text) => Uint8Array.from(atob(text), (c) => c.charCodeAt(0)).buffer;
const floats = (one) => (one.f8 ? new Float64Array(bytes(one.f8)) : new Float32Array(bytes(one)));
function curveOf(place) {  // a curve's columns, read when they are first wanted
  const one = data.curves[place];
  if (!one || one.columns) return one && one.columns;
  const columns = {};
  for (const name of ["threshold", "p_miss", "p_fa", "twv"]) if (one[name] && typeof one[name] !== "number") columns[name] = floats(one[name]);
  const { p_miss, p_fa } = columns;
  if (typeof one.twv === "number") columns.twv = Float64Array.from(p_miss, (miss, at) => 1 - (miss + one.twv * p_fa[at]));
  one.columns = columns;
  return columns;
}
const seven = (one) => Number(one.toPrecision(7));
function curveRows() {
  const names = ["threshold", "p_miss", "p_fa", "twv"];
  const rows = [["query_set", "dataset", "system", ...names]];
  data.curves.forEach((one, place) => {
    const columns = curveOf(place);
    columns.p_miss.forEach((_, k) => {
      rows.push([one.q, one.d, nameOf(one.s), ...names.map((name) => (columns[name] ? plain(seven(columns[name][k])) : null))]);
    });
  });
  return rows;
}
const objects = ([head, ...rows]) => rows.map((row) => Object.fromEntries(head.map((name, at) => [name, row[at] ?? null])));
function everything() {
  const tables = $$("main table").filter((table) => !table.closest("#drill"))
    .map((table) => ({ caption: caption(table), rows: tableRows(table) }));
  return { evaluation: data.evaluation, run: data.run, tables, queries: objects(queryRows()), curves: objects(curveRows()) };
}
function files() {
  const place = $("#files");
  const add = (text, act) => {
    const button = make("button", { type: "button" }, text);
    button.addEventListener("click", act);
    place.append(button);
  };
  add("All tables, JSON", () => hand(`${base}.json`, "application/json", JSON.stringify(everything())));
  if (data.maps.length) add("Queries, CSV", () => hand(`${base}-queries.csv`, "text/csv", csv(queryRows())));
  if (data.curves.length) add("Curves, CSV", () => hand(`${base}-curves.csv`, "text/csv", csv(curveRows())));
  $$("main table").forEach((table, at) => {
    const button = make("button", { type: "button", class: "csv" }, "CSV");
    button.setAttribute("aria-label", `Table as CSV: ${caption(table).slice(0, 120)}`);
    button.addEventListener("click", () => hand(`${base}-table-${at + 1}.csv`, "text/csv", csv(tableRows(table))));
    const scroll = table.closest(".scroll"), box = make("div");  // one box in whatever grid they stand
    scroll.replaceWith(box);
    box.append(scroll, button);
  });
}

/* Boards: sort by any column, leave out by kind and name */
function sortable(table) {
  const body = table.tBodies[0];
  $$("thead th", table).forEach((head, column) => {
    const button = make("button", { type: "button", class: "sort" });
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      const better = head.dataset.better, now = head.getAttribute("aria-sort");
      const first = better === "higher" ? "descending" : "ascending";
      const next = now === null ? first : now === "ascending" ? "descending" : "ascending";
      $$("th[aria-sort]", table).forEach((one) => one.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", next);
      body.append(...ordered([...body.rows], column, next === "ascending" ? 1 : -1));
    });
  });
}
function ordered(rows, column, sign) {
  const keyed = rows.map((row, at) => {
    const cell = row.cells[column], failed = row.classList.contains("failed");
    const text = cell && !(failed && column > 1) ? cellText(cell) : "";
    const one = text === "" || text === "–" ? NaN : number(text);
    return { row, at, failed, text, one, empty: text === "" || text === "–" };
  });
  const texts = keyed.some((key) => !key.empty && Number.isNaN(key.one));
  return keyed.sort((a, b) => a.failed - b.failed || a.empty - b.empty ||
    (a.empty ? 0 : sign * (texts ? a.text.localeCompare(b.text) : a.one - b.one || 0)) || a.at - b.at).map((key) => key.row);
}
function filter() {
  const kind = $("input[name=kind]:checked").value, wanted = $("#filter-name").value.trim().toLowerCase();
  hidden.clear();
  data.systems.forEach((system, place) => {
    const fits = kind === "all" || (kind === "primary") === system.primary;
    const named = `${system.name} ${system.team}`.toLowerCase().includes(wanted);
    if (!fits || !named) hidden.add(String(place));
  });
  $$("[data-s]").forEach((one) => one.classList.toggle("off", hidden.has(one.dataset.s)));
  const n = data.systems.length - hidden.size;
  $("#filter-told").textContent = `${n} of ${data.systems.length} systems shown`;
}
function filters() {
  const bar = $("#filters");
  if (!bar || data.systems.length < 2) return;
  bar.hidden = false;
  bar.addEventListener("input", filter);
  bar.addEventListener("submit", (event) => event.preventDefault());
}

/* Figures: values of what is pointed at, or stepped to by the arrow keys */
const tip = make("div", { id: "tip", hidden: "" });
const live = make("div", { class: "vh", role: "status", id: "live" });
function show(text, x, y, aloud) {
  tip.textContent = printable(text);
  tip.hidden = false;
  const width = tip.offsetWidth, height = tip.offsetHeight;
  tip.style.left = `${Math.max(4, Math.min(x + 14, innerWidth - width - 4))}px`;
  tip.style.top = `${y + 18 + height > innerHeight ? y - height - 10 : y + 18}px`;
  if (aloud) live.textContent = tip.textContent;
}
const hide = () => { tip.hidden = true; };
function axis(text) {
  const [kind, low, high, start, end, ...name] = text.split("|");
  const [l, h, s, e] = [low, high, start, end].map(Number);
  return { name: name.join("|"), of: (pixel) => {
    const share = (pixel - s) / (e - s);
    return kind === "log" ? l * (h / l) ** share : l + share * (h - l);
  } };
}
function vertexText(svg, path, at, point) {
  const curve = path.dataset.c && curveOf(Number(path.dataset.c));
  const name = path.dataset.name ?? (path.closest("[data-s]") ? nameOf(path.closest("[data-s]").dataset.s) : "");
  if (curve) {
    const row = Number(path.dataset.from) + at;
    const told = [["P_miss", "p_miss"], ["P_fa", "p_fa"], ["threshold", "threshold"], ["TWV", "twv"]]
      .filter(([, column]) => curve[column] && !Number.isNaN(curve[column][row]))
      .map(([label, column]) => `${label} ${short(curve[column][row])}`);
    return `${nameOf(data.curves[Number(path.dataset.c)].s)}: ${told.join(", ")}`;
  }
  if (!svg.dataset.x) return name;
  const x = axis(svg.dataset.x), y = axis(svg.dataset.y);
  return `${name}: ${x.name} ${short(x.of(point[0]))}, ${y.name} ${short(y.of(point[1]))}`;
}
function vertices(d) {  // of a path that goes by steps
  const found = [];
  for (const [, command, rest] of d.matchAll(/([Ml])([^Ml]*)/g)) {
    const numbers = (rest.match(/-?[\d.]+/g) ?? []).map(Number);
    for (let at = 0; at + 1 < numbers.length; at += 2) {
      const [x, y] = command === "M" ? [0, 0] : found[found.length - 1];
      found.push([x + numbers[at], y + numbers[at + 1]]);
    }
  }
  return found;
}
function figure(svg) {
  let known = null, stop = -1;
  const read = () => known ?? (known = {
    curves: $$("path.curve", svg).map((path) => ({
      path, points: vertices(path.getAttribute("d")),
    })),
    marks: $$("[data-tip]", svg).map((mark) => ({ path: mark, point: mark.dataset.at.split(" ").map(Number) })),
  });
  const seen = (one) => !one.path.closest(".off");
  const place = (point) => new DOMPoint(...point).matrixTransform(svg.getScreenCTM());
  const distance = (a, x, y) => Math.hypot(a[0] - x, a[1] - y);
  function nearest(x, y) {
    let best = null, reach = 10;
    for (const mark of read().marks) {
      const away = distance(mark.point, x, y);
      if (away < reach && seen(mark)) [reach, best] = [away, { text: mark.path.dataset.tip, point: mark.point, of: mark.path }];
    }
    if (best) return best;
    reach = 28;
    for (const curve of read().curves) if (seen(curve)) curve.points.forEach((point, at) => {
      const away = distance(point, x, y);
      if (away < reach) [reach, best] = [away, { at, point, of: curve.path }];
    });
    if (best) best.text = vertexText(svg, best.of, best.at, best.point);
    return best;
  }
  svg.addEventListener("pointermove", (event) => {
    const matrix = svg.getScreenCTM();
    if (!matrix) return;
    const inside = new DOMPoint(event.clientX, event.clientY).matrixTransform(matrix.inverse());
    const found = nearest(inside.x, inside.y);
    $$(".lit", svg).forEach((one) => one.classList.remove("lit"));
    if (!found) { hide(); return; }
    found.of.classList.add("lit");
    show(found.text, event.clientX, event.clientY, false);
  });
  svg.addEventListener("pointerleave", hide);
  svg.addEventListener("blur", hide);
  svg.setAttribute("tabindex", "0");
  svg.addEventListener("keydown", (event) => {
    const lines = read().curves.filter(seen);
    const marks = read().marks.filter(seen).map((mark) => ({ text: mark.path.dataset.tip, point: mark.point }));
    const stops = [...lines.flatMap((line, l) => line.points.map((point, at) => ({ line, l, at, point }))), ...marks];
    const steps = { ArrowRight: 1, ArrowLeft: -1 };
    if (!stops.length || !(event.key in steps || event.key === "ArrowDown" || event.key === "ArrowUp")) return;
    event.preventDefault();
    if (event.key in steps) stop = Math.max(0, Math.min(stop + steps[event.key], stops.length - 1));
    else {
      const way = event.key === "ArrowDown" ? 1 : -1, now = stops[stop] && stops[stop].line;
      do stop = (stop + way + stops.length) % stops.length; while (now && stops[stop].line === now && lines.length + marks.length > 1);
    }
    const one = stops[stop], at = place(one.point);
    show(one.text ?? vertexText(svg, one.line.path, one.at, one.point), at.x, at.y, true);
  });
}
function figures() {
  document.body.append(tip, live);
  $$("svg.plot:not(.shared), svg.det").forEach((svg) => {
    const title = $(":scope > title", svg), desc = $(":scope > desc", svg);
    if (title) {
      svg.setAttribute("aria-label", title.textContent);
      svg.removeAttribute("aria-labelledby");
      if (desc) svg.setAttribute("aria-describedby", desc.id);
      title.remove();
    }
    $$("title", svg).forEach((one) => {
      const mark = one.parentNode;
      if (mark.matches("path.curve")) mark.dataset.name = one.textContent;
      else {
        mark.dataset.tip = one.textContent;
        mark.dataset.at = mark.getAttribute("cx") ? `${mark.getAttribute("cx")} ${mark.getAttribute("cy")}`
          : mark.getAttribute("d").match(/^M([\d.-]+) ([\d.-]+)/).slice(1).join(" ");
      }
      one.remove();
    });
    figure(svg);
  });
}

/* Queries: the map in any order, one system's worst queries, one query's systems */
const digits = new Map([..."ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"].map((one, at) => [one, at]));
const rules = {
  minus: (a, b) => a - b,
  over: (a, b) => a / b,
  over_rest: (a, b, by) => a / (by - b),
  value: (a, b, by) => 1 - (a + by * b),
};
function table(map, name) {  // a column of all systems, one after the other
  map.tables ??= {};
  if (map.tables[name]) return map.tables[name];
  const column = map.columns[name], n = map.ids.length, made = new Float64Array(n * map.systems.length);
  if (column.rule) {
    const [a, b] = column.of.map((one) => table(map, one));
    made.forEach((_, at) => { made[at] = rules[column.rule](a[at], b[at], column.by); });
  } else {
    const values = column.values.map(number);
    map.systems.forEach((_, s) => {
      const row = column.rows.length === 1 ? column.rows[0] : column.rows[s];
      for (let k = 0; k < n; k += 1) {
        let place = 0;
        for (let at = k * column.width; at < (k + 1) * column.width; at += 1) place = place * 64 + digits.get(row[at]);
        made[s * n + k] = values[place];
      }
    });
  }
  map.tables[name] = made;
  return made;
}
const value = (map, name, s, k) => table(map, name)[s * map.ids.length + k];
function orderOf(map, by) {
  const place = map.ids.map((_, k) => k);
  const size = (k) => Math.max(...map.systems.map((_, s) => value(map, map.size, s, k)).filter((v) => !Number.isNaN(v)), -Infinity);
  const length = (k) => map.texts[k].length;
  const key = { size: (k) => -size(k), length, name: null }[by];
  if (by === "difficulty") return place;
  if (by === "name") return place.sort((a, b) => map.ids[a].localeCompare(map.ids[b]));
  const keys = place.map(key);
  return place.sort((a, b) => keys[a] - keys[b] || a - b);
}
const colours = data.colours.map((colour) => [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16)));
function draw(map, root, order, rows) {
  const canvas = make("canvas", { width: order.length, height: rows.length }), context = canvas.getContext("2d");
  const pixels = context.createImageData(order.length, rows.length), last = colours.length - 1;
  rows.forEach((s, y) => order.forEach((k, x) => {
    const one = value(map, map.measure, s, k), inner = Math.min(Math.max(one, 0), 1);
    if (Number.isNaN(one)) return;
    const level = Math.min(Math.floor((map.better === "higher" ? inner : 1 - inner) * colours.length), last);
    pixels.data.set([...colours[level], 255], 4 * (y * order.length + x));
  }));
  context.putImageData(pixels, 0, 0);
  const picture = $("svg.heat image", root), names = $("ol.columns", root);
  picture.setAttribute("href", canvas.toDataURL());
  picture.setAttribute("height", rows.length);
  $("svg.heat", root).setAttribute("viewBox", `0 0 ${order.length} ${rows.length}`);
  $("svg.heat", root).style.setProperty("--rows", rows.length);
  if (names) names.replaceChildren(...order.map((k) => make("li", { title: printable(map.ids[k]) }, bdi(map.ids[k]))));
}
function listing(caption, head, rows) {
  const table = make("table", {}, make("caption", {}, make("span", { class: "cap" }, ...caption)));
  const heads = head.map((one, at) => make("th", { scope: "col", class: at ? "n" : "" }, one));
  table.append(make("thead", {}, make("tr", {}, ...heads)));
  const body = make("tbody");
  for (const row of rows) {
    const cells = row.map((one, at) => {
      if (at === 0) return make("th", { scope: "row" }, ...[].concat(one));
      const n = number(one), cell = make("td", { class: "n" });
      cell.append(Number.isNaN(n) ? "—" : make("data", { value: plain(n) }, short(n)));
      return cell;
    });
    body.append(make("tr", {}, ...cells));
  }
  table.append(body);
  const scroll = make("div", { class: "scroll", role: "region", tabindex: "0" }, table);
  scroll.setAttribute("aria-label", table.caption.textContent);
  return scroll;
}
function label(map, k) {
  const text = map.texts[k] ? [" ", make("span", { class: "under" }, bdi(map.texts[k]))] : [];
  return [bdi(map.ids[k]), ...text];
}
function queries(map, root) {
  const svg = $("svg.heat", root), tools = $(".tools", root), drill = $(".drill", root);
  const columns = [map.measure, ...Object.keys(map.columns).filter((name) => name !== map.measure)];
  let order = map.ids.map((_, k) => k), rows = map.systems.map((_, s) => s), at = [0, 0];
  const worst = (s) => {
    const good = map.better === "higher" ? 1 : -1;
    const found = map.ids.map((_, k) => k).filter((k) => !Number.isNaN(value(map, map.measure, s, k)));
    const by = (a, b) => good * (value(map, map.measure, s, a) - value(map, map.measure, s, b));
    return found.sort((a, b) => by(a, b) || a - b).slice(0, 25);
  };
  const showSystem = (s) => drill.replaceChildren(listing(
    [`The worst ${root.dataset.units} of `, bdi(nameOf(map.systems[s]))], [make("span", {}, root.dataset.unit), ...columns],
    worst(s).map((k) => [label(map, k), ...columns.map((name) => value(map, name, s, k))])));
  const showQuery = (k) => drill.replaceChildren(listing(
    ["Every system on ", bdi(map.ids[k]), " ", bdi(map.texts[k])], ["System", ...columns],
    map.systems.map((place, s) => [[bdi(nameOf(place))], ...columns.map((name) => value(map, name, s, k))])));
  const told = (x, y) => {
    const k = order[x], s = rows[y];
    const sizes = map.size ? `, ${map.size} ${short(value(map, map.size, s, k))}` : "";
    return `${nameOf(map.systems[s])} on ${map.ids[k]} ${map.texts[k]}: ${map.measure} ${short(value(map, map.measure, s, k))}${sizes}`;
  };
  const inside = (event) => {
    const box = svg.getBoundingClientRect();
    const x = Math.floor((event.clientX - box.left) / box.width * order.length);
    const y = Math.floor((event.clientY - box.top) / box.height * rows.length);
    return x >= 0 && y >= 0 && x < order.length && y < rows.length ? [x, y] : null;
  };
  const cursor = $("rect", svg);
  const point = ([x, y]) => { at = [x, y]; cursor.setAttribute("x", x); cursor.setAttribute("y", y); };
  svg.addEventListener("pointermove", (event) => {
    const found = inside(event);
    if (found) { point(found); show(told(...found), event.clientX, event.clientY, false); } else hide();
  });
  svg.addEventListener("pointerleave", hide);
  svg.addEventListener("blur", hide);
  svg.addEventListener("click", (event) => { const found = inside(event); if (found) showQuery(order[found[0]]); });
  svg.setAttribute("tabindex", "0");
  svg.addEventListener("keydown", (event) => {
    const step = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
    if (event.key === "Enter") showQuery(order[at[0]]);
    if (!step) return;
    event.preventDefault();
    point([Math.max(0, Math.min(at[0] + step[0], order.length - 1)), Math.max(0, Math.min(at[1] + step[1], rows.length - 1))]);
    const box = svg.getBoundingClientRect();
    show(told(...at), box.left + (at[0] + 0.5) / order.length * box.width, box.top + (at[1] + 0.5) / rows.length * box.height, true);
  });
  const sorts = make("select", { class: "by" });
  [["difficulty", "difficulty"], ...(map.size ? [["size", map.size]] : []), ["length", "length"], ["name", "name"]]
    .forEach(([key, text]) => sorts.append(make("option", { value: key }, text)));
  const chosen = make("select", { class: "of-system" }, make("option", { value: "" }, "choose a system"));
  map.systems.forEach((place, s) => chosen.append(make("option", { value: s }, printable(nameOf(place)).slice(0, 60))));
  sorts.addEventListener("change", () => { order = orderOf(map, sorts.value); draw(map, root, order, rows); });
  chosen.addEventListener("change", () => (chosen.value === "" ? drill.replaceChildren() : showSystem(Number(chosen.value))));
  tools.append(make("label", {}, "Order by ", sorts), make("label", {}, "Worst of ", chosen));
  document.addEventListener("input", () => {
    rows = map.systems.map((_, s) => s).filter((s) => !hidden.has(String(map.systems[s])));
    if (rows.length) draw(map, root, order, rows);
  });
}

files();
filters();
$$("table.sortable").forEach(sortable);
figures();
$$(".query-map").forEach((root, at) => queries(data.maps[at], root));
document.documentElement.classList.add("scripted");
})();
