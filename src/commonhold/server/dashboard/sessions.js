// Sessions: the agents that Commonhold runs, with the cause of each end, and what a person can do about each.

import { age, chip, code, counted, empty, h } from "./dom.js";
import { section } from "./now.js";
import { get, may, send } from "./server.js";

export const rest = 3000;
export const load = async () => (await get("sessions", { all_states: true })).sessions.map(({ record, is_supervised, why, needs_person }) => ({ record, is_supervised, why, needs_person }));

const isLanding = ({ record, needs_person }) => record.state === "awaiting_review" && !needs_person;

const GROUPS = [
  ["Need you", (view) => view.needs_person],
  ["At work", ({ record }) => record.state === "running"],
  ["Landing", isLanding],
  ["Wait", ({ record }) => ["queued", "paused"].includes(record.state)],
  ["Ended", ({ record }) => ["failed", "cancelled", "completed"].includes(record.state)],
];
const KIND = { awaiting_review: "warn", running: "good", failed: "bad" };
/** What can be done in each state: [label, action, whether it needs a reason]. */
const WAYS = {
  queued: [["Cancel", "cancel", true]],
  running: [["Pause", "pause"], ["Cancel", "cancel", true]],
  paused: [["Resume", "resume"], ["Cancel", "cancel", true]],
  awaiting_review: [["Retry", "retry"], ["Discard", "discard", true]],
  failed: [["Retry", "retry"]],
  cancelled: [["Retry", "retry"]],
};
const NEXT = { awaiting_review: "review", running: "logs -f", failed: "logs" };

const NOTHING = { tokens_in: 0, tokens_out: 0, cost: 0, tokens_cached: 0 };
const MOST_DAYS = 7;
const add = (one, two) => Object.fromEntries(Object.keys(NOTHING).map((name) => [name, one[name] + (two[name] ?? 0)]));
const isUsed = (usage) => usage.tokens_in + usage.tokens_out + usage.cost > 0;
const number = (count) => count.toLocaleString("en", { notation: "compact", maximumFractionDigits: 1 });
const total = (record) => record.attempts.reduce((sum, each) => add(sum, each.usage), NOTHING);

/** Usage in words; the cost only where the agent has reported one. */
export function used(usage) {
  const cached = usage.tokens_cached ? ` (${number(usage.tokens_cached)} cached)` : "";
  return `${number(usage.tokens_in)} tokens in${cached}, ${number(usage.tokens_out)} out${usage.cost ? `, $${usage.cost.toFixed(2)}` : ""}`;
}

/** The usage of the last days with some, the newest first: [[day, usage, number of attempts], …]. An attempt counts on the day of its end. */
export function days(records) {
  const found = new Map();
  for (const each of records.flatMap((record) => record.attempts)) {
    if (!each.ended_at || !isUsed(each.usage)) continue;
    const at = new Date(each.ended_at * 1000), day = new Date(at.getFullYear(), at.getMonth(), at.getDate()).getTime();
    const [sum, count] = found.get(day) ?? [NOTHING, 0];
    found.set(day, [add(sum, each.usage), count + 1]);
  }
  const newest = [...found].sort(([one], [two]) => two - one).slice(0, MOST_DAYS);
  return newest.map(([day, [sum, count]]) => [new Date(day).toLocaleDateString(), sum, count]);
}

const title = (session) => session.task.trim().split("\n")[0];

function state(view) {
  const { record, is_supervised } = view;
  if (isLanding(view)) return "landing";
  if (record.state !== "running") return record.state.replace("_", " ");
  if (!is_supervised) return "its supervisor is lost";
  return record.wish ? `asked to ${record.wish}` : "running";
}

function buttons(record, { notice, redo }) {
  if (!may("reviewer")) return null;
  return h("div.tools", {}, (WAYS[record.state] ?? []).map(([label, action, isExplained]) => h("button", {
    type: "button",
    onclick: async () => {
      const note = isExplained ? prompt(`${label} ${record.session.id}: why?`) : "";
      if (note === null || (isExplained && !note.trim())) return;
      try {
        const found = await send(`sessions/${encodeURIComponent(record.session.id)}/change`, { action, note, attempt: record.attempt });
        notice(found.outcome === "refused" ? found.why : `${label}: ${record.session.id}.`, found.outcome !== "refused");
      } catch (fault) { notice(fault.message); }
      redo();
    },
  }, label)));
}

const next = (view) => isLanding(view) ? "queue list" : NEXT[view.record.state] && `session ${NEXT[view.record.state]} ${view.record.session.id}`;

function card(view, context) {
  const { record, why } = view, session = record.session;
  return h("article.card", {}, h("header", {}, h("h3", {}, title(session)), chip(state(view), isLanding(view) ? "" : KIND[record.state])),
    h("p.soft", {}, session.id, " · ", session.agent, session.tenant && ` · ${session.tenant}`, " · ", age(record.since, "for "), record.attempt > 1 && ` · attempt ${record.attempt}`),
    (record.note || record.cause) && h("p", {}, record.cause && chip(record.cause.replace("_", " "), record.state === "failed" ? "bad" : ""), " ", record.note),
    why && h("p.soft", {}, why),
    isUsed(total(record)) && h("p.soft", {}, used(total(record))),
    next(view) && h("p.soft", {}, code(`commonhold ${next(view)}`)),
    buttons(record, context));
}

export function draw(views, context) {
  const heading = h("h1", {}, "Sessions");
  if (!views.length) return [heading, empty("No agent was started. Run ", code('commonhold session start "fix the rounding" --with claude'), ".")];
  const groups = GROUPS.map(([name, belongs]) => {
    const found = views.filter(belongs).reverse();
    return found.length ? section(name, counted(found.length, "session"), h("div.grid", {}, found.slice(0, 40).map((each) => card(each, context))), null) : [];
  });
  const byDay = days(views.map(({ record }) => record));
  const spent = byDay.length ? section("Usage", "of these sessions, as their agents report it", h("div", {}, byDay.map(([day, sum, count]) =>
    h("div.row", {}, h("span", {}, day), h("span", {}, used(sum)), h("span.soft", {}, counted(count, "attempt"))))), null) : [];
  return [heading, groups, spent].flat(3).filter(Boolean);
}
