// The session of this browser, calls of the API, and the stream of events.

const HALF = "commonhold.page";
/** The half of the token that this page keeps; the other one is in a cookie that no script can read. */
let half = localStorage.getItem(HALF) ?? "";
export let rights = { scope: "observer", holder: null };

export class Refused extends Error {
  constructor(status, body) {
    const said = [body.message ?? body.why ?? `the server answered ${status}`, body.hint].filter(Boolean);
    super(said.map((each) => each[0].toUpperCase() + each.slice(1)).join(". "));
    this.status = status;
    this.body = body;
  }
}

async function ask(method, path, { body, headers = {}, as = "json" } = {}) {
  const named = method === "GET" || !path.startsWith("/api/") ? {} : { "X-Commonhold-Agent": rights.holder ?? "person:dashboard" };
  const answer = await fetch(path, {
    method,
    body: body === undefined ? undefined : JSON.stringify(body),
    headers: { "X-Commonhold-Page": half, ...named, ...headers },
    cache: "no-store",
  }).catch(() => { throw new Refused(0, { message: "the server cannot be reached", hint: "this page goes on as soon as it can" }); });
  if (!answer.ok) throw new Refused(answer.status, await answer.json().catch(() => ({})));
  if (answer.status === 204) return null;
  return as === "bytes" ? new Uint8Array(await answer.arrayBuffer()) : answer.json();
}

/** Exchange a token for a session of this browser. Throws Refused. */
export async function signIn(token) {
  const found = await ask("POST", "/session", { headers: { Authorization: `Bearer ${token}` } });
  half = found.page;
  localStorage.setItem(HALF, half);
  rights = found;
}
/** Return whether this browser has a session. */
export async function isSignedIn() {
  if (!half) return false;
  try {
    rights = await ask("GET", "/session");
    return true;
  } catch (fault) {
    if (fault.status === 401) return false;
    throw fault;
  }
}
export async function signOut() {
  await ask("DELETE", "/session").catch(() => null);
  localStorage.removeItem(HALF);
  half = "";
}
/** Whether the token of this browser permits calls of a scope. */
export const may = (scope) => rights.scope === "admin" || rights.scope === scope;

const query = (given) => {
  const pairs = Object.entries(given).flatMap(([name, value]) => [value].flat().map((each) => [name, String(each)]));
  return pairs.length ? `?${new URLSearchParams(pairs)}` : "";
};
export const get = (path, given = {}) => ask("GET", `/api/v1/${path}${query(given)}`);
export const bytes = (path) => ask("GET", `/api/v1/${path}`, { as: "bytes" });
export const send = (path, body) => ask("POST", `/api/v1/${path}`, { body });

/** Follow the log for ever: call `changed` when events come, and `say` with the state of the connection. */
export async function follow(changed, say) {
  let cursor = null;
  for (let wait = 500; ; wait = Math.min(wait * 2, 10_000)) {
    try {
      const answer = await fetch(`/api/v1/events${cursor === null ? "" : `?after=${cursor}`}`, {
        headers: { Accept: "text/event-stream", "X-Commonhold-Page": half },
      });
      if (answer.status === 401) return say("signed out");
      if (answer.status === 410) cursor = null;
      if (answer.ok) {
        say("live");
        changed();
        wait = 500;
        await read(answer.body, (id) => { cursor = id; changed(); });
      }
    } catch { /* the connection broke: it is made again */ }
    say("reconnecting");
    await new Promise((done) => setTimeout(done, wait));
  }
}
async function read(body, moved) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    const parts = (rest + value).split("\n\n");
    rest = parts.pop();
    const ids = parts.map((part) => /^id: (\d+)/m.exec(part)?.[1]).filter(Boolean);
    if (ids.length) moved(ids.at(-1));
  }
}
