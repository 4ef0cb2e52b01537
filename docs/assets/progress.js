/* The page of one's progress: fills in the list from what quizzes (dabt:answers, see quiz.js) and
 * chapters (dabt:way, see way.js) keep in this browser; a copy to take along; a clean slate. */
import "./resume.js";
import { KEY, done, read } from "./way.js";

const ANSWERS = "dabt:answers";
const page = document.querySelector(".dabt-progress");
const find = (selector) => page.querySelector(selector);
const strings = JSON.parse(find(".dabt-progress__strings").content.textContent);
const say = (key, values = {}) => strings[key].replace(/\{(\w+)\}/g, (_, name) => values[name]);
const rows = [...page.querySelectorAll("[data-slug]")];
const sum = find(".dabt-progress__sum");

/* Counts only answers to the question as it is now: an older revision is another question. */
function count(questions, answers) {
  const checked = Object.entries(questions).flatMap(([id, revision]) => {
    const entry = answers[id];
    return Array.isArray(entry) && entry[0] === revision && entry.length > 2 ? [entry[2]] : [];
  });
  const right = checked.filter((each) => each === 1).length;
  return { count: checked.length, total: Object.keys(questions).length, right };
}

function describe(row, tally, finished) {
  if (row.dataset.kind === "quiz") return say(tally.count ? "quiz" : "quiz_new", tally);
  const check = tally.count ? ` · ${say("check", tally)}` : "";
  return say(finished ? "done" : "not_done") + check;
}

function draw(bar, { count, total, right }) {
  const parts = [right, count - right].map((part, index) => {
    const piece = document.createElement("i");
    piece.className = index ? "dabt-progress__wrong" : "dabt-progress__right";
    piece.style.inlineSize = `${(100 * part) / total}%`;
    return piece;
  });
  bar.replaceChildren(...parts);
}

function fill() {
  const answers = read(ANSWERS);
  const finished = done();
  const chapters = rows.filter(({ dataset }) => dataset.kind === "chapter");
  let all = {};
  for (const row of rows) {
    const questions = JSON.parse(row.dataset.questions);
    const tally = count(questions, answers);
    const bar = row.querySelector(".dabt-progress__bar");
    if (bar) {
      draw(bar, tally);
      all = { ...all, ...questions };
    }
    const whole = bar ? tally.count === tally.total : Boolean(finished[row.dataset.slug]);
    row.classList.toggle("dabt-progress--done", whole);
    row.querySelector(".dabt-progress__state").textContent = describe(row, tally, whole);
  }
  const read_ = chapters.filter(({ dataset }) => finished[dataset.slug]).length;
  const told = say("chapters", { count: read_, total: chapters.length });
  sum.textContent = `${told} ${say("answers", count(all, answers))}`;
}

/* ---- A copy to take along ---- */

function save() {
  const text = JSON.stringify({ [ANSWERS]: read(ANSWERS), [KEY]: read() });
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type: "application/json" }));
  link.download = "dabt.json";
  link.click();
  URL.revokeObjectURL(link.href);
}

/* All of a copy or nothing of it. */
async function restore({ target }) {
  const [file] = target.files;
  const isMap = (value) => value && typeof value === "object" && !Array.isArray(value);
  let copy = null;
  try {
    copy = JSON.parse(await file.text());
  } catch {}
  target.value = "";
  const parts = [ANSWERS, KEY].map((key) => [key, copy?.[key]]);
  if (!parts.every(([, value]) => isMap(value))) return (sum.textContent = say("not_a_copy"));
  parts.forEach(([key, value]) => localStorage.setItem(key, JSON.stringify(value)));
  show("restored");
}

function erase() {
  if (!confirm(say("sure"))) return;
  [ANSWERS, KEY].forEach((key) => localStorage.removeItem(key));
  show("erased");
}

/* Other tabs hear of a change by themselves; this one must be told, for the marks of the menu. */
function show(key) {
  dispatchEvent(new Event("storage"));
  sum.textContent = `${say(key)} ${sum.textContent}`;
}

function mayKeep() {
  try {
    localStorage.setItem("dabt:try", "");
    localStorage.removeItem("dabt:try");
    return true;
  } catch {
    return false;
  }
}

if (mayKeep()) {
  find(".dabt-progress__tools").hidden = false;
  find("[data-do=export]").addEventListener("click", save);
  find("[data-do=reset]").addEventListener("click", erase);
  find("input").addEventListener("change", restore);
  addEventListener("pageshow", fill);
  addEventListener("storage", fill);
  fill();
} else {
  sum.textContent = say("not_kept");
}
