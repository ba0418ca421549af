// Elements, and the few words that all pages share. Text is only ever set as text: nothing here parses HTML.

const SVG = "http://www.w3.org/2000/svg";
const shapes = new Set(["svg", "g", "rect", "path", "text", "title", "circle", "line"]);

/** Make an element: `h("a.key", {href: "#/now"}, "text", child)`. Attributes that are null or false are left out. */
export function h(name, given = {}, ...children) {
  const [tag, ...classes] = name.split(".");
  const made = shapes.has(tag) ? document.createElementNS(SVG, tag) : document.createElement(tag);
  if (classes.length) made.setAttribute("class", classes.join(" "));
  for (const [key, value] of Object.entries(given)) {
    if (value === null || value === undefined || value === false) continue;
    if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else if (key.startsWith("--")) made.style.setProperty(key, value);
    else if (key === "value" || key === "checked") made[key] = value;
    else made.setAttribute(key, value === true ? "" : value);
  }
  made.append(...children.flat(3).filter((each) => each !== null && each !== undefined && each !== false));
  return made;
}

/** The difference between the clock of the server and that of this machine, in seconds. */
let ahead = 0;
export const setServerTime = (at) => { ahead = at - Date.now() / 1000; };
export const serverNow = () => Date.now() / 1000 + ahead;

export function duration(seconds) {
  const s = Math.max(0, Math.round(seconds));
  if (s < 90) return `${s} s`;
  if (s < 5400) return `${Math.round(s / 60)} min`;
  if (s < 172800) return `${Math.floor(s / 3600)} h ${Math.round((s % 3600) / 60)} min`;
  return `${Math.round(s / 86400)} days`;
}

/** A time that counts: `before` 12 s `after`. It is kept up to date by `tick`. */
export function age(at, before = "", after = "", ahead_ = false) {
  const made = h("time", { datetime: new Date(at * 1000).toISOString(), title: new Date(at * 1000).toLocaleString() });
  made.count = () => { made.textContent = before + duration(ahead_ ? at - serverNow() : serverNow() - at) + after; };
  made.count();
  return made;
}
export const tick = () => document.querySelectorAll("main time").forEach((each) => each.count?.());
export const clock = (at) => new Date(at * 1000).toLocaleTimeString();

export const short = (holder) => holder.replace(/([0-9a-f]{8})-?[0-9a-f-]{8,}/g, "$1");
const hues = new Map();
/** A colour for each holder, far from those of the holders before it: the golden angle apart. */
export function hue(holder) {
  if (!hues.has(holder)) hues.set(holder, Math.round(262 + hues.size * 137.508) % 360);
  return hues.get(holder);
}
export const who = (holder) => h("span.who", { title: holder, "--hue": hue(holder) }, short(holder));

export const pathOf = (key) => (key.startsWith("file:") ? key.slice(5).split("#")[0] : null);
export function key(text) {
  const path = pathOf(text);
  const shown = text.replace(/^file:/, "").replace("#@header", " (header)");
  const isFile = path && !path.endsWith("/");
  return isFile ? h("a.key", { href: `#/file/${encodeURIComponent(path)}` }, shown) : h("span.key", {}, shown);
}
export function keys(texts, most = 4) {
  const more = texts.length - most;
  return [texts.slice(0, most).map((each, at) => [at ? ", " : "", key(each)]), more > 0 ? ` and ${more} more` : ""];
}
export const counted = (number, one, many = `${one}s`) => `${number} ${number === 1 ? one : many}`;
export const empty = (...words) => h("p.empty", {}, ...words);
export const code = (text) => h("code", {}, text);
export const chip = (text, kind = "") => h(`span.chip${kind && "." + kind}`, {}, text);
