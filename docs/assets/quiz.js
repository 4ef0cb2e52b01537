/* Quizzes: grades on request, keeps answers, gives the score. Without it the page still holds every
 * question and answer (native inputs, <details>).
 *
 * Kept in localStorage["dabt:answers"], the same for all languages and every page that shows the
 * question: {questionId: [revision, answer]} while not checked, [revision, answer, 1 or 0] once
 * checked, 1 meaning right. The answer: a list of option numbers, the text typed, or for an order
 * the place given to each item (the items in their right order). */
(() => {
  "use strict";

  const KEY = "dabt:answers";
  const all = (root, selector) => [...root.querySelectorAll(selector)];
  const sameSet = (a, b) => a.length === b.length && a.every((each) => b.includes(each));
  const make = (tag, name, ...children) => {
    const node = document.createElement(tag);
    node.className = name;
    node.append(...children);
    return node;
  };

  /* ---- Numbers as people type them ---- */

  // Spaces of every width, direction marks (copied Arabic holds them) and thousands marks go.
  const plain = (text) =>
    text
      .replace(/[\s\u061c\u200b-\u200f\u202a-\u202e\u2060-\u2069'’٬_]/g, "")
      .replace(/[٠-٩۰-۹]/g, (digit) => digit.charCodeAt(0) & 15)
      .replace(/[−–‐‑]/g, "-")
      .replace(/٫/g, ".")
      .replace(/،/g, ",")
      .replace(/٪/g, "%")
      .toLowerCase();

  // Every number that a text may mean: "3,750" is 3750 for some readers and 3.75 for others.
  function readings(text, unit) {
    const parts = /^([+-]?)(\d[\d.,]*|[.,]\d+)(e[+-]?\d+)?(.*)$/.exec(plain(text));
    if (!parts) return [];
    const [, sign, digits, power = "", rest] = parts;
    if (rest && rest !== "%" && !plain(unit).startsWith(rest)) return [];
    const found = [];
    // No group of thousands begins with 0: "0,125" is an eighth and nothing else.
    if (/^[1-9]\d{0,2}([.,])\d{3}(\1\d{3})*$/.test(digits)) {
      found.push(digits.replace(/[.,]/g, ""));
    }
    const [whole, mark, decimals] = digits.split(/([.,])(?=\d*$)/);
    if (!mark || !whole.includes(mark)) {
      found.push(`${whole.replace(/[.,]/g, "")}.${decimals ?? ""}`);
    }
    return found.map((number) => Number(sign + number.replace(/^\.$/, "0") + power));
  }

  /* ---- The three ways to answer. read: the answer, or {lack: [string, values]} ---- */

  const number = (item) => Number(item.dataset.option);
  const chosen = (item) => item.querySelector("input").checked;
  const isRight = (item) => "right" in item.dataset;

  const choice = {
    parts: ".dabt-q__option",
    read(items) {
      const answer = items.filter(chosen).map(number);
      return answer.length ? { answer } : { lack: ["choose"] };
    },
    put(items, answer) {
      for (const item of items) {
        item.querySelector("input").checked = answer?.includes(number(item)) ?? false;
      }
    },
    fits: (items, answer) =>
      Array.isArray(answer) && answer.every((each) => items.some((item) => number(item) === each)),
    judge(items, answer, several) {
      const right = items.filter(isRight).map(number);
      if (!several || sameSet(right, answer)) return { right: sameSet(right, answer) };
      const count = answer.filter((each) => right.includes(each)).length;
      // Nothing is revealed, so that the reader can try again.
      return { right: false, note: ["partial", { count, chosen: answer.length }], veiled: true };
    },
    mark(item) {
      if (chosen(item)) return isRight(item) ? ["right", "mark_right"] : ["wrong", "mark_wrong"];
      return isRight(item) ? ["right", "mark_missed"] : null;
    },
  };

  // What is kept is read in the other language too, where the unit has another name.
  const withoutUnit = (text) => text.replace(/[^\d٠-٩۰-۹.٫%٪]+$/, "");

  const typed = {
    parts: ".dabt-q__number-input",
    read([field]) {
      const legible = readings(field.value, field.dataset.unit ?? "").length;
      return legible ? { answer: withoutUnit(field.value) } : { lack: ["type_number"] };
    },
    put([field], answer) {
      field.value = answer ?? "";
    },
    fits: (_, answer) => typeof answer === "string",
    judge([field], answer) {
      const { value, tolerance, unit } = field.dataset;
      // A hair more than the tolerance: 0.1 + 0.2 is not 0.3 to the machine.
      const limit = Number(tolerance || 0) + Math.abs(value) * 1e-9;
      const near = (each) => Math.abs(each - value) <= limit;
      return { right: readings(withoutUnit(answer), unit ?? "").some(near) };
    },
    mark: () => null,
  };

  const place = (item) => item.querySelector("select");
  const inOrder = (items) => [...items].sort((a, b) => a.dataset.position - b.dataset.position);

  const order = {
    parts: ".dabt-q__order > li",
    read(items) {
      const answer = inOrder(items).map((item) => Number(place(item).value));
      const twice = answer.find((each, index) => each && answer.indexOf(each) !== index);
      if (twice) return { lack: ["twice", { place: twice }] };
      return answer.includes(0) ? { lack: ["place_all"] } : { answer };
    },
    put(items, answer) {
      inOrder(items).forEach((item, index) => (place(item).value = answer?.[index] ?? ""));
    },
    fits: (items, answer) => Array.isArray(answer) && answer.length === items.length,
    judge(items, answer) {
      const total = items.length;
      const count = answer.filter((each, index) => each === index + 1).length;
      return count === total
        ? { right: true }
        : { right: false, note: ["in_place", { count, total }] };
    },
    mark(item) {
      const { position } = item.dataset;
      return place(item).value === position
        ? ["right", "placed"]
        : ["wrong", "expected_place", { place: position }];
    },
  };

  /* ---- The strings of the page, {count} deciding the plural form ---- */

  function speaker(section) {
    const strings = JSON.parse(section.querySelector(".dabt-quiz__strings").content.textContent);
    const plural = new Intl.PluralRules(section.closest("[lang]").lang);
    return (key, values = {}) => {
      const found = strings[key] ?? "";
      const text = found.other ? (found[plural.select(values.count)] ?? found.other) : found;
      return text.replace(/\{(\w+)\}/g, (_, name) => values[name]);
    };
  }

  /* ---- What is kept. The page itself holds the answers, so losing the store loses no more ---- */

  let warned = false;

  // Said once, next to where it happened.
  function warn(key, near) {
    if (warned) return;
    warned = true;
    const note = make("p", "dabt-quiz__note");
    note.setAttribute("role", "status");
    near.before(note);
    note.textContent = speaker(near.closest(".dabt-quiz"))(key);
  }

  function kept(near) {
    let text = null;
    try {
      text = localStorage.getItem(KEY);
    } catch {
      warn("not_kept", near);
    }
    if (text === null) return {};
    try {
      const found = JSON.parse(text);
      if (found && typeof found === "object" && !Array.isArray(found)) return found;
    } catch {
      // Damaged: said below, as is a value of another shape.
    }
    warn("unreadable", near);
    return {};
  }

  function keep(id, entry, near) {
    // Read again each time: another tab may have written meanwhile.
    const answers = kept(near);
    if (entry) answers[id] = entry;
    else delete answers[id];
    try {
      localStorage.setItem(KEY, JSON.stringify(answers));
    } catch {
      warn("not_kept", near);
    }
  }

  /* ---- One question ---- */

  function question(field, say) {
    const { question: id, revision, type } = field.dataset;
    const review = field.querySelector(".dabt-q__review a");
    const kind = [typed, order, choice].find((each) => field.querySelector(each.parts));
    const items = all(field, kind.parts);
    const verdict = field.querySelector(".dabt-q__verdict");
    const details = field.querySelector(".dabt-q__answer");
    let known = "";

    const self = {
      id,
      field,
      review: review?.getAttribute("href"),
      reviewTitle: review?.textContent,
      number: field.querySelector(".dabt-q__number").textContent.trim(),
      result: () => field.dataset.result,
      lacks: () => Boolean(kind.read(items).lack),
      check,
      restore,
      changed,
      clear,
    };
    // The target of a link to a question must take the focus, or Tab goes on from elsewhere.
    field.tabIndex = -1;
    return self;

    function unmark() {
      delete field.dataset.result;
      verdict.replaceChildren();
      all(field, ".dabt-q__mark").forEach((each) => each.remove());
      items.forEach((item) => delete item.dataset.mark);
    }

    function mark() {
      for (const item of items) {
        const [result, ...text] = kind.mark(item) ?? [];
        if (!result) continue;
        item.dataset.mark = result;
        (item.querySelector("label") ?? item).append(make("span", "dabt-q__mark", say(...text)));
      }
    }

    function reasons(answer) {
      if (kind !== choice) return [];
      return answer.flatMap((each) => {
        const why = details.querySelector(`.dabt-q__why[data-option="${each}"]`);
        return why ? [" ", ...why.cloneNode(true).childNodes] : [];
      });
    }

    // Many verdicts at once (a page opened, a quiz submitted) are not read aloud.
    function tell(result, aloud, ...content) {
      verdict.setAttribute("aria-live", aloud ? "polite" : "off");
      field.dataset.result = result;
      verdict.replaceChildren(...content);
    }

    function show(answer, aloud, reveal) {
      const { right, note, veiled } = kind.judge(items, answer, type === "multiple");
      const shown = reveal || !veiled;
      const word = make("strong", "dabt-q__word", say(right ? "right" : "wrong"));
      unmark();
      const more = note ? [` ${say(...note)}`] : [];
      tell(right ? "right" : "wrong", aloud, word, ...more, ...(shown ? reasons(answer) : []));
      if (shown) mark();
      return { right, shown };
    }

    // On a phone the verdict may come below the screen: nothing would seem to have happened.
    function bring(aloud) {
      if (aloud) verdict.scrollIntoView({ block: "nearest" });
    }

    function store(entry) {
      known = JSON.stringify(entry);
      keep(id, entry, verdict);
    }

    function check({ aloud = true, reveal = false } = {}) {
      const { answer, lack } = kind.read(items);
      unmark();
      if (lack) {
        tell("ask", aloud, say(...lack));
        return bring(aloud);
      }
      const { right, shown } = show(answer, aloud, reveal);
      if (aloud && shown) details.open = true;
      bring(aloud);
      store([revision, answer, Number(right)]);
    }

    // The verdict was about another answer.
    function changed() {
      unmark();
      const { answer } = kind.read(items);
      store(answer && [revision, answer]);
    }

    function clear() {
      unmark();
      kind.put(items);
      details.open = false;
      known = undefined;
    }

    // force: show or veil again what has not changed.
    function restore(entry, veil, force) {
      const fits = Array.isArray(entry) && entry[0] === revision && kind.fits(items, entry[1]);
      // Another key or other options since: this answer means nothing now.
      if (entry && !fits) return clear(), store();
      const text = JSON.stringify(entry);
      if (text === known && !force) return;
      if (!entry) return known && clear();
      known = text;
      unmark();
      kind.put(items, entry[1]);
      if (entry.length > 2 && !veil && !self.lacks()) show(entry[1], false);
    }
  }

  /* ---- A whole quiz ---- */

  const link = (name, href, text) => Object.assign(make("a", name, text), { href });

  const links = (say, questions) =>
    questions.flatMap(({ field, number: name }) => {
      const text = say("question", { number: name });
      return [" ", link("dabt-quiz__link", `#${field.id}`, text)];
    });

  function reviewList(say, missed) {
    const places = new Map();
    for (const each of missed.filter(({ review }) => review)) {
      places.set(each.review, [...(places.get(each.review) ?? []), each]);
    }
    if (!places.size) return [];
    const list = make("ul", "dabt-quiz__review");
    for (const [href, questions] of places) {
      const section = link("", href, questions[0].reviewTitle);
      list.append(make("li", "", section, ...links(say, questions)));
    }
    return [make("p", "dabt-quiz__ask", say("review")), list];
  }

  // The label of the first band that the percentage reaches; its row is marked too.
  function band(section, percent) {
    const rows = all(section, ".dabt-quiz__bands [data-from]");
    const reached = rows.find((row) => percent !== null && percent >= Number(row.dataset.from));
    rows.forEach((row) => row.classList.toggle("dabt-quiz__band--yours", row === reached));
    return reached?.querySelector(".dabt-quiz__band-label")?.textContent.trim();
  }

  function scoreboard(section, questions, say) {
    const box = section.querySelector(".dabt-quiz__result");

    function fill(aloud, ...content) {
      box.setAttribute("aria-live", aloud ? "polite" : "off");
      box.replaceChildren(...content);
    }

    function score(finished) {
      const checked = questions.filter((each) => /right|wrong/.test(each.result()));
      const right = checked.filter((each) => each.result() === "right");
      const total = questions.length;
      const done = finished || checked.length === total;
      const label = band(section, done ? (100 * right.length) / total : null);
      if (!checked.length && !finished) return fill(false);
      const percent = Math.round((100 * right.length) / total);
      const line = done
        ? say("score", { count: right.length, total, percent })
        : say("checked", { count: checked.length, total, right: right.length });
      const lines = [make("p", "dabt-quiz__score", line)];
      if (label) lines.push(make("p", "dabt-quiz__band", say("band", { label })));
      const missed = (done ? questions : checked).filter((each) => !right.includes(each));
      if (done && !missed.length) lines.push(make("p", "", say("nothing_to_review")));
      // Before the end each verdict speaks for itself: the score stays silent.
      fill(done, ...lines, ...reviewList(say, missed));
    }

    function name(lacking, submitAnyway) {
      const button = make("button", "dabt-quiz__button", say("submit_anyway"));
      button.type = "button";
      button.addEventListener("click", submitAnyway);
      const text = say("unanswered", { count: lacking.length });
      fill(true, make("p", "dabt-quiz__ask", text, ...links(say, lacking)), button);
    }

    return { score, name, say: (key) => fill(true, make("p", "dabt-quiz__ask", say(key))) };
  }

  function print(withKey) {
    const { classList } = document.documentElement;
    classList.toggle("dabt-print-key", withKey);
    addEventListener("afterprint", () => classList.remove("dabt-print-key"), { once: true });
    window.print();
  }

  function quiz(section) {
    const say = speaker(section);
    const form = section.querySelector("form");
    const fields = all(section, ".dabt-q");
    const questions = fields.map((field) => question(field, say));
    const of = (node) => questions[fields.indexOf(node.closest(".dabt-q"))];
    const whole = section.dataset.part === "false";
    const board = whole && scoreboard(section, questions, say);
    const exam = () => section.classList.contains("dabt-quiz--exam");
    const score = () => whole && !exam() && board.score();

    function check(node) {
      if (exam()) return;
      of(node).check();
      score();
    }

    function refresh(force) {
      const answers = kept(form);
      questions.forEach((each) => each.restore(answers[each.id], exam(), force));
      score();
    }

    form.addEventListener("submit", (event) => event.preventDefault());
    form.addEventListener("keydown", (event) => {
      // Enter would submit the form; in a choice or a field it means "check this".
      if (event.key !== "Enter" || event.isComposing || !event.target.matches("input")) return;
      event.preventDefault();
      check(event.target);
    });
    let pressed = null;
    form.addEventListener("click", (event) => {
      const part = event.target.closest("button, label, summary");
      // A verdict moves what is below it: the second half of a double click must not answer there.
      if (event.detail > 1 && part !== pressed) return event.preventDefault();
      pressed = part;
      if (part?.matches(".dabt-q__check")) check(part);
    });
    form.addEventListener("input", ({ target }) => {
      of(target).changed();
      score();
    });
    all(form, ".dabt-q__actions").forEach((each) => (each.hidden = false));
    if (whole) tools({ section, questions, board, say, refresh });
    refresh();
    return { section, refresh };
  }

  function tools({ section, questions, board, say, refresh }) {
    const part = (name) => section.querySelector(`.dabt-quiz__${name}`);
    const submitRow = part("submit").parentElement;

    function submit(anyway) {
      const lacking = questions.filter((each) => each.lacks());
      if (lacking.length && !anyway) return board.name(lacking, () => submit(true));
      part("submit").focus();
      questions.forEach((each) => each.check({ aloud: false, reveal: true }));
      board.score(true);
    }

    part("tools").hidden = part("result").hidden = false;
    part("submit").addEventListener("click", () => submit(false));
    part("exam").addEventListener("change", ({ target }) => {
      section.classList.toggle("dabt-quiz--exam", target.checked);
      submitRow.hidden = !target.checked;
      part("result").replaceChildren();
      refresh(true);
    });
    part("reset").addEventListener("click", () => {
      if (!confirm(say("reset_sure"))) return;
      questions.forEach((each) => {
        keep(each.id, null, each.field);
        each.clear();
      });
      board.say("reset_done");
    });
    part("print").addEventListener("click", () => print(false));
    part("print-key").addEventListener("click", () => print(true));
  }

  /* ---- The page ---- */

  let quizzes = [];
  const refreshAll = () => quizzes.forEach((each) => each.refresh());

  function start() {
    const fresh = all(document, ".dabt-quiz:not([data-ready])");
    quizzes = quizzes.filter(({ section }) => section.isConnected).concat(fresh.map(quiz));
    fresh.forEach((section) => (section.dataset.ready = ""));
    // The browser has gone to #q-… before the question could take the focus.
    const target = document.getElementById(location.hash.slice(1));
    if (fresh.length && target?.matches(".dabt-q")) target.focus();
  }

  addEventListener("storage", ({ key }) => (key === KEY || key === null) && refreshAll());
  // A page that comes back from the back/forward cache has missed what other pages kept.
  addEventListener("pageshow", refreshAll);
  start();
})();
