// The difference of two texts, line by line.

import { h } from "./dom.js";

const MOST = 1500;

/** Return [sign, line] pairs: "-", "+" or " ". Long texts are compared between their common begin and end only. */
export function lines(before, after) {
  const a = before.split("\n"), b = after.split("\n");
  let head = 0, tail = 0;
  while (head < Math.min(a.length, b.length) && a[head] === b[head]) head++;
  while (tail < Math.min(a.length, b.length) - head && a.at(-1 - tail) === b.at(-1 - tail)) tail++;
  const [x, y] = [a.slice(head, a.length - tail), b.slice(head, b.length - tail)];
  return [...a.slice(0, head).map((each) => [" ", each]), ...middle(x, y), ...a.slice(a.length - tail).map((each) => [" ", each])];
}
function middle(x, y) {
  if (x.length * y.length > MOST * MOST) return [...x.map((each) => ["-", each]), ...y.map((each) => ["+", each])];
  const best = Array.from({ length: x.length + 1 }, () => new Uint16Array(y.length + 1));
  for (let i = x.length - 1; i >= 0; i--) for (let j = y.length - 1; j >= 0; j--) best[i][j] = x[i] === y[j] ? best[i + 1][j + 1] + 1 : Math.max(best[i + 1][j], best[i][j + 1]);
  const found = [];
  for (let i = 0, j = 0; i < x.length || j < y.length;) {
    if (i < x.length && j < y.length && x[i] === y[j]) { found.push([" ", x[i++]]); j++; }
    else if (i < x.length && (j === y.length || best[i + 1][j] >= best[i][j + 1])) found.push(["-", x[i++]]);
    else found.push(["+", y[j++]]);
  }
  return found;
}

/** Draw the changed lines with three lines around them. */
export function diff(before, after) {
  const found = lines(before, after);
  const near = found.map(([sign], at) => found.slice(Math.max(0, at - 3), at + 4).some(([each]) => each !== " ") || sign !== " ");
  const shown = found.flatMap((each, at) => (near[at] ? [each] : near[at - 1] || at === 0 ? [["…", ""]] : []));
  return h("pre.diff", { tabindex: 0 }, shown.map(([sign, line]) => h(`span${{ "+": ".plus", "-": ".minus", "…": ".gap" }[sign] ?? ""}`, {}, `${sign} ${line}`)));
}
