// What the page knows: jobs, deliveries and claims as the cloud sent them, and what follows from them.

export const model = {
  jobs: new Map(),
  deliveries: new Map(),
  claims: new Map(),
  state: { running: true, moved: false, faults: [], random: { rate: 0 } },
  store: false,
  // ahead is how far the cloud's clock is ahead of the browser's, in milliseconds.
  ahead: 0,
  fixed: 0,
};

const remembered = 1500;

export function reset(hello) {
  model.jobs.clear();
  model.deliveries.clear();
  model.claims.clear();
  model.store = hello.store;
}

export function takeJobs({ changed, gone }) {
  for (const job of changed ?? []) model.jobs.set(job.name, job);
  for (const name of gone ?? []) model.jobs.delete(name);
}

export function takeDeliveries(list) {
  for (const d of list) {
    d.from = Date.parse(d.clock);
    // Real time and the cloud's clock run equally fast, but one can be ahead of the other.
    d.shift = d.from - Date.parse(d.started);
    d.to = d.ended ? Date.parse(d.ended) + d.shift : 0;
    d.when = d.at ? Date.parse(d.at) : 0;
    model.deliveries.set(d.id, d);
  }
  for (const id of model.deliveries.keys()) {
    if (model.deliveries.size <= remembered) break;
    model.deliveries.delete(id);
  }
}

export function takeClaims(list) {
  for (const seen of list) model.claims.set(seen.name, seen.claims);
}

export function takeState(state) {
  model.state = state;
  model.fixed = Date.parse(state.now);
  model.ahead = model.fixed - Date.now();
}

export function now() {
  return model.state.running ? Date.now() + model.ahead : model.fixed;
}

const looks = {
  executed: ["executed", "✓"],
  duplicate: ["duplicate", "="],
  in_progress: ["busy", "…"],
  lost: ["busy", "↯"],
  released: ["failed", "✕"],
  failed: ["failed", "✕"],
  unknown: ["odd", "?"],
  unrecorded: ["odd", "!"],
  rejected: ["silent", "–"],
};

// look is how a delivery is drawn: a class and a sign.
export function look(d) {
  if (!d.to) return ["flying", ""];
  if (looks[d.outcome]) return looks[d.outcome];
  if (d.status >= 200 && d.status < 300) return ["executed", "✓"];
  if (d.status) return ["failed", "✕"];
  return ["silent", "∅"];
}

const faultWords = {
  lost_reply: "reply lost",
  duplicate: "delivered several times",
  delay: "delayed",
  slow_token: "token late",
  reset: "connection reset",
  status: "error from the path",
};

export function faultInWords(kind) {
  return faultWords[kind] ?? kind;
}

// answerInWords says what the target answered, whoever heard it.
export function answerInWords(d) {
  if (!d.to) return "under way";
  const words = [d.status || "", (d.outcome ?? "").replace("_", " ")].filter(Boolean).join(" ");
  return words || "no answer";
}

export function clockTime(ms, seconds = true) {
  if (!ms) return "no time";
  return new Date(ms).toISOString().slice(11, seconds ? 19 : 16);
}

export function day(ms) {
  return new Date(ms).toISOString().slice(0, 10);
}

// inWords is the whole of a delivery for those who hear it.
export function inWords(d) {
  const parts = [
    `Delivery ${d.number}${d.copy ? `, copy ${d.copy}` : ""} of the ${d.forced ? "forced" : "scheduled"} run for ${clockTime(d.when)}`,
    answerInWords(d),
  ];
  if (d.fault) parts.push(`fault: ${faultInWords(d.fault)}`);
  if (d.takeover) parts.push("takeover");
  return parts.join(", ");
}

// won says whether a delivery held a claim, as far as its answer tells; null: it had no answer.
function won(d) {
  if (["executed", "released", "failed", "unknown", "unrecorded", "lost"].includes(d.outcome)) return true;
  if (d.outcome) return false;
  if (d.fault === "status" || (d.status && !d.outcome)) return false;
  return null;
}

// runs groups the deliveries by run, latest first, with the leases that were held and what was taken over.
export function runs() {
  const found = new Map();
  for (const d of model.deliveries.values()) {
    const key = `${d.job} ${d.name || d.run} ${!!d.forced}`;
    let run = found.get(key);
    if (!run) {
      run = { key, job: d.job, name: d.name, forced: !!d.forced, when: d.when, deliveries: [], leases: [], takeovers: 0 };
      found.set(key, run);
    }
    run.deliveries.push(d);
  }
  for (const run of found.values()) {
    run.deliveries.sort((a, b) => a.from - b.from || a.id - b.id);
    findLeases(run);
  }
  return [...found.values()].sort((a, b) => b.deliveries[0].from - a.deliveries[0].from || b.deliveries[0].id - a.deliveries[0].id);
}

function findLeases(run) {
  const claims = run.name ? model.claims.get(run.name) : undefined;
  if (claims?.length) run.leases = leasesOfRecord(run, claims);
  else run.leases = model.store && run.name ? [] : leasesOfAnswers(run);
  for (const d of run.deliveries) d.takeover = false;
  let before;
  for (const lease of run.leases) {
    if (before && before.open && lease.delivery) {
      lease.delivery.takeover = true;
      run.takeovers += 1;
    }
    before = lease;
  }
  const most = claims?.length ? Math.max(...claims.map((c) => c.attempt)) : 0;
  run.attempts = Math.max(most, run.leases.length);
}

// leasesOfRecord takes the leases from what the store was seen to hold.
function leasesOfRecord(run, claims) {
  const free = run.deliveries.filter((d) => won(d) !== false);
  return claims.map((claim) => {
    const at = Date.parse(claim.claimedAt ?? claim.written);
    const delivery = free.filter((d) => d.from - d.shift <= at + 1000 && (!d.to || d.to - d.shift >= at - 1000)).pop() ?? free[0];
    if (delivery) free.splice(free.indexOf(delivery), 1);
    const shift = (delivery ?? run.deliveries[0]).shift;
    const open = claim.status === "in_progress";
    const end = Date.parse(open ? claim.leaseExpires : claim.written);
    return { delivery, from: at + shift, to: end + shift, open, sure: true };
  });
}

// leasesOfAnswers infers the leases from who won and how long a lease holds.
function leasesOfAnswers(run) {
  const leases = [];
  const executed = run.deliveries.some((d) => d.outcome);
  for (const d of run.deliveries) {
    const held = won(d);
    if (held === false || !d.lease || (!executed && d.to)) continue;
    const open = held === null;
    leases.push({ delivery: d, from: d.from, to: open ? d.from + d.lease * 1000 : d.to, open, sure: false });
  }
  // Where nobody answered, only the first can have held the run until its lease was over.
  return leases.filter((lease, i) => !lease.open || i === 0 || leases[i - 1].to <= lease.from);
}

// story tells in words what became of a run.
export function story(run) {
  const ended = run.deliveries.filter((d) => d.to);
  const flying = run.deliveries.length - ended.length;
  const of = (outcome) => ended.filter((d) => d.outcome === outcome).length;
  const parts = [];
  const faults = new Set(run.deliveries.map((d) => d.fault).filter(Boolean));
  for (const fault of faults) parts.push(faultInWords(fault));
  if (run.takeovers) parts.push(run.takeovers === 1 ? "taken over from a dead attempt" : `taken over ${run.takeovers} times`);
  if (of("released")) parts.push(`work failed ${times(of("released"))}`);
  if (of("in_progress")) parts.push(`told to wait ${times(of("in_progress"))}`);
  if (of("executed")) parts.push(of("executed") === 1 ? "executed once" : `executed ${times(of("executed"))}`);
  if (of("duplicate")) parts.push(of("duplicate") === 1 ? "one duplicate not run" : `${of("duplicate")} duplicates not run`);
  for (const end of ["failed", "unknown", "unrecorded", "rejected", "lost"]) if (of(end)) parts.push(end);
  if (!ended.some((d) => d.outcome)) {
    const good = ended.filter((d) => d.status >= 200 && d.status < 300).length;
    if (good) parts.push(good === 1 ? "answered" : `answered ${times(good)}`);
    if (ended.length > good) parts.push(`not delivered ${times(ended.length - good)}`);
  }
  if (flying) parts.push("under way");
  const text = parts.join("; ");
  return text.charAt(0).toUpperCase() + text.slice(1);
}

function times(n) {
  return n === 1 ? "once" : n === 2 ? "twice" : `${n} times`;
}
