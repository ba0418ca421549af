// A layered drawing of a graph without circles, from left to right, as SVG.

import { h } from "./dom.js";

const WIDE = 190, HIGH = 44, GAP_X = 56, GAP_Y = 16, EDGE = 12;

/** Draw `nodes` ({id, title, note, kind, href}) and `edges` ([from, to], from left to right). */
export function graph(nodes, edges, label) {
  const known = new Map(nodes.map((each) => [each.id, { ...each, layer: 0 }]));
  const real = edges.filter(([from, to]) => known.has(from) && known.has(to) && from !== to);
  for (let round = 0; round < known.size; round++) {
    let moved = false;
    for (const [from, to] of real) {
      const least = known.get(from).layer + 1;
      if (known.get(to).layer < least && least < known.size) { known.get(to).layer = least; moved = true; }
    }
    if (!moved) break;
  }
  const rows = [];
  for (const each of known.values()) each.row = (rows[each.layer] = (rows[each.layer] ?? 0) + 1) - 1;
  const x = (each) => EDGE + each.layer * (WIDE + GAP_X);
  const y = (each) => EDGE + each.row * (HIGH + GAP_Y);
  const layers = [...rows].map((each) => each ?? 0);
  const width = 2 * EDGE + layers.length * (WIDE + GAP_X) - GAP_X;
  const height = 2 * EDGE + Math.max(1, ...layers) * (HIGH + GAP_Y) - GAP_Y;
  const cut = (text, most) => (text.length > most ? `${text.slice(0, most - 1)}…` : text);
  const arrow = ([from, to]) => {
    const [a, b] = [known.get(from), known.get(to)];
    const [ax, ay, bx, by] = [x(a) + WIDE, y(a) + HIGH / 2, x(b), y(b) + HIGH / 2];
    return [h("path", { d: `M${ax} ${ay}C${ax + GAP_X / 2} ${ay} ${bx - GAP_X / 2} ${by} ${bx - 6} ${by}` }), h("path.tip", { d: `M${bx} ${by}l-8 -4v8z` })];
  };
  const box = (each) => h(`g${each.kind ? "." + each.kind : ""}`, {}, h("title", {}, `${each.title} ${each.note}`),
    h("rect", { x: x(each), y: y(each), width: WIDE, height: HIGH, rx: 8 }),
    h("text", { x: x(each) + 10, y: y(each) + 18 }, cut(each.title, 26)), h("text.sub", { x: x(each) + 10, y: y(each) + 34 }, cut(each.note, 30)));
  return h("div.scroll", { tabindex: 0, role: "group", "aria-label": label }, h("svg.graph", { width, height, viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": label }, real.map(arrow), [...known.values()].map(box)));
}
