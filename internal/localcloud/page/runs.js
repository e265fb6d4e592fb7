// Draws the table of runs, which says in words what the time line shows.

import { byId, el } from "./dom.js";
import { answerInWords, clockTime, day, inWords, look, model, runs, story } from "./model.js";
import { view } from "./timeline.js";

const shownRuns = 60;
const drawn = new Map();

export function drawRuns({ onChoose }) {
  const all = runs().filter((run) => run.job.toLowerCase().includes(view.filter)).slice(0, shownRuns);
  byId("no-runs").hidden = all.length > 0;
  const body = byId("runs");
  const keys = new Set(all.map((run) => run.key));
  for (const [key, row] of drawn) {
    if (!keys.has(key)) {
      row.element.remove();
      drawn.delete(key);
    }
  }
  all.forEach((run, i) => {
    const text = JSON.stringify([story(run), run.attempts, run.deliveries.map((d) => [d.id, d.to, d.takeover, d.id === view.chosen])]);
    let row = drawn.get(run.key);
    if (row?.text !== text) {
      const element = runRow(run, onChoose);
      restoreFocus(row?.element, element);
      row?.element.replaceWith(element);
      row = { element, text };
      drawn.set(run.key, row);
    }
    if (body.children[i] !== row.element) body.insertBefore(row.element, body.children[i] ?? null);
  });
}

// restoreFocus lets the focus stay on the delivery that had it when its row is replaced.
function restoreFocus(before, after) {
  const id = before?.contains(document.activeElement) && document.activeElement.dataset.id;
  if (id) queueMicrotask(() => after.querySelector(`[data-id="${id}"]`)?.focus({ preventScroll: true }));
}

function runRow(run, onChoose) {
  const short = model.jobs.get(run.job)?.short ?? run.job.split("/").pop();
  return el(
    "tr",
    { data: { run: run.key } },
    el("td", {}, short),
    el("td", { class: "when" }, el("span", { class: run.forced ? "kind forced" : "kind" }, run.forced ? "forced" : "scheduled"), " ", runTime(run)),
    el("td", {}, el("ol", {}, ...run.deliveries.map((d) => el("li", {}, chip(d, onChoose))))),
    el("td", { class: "number" }, String(run.attempts || "–")),
    el("td", {}, story(run)),
  );
}

function runTime(run) {
  if (!run.when) return "no schedule time";
  return `${run.forced ? "ahead of " : ""}${day(run.when)} ${clockTime(run.when)}`;
}

function chip(d, onChoose) {
  const [kind, sign] = look(d);
  const classes = ["delivery", kind, d.copy ? "copy" : "", d.takeover ? "takeover" : "", d.id === view.chosen ? "chosen" : ""];
  return el(
    "button",
    { type: "button", class: classes.filter(Boolean).join(" "), "aria-label": inWords(d), title: inWords(d), data: { id: d.id }, onclick: () => onChoose(d.id) },
    `${sign} ${answerInWords(d)}`.trim(),
    d.fault ? el("span", { class: "dot" }) : undefined,
  );
}
