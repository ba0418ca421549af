// Inbox: unfinished work, sessions to review, refused commits, proposed, failed and stranded tasks: each with what a person can do about it.

import { age, chip, counted, empty, h, key, keys, who } from "./dom.js";
import { actions } from "./actions.js";
import { diff } from "./diff.js";
import { again, entryOf } from "./landing.js";
import { bytes, get, send } from "./server.js";

const NAMES = { partial_work: "unfinished work", debt: "broken caller", session_review: "to review", task_proposed: "proposed task", task_failed: "failed task", task_stranded: "done, not landed", run_failed: "failed run", entry_returned: "returned by the queue", commit_refused: "refused edit" };

export async function load(argument, overview) {
  const works = overview.needs.some((each) => each.subject === "partial_work") ? (await get("works")).items : [];
  return { needs: overview.needs, works, argument };
}

const kept = new Map();
/** The bytes under a hash; they never change, so they are asked for once. Null: they are not kept any more. */
const content = (hash) => {
  if (!hash) return Promise.resolve(new Uint8Array());
  if (!kept.has(hash)) kept.set(hash, bytes(`contents/${hash}`).catch(() => { kept.delete(hash); return null; }));
  return kept.get(hash);
};
/** Bytes as text to be looked at: what is not UTF-8 is shown by a sign. */
const seen = (data) => new TextDecoder().decode(data);
/** Bytes as the very text that they are. Throws if they are not UTF-8. */
function exact(data) {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(data);
  } catch {
    throw new Error("The old text of a definition is not UTF-8: put it back by hand, then approve.");
  }
}
const base64 = (data) => btoa(Array.from(data, (each) => String.fromCharCode(each)).join(""));

function shown(need, work) {
  const place = h("div");
  if (work) {
    work.changes.forEach(async (change) => {
      const slot = h("div", {}, h("p", {}, key(change.key)));
      place.append(slot);
      const [before, after] = await Promise.all([content(change.base), content(change.now)]);
      slot.append(before === null || after === null ? h("p.soft", {}, "The bytes are not kept any more.") : diff(seen(before), seen(after)));
    });
  }
  need.contents.forEach(async (hash) => {
    const slot = h("div");
    place.append(slot);
    const sent = await content(hash);
    // With several texts the log does not say which is for which key.
    const isOne = need.contents.length === 1 && need.keys.length === 1;
    const present = isOne ? await get("texts", { keys: need.keys }).then((found) => found.items[0].text, () => null) : null;
    slot.append(sent === null ? h("p.soft", {}, "The sent text is not kept any more.") : diff(present ?? "", seen(sent)));
  });
  return place;
}

/** The ways to decide, by subject: [label, scopes, what it does, style]. `note` is the reason that the person gave. */
function ways(need, work) {
  const newTask = async (note) => {
    const task = { id: `finish-${need.id.slice(-8)}`, title: `Finish: ${need.title}`.slice(0, 200), intent: [note, need.why, `It was begun by ${need.holder}.`].filter(Boolean).join("\n"), keys: need.keys };
    await send("tasks", { tasks: [task], request_id: `dashboard-${need.id}` });
    return task.id;
  };
  const close = (note) => send(`works/${encodeURIComponent(need.id)}/review`, { note });
  const change = (action) => (note) => send(`tasks/${encodeURIComponent(need.id)}/change`, { action, note });
  const decide = (action) => (note) => send(`sessions/${encodeURIComponent(need.id)}/change`, { action, note });
  switch (need.subject) {
    case "partial_work": return [
      ["Approve: keep it", ["reviewer"], (note) => close(note || "approved as it is"), "main"],
      ["Return: make it a task", ["reviewer", "agent"], async (note) => close(`returned as the task ${await newTask(note)}`)],
      ["Discard: put back the old text", ["reviewer", "agent"], async (note) => {
        if (!confirm("Put the text back as it was at the grant? The present text stays in the log.")) return "kept";
        await discard(work, note);
        return close(note || "discarded");
      }, "danger"],
    ];
    case "debt": return [["Waive it", ["reviewer"], (note) => send("debts/waive", { keys: [need.id], note }), "main", true]];
    case "session_review": return [["Retry it", ["reviewer"], decide("retry"), "main"], ["Discard it", ["reviewer"], decide("discard"), "danger", true]];
    case "task_proposed": return [["Accept it", ["agent"], change("accept"), "main"], ["Decline it", ["agent"], change("decline"), "danger", true]];
    case "task_failed": return [["Reopen it", ["agent"], change("reopen"), "main", true], ["Cancel it", ["agent"], change("cancel"), "danger", true]];
    case "task_stranded": return [["Return it to its author", ["agent"], change("refuse"), "main", true], ["Cancel it", ["agent"], change("cancel"), "danger", true]];
    case "entry_returned": return [["Try it again", ["agent"], async () => again(await entryOf(need.id)), "main", null]];
    case "run_failed": return [["Cancel it", ["agent"], (note) => send("calls/end_run", { run: need.id, move: "cancel", note }), "danger", true]];
    default: return [
      ["Return: ask its author to try again", ["agent"], (note) => send("messages", { holders: [need.holder], text: `A person asks you to try again: ${need.title}. ${note}`.trim() }), "main"],
      ["Make it a task", ["agent"], newTask],
    ];
  }
}

/** Commit the bytes from before, provided that the files are still as the work left them. */
async function discard(work, note) {
  const edits = await Promise.all(work.changes.map(async ({ key: of, base, now }) => {
    const old = await content(base);
    if (base && old === null) throw new Error("The old text is not kept any more: put it back by hand, then approve.");
    const isFile = !of.includes("#");
    if (base === null) return { op: isFile ? "delete_file" : "delete", key: of, base: now };
    if (isFile) return { op: now === null ? "create_file" : "replace", key: of, base: now, data: base64(old) };
    if (now === null) throw new Error("A deleted definition has no place to be put back to: put it back by hand, then approve.");
    return { op: "replace", key: of, base: now, text: exact(old) };
  }));
  const answer = await send("commits", { changeset: { intent: note || `discard the unfinished work of ${work.holder}`, edits } });
  if (answer?.outcome === "refused") throw new Error(answer.why);
}

function card(need, work, context, isOpen) {
  const details = h("details", { "data-id": `more ${need.id}`, open: isOpen, ontoggle: () => { if (details.open && details.childElementCount === 1) details.append(shown(need, work)); } }, h("summary", {}, work ? "The changes" : "The sent text, compared with the present one"));
  return h("article.card", { id: need.id }, h("header", {}, h("h3", {}, need.title), chip(NAMES[need.subject], need.subject.endsWith("_failed") ? "bad" : "warn")),
    h("p.soft", {}, need.holder && [who(need.holder), " "], need.since ? age(need.since, "", " ago") : ""), h("p", {}, need.why), need.keys.length ? h("p.soft", {}, keys(need.keys)) : null,
    work || need.contents.length ? details : null,
    actions(need.id, ways(need, work), context));
}

export function draw({ needs, works, argument }, context) {
  const title = h("h1", {}, "Inbox");
  if (!needs.length) return [title, empty("Nothing waits for you. Unfinished work of agents that ended, sessions to review, refused edits that were given up, and failed tasks appear here.")];
  const chosen = [...needs].sort((a, b) => (b.id === argument) - (a.id === argument));
  return [title, h("p.soft", {}, counted(needs.length, "decision")), ...chosen.map((need, at) => h("div", {}, card(need, works.find((each) => each.lease_id === need.id), context, at === 0), h("p")))];
}
