// A file: its lines with who changed them last, coloured where a session holds them, and the history of its regions.

import { age, empty, h, hue, keys, short, who } from "./dom.js";
import { section } from "./now.js";
import { get } from "./server.js";

export const rest = 3000;
export async function load(path) {
  const file = `file:${path}`;
  const [texts, regions, holders, commits] = await Promise.all([get("texts", { keys: file }), get("regions", { path }), get("holders", { key: file }), get("commits", { path, limit: 100 })]);
  return { path, text: texts.items[0].text, regions: regions.regions, holders, commits: commits.items };
}

/** The innermost regions by line: a later region in the list lies inside the earlier one that has its lines. */
function byLine(regions, count) {
  const found = new Array(count + 1).fill(null);
  for (const region of regions) if (region.kind !== "file" && !region.is_empty) for (const [first, last] of region.lines) for (let line = first; line <= Math.min(last, count); line++) found[line] = region;
  return found;
}
const inside = (outer, inner) => inner === outer || inner.startsWith(`${outer}.`) || (!outer.includes("#") && inner.startsWith(`${outer}#`));

/** The keys of changed regions, without the file and the classes around them. */
const innermost = (regions) => regions.map((each) => each.key).filter((one, _, all) => !all.some((each) => each !== one && inside(one, each)));

export function draw({ path, text, regions, holders, commits }) {
  const lines = text.split("\n");
  const at = byLine(regions, lines.length);
  const last = new Map();
  for (const { at: time, event } of commits.map((each) => ({ at: each.at, event: each.event }))) for (const change of event.regions ?? []) last.set(change.key, { holder: event.holder, intent: event.intent, time });
  const held = (region) => region && holders.leases.find((lease) => lease.keys.some((each) => inside(each, region.key)));
  const history = [...commits].reverse().map(({ sequence, at: time, event }) => h("div.row", {}, age(time, "", " ago"), h("span", {}, who(event.holder), " ", event.intent || "(no intent)", h("div.soft", {}, keys(innermost(event.regions ?? []), 8))), h("span.soft", {}, `event ${sequence}`)));
  return [
    h("h1", {}, path),
    holders.leases.length ? h("p", {}, "Held: ", holders.leases.map((lease) => h("span", {}, who(lease.holder), " ", keys(lease.keys), " "))) : h("p.soft", {}, "No session holds a part of this file."),
    h("div.source", { tabindex: 0, role: "group", "aria-label": "Source" }, lines.slice(0, 3000).map((line, index) => {
      const region = at[index + 1], lease = held(region), by = region && last.get(region.key), isFirst = index === 0 || at[index] !== region;
      return [h("span.number", {}, String(index + 1)), h("span.by", { title: by ? by.intent : "" }, isFirst && by ? short(by.holder) : ""),
        lease ? h("span.held", { "--hue": hue(lease.holder), title: `held by ${lease.holder}` }, line || " ") : h("span", {}, line || " ")];
    })),
    lines.length > 3000 ? h("p.soft", {}, `${lines.length - 3000} more lines`) : null,
    section("History", "through Commonhold, the newest first", history.length ? h("div.rows", {}, history) : [], empty("No change of this file went through Commonhold yet.")),
  ].flat(2).filter(Boolean);
}
