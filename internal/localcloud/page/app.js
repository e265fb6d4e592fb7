// Keeps the page up to date: events come in, the model takes them, and at most once a frame everything is drawn.

import { complain, drawPending, forceRun, openInject, setUpControls, togglePause } from "./controls.js";
import { hide, refresh, show } from "./details.js";
import { byId } from "./dom.js";
import { clockTime, day, model, now, reset, takeClaims, takeDeliveries, takeJobs, takeState } from "./model.js";
import { drawRuns } from "./runs.js";
import { draw, pan, reveal, view } from "./timeline.js";

const handlers = {
  onRun: forceRun,
  onPause: togglePause,
  onInject: openInject,
  async onChoose(id) {
    reveal(id);
    byId("follow").setAttribute("aria-pressed", String(view.follow));
    await show(id);
    redraw();
  },
};

let asked = false;

function redraw() {
  if (asked) return;
  asked = true;
  requestAnimationFrame(() => {
    asked = false;
    drawClock();
    drawPending();
    draw(handlers);
    drawRuns(handlers);
  });
}

function drawClock() {
  const at = now();
  const { running, moved } = model.state;
  byId("now").textContent = `${day(at)} ${clockTime(at)} UTC`;
  byId("now").dateTime = new Date(at).toISOString();
  byId("clock-kind").textContent = !running ? "stands still until it is moved" : moved ? "runs ahead of real time" : "real time";
}

function link(state, text) {
  const box = byId("link");
  if (box.textContent === text) return;
  box.className = `link ${state}`;
  box.textContent = text;
}

function listen() {
  const events = new EventSource("/local/events");
  const on = (name, take) =>
    events.addEventListener(name, (event) => {
      take(JSON.parse(event.data));
      redraw();
    });
  on("hello", (hello) => {
    reset(hello);
    link("live", "live");
    complain("");
  });
  on("jobs", takeJobs);
  on("state", takeState);
  on("deliveries", (list) => {
    takeDeliveries(list);
    if (list.some((d) => d.id === view.chosen)) refresh();
  });
  on("claims", (list) => {
    takeClaims(list);
    const chosen = model.deliveries.get(view.chosen);
    if (chosen && list.some((seen) => seen.name === chosen.name)) refresh();
  });
  events.addEventListener("error", () => {
    link("lost", "not connected, trying again");
    if (events.readyState === EventSource.CLOSED) setTimeout(listen, 2000);
  });
}

function setUpView() {
  byId("span").addEventListener("change", (event) => {
    const middle = view.end - view.span * 500;
    view.span = Number(event.target.value);
    view.end = middle + view.span * 500;
    redraw();
  });
  const follow = byId("follow");
  const following = (yes) => {
    view.follow = yes;
    follow.setAttribute("aria-pressed", String(yes));
    redraw();
  };
  follow.addEventListener("click", () => following(!view.follow));
  for (const [id, part] of [["earlier", -0.5], ["later", 0.5]]) {
    byId(id).addEventListener("click", () => {
      pan(part);
      following(false);
    });
  }
  byId("filter").addEventListener("input", (event) => {
    view.filter = event.target.value.toLowerCase();
    redraw();
  });
  addEventListener("keydown", (event) => {
    if (event.key === "Escape" && !byId("inject").open) {
      hide();
      redraw();
    }
  });
  addEventListener("resize", redraw);
}

setUpControls();
setUpView();
listen();
// What is under way grows, and the present moves on.
setInterval(() => {
  if (model.state.running && !document.hidden) redraw();
}, 500);
redraw();
