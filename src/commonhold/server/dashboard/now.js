// Now: the agents with what they hold, do and wait for; decisions that wait for a person; conflicts as they happen.

import { age, chip, code, empty, h, key, keys, who } from "./dom.js";

export const load = (_, overview) => overview;

const STATES = {
  waiting: ["waits in line", "warn"],
  working: ["working", "good"],
  silent: ["silent", "bad"],
  finished: ["finished its turn", ""],
};
const SOURCES = { hooks: "reported by its hooks", line: "by its place in line", lease: "by its leases" };

/** A heading with a count, and the nodes below it, or what to do if there are none. */
export const section = (title, note, nodes, instead) => [h("h2", {}, title, h("small", {}, note)), Array.isArray(nodes) && !nodes.length ? instead : nodes];

export function agent(row) {
  const [words, kind] = STATES[row.state];
  return h("article.card.mine", { "--hue": who(row.holder).style.getPropertyValue("--hue") },
    h("header", {}, h("h3", {}, who(row.holder)), chip(words, kind)),
    h("p.soft", {}, age(row.since, "for "), `, ${SOURCES[row.source]}; `, age(row.seen_at, "last sign ", " ago")),
    (row.task || row.intent) && h("p.intent", {}, row.task ? `Task: ${row.task}` : row.intent),
    row.waits.map((wait) => h("p", {}, "waits for ", keys(wait.keys), wait.behind.length ? ", behind " : "", wait.behind.map((each, at) => [at ? " " : "", who(each)]), " ", age(wait.since, "(", ")"))),
    row.holds.length ? h("ul", { "aria-label": "Holds" }, row.holds.slice(0, 8).map((lease) =>
      h("li", {}, h("span", {}, keys(lease.keys)), h("span.soft", {}, lease.is_writing ? "writing it now" : age(lease.ends_at, "", " left", true)))),
      row.holds.length > 8 && h("li.soft", {}, `and ${row.holds.length - 8} more leases`)) : h("p.soft", {}, "holds nothing"));
}

let seen = null;
export function conflict(each) {
  return h(`div.row${seen !== null && each.sequence > seen ? ".new" : ""}`, {}, age(each.at, "", " ago"),
    h("span", {}, each.text, each.keys.length ? h("div.soft", {}, keys(each.keys)) : null), each.code ? chip(each.code, "bad") : chip(each.kind.replaceAll("_", " ")));
}

export function draw(now) {
  const busy = now.agents.filter((each) => each.state !== "finished");
  const finished = now.agents.filter((each) => each.state === "finished");
  const waiting = now.agents.filter((each) => each.state === "waiting").length;
  const figure = (count, words, kind = "") => h(`div${kind && "." + kind}`, {}, h("b", {}, String(count)), words);
  const conflicts = now.incidents.map(conflict);
  seen = now.newest;
  return [
    h("h1", {}, now.root.split("/").at(-1)),
    h("div.figures", {}, figure(busy.length, "at work"), figure(waiting, "waiting in line"), figure(finished.length, "finished a turn"),
      figure(now.needs.length, "need you", now.needs.length ? "bad" : ""),
      now.entries.length ? figure(now.entries.length, h("a", { href: "#/landing" }, "to land")) : null,
      now.landed_at ? h("div", {}, h("b", {}, age(now.landed_at)), "since the last landing") : null),
    section("Needs you", "only a person can decide these", now.needs.length ? h("div.rows", {}, now.needs.slice(0, 6).map((need) =>
      h("div.row", {}, need.since ? age(need.since, "", " ago") : h("time", {}, "–"), h("span", {}, h("b", {}, need.title), need.holder && [" · ", who(need.holder)], h("div.soft", {}, need.why)), h("a", { href: `#/inbox/${encodeURIComponent(need.id)}` }, "decide")))) : [],
      empty("Nothing waits for a decision of yours.")),
    section("Agents at work", `${busy.length}`, busy.length ? h("div.grid", {}, busy.map(agent)) : [],
      empty("No agent is at work. Run ", code("commonhold install"), " in the repository, then start your agent there; or see two scripted agents: ", code("commonhold demo --dashboard"), ".")),
    finished.length ? section("Finished a turn", "these wait for your next request", h("div.grid", {}, finished.map(agent)), null) : null,
    now.meetings.length ? section("May collide", "several agents are in one file", h("div.rows", {}, now.meetings.slice(0, 12).map((each) =>
      h("div.row.named", {}, chip(each.is_held ? "held" : "changed lately", each.is_held ? "warn" : ""), key(`file:${each.path}`), h("span", {}, each.holders.map((one) => [who(one), " "]))))), null) : null,
    section("Conflicts", "refusals, merges and lost leases, the newest first", conflicts.length ? h("div.rows", {}, conflicts.slice(0, 25)) : [],
      empty("No conflict lately. A refused edit, a wait that ended without a lease, or a lost lease appears here as it happens.")),
  ].flat(3).filter(Boolean);
}
