// Buttons and the fault dialog: what people do to the cloud.

import { byId, el, say } from "./dom.js";
import { faultInWords, model } from "./model.js";

const hints = {
  lost_reply: "The target does the work and answers; the scheduler sees a broken connection and delivers the run again.",
  duplicate: "One delivery reaches the target several times, at once or the copies later.",
  delay: "The request waits on its way while the attempt deadline runs.",
  slow_token: "Making the job's token takes long while the attempt deadline runs.",
  reset: "The request is sent, then the connection breaks before an answer.",
  status: "Something on the way answers; the target never sees the request.",
  random: "From now on deliveries meet faults by chance, until they are cleared. The same seed does the same again.",
};

// call asks the cloud to do something. What it refuses is shown.
export async function call(method, path, body) {
  let answer;
  try {
    answer = await fetch(path, { method, headers: { "Content-Type": "application/json" }, body: body === undefined ? undefined : JSON.stringify(body) });
  } catch {
    complain("The local cloud cannot be reached.");
    return false;
  }
  if (answer.ok) {
    complain("");
    return true;
  }
  const told = await answer.json().catch(() => ({}));
  complain(told.error?.message ?? `The local cloud answered ${answer.status}.`);
  return false;
}

export function complain(text) {
  const box = byId("message");
  box.textContent = text;
  box.hidden = !text;
}

export async function forceRun(job) {
  if (await call("POST", `/v1/${job.name}:run`, {})) say(`A run of ${job.short} was forced.`);
}

export async function togglePause(job) {
  const verb = job.state === "PAUSED" ? "resume" : "pause";
  if (await call("POST", `/v1/${job.name}:${verb}`, {})) say(`${job.short}: ${verb}d.`);
}

export async function advance(by) {
  say(`Advancing by ${by}.`);
  if (await call("POST", "/local/advance", { by })) say(`Advanced by ${by}.`);
}

export function setUpControls() {
  const form = byId("advance");
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    advance(byId("advance-by").value);
  });
  for (const button of form.querySelectorAll("[data-by]")) button.addEventListener("click", () => advance(button.dataset.by));
  byId("inject-any").addEventListener("click", () => openInject());
  byId("inject-cancel").addEventListener("click", () => byId("inject").close());
  byId("inject-form").addEventListener("submit", (event) => {
    event.preventDefault();
    inject(new FormData(event.target));
  });
  byId("inject-form").elements.kind.addEventListener("change", fitFields);
  byId("theme").addEventListener("click", switchTheme);
  const kept = localStorage.getItem("theme");
  if (kept) document.documentElement.dataset.theme = kept;
}

function switchTheme() {
  const root = document.documentElement;
  const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  root.dataset.theme = dark ? "light" : "dark";
  localStorage.setItem("theme", root.dataset.theme);
}

export function openInject(job) {
  const fields = byId("inject-form").elements;
  const jobs = [...model.jobs.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
  fields.job.replaceChildren(
    el("option", { value: "" }, "any job"),
    ...jobs.map((j) => el("option", { value: j.name, selected: j.name === job?.name }, j.short)),
  );
  fitFields();
  byId("inject").showModal();
}

// fitFields shows the fields that the kind of fault has.
function fitFields() {
  const form = byId("inject-form");
  const kind = form.elements.kind.value;
  for (const label of form.querySelectorAll("[data-for]")) {
    const fits = label.dataset.for.split(" ").includes(kind);
    label.hidden = !fits;
    label.querySelector("input").disabled = !fits;
  }
  byId("inject-hint").textContent = hints[kind];
}

async function inject(data) {
  if (data.get("kind") === "random") {
    byId("inject").close();
    const set = { rate: Number(data.get("rate")) / 100, seed: Number(data.get("seed")), job: data.get("job") };
    if (await call("PUT", "/local/random", set)) say("Faults come by chance.");
    return;
  }
  const fault = { kind: data.get("kind"), times: Number(data.get("times")) };
  if (data.get("job")) fault.job = data.get("job");
  for (const name of ["count", "status"]) if (data.get(name)) fault[name] = Number(data.get(name));
  for (const name of ["after", "delay"]) if (data.get(name)) fault[name] = data.get(name);
  byId("inject").close();
  if (await call("POST", "/local/faults", fault)) say(`Fault injected: ${faultInWords(fault.kind)}.`);
}

async function clearFaults() {
  await call("PUT", "/local/random", { rate: 0 });
  if (await call("DELETE", "/local/faults")) say("No faults are still to happen.");
}

// drawPending lists what is still to go wrong.
export function drawPending() {
  const { faults, random, problem } = model.state;
  const box = byId("pending");
  const chips = (faults ?? []).map((fault) => {
    const job = fault.job ? fault.job.split("/").pop() : "any job";
    const times = fault.times < 0 ? "always" : `${fault.times}×`;
    return el("span", { class: "chip fault" }, el("i", { class: "fault-dot" }), `${faultInWords(fault.kind)}, ${job}, ${times}`);
  });
  if (random?.rate > 0) chips.push(el("span", { class: "chip fault" }, `faults by chance: ${Math.round(random.rate * 100)} %, seed ${random.seed}`));
  if (problem) chips.push(el("span", { class: "chip fault" }, problem));
  box.hidden = chips.length === 0;
  const text = chips.map((chip) => chip.textContent).join("|");
  if (box.dataset.text === text) return;
  box.dataset.text = text;
  if (faults?.length || random?.rate > 0) chips.push(el("button", { type: "button", data: { action: "clear" }, onclick: clearFaults }, "Clear faults"));
  box.replaceChildren(...chips);
}
