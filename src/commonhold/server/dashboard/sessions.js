// Sessions: the agents that Commonhold runs, with the cause of each end, and what a person can do about each.

import { age, chip, code, counted, empty, h } from "./dom.js";
import { section } from "./now.js";
import { get, may, send } from "./server.js";

export const rest = 3000;
export const load = async () => (await get("sessions", { all_states: true })).sessions.map(({ record, is_supervised, why, needs_person }) => ({ record, is_supervised, why, needs_person }));

const GROUPS = [
  ["Need you", (view) => view.needs_person],
  ["At work", ({ record }) => record.state === "running"],
  ["Land", (view) => view.record.state === "awaiting_review" && !view.needs_person],
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

const title = (session) => session.task.trim().split("\n")[0];

function state({ record, is_supervised }) {
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

function card(view, context) {
  const { record, why } = view, session = record.session;
  return h("article.card", {}, h("header", {}, h("h3", {}, title(session)), chip(state(view), KIND[record.state])),
    h("p.soft", {}, session.id, " · ", session.agent, session.tenant && ` · ${session.tenant}`, " · ", age(record.since, "for "), record.attempt > 1 && ` · attempt ${record.attempt}`),
    (record.note || record.cause) && h("p", {}, record.cause && chip(record.cause.replace("_", " "), record.state === "failed" ? "bad" : ""), " ", record.note),
    why && h("p.soft", {}, why),
    NEXT[record.state] && h("p.soft", {}, code(`commonhold session ${NEXT[record.state]} ${session.id}`)),
    buttons(record, context));
}

export function draw(views, context) {
  const heading = h("h1", {}, "Sessions");
  if (!views.length) return [heading, empty("No agent was started. Run ", code('commonhold session start "fix the rounding" --with claude'), ".")];
  const groups = GROUPS.map(([name, belongs]) => {
    const found = views.filter(belongs).reverse();
    return found.length ? section(name, counted(found.length, "session"), h("div.grid", {}, found.slice(0, 40).map((each) => card(each, context))), null) : [];
  });
  return [heading, groups].flat(3).filter(Boolean);
}
