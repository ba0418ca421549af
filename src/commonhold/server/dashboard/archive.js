// Archive: the project's notes, all of them or those found by words.

import { code, counted, empty, h } from "./dom.js";
import { get } from "./server.js";

let wanted = "";

export const load = async () => ({ wanted, notes: (await get("notes", { words: wanted })).items });

export function draw({ notes }, { redo }) {
  const input = h("input", { type: "search", placeholder: "words  ( / )", "aria-label": "Words", "data-id": "words", value: wanted });
  const form = h("form.tools", { onsubmit: (event) => { event.preventDefault(); wanted = input.value.trim(); redo(); } }, input, h("button.main", {}, "Search"));
  const found = notes.map((note) => h("article.card", {}, h("header", {}, h("h3", {}, note.title || note.section), h("span.soft", {}, note.section)), h("pre.diff", { tabindex: 0 }, note.text, note.is_cut ? " …" : "")));
  const instead = wanted
    ? empty("No section has these words. All notes: ", code("commonhold archive list"), ".")
    : empty("There are no notes yet. To add what was decided or learned: ", code("commonhold archive add decision TITLE --text TEXT"), ".");
  return [h("h1", {}, "Archive"), h("p.soft", {}, "The notes of the project: Markdown files that git does not ignore, in sections."), form,
    found.length ? [h("p.soft", {}, wanted ? counted(found.length, "section") : counted(found.length, "note")), h("div.grid.wide", {}, found)] : instead].flat(2);
}
