
"use strict";
(() => {
  const profile = JSON.parse(document.getElementById("profile").textContent);
  const element = (id) => document.getElementById(id);
  const canvas = element("graph");
  const scroller = element("scroll");
  const context = canvas.getContext("2d", { alpha: false });
  const LEVEL = 19;
  const THINNEST = 0.4;

  // The tree, in pre-order: what is below a node ends before end[node].
  const count = nodes(profile.nodes);
  const depth = new Uint32Array(count);
  const called = new Int32Array(count).fill(-1);
  const parent = new Int32Array(count).fill(-1);
  const end = new Uint32Array(count);
  const start = new Float64Array(count);
  const self = new Float64Array(count);
  const total = new Float64Array(count);
  const states = profile.states.map(() => null);
  let levels = 0;
  read(profile.nodes);

  /** How many nodes there are, the root included. */
  function nodes(flat) {
    let n = 1;
    for (let i = 0; i < flat.length; i += 3 + 2 * flat[i + 2]) {
      n++;
    }
    return n;
  }

  function read(flat) {
    const open = [0];
    let node = 1;
    for (let i = 0; i < flat.length; node++) {
      depth[node] = flat[i];
      called[node] = flat[i + 1];
      const shares = flat[i + 2];
      for (let s = i + 3; s < i + 3 + 2 * shares; s += 2) {
        const state = flat[s];
        if (state >= 0) {
          states[state] = states[state] || new Float64Array(count);
          states[state][node] = flat[s + 1];
        }
        self[node] += flat[s + 1];
      }
      i += 3 + 2 * shares;
      while (open.length > depth[node]) {
        end[open.pop()] = node;
      }
      parent[node] = open[open.length - 1];
      open.push(node);
      levels = Math.max(levels, depth[node]);
    }
    while (open.length) {
      end[open.pop()] = count;
    }
    for (let n = count - 1; n >= 0; n--) {
      total[n] += self[n];
      if (n > 0) {
        total[parent[n]] += total[n];
      }
      for (const state of states) {
        if (state && n > 0) {
          state[parent[n]] += state[n];
        }
      }
    }
    // Children stand side by side, by name.
    const next = new Float64Array(count);
    for (let n = 1; n < count; n++) {
      start[n] = start[parent[n]] + next[parent[n]];
      next[parent[n]] += total[n];
    }
  }

  // Nodes by level, each from left to right, to find what is under the pointer.
  const byLevel = Array.from({ length: levels + 1 }, () => []);
  for (let n = 0; n < count; n++) {
    byLevel[depth[n]].push(n);
  }

  const name = (n) => (n === 0 ? "all" : profile.functions[called[n]][0]);
  const kind = (n) => (n === 0 ? "root" : profile.functions[called[n]][1]);
  const module = (n) => (n === 0 || profile.functions[called[n]][2] < 0 ? "" : profile.modules[profile.functions[called[n]][2]]);

  const KINDS = {
    root: ["#4b535d", "#4b535d"],
    process: ["#31618a", "#3f7ea8"],
    thread: ["#31618a", "#3f7ea8"],
    cgroup: ["#31618a", "#3f7ea8"],
    user: ["#d9822b", "#f2c04c"],
    kernel: ["#8e4bb3", "#7468d8"],
    jit: ["#3f9e57", "#74c873"],
    inlined: ["#c2a24a", "#dcc878"],
    python: ["#35b3bd", "#6fd0d6"],
    php: ["#cf74a9", "#e39ac6"],
    ruby: ["#dd7f7f", "#eba6a6"],
    unknown: ["#6b6f76", "#878c94"],
    reason: ["#7a3b43", "#8f4a50"],
  };
  const SHADES = 16;

  function mix(from, to, share) {
    const part = (at) => Math.round(parseInt(from.slice(at, at + 2), 16) * (1 - share) + parseInt(to.slice(at, at + 2), 16) * share);
    return [part(1), part(3), part(5)];
  }

  function hash(text) {
    let h = 0;
    for (let i = 0; i < text.length; i++) {
      h = (Math.imul(h, 31) + text.charCodeAt(i)) | 0;
    }
    return Math.imul(h, 0x9e3779b9) >>> 28;
  }

  // [fill, faded fill, ink] of each function; the last is the root's.
  const colours = [...profile.functions.map((f) => [f[1], f[0]]), ["root", "all"]].map(([of, text]) => {
    const [r, g, b] = mix(...KINDS[of], hash(text) / (SHADES - 1));
    const light = 0.299 * r + 0.587 * g + 0.114 * b;
    return [`rgb(${r},${g},${b})`, `rgba(${r},${g},${b},0.35)`, light > 135 ? "#14181d" : "#f4f5f7"];
  });
  const colour = (n) => colours[n === 0 ? colours.length - 1 : called[n]];

  let zoom = 0;
  let trail = [];
  let selected = 0;
  let flame = false;
  let matches = null;
  let width = 0;
  let height = 0;

  function amount(value) {
    if (profile.unit === "bytes") {
      const sizes = [" B", " KiB", " MiB", " GiB", " TiB"];
      let size = 0;
      for (; value >= 1024 && size < sizes.length - 1; size++) {
        value /= 1024;
      }
      return (size === 0 ? value : value.toFixed(1)) + sizes[size];
    }
    if (profile.unit !== "us") {
      return value.toLocaleString("en") + " " + (value === 1 ? profile.unit.replace(/s$/, "") : profile.unit);
    }
    return value >= 1e6 ? (value / 1e6).toFixed(3) + " s" : value >= 1e3 ? (value / 1e3).toFixed(3) + " ms" : value + " µs";
  }
  const percent = (value, of) => (of > 0 ? ((100 * value) / of).toFixed(value === of ? 0 : 2) : "0") + " %";

  function describe(n) {
    const parts = [name(n) + (module(n) ? `  ${module(n).startsWith("[") ? module(n) : `[${module(n)}]`}` : "") + (kind(n) === "user" || n === 0 ? "" : `  ${kind(n)}`)];
    let shares = `${amount(total[n])}, ${percent(total[n], total[0])} of all`;
    if (zoom !== 0) {
      shares += `, ${percent(total[n], total[zoom])} of ${name(zoom)}`;
    }
    parts.push(`${shares}; self ${amount(self[n])}`);
    const by = profile.states
      .map((label, s) => (states[s] && states[s][n] > 0 ? `${label} ${amount(states[s][n])}` : ""))
      .filter((text) => text);
    if (by.length) {
      parts.push(by.join(", "));
    }
    return parts.join("\n");
  }

  // Rows count from the root; those above the zoomed one are its callers.
  const top = (level) => (flame ? (levels - level) * LEVEL : level * LEVEL) - scroller.scrollTop + (flame ? slack() : 0);
  const slack = () => Math.max(0, height - (levels + 1) * LEVEL);

  function draw() {
    const style = getComputedStyle(document.documentElement);
    const ground = style.getPropertyValue("--ground");
    const match = style.getPropertyValue("--match");
    context.fillStyle = ground;
    context.fillRect(0, 0, width, height);
    context.font = "12px " + getComputedStyle(document.body).fontFamily;
    context.textBaseline = "middle";
    const letter = context.measureText("m").width;
    const scale = total[zoom] > 0 ? width / total[zoom] : 0;
    for (let n = zoom; n >= 0; n = parent[n]) {
      box(n, 0, width, n !== zoom, letter, match);
    }
    for (let n = zoom + 1; n < end[zoom]; ) {
      const w = total[n] * scale;
      const y = top(depth[n]);
      const past = flame ? y + LEVEL < 0 : y > height;
      if (w >= THINNEST && !past) {
        box(n, (start[n] - start[zoom]) * scale, w, false, letter, match);
        n++;
      } else {
        n = end[n];
      }
    }
  }

  function box(n, x, w, caller, letter, match) {
    const y = top(depth[n]);
    if (y + LEVEL < 0 || y > height) {
      return;
    }
    const [full, faded, ink] = colour(n);
    const found = matches && n > 0 && matches[called[n]];
    const gap = w > 3 ? 1 : 0;
    context.fillStyle = found ? match : matches || caller ? faded : full;
    context.fillRect(x, y, w - gap, LEVEL - 1);
    if (n === selected) {
      context.strokeStyle = getComputedStyle(document.body).color;
      context.lineWidth = 2;
      context.strokeRect(x + 1, y + 1, Math.max(1, w - gap - 2), LEVEL - 3);
    }
    const room = Math.floor((w - gap - 6) / letter);
    if (room >= 2) {
      const text = name(n);
      context.fillStyle = found ? "#ffffff" : matches || caller ? getComputedStyle(document.body).color : ink;
      context.fillText(text.length <= room ? text : text.slice(0, room - 1) + "…", x + 3, y + LEVEL / 2);
    }
  }

  let due = false;
  function repaint() {
    if (!due) {
      due = true;
      requestAnimationFrame(() => {
        due = false;
        draw();
      });
    }
  }

  function resize() {
    const ratio = window.devicePixelRatio || 1;
    height = scroller.clientHeight;
    // A scroll bar that this brings is not part of the width.
    element("space").style.height = Math.max(height, (levels + 1) * LEVEL) + "px";
    width = scroller.clientWidth;
    canvas.style.width = width + "px";
    canvas.style.height = height + "px";
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    repaint();
  }

  function at(event) {
    const bounds = canvas.getBoundingClientRect();
    const y = event.clientY - bounds.top + scroller.scrollTop - (flame ? slack() : 0);
    const row = Math.floor(y / LEVEL);
    const level = flame ? levels - row : row;
    if (level < 0 || level > levels) {
      return -1;
    }
    if (level <= depth[zoom]) {
      let n = zoom;
      while (depth[n] > level) {
        n = parent[n];
      }
      return n;
    }
    const value = start[zoom] + ((event.clientX - bounds.left) / width) * total[zoom];
    const nodesThere = byLevel[level];
    let low = 0;
    let high = nodesThere.length - 1;
    while (low <= high) {
      const middle = (low + high) >> 1;
      const n = nodesThere[middle];
      if (value < start[n]) {
        high = middle - 1;
      } else if (value >= start[n] + total[n]) {
        low = middle + 1;
      } else {
        return n > zoom && n < end[zoom] ? n : -1;
      }
    }
    return -1;
  }

  function select(n) {
    selected = n;
    element("selected").textContent = describe(n).replace(/\n/g, " · ");
    repaint();
  }

  function zoomTo(n, remember) {
    if (remember && n !== zoom) {
      trail.push(zoom);
    }
    zoom = n;
    const y = flame ? (levels - depth[n]) * LEVEL + slack() : depth[n] * LEVEL;
    if (y < scroller.scrollTop || y + LEVEL > scroller.scrollTop + height) {
      scroller.scrollTop = flame ? y - height + 3 * LEVEL : y - 2 * LEVEL;
    }
    select(n);
    find();
  }

  function back() {
    if (trail.length) {
      zoomTo(trail.pop(), false);
    }
  }

  function whole() {
    trail = [];
    zoomTo(0, false);
  }

  function find() {
    const input = element("search");
    const text = input.value;
    matches = null;
    input.classList.remove("wrong");
    element("matched").textContent = "";
    if (text) {
      let pattern;
      try {
        pattern = new RegExp(text, text === text.toLowerCase() ? "i" : "");
      } catch (e) {
        input.classList.add("wrong");
        element("matched").textContent = "no regular expression";
        repaint();
        return;
      }
      matches = profile.functions.map((f) => pattern.test(f[0]));
      let sum = 0;
      for (let n = zoom; n < end[zoom]; ) {
        if (n > 0 && matches[called[n]]) {
          sum += total[n];
          n = end[n];
        } else {
          n++;
        }
      }
      element("matched").textContent = "matched " + percent(sum, total[zoom]);
    }
    repaint();
  }

  function flip() {
    flame = !flame;
    element("flip").textContent = flame ? "icicle" : "flame";
    scroller.scrollTop = flame ? scroller.scrollHeight : 0;
    repaint();
  }

  const tip = element("tip");
  canvas.addEventListener("mousemove", (event) => {
    const n = at(event);
    tip.hidden = n < 0;
    if (n >= 0) {
      tip.textContent = describe(n);
      const right = event.clientX + 16 + tip.offsetWidth > window.innerWidth;
      const below = event.clientY + 16 + tip.offsetHeight > window.innerHeight;
      tip.style.left = Math.max(4, right ? event.clientX - tip.offsetWidth - 12 : event.clientX + 16) + "px";
      tip.style.top = Math.max(4, below ? event.clientY - tip.offsetHeight - 12 : event.clientY + 16) + "px";
    }
  });
  canvas.addEventListener("mouseleave", () => (tip.hidden = true));
  canvas.addEventListener("click", (event) => {
    const n = at(event);
    if (n >= 0) {
      zoomTo(n, true);
    }
  });
  scroller.addEventListener("scroll", repaint);
  element("search").addEventListener("input", find);
  element("find").addEventListener("submit", (event) => event.preventDefault());
  element("back").addEventListener("click", back);
  element("root").addEventListener("click", whole);
  element("flip").addEventListener("click", flip);
  document.addEventListener("keydown", (event) => {
    const typing = document.activeElement === element("search");
    if (event.key === "Escape") {
      if (typing) {
        element("search").value = "";
        element("search").blur();
        find();
      } else {
        back();
      }
    } else if (typing || event.ctrlKey || event.altKey || event.metaKey) {
      return;
    } else if (event.key === "/") {
      element("search").focus();
      event.preventDefault();
    } else if (event.key === "0") {
      whole();
    } else if (event.key === "i") {
      flip();
    }
  });
  new ResizeObserver(resize).observe(scroller);
  window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", repaint);

  document.title = "flametop · " + profile.title;
  element("title").textContent = "flametop · " + profile.title;
  for (const [key, value] of profile.facts) {
    const term = document.createElement("dt");
    const text = document.createElement("dd");
    term.textContent = key;
    text.textContent = value;
    element("facts").append(term, text);
  }
  resize();
  select(0);
})();
