/* What a reader has finished and where he stopped: marks in the menu, the tick at the end of a
 * chapter. Nothing leaves the browser.
 *
 * Kept in localStorage["dabt:way"], the same for all languages:
 * {done: {slug: 1}, last: {slug, id, titles: {language: title of the section}}}. */

export const KEY = "dabt:way";
export const { dataset } = document.getElementById("dabt-way");
const { slug: here, kind } = dataset;
const home = new URL(dataset.home, location.href).pathname;
export const all = (selector) => [...document.querySelectorAll(selector)];
export const language = document.documentElement.lang;
const isMap = (value) => value && typeof value === "object" && !Array.isArray(value);

/* What is kept under a key; nothing where it is forbidden or damaged. */
export function read(key = KEY) {
  try {
    const found = JSON.parse(localStorage.getItem(key));
    if (isMap(found)) return found;
  } catch {}
  return {};
}

export const done = () => (isMap(read().done) ? read().done : {});

/* Read again each time: another tab may have written. Tells whether it was kept. */
export function change(alter) {
  const kept = { ...read(), done: done() };
  alter(kept);
  try {
    localStorage.setItem(KEY, JSON.stringify(kept));
    return true;
  } catch {
    return false;
  }
}

/* ---- Marks beside links to what is finished ---- */

export const entries = () =>
  all(".md-nav--primary a[href], #modules + dl a").filter((link) => !link.hash);
export const slugOf = ({ pathname }) =>
  pathname.startsWith(home) ? pathname.slice(home.length).replace(/\/$/, "") : null;

function mark() {
  const finished = done();
  for (const link of entries()) {
    link.querySelector(".dabt-done")?.remove();
    if (!finished[slugOf(link)]) continue;
    const sign = document.createElement("span");
    sign.className = "dabt-done";
    sign.setAttribute("role", "img");
    sign.setAttribute("aria-label", dataset.done);
    link.append(sign);
  }
}

/* ---- Where the reader stopped ---- */

/* The section at the reading line. At the very top nothing has been read: the place before stays. */
function leave() {
  const passed = all(":is(h2, h3)[id]").filter(
    (each) => each.getBoundingClientRect().top < innerHeight * 0.4,
  );
  const { id, firstChild } = passed.at(-1) ?? {};
  if (id) {
    const titles = { [language]: firstChild.textContent.trim() };
    change((kept) => (kept.last = { slug: here, id, titles }));
  }
}

/* ---- The page ---- */

const box = document.querySelector(".dabt-finish input");

function refresh() {
  mark();
  if (box) box.checked = Boolean(done()[here]);
}

if (box) {
  box.form.hidden = false;
  box.addEventListener("change", () => {
    const status = box.form.querySelector("[role=status]");
    const alter = ({ done }) => (box.checked ? (done[here] = 1) : delete done[here]);
    status.textContent = change(alter) ? "" : status.dataset.fail;
    mark();
  });
}
addEventListener("pagehide", () => {
  if (kind === "chapter") leave();
  if (kind !== "quiz") return;
  // A quiz is finished once all of its questions are checked.
  const open = all(".dabt-q:not([data-result=right], [data-result=wrong])").length;
  change(({ done }) => (open ? delete done[here] : (done[here] = 1)));
});
if (kind === "home") import("./resume.js");
addEventListener("pageshow", refresh);
refresh();
addEventListener("storage", refresh);
