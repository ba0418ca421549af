// Waiting: who waits for whom, and for which keys.

import { age, empty, h, keys, short, who } from "./dom.js";
import { graph } from "./graph.js";
import { section } from "./now.js";

export const load = (_, overview) => ({ queue: overview.queue, agents: overview.agents.map(({ holder, holds }) => ({ holder, holds: holds.length })) });

export function draw({ queue, agents }) {
  const title = h("h1", {}, "Waiting");
  if (!queue.length) return [title, empty("No agent waits in line: every lease that was asked for was granted or refused at once.")];
  const rows = queue.map((each, at) => h("div.row", {}, age(each.since, `${at + 1}. `), h("span", {}, who(each.holder), " waits for ", keys(each.keys), each.behind.length ? h("div", {}, "behind ", each.behind.map((one) => [who(one), " "])) : null, each.purpose && h("div.soft", {}, each.purpose)), h("span", {}, each.behind.length ? "" : "next")));
  const held = new Map(agents.map((each) => [each.holder, each.holds]));
  const names = [...new Set(queue.flatMap((each) => [each.holder, ...each.behind]))];
  const waiting = new Set(queue.map((each) => each.holder));
  const nodes = names.map((name) => ({ id: name, title: short(name), note: `${waiting.has(name) ? "waits, " : ""}holds ${held.get(name) ?? 0}`, kind: waiting.has(name) ? "warn" : "good" }));
  const edges = queue.flatMap((each) => each.behind.map((one) => [one, each.holder]));
  return [title, h("div.rows", {}, rows), section("Who waits for whom", "an arrow leads to the agent that waits for the other", graph(nodes, edges, "Agents that wait for each other"), null)].flat(2);
}
