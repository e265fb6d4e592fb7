// Draws the time line. Rows stay, so that focus and buttons live through every change; what is in a track is drawn anew.

import { byId, el, place } from "./dom.js";
import { answerInWords, clockTime, day, inWords, look, model, now, runs } from "./model.js";

const shownJobs = 100;
const barHeight = 20;
const pitch = 34;
const top = 22;

export const view = { span: 300, end: 0, follow: true, filter: "", chosen: 0 };

const rows = new Map();

// range is the time that is shown. Something of the future is in it, since the next runs are there.
function range() {
  if (view.follow) view.end = now() + view.span * 200;
  return { from: view.end - view.span * 1000, to: view.end };
}

export function pan(part) {
  view.follow = false;
  view.end += view.span * 1000 * part;
}

// reveal shows the time of a delivery if it is not shown.
export function reveal(id) {
  const d = model.deliveries.get(id);
  const { from, to } = range();
  if (!d || (d.from > from && d.from < to)) return;
  view.follow = false;
  view.end = d.from + view.span * 500;
}

const steps = [5, 10, 30, 60, 120, 300, 600, 1800, 3600, 7200, 21600, 43200, 86400];

function ticks({ from, to }, width) {
  const least = (to - from) / 1000 / Math.max(2, width / 110);
  const step = (steps.find((s) => s >= least) ?? 86400) * 1000;
  const out = [];
  for (let at = Math.ceil(from / step) * step; at < to; at += step) out.push(at);
  return { out, seconds: step < 60000 };
}

export function draw(handlers) {
  const shown = range();
  const jobs = [...model.jobs.values()]
    .filter((job) => job.name.toLowerCase().includes(view.filter))
    .sort((a, b) => (a.name < b.name ? -1 : 1));
  byId("empty").hidden = model.jobs.size > 0;
  byId("axis").hidden = model.jobs.size === 0;
  const more = byId("more");
  more.hidden = jobs.length <= shownJobs;
  more.textContent = `${jobs.length - shownJobs} more jobs are not drawn. Give a part of their names to see them.`;

  const container = byId("rows");
  const visible = jobs.slice(0, shownJobs);
  const names = new Set(visible.map((job) => job.name));
  for (const [name, row] of rows) {
    if (!names.has(name)) {
      row.element.remove();
      rows.delete(name);
    }
  }
  visible.forEach((job, i) => {
    let row = rows.get(job.name);
    if (!row) {
      row = newRow(job, handlers);
      rows.set(job.name, row);
    }
    if (container.children[i] !== row.element) container.insertBefore(row.element, container.children[i] ?? null);
    label(row, job);
  });

  const width = byId("axis").clientWidth || 600;
  const marks = ticks(shown, width);
  const x = (at) => ((at - shown.from) / (shown.to - shown.from)) * width;
  drawAxis(marks, x, shown);

  const ofJob = Map.groupBy(runs(), (run) => run.job);
  for (const job of visible) drawTrack(rows.get(job.name), job, ofJob.get(job.name) ?? [], { x, shown, width, marks, handlers });
}

function newRow(job, { onRun, onPause, onInject }) {
  const title = el("h3", { title: job.name }, job.short);
  const state = el("span", { class: "state" });
  const when = el("p");
  const next = el("p");
  const pause = el("button", { type: "button", data: { action: "pause" }, onclick: () => onPause(model.jobs.get(job.name)) });
  const grid = el("div", { class: "under" });
  const lanes = { scheduled: newLane("scheduled"), forced: newLane("forced") };
  const track = el("div", { class: "track" }, grid, lanes.scheduled.element, lanes.forced.element);
  const element = el(
    "div",
    { class: "row", role: "listitem", "aria-label": `Job ${job.short}`, data: { job: job.short } },
    el(
      "div",
      { class: "job" },
      title,
      when,
      next,
      el(
        "div",
        { class: "bar" },
        el("button", { type: "button", data: { action: "run" }, "aria-label": `Force a run of ${job.short}`, onclick: () => onRun(job) }, "Force run"),
        pause,
        el("button", { type: "button", data: { action: "inject" }, "aria-label": `Inject a fault into ${job.short}`, onclick: () => onInject(job) }, "Fault…"),
      ),
    ),
    track,
  );
  title.append(state);
  track.addEventListener("keydown", (event) => step(event, track));
  return { element, state, when, next, pause, grid, lanes, bars: new Map() };
}

function label(row, job) {
  row.state.textContent = job.state.toLowerCase().replace("_", " ");
  row.state.className = `state ${job.state.toLowerCase()}`;
  row.when.textContent = `${job.schedule} · ${job.zone}`;
  row.next.textContent = job.state === "ENABLED" && job.next ? `next ${day(Date.parse(job.next))} ${clockTime(Date.parse(job.next))} UTC` : "does not run on schedule";
  const verb = job.state === "PAUSED" ? "Resume" : "Pause";
  row.pause.textContent = verb;
  row.pause.setAttribute("aria-label", `${verb} ${job.short}`);
}

function drawAxis({ out, seconds }, x, { from }) {
  const axis = byId("axis");
  axis.replaceChildren(...out.map((at) => place(el("span", {}, clockTime(at, seconds)), { left: x(at) })));
  axis.title = `${day(from)}, UTC`;
}

function drawTrack(row, job, found, { x, shown, width, marks, handlers }) {
  const grid = marks.out.map((at) => place(el("div", { class: "grid" }), { left: x(at) }));
  grid.push(place(el("div", { class: "present" }), { left: x(now()) }));
  row.grid.replaceChildren(...grid);

  const drawn = new Set();
  const context = { x, shown, width, handlers, bars: row.bars, drawn };
  drawLane(row.lanes.scheduled, found.filter((run) => !run.forced), context, job.state === "ENABLED" ? job.next : undefined);
  const forced = found.filter((run) => run.forced && touches(run, shown));
  row.lanes.forced.element.hidden = forced.length === 0;
  drawLane(row.lanes.forced, forced, context);

  for (const [id, element] of row.bars) {
    if (drawn.has(id)) continue;
    element.remove();
    row.bars.delete(id);
  }
  const current = [...row.bars.values()];
  if (current.length && !current.some((element) => element.tabIndex === 0)) current.at(-1).tabIndex = 0;
}

function touches(run, { from, to }) {
  return run.deliveries.some((d) => d.from < to && (d.to || now()) > from) || run.leases.some((l) => l.from < to && l.to > from);
}

function instant(parts, at, kind, x, { from, to }) {
  if (at < from || at > to) return;
  parts.push(place(el("div", { class: `instant ${kind}`, title: `schedule time ${clockTime(at)}` }), { left: x(at) }));
}

function newLane(name) {
  const under = el("div", { class: "under" });
  const element = el("div", { class: `lane ${name}`, role: "group", "aria-label": `${name} runs` }, under, el("span", { class: "lane-name", "aria-hidden": "true" }, name));
  return { element, under };
}

// drawLane draws runs so that deliveries which overlap lie below each other. Bars stay the same elements while they are shown, so that
// a click or the focus on one survives; what lies under them is drawn anew.
function drawLane(lane, found, { x, shown, width, handlers, bars, drawn }, next) {
  const under = [];
  const ends = [];
  const free = (from, to) => {
    let i = ends.findIndex((end) => end <= from);
    if (i < 0) i = ends.push(0) - 1;
    ends[i] = to;
    return i;
  };

  if (next) instant(under, Date.parse(next), "next", x, shown);
  for (const run of found.toReversed()) {
    for (const d of run.deliveries) d.y = undefined;
    if (!touches(run, shown)) continue;
    if (run.when) instant(under, run.when, run.forced ? "carried" : "", x, shown);
    let before;
    for (const d of run.deliveries) {
      const left = x(d.from);
      const right = Math.max(left + (d.takeover ? 38 : 22), Math.min(x(d.to || now()), width + 40));
      if (right < 0 || left > width) continue;
      const at = free(left, right + 3);
      const y = top + at * pitch;
      if (before && before.at === at && left - before.right > 6) {
        under.push(place(el("div", { class: "wait" }), { left: before.right + 2, top: y + barHeight / 2 - 1, width: left - before.right - 4 }));
      }
      let element = bars.get(d.id);
      if (!element) {
        element = newBar(d, handlers);
        bars.set(d.id, element);
      }
      if (element.parentNode !== lane.element) lane.element.append(element);
      drawBar(element, d, right - left);
      place(element, { left, top: y, width: right - left });
      drawn.add(d.id);
      d.y = y;
      before = { at, right };
    }
    for (const lease of run.leases) leaseBar(under, lease, x, width);
  }
  lane.under.replaceChildren(...under);
  lane.element.style.height = `${top + Math.max(1, ends.length) * pitch}px`;
}

function newBar(d, { onChoose }) {
  return el("button", { type: "button", tabindex: "-1", data: { id: d.id }, onclick: () => onChoose(d.id) });
}

function drawBar(element, d, width) {
  const [kind, sign] = look(d);
  const classes = ["delivery", kind, d.copy ? "copy" : "", d.takeover ? "takeover" : "", d.id === view.chosen ? "chosen" : ""];
  const words = inWords(d);
  const text = sign + (width > 120 ? ` ${answerInWords(d)}` : "");
  const drawn = [text, words, ...classes].join("|");
  if (element.dataset.drawn === drawn) return;
  element.dataset.drawn = drawn;
  element.className = classes.filter(Boolean).join(" ");
  element.setAttribute("aria-label", words);
  element.title = words;
  element.replaceChildren(text, ...(d.fault ? [el("span", { class: "dot" })] : []));
}

function leaseBar(under, lease, x, width) {
  const y = lease.delivery?.y;
  if (y === undefined) return;
  const left = Math.max(-4, x(lease.from));
  const right = Math.min(width + 4, x(lease.to));
  if (right < 0 || left > width) return;
  const title = `${lease.open ? "lease until" : "lease given up at"} ${clockTime(lease.to)}${lease.sure ? "" : ", as far as answers tell"}`;
  under.push(
    place(el("div", { class: lease.open ? "lease open" : "lease", title }), { left, top: y + barHeight + 3, width: Math.max(6, right - left) }),
  );
}

// step moves the focus inside a track by the arrow keys.
function step(event, track) {
  const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
  const bars = [...track.querySelectorAll(".delivery")].sort((a, b) => a.dataset.id - b.dataset.id);
  const i = bars.indexOf(document.activeElement);
  if (i < 0) return;
  const to = by ? bars[i + by] : event.key === "Home" ? bars[0] : event.key === "End" ? bars.at(-1) : undefined;
  if (!to) return;
  event.preventDefault();
  bars[i].tabIndex = -1;
  to.tabIndex = 0;
  to.focus();
}
