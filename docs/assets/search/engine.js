/* Finds pages in the index of one language, which hooks/dabt/search/index.py wrote. */

/* How much a word found in another way than as it was typed counts. */
const FAMILY = 0.3;
const FAMILY_ALONE = 0.6;
const BEGINNING = 0.25;
const BEGINNING_ALONE = 0.6;
const GUESSED = 0.6;
const SHORTEST_BEGINNING = 3;
const SHORTEST_GUESSED = 4;
const LEVELS = 7;
const MOST_SUGGESTED = 4;
/* What a glossary's term, named in a query, adds to the sections that teach it, in their order. */
const TAUGHT = [1.3, 0.6, 0.4];
const IN_GLOSSARY = 0.6;
const WHOLE_PAGE = 0.5;
/* What a page's title and opening say holds for its sections, to this part. */
const FROM_PAGE = 0.3;
const KINDS = { chapter: 1, quiz: 0.8, glossary: 0.8, other: 0.8 };

const number = (code) => code - (code > 92 ? 36 : 35);

/* The words of the index, in their order, and for each where its postings begin. */
const unpackWords = ({ words, counts }) => {
  const stems = [];
  const starts = new Uint32Array(counts.length + 1);
  let before = "";
  for (const entry of words.split(" ")) {
    before = before.slice(0, number(entry.charCodeAt(0))) + entry.slice(1);
    starts[stems.length + 1] = starts[stems.length] + number(counts.charCodeAt(stems.length));
    stems.push(before);
  }
  return { stems, starts, ranks: new Map(stems.map((stem, rank) => [stem, rank])) };
};

const unpackPages = (index) => {
  const sections = [];
  const pages = index.pages.map(([url, title, kind, text, inside], page) => {
    const first = sections.length;
    inside.forEach(([id, heading], place) => sections.push({ page, id, title: heading, place }));
    return { url, title, kind, text, first, size: inside.length };
  });
  return { pages, sections };
};

const groupBy = (items, key) => {
  const groups = new Map();
  for (const item of items) {
    const name = key(item);
    if (!groups.has(name)) groups.set(name, []);
    groups.get(name).push(item);
  }
  return groups;
};

/* Whether two words differ by one letter: left out, doubled over, changed, or two exchanged. */
const differByOne = (a, b) => {
  if (Math.abs(a.length - b.length) > 1) return false;
  let from = 0;
  while (from < a.length && a[from] === b[from]) from++;
  const rest = (word, skip) => word.slice(from + skip);
  return a.length > b.length
    ? rest(a, 1) === rest(b, 0)
    : a.length < b.length
      ? rest(a, 0) === rest(b, 1)
      : rest(a, 1) === rest(b, 1) ||
        (a[from] === b[from + 1] && a[from + 1] === b[from] && rest(a, 2) === rest(b, 2));
};

/* `makeWords` is that of words.js: the page loads both at once, and in the same version. */
export const makeEngine = (index, makeWords) => {
  const language = makeWords(index.rules);
  const { stems, starts, ranks } = unpackWords(index);
  const { pages, sections } = unpackPages(index);
  const sizeOf = (rank) => starts[rank + 1] - starts[rank];
  const rarity = (size) => Math.log(1 + (sections.length - size + 0.5) / (size + 0.5));
  const unknown = rarity(1);

  const eachPosting = (rank, act) => {
    let section = -1;
    for (let at = starts[rank]; at < starts[rank + 1]; at++) {
      section += number(index.steps.charCodeAt(at));
      act(section, index.impacts[at] / LEVELS);
    }
  };

  /* Each name of each term as its words' ranks, by the rank of the first word. */
  const names = new Map();
  index.concepts.forEach(([, , places, known]) => {
    for (const written of known.split(" ")) {
      const words = [...written].map((one) => number(one.charCodeAt(0)));
      if (!names.has(words[0])) names.set(words[0], []);
      names.get(words[0]).push({ words, places });
    }
  });

  let families;
  const familyOf = (stem) => {
    families ??= groupBy(stems.keys(), (rank) => language.family(stems[rank]));
    return families.get(language.family(stem)) ?? [];
  };

  /* What sounds like an Arabic word that the course does not have: Latin words, English terms. */
  let sounds;
  const soundsLike = (folded) => {
    sounds ??= {
      ranks: groupBy(
        [...stems.keys()].filter((rank) => !language.ARABIC.test(stems[rank])),
        (rank) => language.sound(stems[rank]),
      ),
      concepts: groupBy(index.concepts, ([, english]) =>
        language.sound(language.words(english.replace(/\(.*/, "")).join("")),
      ),
    };
    const key = language.sound(folded);
    return key.length < 2 ? {} : { ranks: sounds.ranks.get(key), concepts: sounds.concepts.get(key) };
  };

  /* The words of the index that a typed word stands for, each rank with its weight. */
  const expand = (folded, last) => {
    const readings = language.readings(folded);
    const exact = readings.find((one) => ranks.has(one));
    const found = new Map();
    const add = (rank, weight) => found.set(rank, Math.max(weight, found.get(rank) ?? 0));
    if (exact !== undefined) add(ranks.get(exact), 1);
    for (const reading of exact === undefined ? readings : [exact]) {
      for (const rank of familyOf(reading)) add(rank, exact === undefined ? FAMILY_ALONE : FAMILY);
    }
    if (last) addBegun(folded, found, add);
    return { folded, readings, exact: ranks.get(exact), ranks: readings.map((r) => ranks.get(r)), found };
  };

  /* The words that begin with what has been typed so far. */
  const addBegun = (folded, found, add) => {
    const weight = found.size ? BEGINNING : BEGINNING_ALONE;
    for (const bare of language.bareForms(folded)) {
      if (bare.length < SHORTEST_BEGINNING) continue;
      const begun = [...stems.keys()].filter((rank) => stems[rank].startsWith(bare));
      for (const rank of begun) add(rank, weight);
      if (begun.length) return;
    }
  };

  /* What is left for a word that nothing stands for: its sound, then a letter mistyped. */
  const guess = (word) => {
    if (word.found.size || word.named) return;
    const arabic = language.ARABIC.test(word.folded);
    const heard = arabic ? soundsLike(word.folded).ranks ?? [] : [];
    for (const rank of heard) word.found.set(rank, GUESSED);
    if (heard.length || word.folded.length < SHORTEST_GUESSED) return;
    const bare = language.bareForms(word.folded).filter((one) => one.length >= SHORTEST_GUESSED);
    const wanted = [...new Set([...bare, ...word.readings])].filter((one) => one.length > 2);
    stems.forEach((stem, rank) => {
      if (wanted.some((one) => differByOne(one, stem))) word.found.set(rank, GUESSED);
    });
    word.guessed = word.found.size > 0;
  };

  /* The longest name of a term that begins at a word of the query. */
  const nameAt = (words, at) => {
    let best;
    for (const rank of words[at].ranks) {
      for (const name of names.get(rank) ?? []) {
        const size = name.words.length;
        if (size <= (best?.words.length ?? 0) || at + size > words.length) continue;
        if (name.words.every((one, place) => words[at + place].ranks.includes(one))) best = name;
      }
    }
    return best;
  };

  /* The terms that a query names: by any of their names, else by the sound of the English one. */
  const findNames = (words) => {
    const found = [];
    for (let at = 0; at < words.length; at++) {
      const name = nameAt(words, at);
      if (!name) continue;
      found.push({ places: name.places, from: at, size: name.words.length });
      at += name.words.length - 1;
    }
    const foreign = (one) => one.exact === undefined && language.ARABIC.test(one.folded);
    for (let size = Math.min(3, words.length); size && !found.length; size--) {
      for (let at = 0; at + size <= words.length; at++) {
        const part = words.slice(at, at + size);
        if (!part.every(foreign)) continue;
        const heard = soundsLike(part.map((one) => one.folded).join("")).concepts;
        if (heard) found.push({ places: heard[0][2], from: at, size });
      }
    }
    return found;
  };

  const worthOf = (word) => (word.exact === undefined ? unknown : rarity(sizeOf(word.exact)));

  const score = (words) => {
    const ofSections = new Float32Array(sections.length);
    const ofPages = new Float32Array(pages.length);
    const own = new Uint8Array(sections.length);
    for (const word of words) {
      const best = new Float32Array(sections.length);
      const most = word.exact === undefined ? Infinity : worthOf(word);
      let top = 0;
      for (const [rank, weight] of word.found) {
        const value = weight * Math.min(most, rarity(sizeOf(rank)));
        top = Math.max(top, value);
        eachPosting(rank, (section, impact) => {
          best[section] = Math.max(best[section], value * impact);
        });
      }
      const sums = new Float32Array(pages.length);
      best.forEach((value, section) => {
        const { page } = sections[section];
        own[section] ||= value > 0;
        ofSections[section] += Math.max(value, FROM_PAGE * best[pages[page].first]);
        sums[page] += value;
      });
      sums.forEach((sum, page) => {
        if (sum) ofPages[page] += (top * sum) / (sum + top);
      });
    }
    ofSections.forEach((_, section) => own[section] || (ofSections[section] = 0));
    return { ofSections, ofPages };
  };

  /* A term that is the whole query counts in full; beside other words, as much as it is of them. */
  const addNames = (found, words, ofSections) => {
    const whole = words.reduce((sum, word) => sum + worthOf(word), 0);
    for (const { places, from, size } of found) {
      const worth = words.slice(from, from + size).reduce((sum, word) => sum + worthOf(word), 0);
      places.forEach((place, order) => {
        const glossary = pages[sections[place].page].kind === "glossary";
        const share = glossary ? IN_GLOSSARY : TAUGHT[Math.min(order, TAUGHT.length - 1)];
        ofSections[place] += (worth * share * worth) / whole;
      });
    }
  };

  const rank = ({ ofSections, ofPages }) => {
    const results = pages.map((page, number) => {
      const inside = [];
      for (let at = page.first; at < page.first + page.size; at++) {
        if (ofSections[at] > 0) inside.push({ section: at, score: ofSections[at] });
      }
      inside.sort((a, b) => b.score - a.score || a.section - b.section);
      const best = inside[0]?.score ?? 0;
      const total = (best + WHOLE_PAGE * ofPages[number]) * KINDS[page.kind];
      return { page: number, score: total, sections: inside };
    });
    return results.filter((one) => one.score > 0).sort((a, b) => b.score - a.score || a.page - b.page);
  };

  /* `whole`: the last word is no beginning of a longer one. */
  const search = (query, whole = false) => {
    const typed = language.words(query);
    const words = typed.map((folded, at) => expand(folded, !whole && at === typed.length - 1));
    const found = findNames(words);
    for (const { from, size } of found) {
      for (const word of words.slice(from, from + size)) word.named = true;
    }
    words.forEach(guess);
    const scores = score(words);
    addNames(found, words, scores.ofSections);
    const marked = new Set(words.flatMap((word) => [...word.found.keys()]));
    const isMarked = (folded) => language.readings(folded).some((one) => marked.has(ranks.get(one)));
    return {
      results: rank(scores),
      guessed: words.some((word) => word.guessed),
      marks: (written) => language.words(written).some(isMarked),
    };
  };

  /* Terms and titles of which a word begins as the last typed one does, after the same words. */
  const suggest = (query) => {
    const wanted = language.fold(query).trim();
    if (wanted.length < 2) return [];
    const begins = (name) => {
      const folded = language.fold(name);
      return folded !== wanted && ` ${folded}`.includes(` ${wanted}`);
    };
    const terms = index.concepts.filter(([name, english]) => begins(name) || begins(english));
    const titles = pages.filter((page) => begins(page.title));
    const found = [...terms.map(([name]) => name), ...titles.map((page) => page.title)];
    return [...new Set(found)].slice(0, MOST_SUGGESTED);
  };

  return { pages, sections, search, suggest, language };
};
