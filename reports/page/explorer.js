// The full timeline: every call, container and fault of the run on a canvas, to zoom, filter and search. It is an addition: the figures
// say without it what matters. Nothing is read or built before it comes into view.
(function () {
  "use strict";
  var section = document.getElementById("full"), block = document.getElementById("explorer-data");
  if (!section || !block) { return; }
  var frame = document.getElementById("explorer"), canvas = frame.querySelector("canvas"), floor = frame.querySelector("div");
  var told = document.getElementById("explorer-told"), hits = document.getElementById("explorer-hits");
  var table = document.getElementById("explorer-table"), pen = canvas.getContext("2d");
  var by = section.querySelector("[name=by]"), actorBox = section.querySelector("[name=actor]"), outcomeBox = section.querySelector("[name=outcome]");
  var taskBox = section.querySelector("[name=task]"), searchBox = section.querySelector("[name=q]");

  var OK = 0, REFUSED = 1, UNKNOWN = 2, WORKED = 3, IDLE = 4; // what an item is
  var SIGNS = ["ok", "refused", "unknown", "container", "container that the store did not let begin"];
  var ROW = 11, BAR = 8, PAD = 5, AXIS = 24, FAULTS = 20, MOST_ROWS = 8;
  var run, n = 0, order, from, to, actor, task, verb, what, code, counted, open; // columns of items
  var shown, matched, lane, row, lanes = [], view = { from: 0, to: 1 }, chosen = -1, searching = false, colours = {}, ready = false;

  // ---- Data

  function read() {
    var value = JSON.parse(block.textContent);
    if (typeof value !== "string") { return Promise.resolve(value); }
    if (!window.DecompressionStream) { return Promise.reject(new Error("this browser cannot unpack it")); }
    var packed = atob(value), bytes = new Uint8Array(packed.length);
    for (var i = 0; i < packed.length; i++) { bytes[i] = packed.charCodeAt(i); }
    return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).json();
  }

  function columns() {
    var c = run.calls, l = run.containers, calls = c.at.length, last = 0, i;
    n = calls + l.at.length;
    from = new Float64Array(n); to = new Float64Array(n); actor = new Int32Array(n); task = new Int32Array(n);
    verb = new Uint8Array(n); what = new Uint8Array(n); code = new Uint16Array(n); counted = new Uint8Array(n); open = new Uint8Array(n);
    shown = new Uint8Array(n); matched = new Uint8Array(n); lane = new Int32Array(n); row = new Uint8Array(n); order = new Uint32Array(n);
    for (i = 0; i < calls; i++) {
      last += c.at[i];
      put(i, last, c.took[i], c.process[i], c.task[i], c.outcome[i]);
      verb[i] = c.verb[i]; code[i] = c.code[i];
    }
    for (i = 0, last = 0; i < l.at.length; i++) {
      last += l.at[i];
      put(calls + i, last, l.took[i], run.processes.length + l.node[i], l.task[i], l.worked[i] ? WORKED : IDLE);
      code[calls + i] = l.exit[i]; counted[calls + i] = Math.min(255, l.counted[i]);
    }
    for (i = 0; i < n; i++) { order[i] = i; }
    order.sort(function (a, b) { return from[a] - from[b] || a - b; });
  }

  function put(i, at, took, who, whose, kind) {
    from[i] = at; to[i] = took < 0 ? run.end : at + took; open[i] = took < 0 ? 1 : 0;
    actor[i] = who; task[i] = whose; what[i] = kind;
  }

  function nameOf(a) {
    if (a === 0) { return "others"; }
    return a <= run.processes.length ? run.processes[a - 1] : run.nodes[a - run.processes.length - 1] || "no node";
  }
  function taskOf(t) { return t > 0 ? run.tasks[t - 1] : ""; }
  function time(us) {
    var digits = span() < 2e4 ? 6 : span() < 2e6 ? 4 : span() < 2e8 ? 2 : 0;
    return (us / 1e6).toFixed(digits) + "\u00a0s";
  }
  function exact(us) { return +(us / 1e6).toFixed(6) + "\u00a0s"; }
  function span() { return view.to - view.from; }

  function describe(i) {
    var container = what[i] >= WORKED, words = [exact(from[i]) + ":", nameOf(actor[i])];
    words.push(container ? SIGNS[what[i]] : run.verbs[verb[i] - 1]);
    if (task[i]) { words.push((container ? "of " : "") + taskOf(task[i])); }
    words.push("→ " + (container ? (open[i] ? "alive at the end of the record" : run.exits[code[i]] || "ended") : SIGNS[what[i]] + (run.codes[code[i]] ? " (" + run.codes[code[i]] + ")" : "")));
    words.push(open[i] ? "" : "after " + exact(to[i] - from[i]));
    if (counted[i]) { words.push("; " + counted[i] + (counted[i] === 1 ? " result counted" : " results counted")); }
    return words.join(" ").trim();
  }

  // ---- Filters, search, lanes

  // tell returns, for each entry of a table of names, whether the word is in it.
  function tell(names, word) { return names.map(function (s) { return s.toLowerCase().indexOf(word) >= 0; }); }

  function search() {
    var words = searchBox.value.toLowerCase().split(/\s+/).filter(Boolean), found = 0, actors = [];
    searching = words.length > 0;
    for (var a = 0; a <= run.processes.length + run.nodes.length; a++) { actors.push(nameOf(a)); }
    var tables = words.map(function (w) {
      return { actor: tell(actors, w), task: tell([""].concat(run.tasks), w), verb: tell([""].concat(run.verbs), w), code: tell(run.codes, w), exit: tell(run.exits, w), what: tell(SIGNS, w) };
    });
    for (var i = 0; i < n; i++) {
      matched[i] = searching && shown[i] && tables.every(function (t) {
        return t.actor[actor[i]] || t.task[task[i]] || t.what[what[i]] || (what[i] < WORKED ? t.verb[verb[i]] || t.code[code[i]] : t.exit[code[i]]);
      }) ? 1 : 0;
      found += matched[i];
    }
    hits.textContent = searching ? found + " found" : "";
  }

  function filter() {
    var only = actorBox.value === "" ? -1 : +actorBox.value, outcome = outcomeBox.value, word = taskBox.value.trim().toLowerCase();
    var exactly = run.tasks.map(function (s) { return s.toLowerCase(); }).indexOf(word);
    var named = word ? [false].concat(exactly >= 0 ? run.tasks.map(function (_, i) { return i === exactly; }) : tell(run.tasks, word)) : null;
    for (var i = 0; i < n; i++) {
      shown[i] = (only < 0 || actor[i] === only) && (!named || named[task[i]]) &&
        (outcome === "" || (outcome === "bad" ? what[i] === REFUSED || what[i] === UNKNOWN : outcome === "containers" ? what[i] >= WORKED : what[i] < WORKED)) ? 1 : 0;
    }
    arrange();
    search();
  }

  var ROLES = ["client", "dispatcher", "reconciler"];
  function rank(a) {
    if (a > run.processes.length) { return 5; }
    var r = ROLES.findIndex(function (role) { return nameOf(a).indexOf(role) === 0; });
    return r < 0 ? 4 : r;
  }

  // arrange gives every item that is shown a lane, and within it the first row that is free.
  function arrange() {
    var byTask = by.value === "task", of = new Map(), k, i, key;
    lanes = [];
    for (k = 0; k < n; k++) {
      i = order[k];
      if (!shown[i]) { continue; }
      key = byTask ? task[i] : actor[i];
      if (!of.has(key)) { of.set(key, lanes.length); lanes.push({ key: key, name: byTask ? taskOf(key) || "no task" : nameOf(key), ends: [], rows: 1 }); }
      lane[i] = of.get(key);
    }
    var sorted = lanes.slice().sort(function (a, b) { return byTask ? (a.key || 1e9) - (b.key || 1e9) : rank(a.key) - rank(b.key) || (a.name < b.name ? -1 : 1); });
    sorted.forEach(function (l, at) { l.at = at; });
    for (k = 0; k < n; k++) { i = order[k]; if (shown[i]) { lane[i] = lanes[lane[i]].at; } }
    lanes = sorted;
    for (k = 0; k < n; k++) {
      i = order[k];
      if (!shown[i]) { continue; }
      var l = lanes[lane[i]], r = 0;
      while (r < l.ends.length && l.ends[r] > from[i]) { r++; }
      r = Math.min(r, MOST_ROWS - 1);
      l.ends[r] = Math.max(l.ends[r] || 0, to[i]); row[i] = r; l.rows = Math.max(l.rows, r + 1);
    }
    var top = AXIS + FAULTS;
    lanes.forEach(function (l) { l.top = top; l.height = l.rows * ROW + PAD * 2; top += l.height; });
    floor.style.height = Math.max(top + 8, 120) + "px";
  }

  // ---- Drawing

  function dye() {
    var style = getComputedStyle(document.documentElement);
    ["paper", "panel", "ink", "ink-2", "line", "line-2", "wash", "accent", "accent-soft", "bad", "bad-soft", "warn", "warn-soft", "slate", "good"].forEach(function (c) {
      colours[c] = style.getPropertyValue("--" + c).trim();
    });
  }
  // The size is asked for once per picture: to ask costs a look at the page's layout, and every mark needs it.
  var wide = 1, high = 1, left = 0;
  function measure() { wide = frame.clientWidth; high = frame.clientHeight; left = Math.min(150, Math.round(wide * 0.26)); }
  function gutter() { return left; }
  function width() { return wide; }
  function height() { return high; }
  function x(us) { return left + (us - view.from) / (view.to - view.from) * (wide - left - 8); }
  function at(px) { return view.from + (px - left) / (wide - left - 8) * (view.to - view.from); }

  var pending = false;
  function draw() { if (!pending) { pending = true; requestAnimationFrame(function () { pending = false; paint(); }); } }

  function paint() {
    measure();
    var scale = window.devicePixelRatio || 1, w = width(), h = height();
    if (canvas.width !== Math.round(w * scale) || canvas.height !== Math.round(h * scale)) {
      canvas.width = Math.round(w * scale); canvas.height = Math.round(h * scale);
      canvas.style.width = w + "px"; canvas.style.height = h + "px";
    }
    pen.setTransform(scale, 0, 0, scale, 0, 0);
    pen.font = "12px " + getComputedStyle(document.body).fontFamily;
    pen.textBaseline = "middle";
    pen.fillStyle = colours.panel; pen.fillRect(0, 0, w, h);
    paintGround(w, h);
    pen.save(); pen.beginPath(); pen.rect(gutter(), AXIS, w - gutter(), h - AXIS); pen.clip();
    paintItems(w, h);
    paintBroken(h);
    pen.restore();
    paintHead(w);
    tabulate();
  }

  function paintGround(w, h) {
    var scroll = frame.scrollTop;
    lanes.forEach(function (l, i) {
      var y = l.top - scroll;
      if (y > h || y + l.height < 0) { return; }
      if (i % 2) { pen.fillStyle = colours.wash; pen.fillRect(0, y, w, l.height); }
      pen.fillStyle = colours.ink; pen.fillText(fit(l.name, gutter() - 14), 8, y + Math.min(l.height, ROW * 2 + PAD) / 2);
    });
    pen.fillStyle = colours["warn-soft"];
    run.faults.forEach(function (f) { var a = x(f.at); pen.fillRect(Math.max(a, gutter()), AXIS, Math.max(0, Math.max(x(f.at + f.took), a + 1) - Math.max(a, gutter())), 0); });
  }

  function fit(text, room) {
    if (pen.measureText(text).width <= room) { return text; }
    while (text && pen.measureText(text + "…").width > room) { text = text.slice(0, -1); }
    return text + "…";
  }

  // paintItems draws what is in view; what falls on a pixel that has a mark of the same kind already is not drawn once more.
  function paintItems(w, h) {
    var scroll = frame.scrollTop, last = new Float32Array(lanes.length * MOST_ROWS * 5).fill(-1e9);
    for (var k = 0; k < n; k++) {
      var i = order[k];
      if (from[i] > view.to) { break; }
      if (!shown[i] || to[i] < view.from) { continue; }
      var l = lanes[lane[i]], y = l.top - scroll + PAD + row[i] * ROW;
      if (y > h || y + ROW < AXIS) { continue; }
      var a = x(from[i]), b = Math.max(x(to[i]), a + 1), slot = (lane[i] * MOST_ROWS + row[i]) * 5 + what[i];
      if (b - last[slot] < 0.9 && !(searching && matched[i]) && i !== chosen) { continue; }
      last[slot] = b;
      pen.globalAlpha = searching && !matched[i] ? 0.22 : 1;
      bar(i, Math.max(a, left - 4), Math.min(b, w + 4), y);
    }
    pen.globalAlpha = 1;
    if (chosen >= 0 && shown[chosen]) {
      var c = lanes[lane[chosen]];
      pen.strokeStyle = colours.ink; pen.lineWidth = 2;
      pen.strokeRect(x(from[chosen]) - 2.5, c.top - scroll + PAD + row[chosen] * ROW - 2.5, Math.max(x(to[chosen]) - x(from[chosen]), 1) + 5, BAR + 5);
    }
  }

  // bar has a shape for each kind besides its colour: full, hollow or upper half when refused, hatched or lower half when unknown.
  function bar(i, a, b, y) {
    var long = b - a, kind = what[i];
    if (kind === OK) { pen.fillStyle = colours.slate; pen.fillRect(a, y, long, BAR); }
    if (kind === REFUSED) {
      if (long < 4) { pen.fillStyle = colours.warn; pen.fillRect(a, y, Math.max(long, 1.5), BAR / 2); } else {
        pen.fillStyle = colours.panel; pen.strokeStyle = colours.warn; pen.lineWidth = 1.5; pen.fillRect(a, y, long, BAR); pen.strokeRect(a + 0.75, y + 0.75, long - 1.5, BAR - 1.5);
      }
    }
    if (kind === UNKNOWN) {
      pen.fillStyle = colours.bad; pen.fillRect(a, y + BAR / 2, Math.max(long, 1.5), BAR / 2);
      if (long >= 6) { pen.strokeStyle = colours.bad; pen.lineWidth = 1; pen.beginPath(); for (var s = a + 2; s < b; s += 5) { pen.moveTo(s, y + BAR); pen.lineTo(s + 3, y); } pen.stroke(); }
    }
    if (kind >= WORKED) {
      pen.fillStyle = kind === WORKED ? colours.accent : colours.panel; pen.strokeStyle = colours.accent; pen.lineWidth = 1;
      pen.fillRect(a, y, long, BAR);
      if (long > 3) { pen.strokeRect(a + 0.5, y + 0.5, long - 1, BAR - 1); }
      if (counted[i] && long > 6) { pen.fillStyle = colours.good; pen.fillRect(b - 4, y - 1, 3, BAR + 2); }
    }
    if (searching && matched[i]) { pen.strokeStyle = colours.ink; pen.lineWidth = 1; pen.strokeRect(a - 1.5, y - 1.5, Math.max(long, 1) + 3, BAR + 3); }
  }

  function paintBroken(h) {
    pen.strokeStyle = colours.bad; pen.lineWidth = 1.4; pen.setLineDash([5, 3]);
    run.violations.forEach(function (v) {
      if (v.at < view.from || v.at > view.to) { return; }
      pen.beginPath(); pen.moveTo(x(v.at), AXIS); pen.lineTo(x(v.at), h); pen.stroke();
    });
    pen.setLineDash([]);
  }

  // paintHead is the axis and the faults, which stay in sight.
  function paintHead(w) {
    pen.fillStyle = colours.panel; pen.fillRect(0, 0, w, AXIS + FAULTS);
    pen.fillStyle = colours["ink-2"]; pen.fillText("Faults", 8, AXIS + FAULTS / 2 - 1);
    pen.save(); pen.beginPath(); pen.rect(gutter(), 0, w - gutter(), AXIS + FAULTS); pen.clip();
    run.faults.forEach(function (f) {
      var a = Math.max(x(f.at), gutter()), b = Math.min(Math.max(x(f.at + f.took), x(f.at) + 2), w);
      if (b < gutter() || a > w) { return; }
      pen.fillStyle = colours["warn-soft"]; pen.strokeStyle = colours.warn; pen.lineWidth = 1;
      pen.fillRect(a, AXIS + 2, b - a, FAULTS - 6); pen.strokeRect(a + 0.5, AXIS + 2.5, Math.max(b - a - 1, 0.5), FAULTS - 7);
      if (b - a > 60) { pen.fillStyle = colours.ink; pen.fillText(fit(f.what, b - a - 8), a + 4, AXIS + FAULTS / 2 - 0.5); }
    });
    var step = Math.pow(10, Math.floor(Math.log10(span()))), room = (w - gutter()) / 90;
    while (span() / step < room / 2) { step /= 2; }
    while (span() / step > room) { step *= 2; }
    pen.strokeStyle = colours["line-2"]; pen.lineWidth = 1;
    for (var t = Math.ceil(view.from / step) * step; t <= view.to; t += step) {
      pen.beginPath(); pen.moveTo(Math.round(x(t)) + 0.5, AXIS - 5); pen.lineTo(Math.round(x(t)) + 0.5, AXIS); pen.stroke();
      if (x(t) + 3 + pen.measureText(time(t)).width > w) { continue; }
      pen.fillStyle = colours["ink-2"]; pen.fillText(time(t), x(t) + 3, AXIS / 2);
    }
    run.violations.slice(0, 20).forEach(function (v) {
      if (v.at < view.from || v.at > view.to) { return; }
      pen.fillStyle = colours.bad; pen.fillText("✗", x(v.at) - 4, AXIS - 6);
    });
    pen.restore();
    pen.strokeStyle = colours.line; pen.beginPath(); pen.moveTo(0, AXIS + FAULTS - 0.5); pen.lineTo(w, AXIS + FAULTS - 0.5); pen.stroke();
  }

  // tabulate writes what is in view as a table, if somebody has opened it.
  var tabulated = 0;
  function tabulate() {
    if (!table.open) { return; }
    clearTimeout(tabulated);
    tabulated = setTimeout(function () {
      var most = 200, body = document.createElement("tbody"), rows = 0, all = 0;
      for (var k = 0; k < n && from[order[k]] <= view.to; k++) {
        var i = order[k];
        if (!shown[i] || to[i] < view.from || (searching && !matched[i])) { continue; }
        if (all++ >= most) { continue; }
        var line = body.insertRow();
        [exact(from[i]), nameOf(actor[i]), taskOf(task[i]), what[i] < WORKED ? run.verbs[verb[i] - 1] : "container",
          what[i] < WORKED ? SIGNS[what[i]] + (run.codes[code[i]] ? " (" + run.codes[code[i]] + ")" : "") : open[i] ? "alive" : run.exits[code[i]],
          open[i] ? "–" : exact(to[i] - from[i])].forEach(function (s) { line.insertCell().textContent = s; });
        rows++;
      }
      table.querySelector("tbody").replaceWith(body);
      table.querySelector("caption").textContent = rows < all ? "The first " + rows + " of " + all + " in view: zoom in for the others" : all + " in view";
    }, 120);
  }

  // ---- Moving

  function look(a, b) {
    var length = Math.max(Math.min(b - a, run.end), 20);
    a = Math.max(0, Math.min(a, run.end - length));
    view.from = a; view.to = a + length;
    draw(); address();
  }
  function zoom(factor, around) { look(around - (around - view.from) * factor, around + (view.to - around) * factor); }
  function middle() { return (view.from + view.to) / 2; }

  function choose(i) {
    chosen = i;
    if (i >= 0) { told.textContent = describe(i); } else { told.textContent = ""; }
    draw(); address();
  }
  // show chooses an item and brings it into view.
  function show(i) {
    choose(i);
    if (from[i] < view.from || from[i] > view.to) { look(from[i] - span() / 2, from[i] + span() / 2); }
    var l = lanes[lane[i]];
    if (l.top - frame.scrollTop < AXIS + FAULTS) { frame.scrollTop = l.top - AXIS - FAULTS; }
    if (l.top + l.height - frame.scrollTop > height()) { frame.scrollTop = l.top + l.height - height(); }
  }
  // walk goes to the next item that is shown, or found, in order of time.
  function walk(step) {
    var k = chosen >= 0 ? order.indexOf(chosen) : -1;
    if (k < 0) { for (k = 0; k < n && from[order[k]] < view.from; k++) { /* to the first in view */ } k -= step > 0 ? 1 : 0; }
    for (k += step; k >= 0 && k < n; k += step) {
      var i = order[k];
      if (shown[i] && (!searching || matched[i])) { return show(i); }
    }
  }
  function pick(px, py) {
    var y = py + frame.scrollTop, best = -1, near = 6;
    if (py < AXIS + FAULTS) { return -1; }
    for (var k = 0; k < n; k++) {
      var i = order[k];
      if (from[i] > view.to) { break; }
      if (!shown[i] || to[i] < view.from) { continue; }
      var l = lanes[lane[i]], top = l.top + PAD + row[i] * ROW;
      if (y < top - 2 || y > top + ROW) { continue; }
      var off = Math.max(x(from[i]) - px, px - Math.max(x(to[i]), x(from[i]) + 1), 0);
      if (off < near || (off === 0 && near === 0)) { near = off; best = i; }
    }
    return best;
  }
  function under(px) {
    var t = at(px);
    return run.faults.filter(function (f) { return f.at <= t && t <= f.at + f.took; }).map(function (f) { return "fault: " + f.what; }).join("; ");
  }

  // ---- The address: what is seen can be sent to somebody

  var addressed = 0;
  function address() {
    clearTimeout(addressed);
    addressed = setTimeout(function () { if (ready) { history.replaceState(null, "", link()); } }, 250);
  }
  function link() {
    var p = new URLSearchParams();
    p.set("from", Math.round(view.from)); p.set("to", Math.round(view.to)); p.set("by", by.value);
    if (actorBox.value) { p.set("actor", nameOf(+actorBox.value)); }
    [["task", taskBox], ["outcome", outcomeBox], ["q", searchBox]].forEach(function (f) { if (f[1].value) { p.set(f[0], f[1].value); } });
    if (chosen >= 0) { p.set("item", chosen); }
    return "#full?" + p;
  }
  function follow() {
    if (location.hash.indexOf("#full?") !== 0) { return false; }
    var p = new URLSearchParams(location.hash.slice(6)), who = p.get("actor") || "";
    by.value = p.get("by") === "task" ? "task" : "actor";
    actorBox.value = "";
    Array.prototype.forEach.call(actorBox.options, function (o) { if (who && o.textContent === who) { actorBox.value = o.value; } });
    taskBox.value = p.get("task") || ""; searchBox.value = p.get("q") || ""; outcomeBox.value = p.get("outcome") || "";
    if (outcomeBox.selectedIndex < 0) { outcomeBox.value = ""; }
    filter();
    var a = +p.get("from"), b = +p.get("to");
    if (b > a) { look(a, b); } else { look(0, run.end); }
    var i = p.get("item");
    if (i !== null && +i >= 0 && +i < n && shown[+i]) { show(+i); }
    return true;
  }

  // ---- Hands

  function listen() {
    [by, actorBox, outcomeBox].forEach(function (s) { s.addEventListener("change", function () { filter(); draw(); address(); }); });
    taskBox.addEventListener("input", function () { filter(); draw(); address(); });
    searchBox.addEventListener("input", function () { search(); draw(); address(); });
    searchBox.addEventListener("keydown", function (e) {
      if (e.key === "Enter") { e.preventDefault(); walk(e.shiftKey ? -1 : 1); }
      if (e.key === "Escape") { searchBox.value = ""; search(); draw(); address(); }
    });
    section.querySelectorAll("[data-look]").forEach(function (b) { b.addEventListener("click", function () { act(b.dataset.look); }); });
    frame.addEventListener("keydown", keys);
    frame.addEventListener("scroll", draw);
    frame.addEventListener("wheel", wheel, { passive: false });
    fingers();
    table.addEventListener("toggle", draw);
    new ResizeObserver(draw).observe(frame);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", function () { dye(); draw(); });
    addEventListener("hashchange", function () { if (follow()) { section.scrollIntoView(); } });
  }
  function act(name) {
    if (name === "in") { zoom(0.5, middle()); } else if (name === "out") { zoom(2, middle()); }
    else if (name === "all") { look(0, run.end); } else if (name === "story") { look(run.from, run.to); }
    else if (name === "next") { walk(1); } else if (name === "back") { walk(-1); }
    else if (name === "left") { look(view.from - span() / 8, view.to - span() / 8); } else if (name === "right") { look(view.from + span() / 8, view.to + span() / 8); }
  }
  var KEYS = { "+": "in", "=": "in", "-": "out", "0": "all", "v": "story", ".": "next", ",": "back", ArrowLeft: "left", ArrowRight: "right" };
  function keys(e) {
    if (e.ctrlKey || e.metaKey || e.altKey) { return; }
    if (e.key === "Escape") { choose(-1); } else if (KEYS[e.key]) { act(KEYS[e.key]); } else { return; }
    e.preventDefault(); e.stopPropagation();
  }
  function wheel(e) {
    if (e.ctrlKey || e.metaKey) { e.preventDefault(); zoom(Math.pow(1.0018, e.deltaY), at(e.clientX - frame.getBoundingClientRect().left)); }
    else if (Math.abs(e.deltaX) > Math.abs(e.deltaY)) { e.preventDefault(); var d = e.deltaX / width() * span(); look(view.from + d, view.to + d); }
  }
  // fingers: one drags, two pinch, a click chooses.
  function fingers() {
    var down = new Map(), moved = 0;
    function place(e) { var r = frame.getBoundingClientRect(); return { x: e.clientX - r.left, y: e.clientY - r.top }; }
    canvas.addEventListener("pointerdown", function (e) { down.set(e.pointerId, place(e)); moved = 0; canvas.setPointerCapture(e.pointerId); });
    canvas.addEventListener("pointermove", function (e) {
      var p = place(e), was = down.get(e.pointerId);
      if (!was) { var i = pick(p.x, p.y); canvas.style.cursor = i >= 0 ? "pointer" : ""; told.textContent = i >= 0 ? describe(i) : p.y < AXIS + FAULTS ? under(p.x) : chosen >= 0 ? describe(chosen) : ""; return; }
      moved += Math.abs(p.x - was.x);
      var others = Array.from(down.keys()).filter(function (id) { return id !== e.pointerId; });
      if (others.length) {
        var o = down.get(others[0]), before = Math.abs(was.x - o.x), now = Math.abs(p.x - o.x);
        if (before > 8 && now > 8) { zoom(before / now, at((p.x + o.x) / 2)); }
      } else { var d = at(was.x) - at(p.x); look(view.from + d, view.to + d); }
      down.set(e.pointerId, p);
    });
    function up(e) { var p = place(e); down.delete(e.pointerId); if (e.type === "pointerup" && moved < 4) { choose(pick(p.x, p.y)); frame.focus({ preventScroll: true }); } }
    canvas.addEventListener("pointerup", up); canvas.addEventListener("pointercancel", up);
  }

  function choices() {
    var all = [];
    for (var a = 1; a <= run.processes.length + run.nodes.length; a++) { all.push(a); }
    all.sort(function (a, b) { return rank(a) - rank(b) || a - b; });
    all.forEach(function (a) { var o = document.createElement("option"); o.value = a; o.textContent = nameOf(a); actorBox.append(o); });
  }

  // ---- Begin, once it comes into view

  var begun = false;
  function begin() {
    if (begun) { return; }
    begun = true;
    read().then(function (value) {
      run = value;
      measure(); columns(); choices(); dye(); listen();
      view = { from: 0, to: Math.max(run.end, 20) };
      if (!follow()) { filter(); draw(); }
      requestAnimationFrame(function () { ready = true; frame.dataset.ready = Math.round(performance.now()); });
    }).catch(function (err) { told.textContent = "The full timeline cannot be shown: " + err.message + ". The bundle has the whole record."; });
  }
  // For measurements, and for tests.
  frame.look = look; frame.paint = paint;

  if (location.hash.indexOf("#full?") === 0) { begin(); section.scrollIntoView(); }
  addEventListener("hashchange", function () { if (location.hash.indexOf("#full?") === 0) { begin(); section.scrollIntoView(); } });
  new IntersectionObserver(function (seen, watcher) { if (seen.some(function (s) { return s.isIntersecting; })) { watcher.disconnect(); begin(); } }, { rootMargin: "300px" }).observe(section);
})();
