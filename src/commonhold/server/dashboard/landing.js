// Landing: the merge queue, why each entry waits, the repair packets of those that came back, and what has landed.

import { actions } from "./actions.js";
import { age, chip, code, empty, h, key, short, who } from "./dom.js";
import { section } from "./now.js";
import { get, send } from "./server.js";

/** The server asks git whether what has landed is still there. */
export const rest = 3000;
const MOST = 60;

export async function load() {
  const [live, all] = await Promise.all([get("entries"), get("entries", { all_states: true, limit: MOST })]);
  return { queues: live.queues, live: live.entries, ended: all.entries.filter(({ record }) => ["landed", "returned"].includes(record.state)).reverse() };
}

const branch = (ref) => ref.replace("refs/heads/", "");
const by = ({ entry }) => [entry.author && who(entry.author), entry.task && ` task ${entry.task}`, entry.session && [" session ", h("a", { href: "#/sessions" }, short(entry.session))]];
const label = (record) => (record.state === "testing" ? (record.is_approved ? ["landing", "good"] : ["testing", "good"]) : record.suspected_in || record.held_at ? ["suspected", "warn"] : ["queued", ""]);

function queue(each) {
  const figure = (count, words) => h("div", {}, h("b", {}, String(count)), words);
  return [h("h2", {}, branch(each.onto), h("small", {}, each.runner ? ["run by ", who(each.runner)] : "")),
    each.runner || !(each.queued + each.testing) ? null : h("p.notice", {}, "No process lands these entries. Begin one: ", code("commonhold queue run")),
    h("div.figures", {}, figure(each.queued, "queued"), figure(each.testing, "in test"), figure(each.landed, "landed"),
      each.waiting_since ? h("div", {}, h("b", {}, age(each.waiting_since)), "the oldest waits") : null,
      each.last_landed_at ? h("div", {}, h("b", {}, age(each.last_landed_at)), "since the last landing") : h("div", {}, "nothing has landed yet"))];
}

function waiting({ record, why }, context) {
  const [words, kind] = label(record);
  const remove = (note) => send(`entries/${encodeURIComponent(record.entry.id)}/remove`, { note });
  return h("article.card", { id: record.entry.id }, h("header", {}, h("h3", {}, record.entry.branch), chip(words, kind)),
    h("p", {}, record.entry.title), h("p", {}, h("b", {}, "Why it waits: "), why),
    h("p.soft", {}, record.entry.id, record.entry.priority ? ` · priority ${record.entry.priority}` : "", " · ", age(record.added_at, "added ", " ago"), " ", by(record)),
    record.is_approved ? null : actions(record.entry.id, [["Remove it", ["agent"], remove, "danger", true]], context));
}

function packet({ entry, packet: found }) {
  const text = (words) => (words ? h("pre.diff", {}, h("span", {}, words)) : null);
  return h("details", { "data-id": `packet ${entry.id}` }, h("summary", {}, "The repair packet"),
    found.conflicts.map((each) => h("div", {}, h("p", {}, key(`file:${each.path}${each.region && "#" + each.region}`), ": ", each.why),
      each.changed_by.map((change) => h("p.soft", {}, "changed by ", change)), text(each.text))),
    found.check && h("p", {}, "The check: ", code(found.check)), text(found.output),
    found.beside.length ? h("p.soft", {}, "Landed since it left the branch: ", found.beside.join(", ")) : null,
    h("p.soft", {}, "In a terminal: ", code(`commonhold queue show ${entry.id}`)));
}

/** Add the commit of a returned entry to the queue once more. */
export async function again(entry) {
  const answer = await send("entries", { branch: entry.branch, onto: branch(entry.onto), task: entry.task, session: entry.session, checks: entry.checks, priority: entry.priority, again: true });
  if (answer?.outcome === "refused") throw new Error(answer.why);
}

/** The entry with an id, in whatever state. */
export const entryOf = async (id) => (await get("entries", { ids: [id] })).entries[0].record.entry;

function returned({ record }, context) {
  const { entry, packet: found } = record;
  return h("article.card", { id: entry.id }, h("header", {}, h("h3", {}, entry.branch), chip(found ? found.fault.replaceAll("_", " ").toLowerCase() : "removed", found ? "bad" : "")),
    h("p", {}, entry.title), h("p", {}, found ? found.why : record.note || "It was removed from the queue."),
    h("p.soft", {}, entry.id, " · ", age(record.since, "", " ago"), " ", by(record)),
    found && packet(record), actions(entry.id, [["Try it again", ["agent"], () => again(entry), "main", null]], context));
}

export function draw({ queues, live, ended }, context) {
  const title = h("h1", {}, "Landing");
  if (!queues.length) return [title, empty("No branch was added to the merge queue yet. Add one: ", code("commonhold queue add BRANCH"), ", and land what is added: ", code("commonhold queue run --check 'pytest -q'"), ".")];
  const place = ({ record }) => [record.state !== "testing", -record.entry.priority, record.number].map(Number);
  const line = [...live].sort((a, b) => place(a).map((each, at) => each - place(b)[at]).find(Boolean) ?? 0);
  const present = new Set(live.map(({ record }) => record.entry.branch));
  const seen = new Set();
  // Of a branch that was added again, only the newest entry still asks for something.
  const back = ended.filter(({ record: { entry, state } }) => !seen.has(entry.branch) && seen.add(entry.branch) && state === "returned" && !present.has(entry.branch));
  const landed = ended.filter(({ record }) => record.state === "landed");
  return [title, ...queues.flatMap(queue),
    section("In the queue", `${live.length}`, live.length ? h("div.grid", {}, line.map((each) => waiting(each, context))) : [], empty("The queue is empty: everything that was added has landed, or came back.")),
    back.length ? section("Came back", "refused or removed, and not added again since", h("div.grid.wide", {}, back.map((each) => returned(each, context))), null) : null,
    section("Landed lately", "the newest first", landed.length ? h("div.rows", {}, landed.slice(0, 20).map(({ record, is_missing: isMissing }) =>
      h("div.row", {}, age(record.since, "", " ago"), h("span", {}, h("b", {}, record.entry.branch), ` ${record.entry.title} `, h("div.soft", {}, `onto ${branch(record.entry.onto)} as `, code(record.built.slice(0, 12)), " ", by(record))),
        isMissing ? chip("no longer there", "bad") : chip("landed", "good")))) : [], empty("Nothing has landed yet.")),
  ].flat(3).filter(Boolean);
}
