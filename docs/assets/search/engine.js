/* Finds pages in the index of one language, which hooks/dabt/search/index.py wrote: the store
   unpacks it, the reader says what a query stands for, the engine counts and orders.
   The numbers were chosen on whole sets of queries (benchmarks/search.py), never for one of them. */

/* How much a word counts that was found in another way than as it was typed. */
const FAMILY = 0.3;
const FAMILY_ALONE = 0.6;
const BEGINNING = 0.25;
const BEGINNING_ALONE = 0.6;
const SYNONYM = 0.5;
const SYNONYM_ALONE = 0.8;
const REST_OF_EXPRESSION = 0.3;
const GUESSED = 0.6;
const SAME_BUT_DOTS = 0.9;
const NUMBER = 0.6;
/* What counts for less than this is marked in a result only when nothing else is. */
const CLEARLY = 0.4;
const SHORTEST_BEGINNING = 3;
const SHORTEST_GUESSED = 4;
/* The levels of impact in the index. */
const LEVELS = 7;
/* What a glossary's term, named in a query, adds to the sections that teach it, in their order. */
const TAUGHT = [1.3, 0.6, 0.4];
const IN_GLOSSARY = 0.6;
/* What all sections of a page say, beside its best one; what its title says; what its opening
   says for each of its sections. */
const WHOLE_PAGE = 1;
const TITLED = 1;
const FROM_PAGE = 0.3;
/* How much less counts what holds few of the words asked for. */
const COVER = 0.3;
/* A long query that a section holds nearly whole is a quotation of it. */
const QUOTED = 2;
const QUOTED_WORDS = 6;
const QUOTED_SHARE = 0.9;
const KINDS = { chapter: 1, quiz: 0.6, glossary: 0.6, other: 0.85 };
const MOST_SUGGESTED = 4;

const numberOf = (code) => code - (code > 92 ? 36 : 35);

const groupBy = (items, key) => {
  const groups = new Map();
  for (const item of items) {
    const name = key(item);
    const group = groups.get(name);
    if (group) group.push(item);
    else groups.set(name, [item]);
  }
  return groups;
};

/* The index unpacked. A word is known by its rank: its place among the sorted words. */
const makeStore = (index) => {
  const stems = [];
  const doubts = new Set();
  const starts = new Uint32Array(index.counts.length + 1);
  let before = "";
  for (const entry of index.words.split(" ")) {
    const size = numberOf(index.counts.charCodeAt(stems.length));
    starts[stems.length + 1] = starts[stems.length] + size;
    const doubtful = entry.endsWith("?");
    const letters = entry.slice(1, doubtful ? -1 : undefined);
    before = before.slice(0, numberOf(entry.charCodeAt(0))) + letters;
    if (doubtful) doubts.add(before);
    stems.push(before);
  }
  const ranks = new Map(stems.map((stem, rank) => [stem, rank]));
  const sizeOf = (rank) => starts[rank + 1] - starts[rank];

  const sections = [];
  const pages = index.pages.map(([url, title, kind, text, inside], page) => {
    const first = sections.length;
    inside.forEach(([id, heading], place) => sections.push({ page, id, title: heading, place }));
    return { url, title, kind, text, first, size: inside.length };
  });

  const eachPosting = (rank, act) => {
    let section = -1;
    for (let at = starts[rank]; at < starts[rank + 1]; at++) {
      section += numberOf(index.steps.charCodeAt(at));
      act(section, (index.impacts.charCodeAt(at) - 48) / LEVELS);
    }
  };

  return {
    stems,
    ranks,
    sizeOf,
    doubts,
    /* Whether a page has it; synonyms are known without being written anywhere. */
    isWritten: (stem) => ranks.has(stem) && sizeOf(ranks.get(stem)) > 0,
    rarity: (size) => Math.log(1 + (sections.length - size + 0.5) / (size + 0.5)),
    eachPosting,
    pages,
    sections,
  };
};

/* Whether two words differ by one letter: left out, doubled over, changed, or two exchanged. */
const differByOne = (a, b) => {
  if (Math.abs(a.length - b.length) > 1) return false;
  let from = 0;
  while (from < a.length && a[from] === b[from]) from++;
  const [restA, restB] = [a.slice(from), b.slice(from)];
  if (a.length > b.length) return restA.slice(1) === restB;
  if (a.length < b.length) return restA === restB.slice(1);
  const exchanged = restA[0] === restB[1] && restA[1] === restB[0];
  return restA.slice(1) === restB.slice(1) || (exchanged && restA.slice(2) === restB.slice(2));
};

/* What sounds like an Arabic word that the course does not have: Latin words, English terms. */
const makeEar = (index, language, { stems }) => {
  let heard;
  const listen = () => {
    const latin = [...stems.keys()].filter((rank) => !language.ARABIC.test(stems[rank]));
    const english = ([, name]) =>
      language.sound(language.words(name.replace(/\(.*/, "")).join(""));
    return {
      ranks: groupBy(latin, (rank) => language.sound(stems[rank])),
      concepts: groupBy(index.concepts, english),
    };
  };
  return (folded, least = 3) => {
    heard ??= listen();
    const all = new Set(language.bareForms(folded).map(language.sound));
    const keys = [...all].filter((key) => key.length >= least);
    const known = (from) => keys.flatMap((key) => from.get(key) ?? []);
    return { ranks: known(heard.ranks), concepts: known(heard.concepts) };
  };
};

/* Reads a query: its words, each with what it stands for in the index, and the terms it names. */
const makeReader = (index, language, store) => {
  const { stems, ranks, sizeOf, isWritten, doubts } = store;
  const soundsLike = makeEar(index, language, store);

  /* Names as their words' ranks, by the rank of the first one. */
  const readNames = (known) =>
    known.split(" ").map((one) => Array.from(one, (digit) => numberOf(digit.charCodeAt(0))));
  const byFirst = (named) => groupBy(named, (one) => one.words[0]);
  const terms = byFirst(
    index.concepts.flatMap(([, , places, known]) =>
      readNames(known).map((words) => ({ words, places })),
    ),
  );
  const synonyms = byFirst(
    index.synonyms.flatMap((known) => {
      const group = readNames(known);
      return group.map((words) => ({ words, others: group.filter((one) => one !== words) }));
    }),
  );

  const familyOf = (stem) => {
    const name = language.family(stem);
    const pattern = language.familyPattern(name);
    const same = (rank) => pattern.test(stems[rank]) && language.family(stems[rank]) === name;
    return [...stems.keys()].filter((rank) => same(rank) && sizeOf(rank));
  };

  const raise = (found, rank, weight) => found.set(rank, Math.max(weight, found.get(rank) ?? 0));

  const addBegun = (folded, found) => {
    const weight = found.size ? BEGINNING : BEGINNING_ALONE;
    for (const bare of language.bareForms(folded)) {
      if (bare.length < SHORTEST_BEGINNING) continue;
      const begun = [...stems.keys()].filter((rank) => stems[rank].startsWith(bare) && sizeOf(rank));
      for (const rank of begun) raise(found, rank, weight);
      if (begun.length) return;
    }
  };

  /* A typed word with the ranks it stands for and their weights; `last` may be unfinished. */
  const expand = (folded, last) => {
    const readings = language.readings(folded);
    const written = readings.filter(isWritten);
    const exact = written.find((one) => !doubts.has(one)) ?? written[0];
    const found = new Map();
    if (exact !== undefined) found.set(ranks.get(exact), 1);
    for (const reading of exact === undefined ? readings : [exact]) {
      const weight = exact === undefined ? FAMILY_ALONE : FAMILY;
      for (const rank of familyOf(reading)) raise(found, rank, weight);
    }
    if (last) addBegun(folded, found);
    const names = readings.map((one) => ranks.get(one)).filter((one) => one !== undefined);
    return { folded, readings, exact: ranks.get(exact), names, found };
  };

  /* The longest of some names that begins at a word of the query. */
  const nameAt = (known, words, at) => {
    let best;
    for (const name of words[at].names.flatMap((rank) => known.get(rank) ?? [])) {
      const size = name.words.length;
      if (size <= (best?.words.length ?? 0) || at + size > words.length) continue;
      if (name.words.every((one, place) => words[at + place].names.includes(one))) best = name;
    }
    return best;
  };

  /* What else readers say for what is typed. An expression is one idea: its first word stands for
     it, and the words after it count for little. */
  const addSynonyms = (words) => {
    const typed = words.map((word) => ({ names: [...word.names] }));
    words.forEach((word, at) => {
      const name = nameAt(synonyms, typed, at);
      if (!name) return;
      const weight = word.found.size ? SYNONYM : SYNONYM_ALONE;
      const others = name.others.filter((one) => one.every(sizeOf));
      const single = others.filter((one) => one.length === 1).flat();
      const instead = single.length ? single : (others[0] ?? []);
      for (const rank of instead) raise(word.found, rank, weight);
      word.names.push(...single);
      for (const rest of instead.length ? words.slice(at + 1, at + name.words.length) : []) {
        for (const [rank, value] of rest.found) rest.found.set(rank, value * REST_OF_EXPRESSION);
        rest.explained = true;
      }
    });
  };

  /* The terms that a query names: by any of their names, else by the sound of the English one. */
  const findTerms = (words) => {
    const found = [];
    for (let at = 0; at < words.length; at++) {
      const name = nameAt(terms, words, at);
      if (!name) continue;
      found.push({ places: name.places, words: words.slice(at, at + name.words.length) });
      at += name.words.length - 1;
    }
    return found.length ? found : findSpokenTerms(words);
  };

  /* Up to three foreign words, as long as possible, that sound like a term, or like one word. */
  const findSpokenTerms = (words) => {
    const foreign = (one) => one.exact === undefined && language.ARABIC.test(one.folded);
    for (let size = Math.min(3, words.length); size; size--) {
      for (let at = 0; at + size <= words.length; at++) {
        const part = words.slice(at, at + size);
        if (!part.every(foreign)) continue;
        const { ranks: alike, concepts } = soundsLike(part.map((one) => one.folded).join(""));
        if (concepts.length) return [{ places: concepts[0][2], words: part }];
        if (size > 1 && alike.length) hear(part, alike);
      }
    }
    return [];
  };

  const hear = (part, alike) => {
    for (const word of part) {
      word.found.clear();
      word.explained = true;
    }
    for (const rank of alike) part[0].found.set(rank, GUESSED);
  };

  /* What is left for a word that nothing stands for: its sound, then a letter mistyped, then a
     sound of two consonants, which many words have. */
  const guess = (word) => {
    const { folded, found } = word;
    const arabic = language.ARABIC.test(folded);
    const listen = (least) => {
      for (const rank of soundsLike(folded, least).ranks) found.set(rank, GUESSED);
    };
    if (arabic) listen(folded.length > SHORTEST_GUESSED ? 3 : 2);
    if (!found.size) guessLetters(word, arabic);
    if (arabic && !found.size) listen(2);
  };

  const guessLetters = (word, arabic) => {
    const { folded, found } = word;
    if (folded.length < SHORTEST_GUESSED || /\d/.test(folded)) return;
    const typed = [...new Set([...language.bareForms(folded), ...word.readings])].filter(
      (one) => one.length >= SHORTEST_GUESSED,
    );
    const undotted = typed.map(language.withoutDots);
    /* A slip in the article itself: ادلمج. */
    const article = arabic && !language.articleOf(folded) ? "ال" : "";
    stems.forEach((stem, rank) => {
      if (!sizeOf(rank)) return;
      const near = typed.some((one) => differByOne(one, stem));
      if (!near && !(article && differByOne(folded, article + stem))) return;
      const alike = undotted.includes(language.withoutDots(stem));
      found.set(rank, alike ? SAME_BUT_DOTS : GUESSED);
    });
    word.guessed = found.size > 0;
  };

  const isKnown = (typed) => language.readings(typed).some(isWritten);

  /* Two words that the course writes as one: warm up. */
  const join = (typed) => {
    const joined = [];
    for (let at = 0; at < typed.length; at++) {
      const [one, next] = typed.slice(at, at + 2);
      const both = next && isKnown(one + next) && !(isKnown(one) && isKnown(next));
      joined.push(both ? one + next : one);
      if (both) at++;
    }
    return joined;
  };

  /* One word that the course writes as two: finetuning. */
  const split = (folded) => {
    if (language.ARABIC.test(folded) || isKnown(folded)) return [folded];
    const known = (part) => isKnown(part) || familyOf(language.readings(part)[0]).length;
    for (let at = SHORTEST_BEGINNING; at <= folded.length - SHORTEST_BEGINNING; at++) {
      const parts = [folded.slice(0, at), folded.slice(at)];
      if (parts.every(known)) return parts;
    }
    return [folded];
  };

  return (query) => {
    const typed = join(language.asked(query)).flatMap(split);
    const words = typed.map((folded, at) => expand(folded, at === typed.length - 1));
    addSynonyms(words);
    const named = findTerms(words);
    const inTerms = new Set(named.flatMap((one) => one.words));
    for (const word of words) if (!word.found.size && !word.explained && !inTerms.has(word)) guess(word);
    return { words, named };
  };
};

/* `makeWords` is that of words.js: the page loads both at once, and in the same version. */
export const makeEngine = (index, makeWords) => {
  const language = makeWords(index.rules);
  const store = makeStore(index);
  const { ranks, sizeOf, rarity, eachPosting, pages, sections } = store;
  const read = makeReader(index, language, store);

  /* How much each word of a page's title is of it. */
  const titles = pages.map(({ title }) => {
    const written = language.words(title).map(language.readings);
    const shares = written.flatMap((all) => all.map((one) => [ranks.get(one), 1 / written.length]));
    return new Map(shares);
  });

  /* How much it says that a word is there; one that no page has says as much as a rare one. */
  const worthOf = ({ exact }) => rarity(exact === undefined ? 1 : sizeOf(exact));
  const sum = (words) => words.reduce((total, word) => total + worthOf(word), 0);

  /* What each section says of a word, by the best of what the word stands for. */
  const valuesOf = (word) => {
    const values = new Float32Array(sections.length);
    const most = word.exact === undefined ? Infinity : worthOf(word);
    const share = /^\d/.test(word.folded) ? NUMBER : 1;
    let top = 0;
    for (const [rank, weight] of word.found) {
      const value = share * weight * Math.min(most, rarity(sizeOf(rank)));
      top = Math.max(top, value);
      eachPosting(rank, (section, impact) => {
        if (value * impact > values[section]) values[section] = value * impact;
      });
    }
    return { values, top };
  };

  const titled = (word, page) => {
    const shares = [...word.found].map(([rank, weight]) => weight * (titles[page].get(rank) ?? 0));
    return TITLED * worthOf(word) * Math.sqrt(Math.max(0, ...shares));
  };

  /* The scores of sections and of pages, and how much of the query each holds. */
  const score = ({ words, named }) => {
    const whole = sum(words);
    const empty = (list) => new Float32Array(list.length);
    const scores = { ofSections: empty(sections), ofPages: empty(pages), covered: empty(pages) };
    const held = empty(sections);
    for (const word of words) {
      const { values, top } = valuesOf(word);
      const totals = empty(pages);
      values.forEach((value, section) => {
        const { page } = sections[section];
        if (value) held[section] += worthOf(word) / whole;
        scores.ofSections[section] += Math.max(value, FROM_PAGE * values[pages[page].first]);
        totals[page] += value;
      });
      totals.forEach((total, page) => {
        if (!total) return;
        scores.ofPages[page] += (top * total) / (total + top) + titled(word, page);
        scores.covered[page] += worthOf(word) / whole;
      });
    }
    const long = words.length >= QUOTED_WORDS;
    held.forEach((share, section) => {
      const quoted = long && share > QUOTED_SHARE ? QUOTED : 1;
      scores.ofSections[section] *= share && quoted * share ** COVER;
    });
    named.forEach((one) => addTerm(one, whole, scores));
    return scores;
  };

  /* A term that is the whole query counts in full; beside other words, as much as it is of them. */
  const addTerm = ({ places, words }, whole, { ofSections, covered }) => {
    const worth = sum(words);
    places.forEach((place, order) => {
      const { page } = sections[place];
      const taught = TAUGHT[Math.min(order, TAUGHT.length - 1)];
      const share = pages[page].kind === "glossary" ? IN_GLOSSARY : taught;
      ofSections[place] += (share * worth * worth) / whole;
      covered[page] = Math.max(covered[page], worth / whole);
    });
  };

  const order = ({ ofSections, ofPages, covered }) =>
    pages
      .map(({ kind, first, size }, page) => {
        const inside = Array.from({ length: size }, (_, at) => first + at)
          .map((section) => ({ section, score: ofSections[section] }))
          .filter((one) => one.score > 0)
          .sort((a, b) => b.score - a.score || a.section - b.section);
        const best = inside[0]?.score ?? 0;
        const all = (best + WHOLE_PAGE * ofPages[page]) * KINDS[kind] * covered[page] ** COVER;
        return { page, score: all, sections: inside };
      })
      .filter((one) => one.sections.length)
      .sort((a, b) => b.score - a.score || a.page - b.page);

  /* Pages in their order, each with its sections in theirs; `marks(word)` says whether a word of a
     text is what the query stands for: 2 clearly, 1 by its family, 0 not at all. */
  const search = (query) => {
    const understood = read(query);
    const weights = new Map();
    for (const [rank, weight] of understood.words.flatMap((word) => [...word.found])) {
      weights.set(rank, Math.max(weight, weights.get(rank) ?? 0));
    }
    const weightOf = (folded) =>
      Math.max(...language.readings(folded).map((one) => weights.get(ranks.get(one)) ?? 0));
    const seen = new Map();
    const mark = (written) => {
      const best = Math.max(0, ...language.words(written).map(weightOf));
      return best >= CLEARLY ? 2 : Math.ceil(best);
    };
    return {
      results: understood.words.length ? order(score(understood)) : [],
      guessed: understood.words.some((word) => word.guessed),
      marks: (written) => {
        if (!seen.has(written)) seen.set(written, mark(written));
        return seen.get(written);
      },
    };
  };

  /* Terms, by either name, and titles, folded. */
  let offers;
  const foldOffers = () => [
    ...index.concepts.flatMap(([name, english]) => [[name, name], [name, english]]),
    ...pages.map(({ title }) => [title, title]),
  ].map(([name, by]) => [name, ` ${language.fold(by)}`]);

  /* Terms and titles in which a word begins as what is typed. */
  const suggest = (query) => {
    const wanted = ` ${language.fold(query).trim()}`;
    if (wanted.length < 3) return [];
    offers ??= foldOffers();
    const found = offers.filter(([, folded]) => folded !== wanted && folded.includes(wanted));
    return [...new Set(found.map(([name]) => name))].slice(0, MOST_SUGGESTED);
  };

  return { pages, sections, search, suggest, written: language.written };
};
