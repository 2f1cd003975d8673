"use strict";
(function () {
  var PAGE = 50;
  var OUTCOMES = ["passed", "failed", "unverified"];
  var data = JSON.parse(document.getElementById("data").textContent);
  var form = document.getElementById("filter");
  var text = document.getElementById("filter-text");
  var outcome = document.getElementById("filter-outcome");
  var count = document.getElementById("filter-count");
  var items = Array.prototype.slice.call(document.querySelectorAll(".item"));
  var words = items.map(function () { return null; });
  var page = 0;
  var found = data.cases;

  function element(name, className, content) {
    var made = document.createElement(name);
    if (className) made.className = className;
    if (content !== undefined) made.textContent = content;
    return made;
  }

  function worst(trials) {
    var rank = 0;
    trials.forEach(function (trial) {
      if (trial[0] === 1 || (trial[0] === 2 && rank === 0)) rank = trial[0];
    });
    return OUTCOMES[rank];
  }

  function trialRow(trial, number) {
    var row = element("li");
    row.appendChild(element("span", "badge " + OUTCOMES[trial[0]], OUTCOMES[trial[0]]));
    var figures = " trial " + (number + 1) + ", " + trial[1] + " ms, " + trial[2] + (trial[2] === 1 ? " agent call" : " agent calls");
    row.appendChild(element("span", "muted", figures));
    if (data.reasons[trial[3]]) row.appendChild(element("p", "reason", data.reasons[trial[3]]));
    if (trial[4]) {
      var steps = element("ol", "steps");
      trial[4].forEach(function (line) { steps.appendChild(element("li", "", line.replace(/^\d+\. /, ""))); });
      row.appendChild(steps);
    }
    return row;
  }

  function caseRow(entry) {
    var row = element("li");
    var details = element("details");
    var summary = element("summary");
    var state = worst(entry[3]);
    var passed = entry[3].filter(function (trial) { return trial[0] === 0; }).length;
    summary.appendChild(element("span", "badge " + state, state));
    summary.appendChild(element("b", "", data.sessions[entry[0]]));
    if (entry[1] !== null) summary.appendChild(element("span", "muted", "row " + entry[1]));
    summary.appendChild(element("span", "muted variables", entry[2]));
    summary.appendChild(element("span", "muted", passed + " of " + entry[3].length + " trials passed"));
    details.appendChild(summary);
    details.addEventListener("toggle", function () {
      if (!details.open || details.childElementCount > 1) return;
      var trials = element("ol");
      entry[3].forEach(function (trial, number) { trials.appendChild(trialRow(trial, number)); });
      details.appendChild(trials);
    });
    row.appendChild(details);
    return row;
  }

  function matches(entry, query, wanted) {
    if (wanted && worst(entry[3]) !== wanted) return false;
    if (!query) return true;
    var own = [data.sessions[entry[0]], "row " + entry[1], entry[2]].concat(
      entry[3].map(function (trial) { return data.reasons[trial[3]]; })
    );
    return own.join(" ").toLowerCase().indexOf(query) !== -1;
  }

  function showCases() {
    var list = document.getElementById("case-list");
    if (!list) return;
    var rows = document.getElementById("case-rows");
    var pages = Math.max(1, Math.ceil(found.length / PAGE));
    page = Math.min(Math.max(page, 0), pages - 1);
    rows.textContent = "";
    found.slice(page * PAGE, page * PAGE + PAGE).forEach(function (entry) { rows.appendChild(caseRow(entry)); });
    var first = found.length ? page * PAGE + 1 : 0;
    var where = first + " to " + Math.min(found.length, page * PAGE + PAGE) + " of " + found.length + " cases";
    if (data.left) where += "; " + data.left + " more in the result file";
    document.getElementById("page-where").textContent = where;
    document.getElementById("page-back").disabled = page === 0;
    document.getElementById("page-next").disabled = page >= pages - 1;
    list.hidden = false;
  }

  function apply() {
    var query = text.value.trim().toLowerCase();
    var wanted = outcome.value;
    var shown = 0;
    items.forEach(function (item, number) {
      if (query && words[number] === null) words[number] = item.textContent.toLowerCase();
      var keep = (!wanted || item.dataset.outcome === wanted) && (!query || words[number].indexOf(query) !== -1);
      item.hidden = !keep;
      if (keep) shown += 1;
    });
    found = query || wanted ? data.cases.filter(function (entry) { return matches(entry, query, wanted); }) : data.cases;
    page = 0;
    count.textContent = query || wanted ? shown + " of " + items.length + " entries and " + found.length + " cases shown" : "";
    showCases();
  }

  function turn(step) {
    page += step;
    showCases();
    document.getElementById("cases").scrollIntoView();
  }

  form.hidden = false;
  form.addEventListener("submit", function (event) { event.preventDefault(); });
  text.addEventListener("input", apply);
  outcome.addEventListener("change", apply);
  if (document.getElementById("case-list")) {
    document.getElementById("page-back").addEventListener("click", function () { turn(-1); });
    document.getElementById("page-next").addEventListener("click", function () { turn(1); });
  }
  document.addEventListener("keydown", function (event) {
    var inField = /^(INPUT|SELECT|TEXTAREA)$/.test(document.activeElement.tagName);
    if (event.key === "/" && !inField && !event.ctrlKey && !event.metaKey && !event.altKey) {
      event.preventDefault();
      text.focus();
    }
  });
  window.addEventListener("beforeprint", function () {
    document.querySelectorAll("main details").forEach(function (details) { details.open = true; });
  });
  showCases();
})();
