/* Words made comparable, by the tables that the index carries (hooks/dabt/search/rules.yml).
   The site is built with the same tables by hooks/dabt/search/words.py; a test compares both. */

/* Arabic letters and digits; Arabic and Latin make two words even where they touch. */
const LETTERS = "\u0620-\u063f\u0641-\u064a\u0660-\u0669\u0671-\u06d3\u06f0-\u06f9";
const ARABIC = new RegExp(`^[${LETTERS}]`);
const WORD = new RegExp(`[${LETTERS}]+|(?:(?![${LETTERS}])[\\p{L}\\p{N}])+`, "gu");
/* A word as written: signs and strokes do not cut it. */
const WRITTEN = /[\p{L}\p{N}\p{M}\u0640\u200c-\u200f\u061c]+/gu;

/* Steps of endings, each as a map: the tables list the longest first, so the longest one wins. */
const readSteps = (steps) =>
  steps.map((step) => ({
    longest: Math.max(...step.map(([ending]) => ending.length)),
    endings: new Map(step.map(([ending, instead, leave]) => [ending, { instead, leave }])),
  }));

const end = (word, steps) => {
  for (const { longest, endings } of steps) {
    for (let size = Math.min(longest, word.length); size; size--) {
      const found = endings.get(word.slice(word.length - size));
      if (found && word.length - size >= found.leave) {
        word = word.slice(0, word.length - size) + found.instead;
        break;
      }
    }
  }
  return word;
};

export const makeWords = (rules) => {
  const stop = new Set(rules.stop);
  const arabic = readSteps(rules.arabic);
  const latin = readSteps(rules.latin);
  const latinFamily = readSteps(rules.family.latin);
  const { lead, leave } = rules.family.arabic;
  const weak = new RegExp(`(?!^)[${rules.family.arabic.weak}]`, "g");

  const fold = (text) => {
    const bare = text.normalize("NFKD").toLowerCase().replace(/\p{Mn}|\p{Cf}/gu, "");
    return [...bare].map((letter) => rules.fold[letter] ?? letter).join("");
  };

  const saysSomething = (folded) => {
    if (folded.length === 1) return /\p{Nd}/u.test(folded);
    return !stop.has(folded) && !(rules.joins.includes(folded[0]) && stop.has(folded.slice(1)));
  };

  const words = (text) => (fold(text).match(WORD) ?? []).filter(saysSomething);

  /* The words of a query; all of them where none says something: إل إل إم. */
  const asked = (text) => {
    const found = words(text);
    return found.length ? found : (fold(text).match(WORD) ?? []);
  };

  const stem = (bare) =>
    /\p{Nd}/u.test(bare) ? bare : end(bare, ARABIC.test(bare) ? arabic : latin);

  const articleOf = (folded) =>
    rules.article.prefixes.find(
      (one) => folded.startsWith(one) && folded.length - one.length >= rules.article.leave,
    ) ?? "";

  /* Letters that only their dots tell apart are one, as a hurried eye and finger take them. */
  const dots = new Map(rules.dots.flatMap((alike) => [...alike].map((one) => [one, alike[0]])));
  const withoutDots = (folded) => [...folded].map((one) => dots.get(one) ?? one).join("");

  const bareForms = (folded) => {
    if (!ARABIC.test(folded)) return [folded];
    const found = [];
    const rest = (prefix, leave) =>
      folded.startsWith(prefix) && folded.length - prefix.length >= leave
        ? folded.slice(prefix.length)
        : "";
    const { joined } = rules;
    const definite = articleOf(folded);
    if (definite) {
      found.push(folded.slice(definite.length));
      if (definite.endsWith("لل")) found.push(`ل${folded.slice(definite.length)}`);
    }
    found.push(folded);
    for (const prefix of joined.prefixes) {
      const bare = rest(prefix, joined.leave);
      if (bare) found.push(bare);
    }
    return found;
  };

  const readings = (folded) => [...new Set(bareForms(folded).map(stem))];

  const family = (of) => {
    if (/^\p{Nd}+$/u.test(of)) return of;
    if (/^\p{Nd}/u.test(of)) return of.replace(/\p{Nd}+/gu, "0");
    if (!ARABIC.test(of)) return end(of, latinFamily);
    let rest = (of.startsWith(lead[0]) && of.length > leave ? of.slice(1) : of).replace(weak, "");
    for (;;) {
      const prefix = lead.find((one) => rest.length - one.length >= leave && rest.startsWith(one));
      if (!prefix) return rest.length > 1 ? rest : of;
      rest = rest.slice(prefix.length);
    }
  };

  /* A pattern that every stem of a family has, and few others: cheaper than all their families. */
  const familyPattern = (name) => {
    if (/^\p{Nd}+$/u.test(name)) return new RegExp(`^${name}$`);
    if (/^\p{Nd}/u.test(name)) return new RegExp(`^${name.replaceAll("0", "\\d+")}$`);
    if (!ARABIC.test(name)) return new RegExp(`^${name}`);
    return new RegExp([...name].join(`[${rules.family.arabic.weak}]*`));
  };

  const sound = (folded) => {
    let arabic = folded;
    for (const [letters, heard] of rules.sound.latin) arabic = arabic.replaceAll(letters, heard);
    for (const [letters, heard] of rules.sound.arabic) arabic = arabic.replaceAll(letters, heard);
    return arabic.replace(/[^\u0621-\u064a]/g, "").replace(/(.)\1/g, "$1");
  };

  return {
    fold,
    words,
    asked,
    stem,
    articleOf,
    bareForms,
    readings,
    family,
    familyPattern,
    sound,
    withoutDots,
    written: WRITTEN,
    ARABIC,
  };
};
