// Map: the files that agents touch, as a tree, with the activity in each and who is there now.

import { age, chip, counted, empty, h, key, who } from "./dom.js";
import { timeline } from "./run.js";

export const rest = 4000;
export const load = async (_, overview) => ({ files: (await timeline(overview)).files, meetings: overview.meetings, present: overview.agents.map((each) => each.holder) });

let wanted = "";

export function draw({ files, meetings, present }, { redo }) {
  const title = h("h1", {}, "Map");
  if (!files.length) return [title, empty("No file was changed or held yet. A file appears here with its first lease or commit.")];
  const filter = h("input", { type: "search", placeholder: "filter paths  ( / )", "aria-label": "Filter paths", "data-id": "filter", value: wanted, oninput: () => { wanted = filter.value; redo(); } });
  const contested = new Set(meetings.map((each) => each.path));
  const shown = files.filter((each) => each.path.toLowerCase().includes(wanted.toLowerCase()));
  const most = Math.max(1, ...files.map(heat));
  const root = { folders: new Map(), files: [] };
  for (const each of shown) {
    const parts = each.path.split("/").filter(Boolean);
    let at = root;
    for (const part of parts.slice(0, -1)) at = at.folders.get(part) ?? at.folders.set(part, { folders: new Map(), files: [] }).get(part);
    at.files.push(each);
  }
  const there = (names) => [...new Set(names)].filter((each) => present.includes(each)).slice(0, 5).map((each) => [who(each), " "]);
  const bar = (sum) => h("span.bar", { "--heat": `${Math.min(100, (sum / most) * 100)}%`, title: `${sum} commits, refusals and holders` });
  const sized = (made, sum) => { made.style.width = `${Math.max(0.4, Math.min(9, (sum / most) * 9))}rem`; return made; };
  const leaf = (file) => h("div.leaf", {}, key(`file:${file.path}`), sized(bar(heat(file)), heat(file)),
    contested.has(file.path) && [chip("may collide", "warn"), " "], file.holders.length ? ["held by ", there(file.holders)] : null,
    h("span.soft", {}, `${counted(file.commits, "commit")}${file.refusals ? `, ${file.refusals} refused` : ""}`, file.last_at ? age(file.last_at, ", ", " ago") : ""));
  const all = (node) => [...node.files, ...[...node.folders.values()].flatMap(all)];
  const branch = (name, node, path) => {
    const below = all(node), sum = below.reduce((total, each) => total + heat(each), 0);
    return h("details", { open: true, "data-id": path }, h("summary", {}, `${name}/`, sized(bar(sum), sum), there(below.flatMap((each) => each.holders)), h("span.soft", {}, counted(below.length, "file"))), inside(node, path));
  };
  const inside = (node, path) => [...[...node.folders].sort().map(([name, each]) => branch(name, each, `${path}${name}/`)), ...node.files.map(leaf)];
  return [title, h("p.soft", {}, "The longer and redder a bar, the more was committed, refused or held there."), h("div.tools", {}, filter), shown.length ? h("div.card.tree", {}, inside(root, "")) : empty("No path contains this text.")];
}
const heat = (file) => file.commits + 2 * file.refusals + file.holders.length;
