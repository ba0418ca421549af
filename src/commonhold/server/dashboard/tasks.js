// Tasks: the board, and the graph of which task needs which.

import { age, chip, code, empty, h, keys, who } from "./dom.js";
import { graph } from "./graph.js";
import { section } from "./now.js";
import { get } from "./server.js";

/** The server asks git which commits have landed. */
export const rest = 5000;
export const load = async () => (await get("tasks", { all_states: true })).tasks.map(({ age_seconds, ...each }) => each);

const COLUMNS = [
  ["Proposed", ["proposed"], "warn"],
  ["Blocked", ["blocked", "reserved"], ""],
  ["Ready", ["ready"], ""],
  ["Claimed", ["claimed"], "good"],
  ["Done, not landed", ["stranded"], "warn"],
  ["Landed", ["landed"], "good"],
  ["Failed, cancelled", ["failed", "cancelled"], "bad"],
];
const KIND = { stranded: "warn", landed: "good", failed: "bad", claimed: "good" };

function card({ record, condition, why, is_late }) {
  const task = record.task;
  return h("article.card", {}, h("header", {}, h("h3", {}, task.title), is_late && chip("late", "bad")),
    h("p.soft", {}, task.id, task.priority ? ` · priority ${task.priority}` : "", " · ", age(record.since, condition === "stranded" ? "stranded for " : "for ")),
    record.holder && h("p", {}, who(record.holder), record.attempt > 1 ? ` attempt ${record.attempt}` : ""),
    why && condition !== "claimed" && condition !== "landed" && h("p.soft", {}, why),
    task.keys.length ? h("p.soft", {}, keys(task.keys, 3)) : null);
}

export function draw(tasks) {
  const title = h("h1", {}, "Tasks");
  if (!tasks.length) return [title, empty("There are no tasks. Write a plan, then run ", code("commonhold task import plan.yaml"), " or ", code("commonhold run plan.yaml --editors 3"), ".")];
  const columns = COLUMNS.map(([name, conditions, kind]) => {
    const found = tasks.filter((each) => conditions.includes(each.condition));
    return found.length || kind === "" ? h("section.column", {}, h("h2", {}, name, chip(String(found.length), kind)), found.slice(-40).map(card)) : null;
  });
  const shown = tasks.slice(-80);
  const nodes = shown.map(({ record, condition }) => ({ id: record.task.id, title: record.task.title, note: `${record.task.id} · ${condition}`, kind: KIND[condition] }));
  const edges = shown.flatMap(({ record }) => record.task.needs.map((need) => [need, record.task.id]));
  return [title, h("div.board", {}, columns), section("Which task needs which", edges.length ? "an arrow leads to the task that needs the other" : "", edges.length ? graph(nodes, edges, "Tasks and their needs") : [], empty("No task needs another."))].flat(2);
}
