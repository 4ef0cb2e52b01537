/* The dialog of the search: a field, suggestions, results. Loaded by ../site.js when first used. */

const MOST = 12;
const MOST_OF_A_PAGE = 3;
/* A section that says much less than the best one of its page is not shown. */
const WORTH_SHOWING = 0.35;
/* Letters of an excerpt, and of those before its first word found. */
const EXCERPT = 170;
const LEAD = 40;

const element = (tag, name, ...inside) => {
  const made = document.createElement(tag);
  if (name) made.className = name;
  made.append(...inside);
  return made;
};

const fetchJson = async (address) => {
  const answer = await fetch(address);
  if (!answer.ok) throw new Error(`${address}: ${answer.status}`);
  return answer.json();
};

const addStyles = (address) =>
  new Promise((done) => {
    const link = element("link");
    link.rel = "stylesheet";
    link.href = address;
    link.onload = link.onerror = done;
    document.head.append(link);
  });

/* The words of a text that a query stands for; those of the same family only if there is no other. */
const foundIn = (text, { marks }, written) => {
  const words = [...text.matchAll(written)].map((match) => ({
    at: match.index,
    end: match.index + match[0].length,
    text: match[0],
    found: marks(match[0]),
  }));
  const most = Math.max(...words.map((word) => word.found), 0);
  return { words, hits: words.filter((word) => word.found && word.found === most) };
};

/* The text from one place to another with <mark> around the words found, as they are written. */
const marked = (text, hits, from = 0, to = text.length) => {
  const parts = [];
  let end = from;
  for (const hit of hits.filter((one) => one.at >= from && one.end <= to)) {
    parts.push(text.slice(end, hit.at), element("mark", "", hit.text));
    end = hit.end;
  }
  return [...parts, text.slice(end, to)];
};

/* The stretch of a text that holds most of the words found, cut between words. */
const excerptOf = (text, answer, written) => {
  const { words, hits } = foundIn(text, answer, written);
  let best = { at: 0, different: 0 };
  hits.forEach((hit, index) => {
    const near = hits.slice(index).filter((one) => one.end < hit.at + EXCERPT - LEAD);
    const different = new Set(near.map((one) => one.text)).size;
    if (different > best.different) best = { at: hit.at, different };
  });
  const lead = words.findLast((word) => word.at <= best.at - LEAD)?.at ?? 0;
  const from = best.at < 2 * LEAD ? 0 : lead;
  const fits = text.length <= from + EXCERPT;
  const to = fits ? text.length : words.findLast((word) => word.end <= from + EXCERPT).end;
  return [from ? "… " : "", ...marked(text, hits, from, to), to < text.length ? " …" : ""];
};

export const makePanel = async (dialog, { file, index }) => {
  const find = (name) => dialog.querySelector(`.dabt-search__${name}`);
  const [form, field, close, terms, status, list] = ["form", "field", "close", "terms", "status", "list"].map(find);
  const home = new URL("../../", index);
  const waiting = status.textContent;
  const texts = new Map();
  let engine;
  let strings;
  let loading;
  let active = -1;

  const load = async () => {
    const [{ makeEngine }, { makeWords }, content] = await Promise.all([
      import(file("engine.js")),
      import(file("words.js")),
      fetchJson(index),
    ]);
    engine = makeEngine(content, makeWords);
    strings = content.strings;
  };

  const prepare = () => {
    loading ??= load().catch((error) => {
      loading = undefined;
      throw error;
    });
    return loading;
  };

  const textOf = (page) => {
    const { text } = engine.pages[page];
    if (!texts.has(text)) {
      const asked = fetchJson(new URL(text, index)).catch(() => texts.delete(text) && []);
      texts.set(text, asked);
    }
    return texts.get(text);
  };

  const options = () => [...list.children];

  const choose = (number) => {
    const all = options();
    all[active]?.setAttribute("aria-selected", "false");
    active = all.length ? (number + all.length + 1) % (all.length + 1) : -1;
    if (active === all.length) active = -1;
    const chosen = all[active];
    chosen?.setAttribute("aria-selected", "true");
    chosen?.scrollIntoView({ block: "nearest" });
    if (chosen) field.setAttribute("aria-activedescendant", chosen.id);
    else field.removeAttribute("aria-activedescendant");
  };

  const rememberQuery = (query) => {
    const address = new URL(location);
    if (query) address.searchParams.set("q", query);
    else address.searchParams.delete("q");
    if (address.href !== location.href) history.replaceState(history.state, "", address);
  };

  /* The sections to show, those of the best page first. */
  const chosenSections = (results) => {
    const shown = [];
    for (const { page, sections } of results) {
      const best = sections[0].score;
      const worth = sections.filter((one) => one.score >= WORTH_SHOWING * best);
      for (const { section } of worth.slice(0, shown.length ? 2 : MOST_OF_A_PAGE)) {
        shown.push({ page, section });
      }
      if (shown.length >= MOST) break;
    }
    return shown;
  };

  const makeOption = ({ page, section }, number, answer) => {
    const { url, title } = engine.pages[page];
    const { id, title: heading, place } = engine.sections[section];
    const { written } = engine;
    const address = new URL(url, home);
    if (id && place) address.hash = id;
    const bdi = (text) => element("bdi", "", ...marked(text, foundIn(text, answer, written).hits));
    const name = element("span", "dabt-search__title", element("span", "dabt-search__path", bdi(title)));
    const part = (text) => name.append(" › ", bdi(text));
    if (heading) part(heading);
    const option = element("a", "dabt-search__option", name);
    const excerpt = element("span", "dabt-search__excerpt");
    if (heading !== undefined) option.append(excerpt);
    option.href = address;
    option.id = `dabt-result-${number}`;
    option.tabIndex = -1;
    option.setAttribute("role", "option");
    option.setAttribute("aria-selected", "false");
    textOf(page).then((all) => {
      /* A question has no title in the index: it is its own text. */
      if (heading === undefined) part(all[place] ?? "");
      else if (all[place]) excerpt.append(...excerptOf(all[place], answer, written));
    });
    return option;
  };

  const count = (number) => {
    const rule = new Intl.PluralRules(document.documentElement.lang).select(number);
    return (strings.count[rule] ?? strings.count.other).replace("{count}", number);
  };

  const otherLanguages = (query) => {
    const links = [...document.querySelectorAll("a[data-dabt-switch]")].map((link) => {
      const address = new URL(link.href);
      address.searchParams.set("q", query);
      const other = element("a", "", link.textContent);
      [other.href, other.lang, other.hreflang] = [address, link.lang, link.hreflang];
      return other;
    });
    return links.length ? [" ", strings.other, ...links.flatMap((link) => [" ", link])] : [];
  };

  const showTerms = (query) => {
    const chips = engine.suggest(query).map((name) => {
      const chip = element("button", "dabt-search__term", element("bdi", "", name));
      chip.type = "button";
      chip.addEventListener("click", () => {
        field.value = name;
        field.focus();
        show();
      });
      return chip;
    });
    terms.replaceChildren(...chips);
  };

  const show = () => {
    const query = field.value.trim();
    rememberQuery(query);
    if (!engine) return;
    const answer = engine.search(query);
    const shown = chosenSections(answer.results);
    list.replaceChildren(...shown.map((one, number) => makeOption(one, number, answer)));
    field.setAttribute("aria-expanded", String(shown.length > 0));
    list.scrollTop = 0;
    choose(-1);
    /* Results first. */
    setTimeout(() => field.value.trim() === query && showTerms(query));
    if (!query) status.replaceChildren(dialog.dataset.hint);
    else if (!shown.length) status.replaceChildren(strings.none, ...otherLanguages(query));
    else status.replaceChildren(answer.guessed ? `${strings.guessed} ` : "", count(shown.length));
  };

  const keys = {
    ArrowDown: () => choose(active + 1),
    ArrowUp: () => choose(active < 0 ? options().length - 1 : active - 1),
    Enter: () => (options()[active] ?? options()[0])?.click(),
  };

  field.addEventListener("input", show);
  field.addEventListener("keydown", (event) => {
    if (event.isComposing || !keys[event.key]) return;
    event.preventDefault();
    keys[event.key]();
  });
  form.addEventListener("submit", (event) => event.preventDefault());
  close.addEventListener("click", () => dialog.close());
  dialog.addEventListener("click", (event) => {
    if (event.target === dialog) dialog.close();
    const option = event.target.closest?.(".dabt-search__option");
    /* A section of this page: nothing is loaded, so the dialog must go. */
    if (option?.pathname === location.pathname && !event.ctrlKey && !event.metaKey) dialog.close();
  });
  dialog.addEventListener("close", () => rememberQuery(""));

  await addStyles(file("panel.css"));

  const open = async (query) => {
    if (query !== undefined) field.value = query;
    if (!dialog.open) dialog.showModal();
    field.select();
    status.textContent = waiting;
    try {
      await prepare();
      show();
    } catch {
      status.textContent = dialog.dataset.fail;
    }
  };
  return { open };
};
