// Run: who held what when, as bars over time, and a slider that shows any moment again.

import { clock, counted, empty, h, hue, keys, short, who } from "./dom.js";
import { section } from "./now.js";
import { get } from "./server.js";

export const rest = 4000;
export const load = (_, overview) => timeline(overview);

let known = { newest: -1, answer: null };
/** The timeline; the server is asked again only when the log has grown. */
export async function timeline({ newest, at }) {
  if (known.newest !== newest) known = { newest, answer: await get("timeline", { limit: 10000 }) };
  return { ...known.answer, until: at };
}

const RANGES = { "15 min": 900, "1 h": 3600, "6 h": 21600, all: Infinity };
const LANE = 26, NAMES = 128, AXIS = 24;
/** The choices of the user, kept while the page is redrawn. `moment`: the replayed time; null follows the present. */
const chosen = { range: "all", moment: null, timer: null };

export function draw(data, { redo }) {
  const title = h("h1", {}, "Run");
  if (!data.spans.length && !data.marks.length) return [title, empty("The log has no leases and commits yet. They appear here as bars and dots, as soon as an agent works.")];
  const until = data.until;
  const from = Math.max(data.began_at, until - RANGES[chosen.range], 0);
  const spans = data.spans.filter((each) => (each.ended_at ?? until) >= from);
  const marks = data.marks.filter((each) => each.at >= from);
  const lanes = [...new Set([...spans, ...marks].map((each) => each.holder))];
  const canvas = h("canvas", { role: "img", "aria-label": "Leases of each agent over time; the list below says the same of one moment", tabindex: 0 });
  const slider = h("input", { type: "range", min: 0, max: 1000, step: 1, "aria-label": "Moment", "data-id": "moment", value: chosen.moment === null ? 1000 : ((chosen.moment - from) / (until - from || 1)) * 1000 });
  const state = h("div");
  const play = h("button", { type: "button" }, "");
  const show = () => {
    const moment = chosen.moment ?? until;
    play.textContent = chosen.timer ? "Pause" : "Replay";
    paint(canvas, { spans, marks, lanes, from, until, moment: chosen.moment });
    state.replaceChildren(...at(moment, spans, marks, chosen.moment === null));
  };
  const move = (value) => { chosen.moment = value >= 1000 ? null : from + ((until - from) * value) / 1000; show(); };
  slider.addEventListener("input", () => move(Number(slider.value)));
  play.addEventListener("click", () => {
    if (chosen.timer) { clearInterval(chosen.timer); chosen.timer = null; return show(); }
    if (chosen.moment === null) slider.value = 0;
    chosen.timer = setInterval(() => {
      if (!slider.isConnected) return stop();
      slider.value = Number(slider.value) + 4;
      if (Number(slider.value) >= 1000) stop();
      move(Number(slider.value));
    }, 60);
    show();
  });
  const stop = () => { clearInterval(chosen.timer); chosen.timer = null; };
  stop();
  hover(canvas, () => ({ spans, marks, lanes, from, until }));
  new ResizeObserver(show).observe(canvas);
  const ranges = Object.keys(RANGES).map((name) => h("button", { type: "button", "data-id": `range ${name}`, "aria-pressed": String(name === chosen.range), onclick: () => { chosen.range = name; chosen.moment = null; redo(); } }, name));
  show();
  return [title, h("p.soft", {}, `${counted(spans.length, "lease or wait", "leases and waits")} of ${counted(lanes.length, "agent")}, from event ${data.first} on. A pale bar is a wait; a green dot a commit, a red one a conflict.`),
    h("div.tools", {}, ranges), h("div.scroll", {}, canvas), h("div.tools", {}, play, slider), state];
}

/** What was held at a moment, and what had happened just before. */
function at(moment, spans, marks, isNow) {
  const held = spans.filter((each) => each.began_at <= moment && (each.ended_at === null || each.ended_at > moment));
  const by = Map.groupBy ? Map.groupBy(held, (each) => each.holder) : held.reduce((all, each) => all.set(each.holder, [...(all.get(each.holder) ?? []), each]), new Map());
  const rows = [...by].map(([holder, theirs]) => h("div.row.named", {}, who(holder), h("span", {}, theirs.slice(0, 6).map((each) => h("div", {}, each.kind === "wait" ? "waits for " : "", keys(each.keys), each.purpose && h("span.soft", {}, ` ${each.purpose}`)))), h("span.soft", {}, clock(theirs[0].began_at))));
  const before = marks.filter((each) => each.at <= moment).slice(-12).reverse();
  return [
    section(isNow ? "Held now" : `Held at ${clock(moment)}`, `${held.length}`, rows.length ? h("div.rows", {}, rows) : [], empty("Nothing was held at this moment.")),
    section("Just before", "", before.length ? h("div.rows", {}, before.map((each) => h("div.row", {}, h("time", {}, clock(each.at)), h("span", {}, each.text), h("span.soft", {}, `event ${each.sequence}`)))) : [], empty("Nothing had happened yet.")),
  ].flat(2);
}

function fitting(pen, text, room) {
  if (pen.measureText(text).width <= room) return text;
  let length = text.length;
  while (length && pen.measureText(`${text.slice(0, length)}…`).width > room) length -= 1;
  return `${text.slice(0, length)}…`;
}

function paint(canvas, { spans, marks, lanes, from, until, moment }) {
  const wide = canvas.clientWidth || 900, high = lanes.length * LANE + AXIS;
  const dots = devicePixelRatio || 1;
  canvas.style.height = `${high}px`;
  canvas.width = wide * dots;
  canvas.height = high * dots;
  const pen = canvas.getContext("2d"), style = getComputedStyle(document.documentElement), colour = (name) => style.getPropertyValue(name).trim();
  pen.scale(dots, dots);
  const x = (time) => NAMES + ((wide - NAMES - 8) * (time - from)) / (until - from || 1);
  const isDark = colour("--tint") === "22%";
  pen.font = "12px system-ui, sans-serif";
  pen.textBaseline = "middle";
  const lane = new Map(lanes.map((name, index) => [name, index * LANE]));
  for (const [name, top] of lane) {
    pen.fillStyle = colour("--line");
    pen.fillRect(NAMES, top + LANE - 1, wide - NAMES, 1);
    pen.fillStyle = colour("--ink");
    pen.fillText(fitting(pen, short(name), NAMES - 16), 8, top + LANE / 2);
  }
  for (const span of spans) {
    const begin = Math.max(NAMES, x(span.began_at)), end = x(span.ended_at ?? until);
    pen.globalAlpha = span.kind === "wait" ? 0.3 : span.kind === "write" ? 0.95 : 0.75;
    pen.fillStyle = `hsl(${hue(span.holder)} 50% ${isDark ? 62 : 48}%)`;
    pen.fillRect(begin, lane.get(span.holder) + 5, Math.max(1.5, end - begin), LANE - 11);
  }
  pen.globalAlpha = 1;
  for (const mark of marks) {
    if (!mark.is_incident && mark.kind !== "committed") continue;
    pen.fillStyle = mark.is_incident && mark.kind !== "committed" ? colour("--bad") : colour("--good");
    pen.beginPath(); pen.arc(x(mark.at), lane.get(mark.holder) + LANE / 2, 3.6, 0, 7); pen.fill();
    pen.strokeStyle = colour("--card"); pen.lineWidth = 1; pen.stroke();
  }
  pen.fillStyle = colour("--soft");
  const ticks = wide < 500 ? 2 : 5;
  for (let index = 0; index <= ticks; index++) {
    pen.textAlign = index === 0 ? "left" : index === ticks ? "right" : "center";
    pen.fillText(clock(from + ((until - from) * index) / ticks), NAMES + ((wide - NAMES - 8) * index) / ticks, high - AXIS / 2);
  }
  pen.textAlign = "left";
  if (moment !== null) { pen.fillStyle = colour("--accent"); pen.fillRect(x(moment) - 1, 0, 2, high - AXIS + 4); }
}

function hover(canvas, given) {
  let box = null;
  const hide = () => { box?.remove(); box = null; };
  canvas.addEventListener("pointerleave", hide);
  canvas.addEventListener("pointermove", (event) => {
    const { spans, marks, lanes, from, until } = given();
    const place = canvas.getBoundingClientRect();
    const time = from + ((event.clientX - place.left - NAMES) * (until - from)) / (canvas.clientWidth - NAMES - 8);
    const slack = ((until - from) * 5) / canvas.clientWidth;
    const holder = lanes[Math.floor((event.clientY - place.top) / LANE)];
    const mark = marks.find((each) => each.holder === holder && Math.abs(each.at - time) < slack);
    const span = spans.findLast((each) => each.holder === holder && each.began_at - slack <= time && (each.ended_at ?? until) + slack >= time);
    hide();
    if (!mark && !span) return;
    box = h("div.tip-box", {}, mark ? `${clock(mark.at)} ${mark.text}` : `${short(span.holder)} ${span.kind === "wait" ? "waited for" : "held"} ${span.keys.join(", ")}, ${clock(span.began_at)} – ${span.ended_at ? `${clock(span.ended_at)} (${span.end})` : "now"}`);
    document.body.append(box);
    box.style.left = `${Math.min(event.clientX + 12, innerWidth - box.offsetWidth - 8)}px`;
    box.style.top = `${Math.min(event.clientY + 14, innerHeight - box.offsetHeight - 8)}px`;
  });
}
