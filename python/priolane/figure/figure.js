"use strict";
// Reads the figures of a page, which are complete without it: values at the pointer or by arrow keys, schemes on and
// off, points of a sweep, zoom along x. Values are the titles of marks, or of strips across figures of many points.
const hidden = new Set();
const tip = document.createElement("div");
tip.className = "tip";
tip.hidden = true;
tip.setAttribute("role", "status");
document.body.append(tip);

const paint = (only) => {
  for (const part of document.querySelectorAll("figure [data-s]")) {
    part.classList.toggle("off", hidden.has(part.dataset.s));
    part.classList.toggle("dim", only !== undefined && part.dataset.s !== only);
  }
};
for (const button of document.querySelectorAll("button[data-chip]")) {
  const name = button.dataset.chip;
  button.disabled = false;
  button.addEventListener("click", () => {
    if (!hidden.delete(name)) hidden.add(name);
    button.setAttribute("aria-pressed", String(!hidden.has(name)));
    paint();
  });
  button.addEventListener("pointerenter", () => hidden.has(name) || paint(name));
  button.addEventListener("pointerleave", () => paint());
}
for (const hint of document.querySelectorAll(".hint")) hint.hidden = false;

// All figures that are drawn at the chosen point of the sweep show it.
for (const button of document.querySelectorAll("[data-point]")) {
  const point = button.dataset.point;
  button.parentElement.hidden = false;
  button.addEventListener("click", () => {
    for (const own of document.querySelectorAll(`[data-point="${point}"]`)) {
      const figure = own.closest("figure");
      for (const one of figure.querySelectorAll("[data-point]")) one.setAttribute("aria-pressed", String(one === own));
      for (const part of figure.querySelectorAll("[data-at]")) part.hidden = part.dataset.at !== point;
    }
  });
}

// What readers step through: a place has a pixel, a head, and a line for each series that has a value there.
const readPlaces = (svg, series, along) => {
  const places = new Map();
  const at = (element, pixel) => {
    const key = Number(element.dataset.k);
    if (!places.has(key)) places.set(key, { key, pixel, head: "", lines: [] });
    return places.get(key);
  };
  for (const group of series) {
    for (const mark of group.querySelectorAll(".m")) {
      const place = at(mark, Number(mark.dataset[along]));
      const title = mark.querySelector("title");
      if (mark.dataset.h !== undefined) place.head = mark.dataset.h;
      const before = place.head ? `${group.dataset.label}, ${place.head}: ` : `${group.dataset.label}: `;
      const text = title.textContent.startsWith(before) ? title.textContent.slice(before.length) : title.textContent;
      place.lines.push({ group, text });
      title.remove();
    }
  }
  // The wider drawing of a figure has the strips of both.
  const wide = svg.closest("[data-at], figure").querySelector("svg.fig");
  const [from, to] = [wide, svg].map((one) => one.dataset.plot.split(" ").map(Number));
  const [low, high] = along === "x" ? [0, 1] : [2, 3];
  for (const slot of wide.querySelectorAll(".slots rect")) {
    const part = (Number(slot.dataset[along]) - from[low]) / (from[high] - from[low]);
    const place = at(slot, to[low] + part * (to[high] - to[low]));
    const [head, ...rest] = slot.querySelector("title").textContent.split("\n");
    place.head = head;
    for (const group of series) {
      const before = `${group.dataset.label}: `;
      const line = rest.find((one) => one.startsWith(before));
      if (line) place.lines.push({ group, text: line.slice(before.length) });
    }
  }
  return [...places.values()].sort((a, b) => a.key - b.key);
};

const read = (svg) => {
  const [left, right, top, bottom] = svg.dataset.plot.split(" ").map(Number);
  const along = svg.dataset.along;
  const series = [...svg.querySelectorAll("g.series")];
  const places = readPlaces(svg, series, along);
  const cross = svg.querySelector(".cross");
  const brush = svg.querySelector(".brush");
  let range = [left, right];
  let now = -1;
  let from = null;
  const forth = (x) => left + ((x - range[0]) * (right - left)) / (range[1] - range[0]);
  const back = (x) => range[0] + ((x - left) * (range[1] - range[0])) / (right - left);
  const pixel = (place) => (along === "x" ? forth(place.pixel) : place.pixel);
  const live = () => places.filter((place) => along === "y" || (pixel(place) > left - 8 && pixel(place) < right + 8));
  const pointer = (event) => {
    const box = svg.getBoundingClientRect();
    const factor = box.width / svg.viewBox.baseVal.width;
    return { x: (event.clientX - box.left) / factor, y: (event.clientY - box.top) / factor };
  };
  const hide = () => {
    tip.hidden = true;
    cross.setAttribute("d", "");
    now = -1;
  };
  const show = (place, where) => {
    const lines = place.lines.filter((line) => !hidden.has(line.group.dataset.s));
    if (!lines.length) return hide();
    now = place.key;
    const at = pixel(place);
    cross.setAttribute("d", along === "y" ? `M${left} ${at}H${right}` : `M${at} ${top}V${bottom}`);
    const head = document.createElement("b");
    head.textContent = place.head;
    tip.replaceChildren(...(place.head ? [head] : []));
    for (const line of lines) {
      const name = document.createElement("i");
      name.textContent = line.group.dataset.label;
      name.className = line.group.classList[1];
      const row = document.createElement("span");
      row.append(name, " " + line.text);
      tip.append(row);
    }
    tip.hidden = false;
    const box = svg.getBoundingClientRect();
    const factor = box.width / svg.viewBox.baseVal.width;
    const x = box.left + (where ? where.x : along === "x" ? at : left) * factor + 14;
    const y = box.top + (along === "y" ? at * factor + 10 : top * factor);
    const fits = x + tip.offsetWidth <= innerWidth - 8;
    tip.style.left = `${Math.max(4, fits ? x : x - tip.offsetWidth - 28) + scrollX}px`;
    tip.style.top = `${y + scrollY}px`;
  };
  const nearest = (where) => {
    const distance = (place) => Math.abs(along === "y" ? place.pixel - where.y : pixel(place) - where.x);
    return live().reduce((best, place) => (best && distance(best) <= distance(place) ? best : place), null);
  };

  // Outlines of lines and shades consist of M and L; marks and ticks are moved as a whole.
  const outlines = [...svg.querySelectorAll(".line, .area")].map((path) => {
    const points = [...path.getAttribute("d").matchAll(/([ML])(-?[\d.]+) (-?[\d.]+)/g)];
    return { path, points: points.map(([, command, x, y]) => [command, Number(x), y]) };
  });
  const movable = [...svg.querySelectorAll(".m, [data-gx]")].map((part) => [part, Number(part.dataset.gx ?? part.dataset.x)]);
  const slots = [...svg.querySelectorAll(".slots rect")].map((slot) => [slot, Number(slot.dataset.x)]);
  // The names at the ends of lines, pushed apart as they were drawn.
  const ends = [...svg.querySelectorAll(".lab[data-label]")].map((name) => {
    const group = series.find((one) => one.dataset.label === name.dataset.label);
    const line = outlines.find(({ path }) => path.classList.contains("line") && group.contains(path));
    return { name, y: Number(name.getAttribute("y")), points: line ? line.points : [] };
  });
  const moveNames = () => {
    const isWhole = range[0] === left && range[1] === right;
    const placed = ends.map(({ name, y, points }) => {
      const last = points.filter(([, x]) => forth(x) <= right + 8).at(-1);
      return { name, y: last && !isWhole ? Number(last[2]) + 4 : y };
    });
    placed.sort((a, b) => a.y - b.y).reduce((above, { name, y }) => {
      const at = isWhole ? y : Math.max(above + 14, y);
      name.setAttribute("y", at);
      return at;
    }, top - 14);
    svg.querySelector(".reset").classList.toggle("out", isWhole);
  };
  const zoom = (to) => {
    range = to;
    for (const { path, points } of outlines) path.setAttribute("d", points.map(([c, x, y]) => `${c}${forth(x)} ${y}`).join(""));
    for (const [part, x] of movable) {
      part.setAttribute("transform", `translate(${forth(x) - x} 0)`);
      part.classList.toggle("out", forth(x) < left - 8 || forth(x) > right + 8);
    }
    if (along === "x") {
      slots.forEach(([slot, x], nth) => {
        const edges = [slots[nth - 1], slots[nth + 1]].map((other) => other && forth((x + other[1]) / 2));
        const [a, b] = [edges[0] ?? left, edges[1] ?? right].map((edge) => Math.max(left, Math.min(edge, right)));
        slot.setAttribute("x", a);
        slot.setAttribute("width", Math.max(b - a, 0));
      });
    }
    moveNames();
    hide();
  };
  const release = () => {
    from = null;
    brush.setAttribute("d", "");
  };

  // A picture that takes keys is a group of what it shows.
  svg.setAttribute("role", "group");
  svg.setAttribute("tabindex", "0");
  svg.addEventListener("pointermove", (event) => {
    const where = pointer(event);
    if (from !== null) return brush.setAttribute("d", `M${from} ${top}H${where.x}V${bottom}H${from}Z`);
    const place = nearest(where);
    if (place) show(place, where);
  });
  svg.addEventListener("pointerleave", () => {
    hide();
    release();
  });
  svg.addEventListener("blur", hide);
  if (svg.dataset.zoom) {
    svg.addEventListener("pointerdown", (event) => {
      if (event.pointerType !== "mouse" || event.button !== 0) return;
      from = pointer(event).x;
      event.preventDefault();
      svg.focus();
    });
    svg.addEventListener("pointerup", (event) => {
      const ends = from === null ? [0, 0] : [from, pointer(event).x].map((x) => Math.min(right, Math.max(left, x)));
      release();
      if (Math.abs(ends[1] - ends[0]) >= 12) zoom([back(Math.min(...ends)), back(Math.max(...ends))]);
    });
    svg.addEventListener("dblclick", () => zoom([left, right]));
  }
  svg.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1 }[event.key];
    if (event.key === "Escape") return svg.dataset.zoom ? zoom([left, right]) : hide();
    if (!step) return;
    event.preventDefault();
    const shown = live().filter((place) => place.lines.some((line) => !hidden.has(line.group.dataset.s)));
    if (!shown.length) return;
    const nth = shown.findIndex((place) => place.key === now);
    show(shown[nth < 0 ? (step > 0 ? 0 : shown.length - 1) : Math.min(shown.length - 1, Math.max(0, nth + step))]);
  });
};
document.querySelectorAll("svg[data-plot]").forEach(read);
// The tip takes the place of the browser's own.
for (const title of document.querySelectorAll(".slots title")) title.remove();
