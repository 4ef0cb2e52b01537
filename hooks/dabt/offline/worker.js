/* Answers for the site when there is no network. dabt/offline writes the list into it.

   What is kept comes first, the network second: a page opens at once on a slow line too, and is
   never half of one version and half of another. For that every kept file lies under its address
   and the hash of its content, and this worker asks for the hashes of its own list alone. A file
   whose bytes are not those of the list is passed on, never kept. Another version is another
   worker: it fetches what has changed, waits, and takes over when the reader says so, when one page
   alone is open and the reader turns it, or when all are closed. */
const VERSION = "the version";
const LIST = /* the list */ null;
const { files, sets, offline } = LIST;
const SCOPE = registration.scope;
const CACHE = `dabt:${SCOPE}`;
const WANTED = `${SCOPE}?wanted`;
let full = false;
let triedToSwitch = false;

/* ---- Addresses: relative to the home; of a page without its query ---- */

const addressOf = (url) => (url.startsWith(SCOPE) ? url.slice(SCOPE.length).split("#")[0] : null);
const pageOf = (url) => addressOf(url)?.split("?")[0].replace(/(^|\/)index\.html$/, "$1") ?? null;
const keyOf = (address, hash) => `${SCOPE}${address}${address.includes("?") ? "&" : "?"}kept=${hash}`;
const own = (address) => (Object.hasOwn(files, address ?? "?") ? files[address] : null);
const languageOf = (address) => {
  const first = address.split("/")[0];
  return Object.hasOwn(offline, first) ? first : Object.keys(offline).find((one) => offline[one] === "offline/");
};

/* ---- A page names the versions of its styles and scripts; it is kept without them, so that it
   need not be fetched again when they alone change. As in stamps.py. ---- */

const isPage = (address) => address === "" || address.endsWith("/");
const pathOf = (address) => address.split("?")[0];
const NAMED = /(="[^"?#]*?)(assets\/[\w./-]+?)(?:\.[0-9a-f]{8})?(\.(?:css|js|json|woff2))(?:\?\w+)?"/g;
const VERSION_OF_SEARCH = /(data-version=")\w*(")/g;
const plainName = (path) => path.replace(/\.[0-9a-f]{8}(\.\w+)$/, "$1");
const named = new Map(Object.keys(files).map((one) => [plainName(pathOf(one)), one]));

const withoutStamps = (html) =>
  html.replace(NAMED, '$1$2$3"').replace(VERSION_OF_SEARCH, "$1$2");

const withStamps = (html) => {
  const search = (named.get("assets/search/panel.js") ?? "").split("?")[1] ?? "";
  return html
    .replace(NAMED, (_, start, name, kind) => `${start}${named.get(name + kind) ?? name + kind}"`)
    .replace(VERSION_OF_SEARCH, `$1${search}$2`);
};

/* ---- What is kept ---- */

const openCache = () => caches.open(CACHE);

const has = async (address) => {
  try {
    return await (await openCache()).match(keyOf(address, own(address)[0]), { ignoreVary: true });
  } catch {
    return undefined;
  }
};

const find = async (address) => {
  const kept = await has(address);
  if (!kept || !isPage(address)) return kept;
  return new Response(withStamps(await kept.text()), { headers: kept.headers });
};

const hashOf = async (body) => {
  const bytes = new Uint8Array(await crypto.subtle.digest("SHA-256", body));
  return Array.from(bytes.slice(0, 8), (byte) => byte.toString(16).padStart(2, "0")).join("");
};

/* Keep an answer if it is what the list says: "kept", "other" bytes, or no room ("full"). */
const keep = async (address, response) => {
  if (response.status !== 200 || response.type !== "basic" || response.redirected) return "other";
  const type = response.headers.get("content-type") ?? "";
  const body = isPage(address)
    ? new TextEncoder().encode(withoutStamps(await response.text()))
    : await response.arrayBuffer();
  if ((await hashOf(body)) !== own(address)[0]) return "other";
  try {
    const copy = new Response(body, { headers: { "content-type": type } });
    await (await openCache()).put(keyOf(address, own(address)[0]), copy);
    return "kept";
  } catch {
    full = true;
    return "full";
  }
};

/* Fetch and keep what is not kept yet; throws without a network. */
const fetchAndKeep = async (address, cache) => {
  if (await has(address)) return "kept";
  return keep(address, await fetch(SCOPE + address, { cache, credentials: "same-origin" }));
};

const keptAddresses = async () => {
  const keys = await (await openCache()).keys();
  return keys
    .map(({ url }) => url.slice(SCOPE.length).match(/^(.*)[?&]kept=(\w+)$/))
    .filter(Boolean)
    .map(([, address, hash]) => ({ address, hash }));
};

const readWanted = async () => (await (await openCache()).match(WANTED))?.json() ?? [];

const writeWanted = async (languages) =>
  (await openCache()).put(WANTED, new Response(JSON.stringify(languages)));

const ofLanguages = (languages) =>
  Object.keys(files).filter((one) => !files[one][3] || languages.includes(files[one][3]));

const neededBy = (address) => [address, ...sets[own(address)[4]]];

/* ---- Another version ---- */

/* What this version must hold to show all that the one before it held. */
const toBringUpToDate = async () => {
  const nameOf = (address) => plainName(pathOf(address));
  const before = new Set((await keptAddresses()).map(({ address }) => nameOf(address)));
  if (!before.size) return [];
  const wanted = await readWanted();
  const again = Object.keys(files).filter((one) => before.has(nameOf(one)));
  const course = wanted.length ? ofLanguages(wanted) : [];
  return [...new Set([...again.flatMap(neededBy), ...course])].filter(own);
};

/* A file that cannot be had fails the installation: the version in use stays whole, and what was
   fetched is found again when the browser next tries. */
const bringUpToDate = async () => {
  let addresses;
  try {
    addresses = await toBringUpToDate();
  } catch {
    return;
  }
  for (const address of addresses) {
    const done = await fetchAndKeep(address, "no-cache");
    if (done === "other") throw new Error(`${address} is of another version`);
    if (done === "full") return;
  }
};

/* No page of another version is open, or each is about to be loaded again. */
const forgetOthers = async () => {
  try {
    const cache = await openCache();
    for (const { address, hash } of await keptAddresses()) {
      if (own(address)?.[0] !== hash) await cache.delete(keyOf(address, hash));
    }
  } catch {
    /* Storage is refused: there is nothing to forget. */
  }
};

const reloadPages = async () => {
  for (const page of await clients.matchAll({ type: "window" })) page.postMessage("reload");
};

/* A page that this worker found when it took over: it was left for another, or is in another tab. */
const reloadLeft = async () => {
  for (const id of left.splice(0)) (await clients.get(id))?.postMessage("reload");
};

let reloadWhenActive = false;
let left = [];
addEventListener("install", (event) => event.waitUntil(bringUpToDate()));
addEventListener("activate", (event) => {
  const work = async () => {
    await forgetOthers();
    await clients.claim();
    if (reloadWhenActive) await reloadPages();
  };
  event.waitUntil(work());
});

/* The reader turns the only page that is open: the version that waits may take over at once. */
const canSwitch = async () => {
  if (!registration.waiting || triedToSwitch) return false;
  const open = await clients.matchAll({ type: "window" });
  if (open.length > 1) return false;
  triedToSwitch = true;
  registration.waiting.postMessage({ ask: "switch", reload: false, left: open.map((one) => one.id) });
  return true;
};

/* ---- Answers ---- */

const openPage = async (event, address) => {
  if (await canSwitch()) return new Response("", { headers: { refresh: "0" } });
  const listed = own(address);
  const kept = listed && (await find(address));
  if (kept) return kept;
  try {
    const asked = { cache: "no-cache", redirect: "manual", credentials: "same-origin" };
    const response = await fetch(event.request.url, asked);
    if (listed && !full) event.waitUntil(keepPage(address, response.clone()));
    return response;
  } catch {
    return withoutNetwork(event.request.url, address);
  }
};

const keepPage = async (address, response) => {
  try {
    const done = await keep(address, response);
    /* The server is further: let the browser find its worker. */
    if (done === "other" && response.status === 200) await registration.update();
  } catch {
    /* The reader went on before the page was whole. */
  }
};

const withoutNetwork = async (url, address) => {
  if (own(`${address}/`)) return Response.redirect(`${SCOPE}${address}/`);
  const first = offline[languageOf(address)];
  let page;
  for (const one of [first, ...Object.values(offline)]) {
    if (!page && (await has(one))) page = one;
  }
  if (!page) return Response.error();
  const asked = new URL(page, SCOPE);
  asked.searchParams.set("missing", addressOf(url));
  return Response.redirect(asked);
};

/* A style sheet, a script, a font, a part of the search. */
const answer = async (event, address) => {
  const kept = await find(address);
  if (kept) return kept;
  const response = await fetch(event.request);
  if (full || response.status !== 200) return response;
  const done = await keep(address, response.clone());
  if (done === "other" && (await serverIsFurther())) {
    await registration.update().catch(() => {});
    return Response.error();
  }
  return response;
};

/* Other bytes than those of the list: a newer version, or a host that rewrites what it sends. */
const serverIsFurther = async () => {
  const worker = await fetch(location.href, { cache: "no-store" });
  return worker.ok && !(await worker.text()).includes(VERSION);
};

addEventListener("fetch", (event) => {
  const { request } = event;
  if (request.method !== "GET" || request.headers.has("range")) return;
  if (request.mode === "navigate") {
    const page = pageOf(request.url);
    if (page !== null) event.respondWith(openPage(event, page));
  } else {
    const address = addressOf(request.url);
    if (own(address)) event.respondWith(answer(event, address));
  }
});

/* ---- What pages ask ---- */

/* The page that was open before this worker was, and all that it had loaded by then. */
const keepOpened = async ({ page, loaded }) => {
  await reloadLeft();
  const address = pageOf(page);
  if (!own(address) || full) return;
  const needed = [...neededBy(address), ...loaded.map(addressOf)];
  const explained = offline[languageOf(address)];
  if (explained) needed.push(...neededBy(explained));
  for (const one of new Set(needed)) {
    if (own(one) && (await fetchAndKeep(one, "force-cache").catch(() => "other")) === "full") return;
  }
};

const questions = {
  list: async () => ({
    version: VERSION,
    files,
    kept: (await keptAddresses())
      .filter(({ address, hash }) => own(address)?.[0] === hash)
      .map(({ address }) => address),
    wanted: await readWanted(),
  }),
  want: ({ languages }) => writeWanted(languages),
  keep: ({ address }) => fetchAndKeep(address, "no-cache"),
  opened: keepOpened,
  remove: () => caches.delete(CACHE),
  switch: (asked) => {
    reloadWhenActive = asked.reload;
    left = asked.left ?? [];
    return skipWaiting();
  },
};

addEventListener("message", (event) => {
  const { data, ports } = event;
  const work = async () => {
    try {
      const done = (await questions[data.ask](data)) ?? null;
      ports[0]?.postMessage({ done });
    } catch (error) {
      ports[0]?.postMessage({ failed: error.name });
    }
  };
  /* A question of the reader gives what is full another chance. */
  if (data.ask === "keep" || data.ask === "remove") full = false;
  event.waitUntil(work());
});
