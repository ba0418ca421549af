// Actions on a card: a reason, and a button for each thing that the token of this browser permits.

import { h } from "./dom.js";
import { may } from "./server.js";

/**
 * `ways` are [label, scopes, what it does with the reason, style, whether it needs a reason (null: it takes none)].
 * One that resolves to "kept" did nothing.
 */
export function actions(id, ways, context) {
  const note = h("input", { placeholder: "why (the log keeps it)", "aria-label": "Reason", "data-id": `note ${id}` });
  const buttons = ways.filter(([, scopes]) => scopes.every(may)).map(([label, , act, kind = "", needsNote = false]) => h(`button${kind && "." + kind}`, {
    type: "button",
    onclick: async () => {
      if (needsNote && !note.value.trim()) { note.focus(); return context.notice(`Give a reason first: "${label}" is recorded with it.`); }
      buttons.forEach((each) => { each.disabled = true; });
      try {
        if (await act(note.value.trim()) !== "kept") { note.value = ""; context.redo(); context.notice(`${label}: done.`, true); }
      } catch (fault) { context.notice(fault.message); }
      buttons.forEach((each) => { each.disabled = false; });
    },
  }, label));
  if (buttons.length) return h("div.actions", {}, ways.some(([, , , , needsNote]) => needsNote !== null) && note, buttons);
  const scope = ways.some(([, scopes]) => scopes.includes("reviewer")) ? "reviewer" : "agent";
  return h("p.soft", {}, `Your token only permits looking: sign in with one of the scope ${scope} or admin to decide.`);
}
