"use strict";
// Moves parameters, and evaluates and draws what follows. `formulas` stands above: the
// expressions of the derivation, translated.
(() => {
  const data = JSON.parse(document.getElementById("explorer").textContent);
  const spec = Object.fromEntries(data.sliders.map(s => [s.name, s]));
  const values = Object.fromEntries(data.sliders.map(s => [s.name, s.value]));
  const steps = 1000;
  const get = id => document.getElementById(id);
  const plane = [...data.plane];

  // Numbers

  const parts = (x, digits = 5) => {
    if (Number.isNaN(x)) return ["none", null];
    if (!Number.isFinite(x)) return [x < 0 ? "−∞" : "∞", null];
    if (x === 0) return ["0", null];
    const [mantissa, exponent] = x.toExponential(digits - 1).split("e");
    const tens = Number(exponent);
    if (tens >= -4 && tens < 7) return [String(Number(`${mantissa}e${tens}`)).replace("-", "−"), null];
    return [String(Number(mantissa)).replace("-", "−"), tens];
  };
  const plain = (x, digits = 5) => {
    const [mantissa, tens] = parts(x, digits);
    return tens === null ? mantissa : `${mantissa}e${tens}`;
  };
  const put = (element, x) => {
    const [mantissa, tens] = parts(x);
    element.dataset.value = String(x);
    element.replaceChildren(tens === null ? mantissa : `${mantissa} × 10`);
    if (tens !== null) {
      const power = document.createElement("sup");
      power.textContent = String(tens).replace("-", "−");
      element.append(power);
    }
  };
  const colour = name => `var(--c${data.colours[name]})`;
  const withUnit = (x, unit) => unit === "1" ? plain(x) : `${plain(x)} ${unit}`;

  // Sliders

  const clamp = (x, s) => Math.min(Math.max(x, s.low), s.high);
  const fromPosition = (p, s) => {
    const t = p / steps;
    const x = s.log ? s.low * Math.pow(s.high / s.low, t) : s.low + (s.high - s.low) * t;
    if (s.whole) return clamp(Math.round(x), s);
    return clamp(s.log ? Number(x.toPrecision(4)) : Math.round(x * 1000) / 1000, s);
  };
  const toPosition = (x, s) => Math.round(
    steps * (s.log ? Math.log(x / s.low) / Math.log(s.high / s.low) : (x - s.low) / (s.high - s.low))
  );
  const allowed = (x, s) => Number.isFinite(x) && x >= s.low && x <= s.high && (!s.whole || Number.isInteger(x));
  const complain = text => { get("error").textContent = text; };
  const showParameter = (name, moved) => {
    const s = spec[name], range = get(`s-${name}`), field = get(`v-${name}`);
    if (!moved) range.value = String(toPosition(values[name], s));
    range.setAttribute("aria-valuetext", withUnit(values[name], s.unit));
    field.value = s.whole ? String(values[name]) : plain(values[name], 6).replace("−", "-");
    field.dataset.value = String(values[name]);
    field.removeAttribute("aria-invalid");
  };
  const matching = list => list.options.find(
    o => Object.entries(o.values).every(([name, x]) => values[name] === x)
  );
  const showPresets = () => data.presets.forEach((list, k) => {
    const select = get(`preset-${k}`), now = list.options.find(o => o.name === select.value);
    const kept = now && Object.entries(now.values).every(([name, x]) => values[name] === x);
    if (!kept) select.value = matching(list)?.name ?? "";
  });

  // Results

  const choose = (choice, at) => {
    if (choice.rules) {
      const piece = choice.pieces.length ? formulas.rules(at) : "";
      return {
        found: choice.pieces.map((_, k) => formulas[`${choice.key}_${k}`](at)),
        best: piece === "" ? -1 : Number(piece), value: piece === "" ? NaN : formulas[choice.key](at),
      };
    }
    const found = choice.pieces.map((_, k) => formulas[`${choice.key}_${k}`](at));
    let best = 0;
    found.forEach((x, k) => {
      if (choice.function === "min" ? x < found[best] : x > found[best]) best = k;
    });
    const over = choice.end !== null && at[choice.end] > formulas[`${choice.key}_end`](at);
    return { found, best: over ? -1 : best, value: over ? NaN : found[best] };
  };
  const summary = [];
  const showChoice = choice => {
    const { found, best, value } = choose(choice, values);
    const name = best < 0 ? choice.beyond : choice.pieces[best];
    put(get(`o-${choice.key}`), value);
    get(`n-${choice.key}`).textContent = name;
    found.forEach((x, k) => {
      const card = get(`p-${choice.key}_${k}`);
      card.classList.toggle("rules", k === best);
      if (k === best) card.setAttribute("aria-current", "true");
      else card.removeAttribute("aria-current");
      put(get(`o-${choice.key}_${k}`), x);
    });
    summary.push(`${choice.title}: ${Number.isNaN(value) ? "" : `${withUnit(value, choice.unit)}, `}${name}`);
  };

  // Drawing

  const ns = "http://www.w3.org/2000/svg";
  const draw = (parent, tag, attributes, text) => {
    const element = document.createElementNS(ns, tag);
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, String(value));
    if (text !== undefined) element.textContent = text;
    parent.append(element);
    return element;
  };
  const tens = (parent, attributes, power) => {
    const text = draw(parent, "text", attributes, "10");
    draw(text, "tspan", { dy: -5, "font-size": 9 }, String(power).replace("-", "−"));
  };
  const fresh = (svg, ratio) => {
    const width = Math.max(280, Math.min(svg.parentElement.clientWidth || 640, 860));
    const height = Math.round(Math.max(230, width * ratio));
    svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
    svg.replaceChildren();
    return { svg, width, height, left: 46, right: width - 20, top: 34, bottom: height - 42 };
  };
  const scale = (low, high, from, to) => {
    const a = Math.log10(low), b = Math.log10(high);
    return {
      at: x => from + (Math.log10(x) - a) / (b - a) * (to - from),
      back: p => Math.pow(10, a + (p - from) / (to - from) * (b - a)), low, high, a, b, from, to,
    };
  };
  const decades = (s, most) => {
    const first = Math.ceil(s.a - 1e-9), last = Math.floor(s.b + 1e-9);
    const by = Math.max(1, Math.ceil((last - first + 1) / most));
    const found = [];
    for (let n = first; n <= last; n += by) found.push(n);
    return found;
  };
  // The title of an axis: with what it means where there is room.
  const caption = (box, attributes, s) => {
    const text = draw(box.svg, "text", attributes, `${titled(s)}: ${s.short}`);
    if (text.getComputedTextLength() > box.right - 8) text.textContent = titled(s);
  };
  const titled = s => `${s.name}${s.unit === "1" ? "" : ` [${s.unit}]`}`;
  const xAxis = (box, x, s) => {
    for (const n of decades(x, Math.floor((box.right - box.left) / 52))) {
      const at = x.at(Math.pow(10, n));
      draw(box.svg, "line", { class: "grid", x1: at, x2: at, y1: box.top, y2: box.bottom });
      tens(box.svg, { x: at, y: box.bottom + 17, "text-anchor": "middle" }, n);
    }
    caption(box, { x: box.width / 2, y: box.height - 6, "text-anchor": "middle" }, s);
  };
  const frame = box => draw(box.svg, "rect", {
    class: "frame", x: box.left, y: box.top, width: box.right - box.left, height: box.bottom - box.top,
  });

  const reached = () => {
    const marks = data.marks.map(m => ({ ...m, x: formulas[m.key](values) }));
    const end = Math.min(...marks.filter(m => m.end).map(m => m.x), Infinity);
    return marks.map(m => ({ ...m, on: Number.isFinite(m.x) && m.x > 0 && (m.end || m.x < end) }));
  };
  const drawCurves = marks => {
    const s = spec[data.x], shown = marks.filter(m => m.on);
    const end = shown.find(m => m.end)?.x ?? Infinity;
    const box = fresh(get("curves"), 0.5);
    const near = [...shown.map(m => m.x), values[data.x]].map(Math.log10);
    const low = Math.pow(10, Math.floor(Math.min(...near)) - 1), high = Math.pow(10, Math.ceil(Math.max(...near)) + 1);
    const x = scale(low, high, box.left, box.right);
    const y = share => box.bottom - share * (box.bottom - box.top);
    for (const share of [0, 0.25, 0.5, 0.75, 1]) {
      draw(box.svg, "line", { class: "grid", x1: box.left, x2: box.right, y1: y(share), y2: y(share) });
      draw(box.svg, "text", { x: box.left - 6, y: y(share) + 4, "text-anchor": "end" }, `${share * 100} %`);
    }
    xAxis(box, x, s);
    if (end < high) {
      draw(box.svg, "rect", {
        class: "beyond", x: x.at(end), y: box.top, width: box.right - x.at(end), height: box.bottom - box.top,
      });
      draw(box.svg, "text", {
        class: "halo", x: (x.at(end) + box.right) / 2, y: (box.top + box.bottom) / 2, "text-anchor": "middle",
      }, "no run fits");
    }
    const grid = [];
    for (let p = 0; p <= 300; p++) grid.push(low * Math.pow(high / low, p / 300));
    grid.push(...shown.map(m => m.x));
    const at = grid.filter(v => v <= end).sort((a, b) => a - b);
    const labels = data.lines.map((name, k) => {
      const shares = at.map(v => formulas[`line_${k}`]({ ...values, [data.x]: v }));
      const path = at.map((v, i) => `${i ? "L" : "M"}${x.at(v).toFixed(1)} ${y(shares[i]).toFixed(1)}`);
      draw(box.svg, "path", { class: "curve", d: path.join(""), stroke: colour(name) });
      // Beside the curve, clear of it from the label's beginning to its end.
      const span = shares.filter((_, i) => x.at(at[i]) <= box.left + 20 + 7 * name.length);
      const high = span[0] > 0.5;
      return { name, y: high ? y(Math.min(...span)) + 20 : y(Math.max(...span)) - 10 };
    });
    labels.sort((a, b) => a.y - b.y);
    labels.forEach((label, k) => {
      if (k && label.y - labels[k - 1].y < 15) label.y = labels[k - 1].y + 24;
      draw(box.svg, "text", {
        class: "halo", x: box.left + 10, y: Math.max(label.y, box.top + 14),
        style: `fill: ${colour(label.name)}`,
      }, label.name);
    });
    shown.forEach(m => {
      draw(box.svg, "line", { class: "cliff", x1: x.at(m.x), x2: x.at(m.x), y1: box.top, y2: box.bottom });
      draw(box.svg, "text", { x: x.at(m.x), y: box.top - 6, "text-anchor": "middle" }, String(marks.indexOf(m) + 1));
    });
    frame(box);
    if (values[data.x] <= end) data.lines.forEach((_, k) => draw(box.svg, "circle", {
      class: "here", cx: x.at(values[data.x]), cy: y(formulas[`line_${k}`](values)), r: 5,
    }));
    box.svg.setAttribute("aria-label", `${data.curves}. ` + (shown.length
      ? shown.map(m => `${m.title} at ${withUnit(m.x, s.unit)}`).join("; ") : "No cliff") + ".");
  };
  // The optimum of a problem of one's own against a parameter, each piece in its colour.
  let against = data.x;
  const drawOptimum = () => {
    const choice = data.choices[0], s = spec[against], box = fresh(get("curves"), 0.5);
    const x = scale(s.low, s.high, box.left, box.right), points = [];
    for (let p = 0; p <= 400; p++) {
      const v = s.low * Math.pow(s.high / s.low, p / 400);
      points.push({ v, ...choose(choice, { ...values, [against]: v }) });
    }
    const known = points.map(p => p.value).filter(v => v > 0 && Number.isFinite(v));
    const least = Math.min(...known), most = Math.max(...known), wide = most > 10 * least ? 1.1 : 1.5;
    const y = scale(known.length ? least / wide : 1, known.length ? most * wide : 10, box.bottom, box.top);
    xAxis(box, x, s);
    const marks = decades(y, 8).map(n => Math.pow(10, n));
    const lines = marks.length > 1 ? marks : [0, 1, 2, 3].map(k => Math.pow(10, y.a + (y.b - y.a) * (0.1 + 0.8 * k / 3)));
    for (const value of lines) {
      draw(box.svg, "line", { class: "grid", x1: box.left, x2: box.right, y1: y.at(value), y2: y.at(value) });
      draw(box.svg, "text", { x: box.left + 4, y: y.at(value) - 3 }, plain(value, 3));
    }
    let from = 0;
    for (let k = 1; k <= points.length; k++) {
      if (k < points.length && points[k].best === points[from].best) continue;
      const part = points.slice(from, Math.min(k + 1, points.length)), best = points[from].best;
      const left = x.at(part[0].v), right = x.at(part[part.length - 1].v);
      if (best < 0) draw(box.svg, "rect", { class: "beyond", x: left, y: box.top, width: right - left, height: box.bottom - box.top });
      else {
        const shown = part.filter(p => p.value > 0);
        const path = shown.map((p, i) => `${i ? "L" : "M"}${x.at(p.v).toFixed(1)} ${y.at(p.value).toFixed(1)}`);
        draw(box.svg, "path", { class: "curve", d: path.join(""), stroke: colour(choice.pieces[best]) });
      }
      from = k;
    }
    draw(box.svg, "text", { x: 4, y: 14 }, `${choice.title}${choice.unit === "1" ? "" : ` [${choice.unit}]`}`);
    frame(box);
    const here = choose(choice, values).value;
    if (here > 0) draw(box.svg, "circle", { class: "here", cx: x.at(values[against]), cy: y.at(here), r: 5 });
    box.svg.setAttribute("aria-label", `${choice.title} against ${s.name}. Here ${withUnit(here, choice.unit)}.`);
  };
  const showMarks = marks => marks.forEach(m => {
    put(get(`o-${m.key}`), m.x);
    get(`m-${m.key}`).classList.toggle("off", !m.on);
    get(`f-${m.key}`).textContent = m.on ? "" : " (not met here)";
  });

  const drawRegions = () => {
    const choice = data.choices[0], [sx, sy] = plane.map(name => spec[name]);
    const box = fresh(get("regions"), 0.62);
    const x = scale(sx.low, sx.high, box.left, box.right), y = scale(sy.low, sy.high, box.bottom, box.top);
    const at = { ...values };
    const piece = (px, py) => {
      at[sx.name] = x.back(px);
      at[sy.name] = y.back(py);
      return choose(choice, at).best;
    };
    const wide = 3, rows = 40, tall = (box.bottom - box.top) / rows;
    const paths = choice.pieces.map(() => []);
    const sums = choice.pieces.map(() => [0, 0, 0]);
    for (let px = box.left; px < box.right; px += wide) {
      const middle = Math.min(px + wide / 2, box.right), width = Math.min(wide, box.right - px);
      let start = box.top, now = piece(middle, box.top);
      for (let row = 1; row <= rows + 1; row++) {
        const py = Math.min(box.top + row * tall, box.bottom), next = row > rows ? -2 : piece(middle, py);
        if (next === now) continue;
        let stop = py;
        if (next !== -2) {
          let a = py - tall, b = py;
          for (let k = 0; k < 12; k++) {
            const half = (a + b) / 2;
            if (piece(middle, half) === now) a = half; else b = half;
          }
          stop = b;
        }
        if (now >= 0 && stop > start) {
          paths[now].push(`M${px.toFixed(1)} ${start.toFixed(1)}h${width.toFixed(1)}V${stop.toFixed(1)}h${(-width).toFixed(1)}z`);
          const area = (stop - start) * width, sum = sums[now];
          sum[0] += area;
          sum[1] += area * middle;
          sum[2] += area * (start + stop) / 2;
        }
        start = stop;
        now = next;
      }
    }
    const layer = draw(box.svg, "g", { opacity: 0.4 });
    paths.forEach((path, k) => {
      if (path.length) draw(layer, "path", { d: path.join(""), fill: colour(choice.pieces[k]), "shape-rendering": "crispEdges" });
    });
    xAxis(box, x, sx);
    for (const n of decades(y, 8)) {
      const line = y.at(Math.pow(10, n));
      draw(box.svg, "line", { class: "grid", x1: box.left, x2: box.right, y1: line, y2: line });
      tens(box.svg, { x: box.left - 8, y: line + 4, "text-anchor": "end" }, n);
    }
    caption(box, { x: 4, y: 14 }, sy);
    frame(box);
    const here = [x.at(values[sx.name]), y.at(values[sy.name])];
    draw(box.svg, "line", { class: "cross", x1: here[0], x2: here[0], y1: box.top, y2: box.bottom });
    draw(box.svg, "line", { class: "cross", x1: box.left, x2: box.right, y1: here[1], y2: here[1] });
    draw(box.svg, "circle", { class: "here", cx: here[0], cy: here[1], r: 5 });
    sums.forEach(([area, sx_, sy_], k) => {
      if (area < 900) return;
      const half = choice.pieces[k].length * 3.6;
      const cx = Math.min(Math.max(sx_ / area, box.left + half), box.right - half);
      draw(box.svg, "text", { class: "halo", x: cx, y: sy_ / area + 4, "text-anchor": "middle" }, choice.pieces[k]);
    });
    const { best } = choose(choice, values);
    box.svg.setAttribute("aria-label",
      `Regions over ${sx.name} and ${sy.name}. Here ${best < 0 ? choice.beyond : choice.pieces[best]}.`);
  };

  // State

  const state = () => {
    const query = new URLSearchParams();
    for (const s of data.sliders) query.set(s.name, String(values[s.name]));
    data.presets.forEach((list, k) => { if (get(`preset-${k}`).value) query.set(`preset${k}`, get(`preset-${k}`).value); });
    if (plane.length) {
      query.set("x", plane[0]);
      query.set("y", plane[1]);
    }
    return `#${query}`;
  };
  const restore = () => {
    const query = new URLSearchParams(location.hash.slice(1));
    for (const s of data.sliders) {
      const x = query.has(s.name) ? Number(query.get(s.name)) : s.value;
      values[s.name] = allowed(x, s) ? x : s.value;
    }
    data.presets.forEach((list, k) => {
      const name = query.get(`preset${k}`);
      get(`preset-${k}`).value = list.options.some(o => o.name === name) ? name : list.chosen;
    });
    if (!plane.length) {
      data.sliders.forEach(s => showParameter(s.name));
      return;
    }
    const axes = ["x", "y"].map((key, k) => data.axes.includes(query.get(key)) ? query.get(key) : data.plane[k]);
    if (axes[0] !== axes[1]) plane.splice(0, 2, ...axes);
    ["x", "y"].forEach((key, k) => { get(`axis-${key}`).value = plane[k]; });
    data.sliders.forEach(s => showParameter(s.name));
  };
  let frameAsked = 0, hashTimer = 0, sayTimer = 0, silent = true;
  const update = () => {
    if (frameAsked) return;
    frameAsked = requestAnimationFrame(() => {
      frameAsked = 0;
      render();
    });
  };
  const render = () => {
    summary.length = 0;
    showPresets();
    data.choices.forEach(showChoice);
    data.results.forEach(key => put(get(`o-${key}`), formulas[key](values)));
    if (data.own) {
      if (get("against")) drawOptimum();
    } else {
      const marks = reached();
      showMarks(marks);
      drawCurves(marks);
    }
    if (plane.length) drawRegions();
    clearTimeout(hashTimer);
    clearTimeout(sayTimer);
    if (!silent) {
      hashTimer = setTimeout(() => history.replaceState(null, "", state()), 250);
      sayTimer = setTimeout(() => { get("said").textContent = summary.join(". "); }, 700);
    }
    silent = false;
  };

  for (const s of data.sliders) {
    get(`s-${s.name}`).addEventListener("input", event => {
      values[s.name] = fromPosition(Number(event.target.value), s);
      complain("");
      showParameter(s.name, true);
      update();
    });
    get(`v-${s.name}`).addEventListener("change", event => {
      const text = event.target.value.trim(), x = text === "" ? NaN : Number(text);
      if (allowed(x, s)) {
        values[s.name] = x;
        complain("");
        showParameter(s.name);
        update();
      } else {
        event.target.setAttribute("aria-invalid", "true");
        complain(`${s.name} is a ${s.whole ? "whole " : ""}number from ${plain(s.low)} to ${plain(s.high)}.`);
      }
    });
  }
  data.presets.forEach((list, k) => get(`preset-${k}`).addEventListener("change", event => {
    const option = list.options.find(o => o.name === event.target.value);
    if (!option) return;
    Object.assign(values, option.values);
    complain("");
    Object.keys(option.values).forEach(name => showParameter(name));
    update();
  }));
  get("against")?.addEventListener("change", event => {
    against = event.target.value;
    update();
  });
  ["x", "y"].forEach((key, k) => get(`axis-${key}`)?.addEventListener("change", event => {
    if (plane[1 - k] === event.target.value) plane[1 - k] = plane[k];
    plane[k] = event.target.value;
    ["x", "y"].forEach((other, j) => { get(`axis-${other}`).value = plane[j]; });
    update();
  }));
  get("controls").addEventListener("submit", event => event.preventDefault());
  get("reset").addEventListener("click", () => {
    history.replaceState(null, "", location.pathname + location.search);
    plane.splice(0, 2, ...data.plane);
    restore();
    complain("");
    silent = true;
    update();
  });
  get("link").addEventListener("click", () => { get("link").dataset.copy = location.href.split("#")[0] + state(); }, true);
  addEventListener("hashchange", () => { restore(); update(); });
  addEventListener("resize", update);
  restore();
  render();
})();
