// Shows all that is known of one delivery.

import { byId, el } from "./dom.js";
import { answerInWords, clockTime, day, faultInWords, model } from "./model.js";
import { view } from "./timeline.js";

let shown = 0;
let opener;

export async function show(id) {
  if (document.activeElement?.dataset?.id) opener = document.activeElement.dataset.id;
  view.chosen = id;
  shown = id;
  await refresh(true);
}

export function hide() {
  if (!shown) return;
  shown = 0;
  view.chosen = 0;
  byId("details").hidden = true;
  document.body.classList.remove("with-details");
  document.querySelector(`.delivery[data-id="${opener}"]`)?.focus();
}

// refresh asks anew, when the delivery or its record changed meanwhile.
export async function refresh(focus = false) {
  const id = shown;
  if (!id) return;
  const answer = await fetch(`/local/deliveries/${id}`).catch(() => undefined);
  if (!answer) return; // the head of the page says that the cloud is gone
  const d = await answer.json();
  if (shown !== id) return;
  const panel = byId("details");
  panel.replaceChildren(...(answer.ok ? content(d) : [head("Forgotten"), el("p", {}, d.error.message)]));
  panel.hidden = false;
  document.body.classList.add("with-details");
  if (focus) panel.focus({ preventScroll: true });
}

function head(title) {
  return el(
    "header",
    {},
    el("h2", { id: "details-title" }, title),
    el("button", { type: "button", "aria-label": "Close the details", onclick: hide }, "✕"),
  );
}

function content(d) {
  const flying = !d.ended;
  const out = [head(`Delivery ${d.number}${d.copy ? `, copy ${d.copy}` : ""}`)];
  if (d.fault) out.push(el("p", { class: "told faulty", id: "details-fault" }, faultStory(d)));
  else if (model.deliveries.get(d.id)?.takeover) out.push(el("p", { class: "told" }, "Took the run over: the lease of the attempt before had run out."));
  const at = d.scheduleTime ? `${day(Date.parse(d.scheduleTime))} ${clockTime(Date.parse(d.scheduleTime))} UTC` : "none was sent";
  out.push(
    list([
      ["Job", d.job.split("/").pop()],
      ["Run", d.forced ? "forced" : "scheduled"],
      ["Schedule time", at],
      ["Started", `${clockTime(Date.parse(d.clock))} by the cloud's clock`],
      ["Took", flying ? "under way" : took(Date.parse(d.ended) - Date.parse(d.started))],
      ["Answer", answerInWords({ ...d, to: !flying })],
      ["Scheduler", flying ? "" : d.error || (d.status >= 200 && d.status < 300 ? "counts it as success" : "counts it as failure")],
      ["Name", d.name],
    ]),
    el("h3", {}, "Request"),
    el("p", {}, el("code", {}, `${d.method} ${d.url}`)),
    headers(d.header),
  );
  if (d.status) {
    out.push(el("h3", {}, "Answer"), headers(d.answer));
    if (d.text) out.push(el("pre", {}, el("code", {}, pretty(d.text))));
  }
  out.push(el("h3", {}, "Record in the store"));
  out.push(d.record ? record(d.record) : el("p", { class: "hint" }, d.recordProblem ?? ""));
  return out;
}

function faultStory(d) {
  const stories = {
    lost_reply: `Fault injected: the reply was lost. The target answered ${answerInWords({ ...d, to: true })}, and the scheduler never heard it.`,
    reset: "Fault injected: the connection was reset after the request was sent.",
    status: "Fault injected: the path answered, and the target never saw the request.",
  };
  return stories[d.fault] ?? `Fault injected: ${faultInWords(d.fault)}.`;
}

function list(pairs) {
  return el("dl", {}, ...pairs.filter(([, value]) => value).flatMap(([name, value]) => [el("dt", {}, name), el("dd", {}, String(value))]));
}

function headers(all) {
  const pairs = Object.entries(all ?? {}).sort(([a], [b]) => (a < b ? -1 : 1));
  return pairs.length ? list(pairs.map(([name, values]) => [name, values.join(", ") || "(empty)"])) : el("p", { class: "hint" }, "no headers");
}

function record(r) {
  const at = (text) => (text ? `${day(Date.parse(text))} ${clockTime(Date.parse(text))}` : "");
  const box = list([
    ["status", r.status],
    ["attempt", r.attempt],
    ["attempt_id", r.attemptId],
    ["holder", r.holder],
    ["claimed_at", at(r.claimedAt)],
    ["lease_expires", at(r.leaseExpires)],
    ["expire_at", at(r.expireAt)],
    ["last_error", r.lastError],
    ["now", at(r.now)],
  ]);
  box.id = "details-record";
  return box;
}

function took(ms) {
  return ms < 1000 ? `${ms} ms` : `${(ms / 1000).toFixed(1)} s`;
}

function pretty(text) {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}
