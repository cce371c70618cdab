// Everything here is a convenience: the page says all it has to say without it.
(function () {
  "use strict";
  document.documentElement.classList.add("scripted");

  function typing(target) { return /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName) || target.isContentEditable; }

  // Copy buttons. From file:// the clipboard may be refused; then the command is selected instead.
  document.querySelectorAll("[data-copy]").forEach(function (button) {
    button.addEventListener("click", function () {
      var done = function () { button.textContent = "Copied"; setTimeout(function () { button.textContent = "Copy"; }, 1600); };
      var select = function () {
        var range = document.createRange();
        range.selectNodeContents(button.parentElement.querySelector("code"));
        getSelection().removeAllRanges();
        getSelection().addRange(range);
        button.textContent = "Selected";
      };
      if (navigator.clipboard) { navigator.clipboard.writeText(button.dataset.copy).then(done, select); } else { select(); }
    });
  });

  // j and k walk over the sections, / goes to the search, + and - zoom.
  var sections = Array.prototype.slice.call(document.querySelectorAll("main > section"));
  function go(step) {
    var line = 24, at = 0; // where the reader is: in the focused section, else in the one at the top
    sections.forEach(function (s, i) { if (s.getBoundingClientRect().top <= line) { at = i; } });
    sections.forEach(function (s, i) { if (s === document.activeElement) { at = i; } });
    var next = sections[Math.max(0, Math.min(sections.length - 1, at + step))];
    if (!next) { return; }
    next.scrollIntoView({ block: "start" });
    next.setAttribute("tabindex", "-1");
    next.focus({ preventScroll: true });
    history.replaceState(null, "", "#" + next.id);
  }
  document.addEventListener("keydown", function (e) {
    if (e.ctrlKey || e.metaKey || e.altKey || typing(e.target)) { return; }
    if (e.key === "j") { go(1); } else if (e.key === "k") { go(-1); }
    else if (e.key === "+" || e.key === "=") { zoom(1); } else if (e.key === "-") { zoom(-1); }
    else if (e.key === "/" && search) { e.preventDefault(); search.focus(); search.select(); } else { return; }
  });

  // Search dims the rows of the big figure, or hides the rows of a table, that do not match.
  var search = document.getElementById("search"), found = document.getElementById("found");
  function filter() {
    var words = search.value.toLowerCase().split(/\s+/).filter(Boolean), hits = 0;
    var rows = document.getElementById(search.dataset.target).querySelectorAll("[data-key]");
    rows.forEach(function (row) {
      var key = row.dataset.key.toLowerCase();
      var hit = words.every(function (w) { return key.indexOf(w) >= 0; });
      row.classList.toggle("dimmed", !hit);
      if (hit) { hits++; }
    });
    if (found) { found.textContent = words.length ? hits + " of " + rows.length : ""; }
  }
  if (search) {
    search.addEventListener("input", filter);
    search.addEventListener("keydown", function (e) { if (e.key === "Escape") { search.value = ""; filter(); search.blur(); } });
  }

  // Zoom stretches time only: marks move and widen, text moves, nothing else changes.
  var figure = document.querySelector(".zoomable svg"), factor = 1;
  function stretch(svg, k) {
    var left = +svg.dataset.left, right = +svg.dataset.right, box = svg.viewBox.baseVal;
    if (!svg.dataset.width) { svg.dataset.width = box.width; }
    var grown = (right - left) * (k - 1), width = +svg.dataset.width + grown;
    var x = function (v) { return left + (v - left) * k; };
    svg.setAttribute("viewBox", "0 0 " + width + " " + box.height);
    svg.style.width = k === 1 ? "" : 100 * width / svg.dataset.width + "%";
    svg.querySelectorAll(".t").forEach(function (m) {
      ["x", "x1", "x2", "width"].forEach(function (a) {
        if (!m.hasAttribute(a)) { return; }
        var was = m.dataset["o" + a] || (m.dataset["o" + a] = m.getAttribute(a));
        m.setAttribute(a, a === "width" ? was * k : x(+was));
      });
    });
    svg.querySelectorAll(".lane, .row-ground").forEach(function (m) { m.setAttribute("width", width); });
  }
  function zoom(step) {
    if (!figure) { return; }
    var frame = figure.parentElement, middle = (frame.scrollLeft + frame.clientWidth / 2) / figure.getBoundingClientRect().width;
    factor = Math.max(1, Math.min(16, factor * Math.pow(2, step)));
    stretch(figure, factor);
    frame.scrollLeft = middle * figure.getBoundingClientRect().width - frame.clientWidth / 2;
  }
  document.querySelectorAll("[data-zoom]").forEach(function (b) { b.addEventListener("click", function () { zoom(+b.dataset.zoom); }); });

  // Paper has no folds.
  addEventListener("beforeprint", function () { document.querySelectorAll("details").forEach(function (d) { d.dataset.was = d.open ? "1" : ""; d.open = true; }); });
  addEventListener("afterprint", function () { document.querySelectorAll("details").forEach(function (d) { d.open = !!d.dataset.was; }); });

  // A link into something folded opens it.
  function reveal() {
    var target = location.hash.length > 1 && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    for (var p = target; p; p = p.parentElement) { if (p.tagName === "DETAILS") { p.open = true; } }
  }
  addEventListener("hashchange", reveal);
  reveal();
})();
