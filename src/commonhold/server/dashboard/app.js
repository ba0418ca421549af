// The frame: signing in, pages by the fragment of the address, keyboard, and redrawing when something has changed.

import { empty, h, setServerTime, tick } from "./dom.js";
import { Refused, follow, get, isSignedIn, signIn, signOut } from "./server.js";
import * as archive from "./archive.js";
import * as file from "./file.js";
import * as inbox from "./inbox.js";
import * as landing from "./landing.js";
import * as map from "./map.js";
import * as now from "./now.js";
import * as queue from "./queue.js";
import * as run from "./run.js";
import * as sessions from "./sessions.js";
import * as tasks from "./tasks.js";

/** Each page has `load(argument)`, the data, and `draw(data, context)`, the nodes; `rest` is the pause between loads. */
const pages = { now, tasks, sessions, run, map, queue, landing, inbox, archive, file };
const menu = {
  now: "Now", tasks: "Tasks", sessions: "Sessions", run: "Run", map: "Map",
  queue: "Waiting", landing: "Landing", inbox: "Inbox", archive: "Archive",
};
const main = document.querySelector("main");
const nav = document.querySelector("nav");
const notices = document.querySelector("aside");
const link = document.querySelector(".link");

/** Fields that differ in every answer; a redrawn page would look the same. */
const CLOCKS = new Set(["at", "until", "newest"]);
let isTroubled = false;
let shown = { place: "", text: "" };
let due = false;
let busy = false;
let loadedAt = 0;

function place() {
  const [, name, argument] = /^#\/(\w+)\/?(.*)$/.exec(location.hash) ?? [];
  return pages[name] ? { name, page: pages[name], argument: decoded(argument) } : { name: "now", page: now, argument: "" };
}
/** The text behind percent signs; as it stands if a person typed what is no code. */
function decoded(argument) {
  try { return decodeURIComponent(argument); } catch { return argument; }
}

function drawMenu(needs) {
  const here = place().name;
  nav.replaceChildren(...Object.entries(menu).map(([name, title], at) =>
    h("a", { href: `#/${name}`, "aria-current": name === here && "page", title: `${title} (${at + 1})` }, title,
      name === "inbox" && needs ? h("span.badge", {}, needs) : null)));
  nav.querySelector("[aria-current]")?.scrollIntoView({ block: "nearest", inline: "nearest" });
}

/** Load and draw the present page; nothing is redrawn that looks the same. */
async function refresh() {
  if (busy) { due = true; return; }
  busy = true;
  due = false;
  const at = place();
  const hash = location.hash;
  const isNew = shown.place !== hash;
  try {
    const overview = await get("overview");
    setServerTime(overview.at);
    const data = await at.page.load(at.argument, overview);
    if (isTroubled) { isTroubled = false; notice(""); }
    const text = JSON.stringify([data, overview.needs.length], (name, value) => (CLOCKS.has(name) ? 0 : value));
    if (location.hash !== hash) due = true;
    else if (isNew || text !== shown.text) {
      drawMenu(overview.needs.length);
      redraw(at.page.draw(data, { redo: () => { shown.text = ""; refresh(); }, notice }), isNew);
      shown = { place: hash, text };
      main.dataset.page = at.name;
      document.title = `${overview.needs.length ? `(${overview.needs.length}) ` : ""}${menu[at.name] ?? at.argument} · Commonhold`;
    }
  } catch (fault) {
    if (fault.status === 401) return signInPage();
    shown.text = "";
    if (!(fault instanceof Refused)) throw fault;
    if (isNew) main.replaceChildren();
    isTroubled = true;
    notice(fault.message);
  } finally {
    busy = false;
    loadedAt = Date.now();
  }
  if (due) { loadedAt = 0; changed(); }
}

/** Put nodes on the page; what the user has opened, typed and focused stays so. */
function redraw(nodes, isNew) {
  const kept = isNew ? [] : [...main.querySelectorAll("[data-id]")];
  const open = new Map(kept.map((each) => [each.dataset.id, each.tagName === "DETAILS" ? each.open : each.value]));
  const focused = isNew ? null : document.activeElement?.dataset?.id;
  const scroll = scrollY;
  main.replaceChildren(...[nodes].flat());
  for (const each of main.querySelectorAll("[data-id]")) {
    if (!open.has(each.dataset.id)) continue;
    if (each.tagName === "DETAILS") each.open = open.get(each.dataset.id);
    else if (open.get(each.dataset.id) !== undefined && "value" in each) each.value = open.get(each.dataset.id);
    if (each.dataset.id === focused) each.focus({ preventScroll: true });
  }
  scrollTo(0, isNew ? 0 : scroll);
}

/** Say what an action did, or why it failed, until the next message or page. */
function notice(message, isGood = false) {
  notices.replaceChildren(...(message ? [h(`p.notice${isGood ? ".good" : ""}`, {}, message)] : []));
}

let timer = null;
/** Load again soon, at most once in the pause that the page wants, and not while nobody looks. */
function changed() {
  if (document.hidden) { due = true; return; }
  if (timer !== null) return;
  const wait = Math.max(150, loadedAt + (place().page.rest ?? 1000) - Date.now());
  timer = setTimeout(() => { timer = null; refresh(); }, wait);
}

function signInPage(message = "") {
  nav.replaceChildren();
  link.textContent = "signed out";
  const input = h("input", { name: "token", type: "password", required: true, autocomplete: "off", placeholder: "chd_…", "aria-label": "Access token" });
  main.replaceChildren(h("form.sign-in", {
    onsubmit: async (event) => {
      event.preventDefault();
      try { await signIn(input.value.trim()); begin(); } catch (fault) { signInPage(fault.message); }
    },
  }, h("h1", {}, "Sign in"), message && h("p.notice", { role: "alert" }, message),
  h("p", {}, "Run this in a terminal, in the repository, and paste the token:"), empty(h("code", {}, "commonhold token issue --scope admin --once")),
  input, h("button.main", {}, "Sign in")));
  input.focus();
}

function keyboard(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input, textarea, select")) return;
  const name = Object.keys(menu)[Number(event.key) - 1];
  if (name) location.hash = `#/${name}`;
  else if (event.key === "/") { event.preventDefault(); main.querySelector("input")?.focus(); }
  else if (event.key === "j" || event.key === "k") {
    const stops = [...main.querySelectorAll("a, button, summary, input")];
    const at = stops.indexOf(document.activeElement) + (event.key === "j" ? 1 : -1);
    stops.at(Math.min(Math.max(at, 0), stops.length - 1))?.focus();
  }
}

function theme() {
  const kept = localStorage.getItem("commonhold.theme");
  if (kept) document.documentElement.dataset.theme = kept;
  const again = () => { shown.text = ""; refresh(); };
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", again);
  document.querySelector(".theme").addEventListener("click", () => {
    const isDark = getComputedStyle(document.documentElement).getPropertyValue("--back").trim() === "#121614";
    document.documentElement.dataset.theme = isDark ? "light" : "dark";
    localStorage.setItem("commonhold.theme", document.documentElement.dataset.theme);
    again();
  });
}

let isFollowing = false;
function begin() {
  if (!location.hash.startsWith("#/")) history.replaceState(null, "", "#/now");
  refresh();
  if (isFollowing) return;
  isFollowing = true;
  follow(changed, (state) => {
    link.dataset.state = state;
    link.replaceChildren(state);
    if (state === "live") link.append(" · ", h("a", { href: "#/now", onclick: async (event) => { event.preventDefault(); await signOut(); location.reload(); } }, "sign out"));
    if (state === "signed out") { isFollowing = false; signInPage(); }
  });
}

async function start() {
  theme();
  drawMenu(0);
  addEventListener("hashchange", () => { if (location.hash.startsWith("#chd_")) location.reload(); else { notice(""); refresh(); } });
  addEventListener("keydown", keyboard);
  document.addEventListener("visibilitychange", () => { if (!document.hidden && due) changed(); });
  setInterval(tick, 1000);
  setInterval(changed, 15_000);
  const token = location.hash.startsWith("#chd_") ? location.hash.slice(1) : "";
  if (token) history.replaceState(null, "", "#/now");
  try {
    if (token && !(await isSignedIn())) await signIn(token);
    if (token || await isSignedIn()) begin();
    else signInPage();
  } catch (fault) { signInPage(fault.message); }
}
start();
