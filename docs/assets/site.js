/* Small comforts. Everything works without this file. */
(() => {
  const script = document.currentScript;
  const words = script.dataset;
  const all = (selector) => [...document.querySelectorAll(selector)];
  const header = document.querySelector(".md-header");
  const drawer = document.getElementById("__drawer");

  /* The language links keep the section being read: ids are the same in every language. */
  const keepSection = (event) => {
    const link = event.target.closest?.("a[data-dabt-switch]");
    if (link) link.hash = location.hash;
  };

  /* A page that its language lacks is shown in another; the reader's choice of which is kept. */
  const CHOICE = "dabt-fallback";
  const keepChoice = (event) => {
    const link = event.target.closest?.("a[data-dabt-choice]");
    if (link) store((box) => box.setItem(CHOICE, link.dataset.dabtChoice));
  };
  const followChoice = () => {
    const note = document.querySelector(".dabt-elsewhere");
    const chosen = note && store((box) => box.getItem(CHOICE));
    if (!chosen || chosen === note.dataset.shown) return;
    const link = note.querySelector(`[data-dabt-choice="${CSS.escape(chosen)}"]`);
    if (link) location.replace(link.href + location.hash);
  };
  /* Storage may be forbidden: then nothing is remembered. */
  const store = (use) => {
    try {
      return use(localStorage);
    } catch {
      return null;
    }
  };

  /* ---- Light and dark: the system's wish (partials/javascripts/palette.html), or a choice ---- */

  const startScheme = () => {
    const button = document.querySelector(".dabt-scheme");
    const bars = all('meta[name="theme-color"]');
    const [light, dark] = bars.map((bar) => bar.content);
    const isDark = () => document.body.dataset.mdColorScheme === "slate";
    const show = (wantsDark) => {
      document.body.dataset.mdColorScheme = wantsDark ? "slate" : "default";
      for (const bar of bars) bar.content = wantsDark ? dark : light;
      button.setAttribute("aria-pressed", wantsDark);
    };
    const chosen = () => store((box) => box.getItem("dabt:scheme"));
    if (chosen()) show(isDark());
    else button.setAttribute("aria-pressed", isDark());
    button.addEventListener("click", () => {
      show(!isDark());
      store((box) => box.setItem("dabt:scheme", document.body.dataset.mdColorScheme));
    });
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", (system) => {
      if (!chosen()) show(system.matches);
    });
  };

  /* ---- Code: a button that copies ---- */

  const startCopying = () => {
    const dialog = document.querySelector(".md-dialog");
    let waiting;
    const say = (text) => {
      dialog.firstElementChild.textContent = text;
      dialog.classList.add("md-dialog--active");
      clearTimeout(waiting);
      waiting = setTimeout(() => dialog.classList.remove("md-dialog--active"), 2000);
    };
    /* Where the place of an explanation was, a space is left over. */
    const textOf = (code) => code.textContent.replace(/[ \t]+$/gm, "").trimEnd() + "\n";
    /* Without https there is no clipboard for scripts, but a selection can still be copied. */
    const copy = (code) =>
      navigator.clipboard?.writeText(textOf(code)) ??
      new Promise((done, fail) => {
        getSelection().selectAllChildren(code);
        (document.execCommand("copy") ? done : fail)();
        getSelection().removeAllRanges();
      });
    for (const code of all(".highlight:not(.no-copy) pre > code")) {
      const bar = document.createElement("div");
      const button = document.createElement("button");
      bar.className = "md-code__nav";
      Object.assign(button, { type: "button", className: "md-code__button", title: words.copy });
      button.dataset.mdType = "copy";
      button.addEventListener("click", () => copy(code).then(() => say(words.copied), () => {}));
      bar.append(button);
      code.before(bar);
    }
  };

  /* What is wider than the text scrolls; the keyboard must reach what scrolls. */
  const focusScrollers = () => {
    const boxes = all(".md-typeset__scrollwrap, .md-typeset pre > code");
    const wide = boxes.filter((box) => box.scrollWidth > box.clientWidth);
    for (const box of wide) box.tabIndex = 0;
  };

  /* ---- The section being read: in the contents, the header and the address ---- */

  const startFollowing = () => {
    const contents = new Map();
    for (const link of all("[data-md-component=toc] a[href^='#']")) {
      const id = decodeURIComponent(link.hash.slice(1));
      contents.set(id, [...(contents.get(id) ?? []), link]);
    }
    const headings = [...contents.keys()]
      .map((id) => document.getElementById(id))
      .filter((heading) => heading?.getClientRects().length);
    const headline = document.querySelector(".md-content h1");
    const title = document.querySelector("[data-md-component=header-title]");
    const up = document.querySelector("[data-md-component=top]");
    let before = scrollY;
    let current;
    let jumped = Boolean(location.hash);
    let writing;

    const find = () => {
      const page = document.documentElement;
      if (scrollY > 0 && scrollY + innerHeight >= page.scrollHeight - 1) return headings.at(-1);
      const line = header.offsetHeight + 28;
      return headings.findLast((heading) => heading.getBoundingClientRect().top <= line);
    };
    const mark = (found) => {
      const at = headings.indexOf(found);
      headings.forEach((heading, index) => {
        for (const link of contents.get(heading.id)) {
          link.classList.toggle("md-nav__link--passed", index <= at);
          link.classList.toggle("md-nav__link--active", index === at);
          if (index === at) centre(link);
        }
      });
      current = found;
    };
    /* Where a jump came to rest, its own target stays in the address: it may be no section. */
    const write = () => {
      if (jumped) return void (jumped = false);
      const address = current ? `#${current.id}` : location.pathname + location.search;
      if (location.hash !== (current ? address : "")) history.replaceState(null, "", address);
    };
    const follow = () => {
      const found = find();
      if (found !== current) mark(found);
      const past = headline && headline.getBoundingClientRect().bottom < header.offsetHeight;
      title.classList.toggle("md-header__title--active", Boolean(past));
      up.hidden = !(scrollY < before && scrollY > 0);
      before = scrollY;
      clearTimeout(writing);
      writing = setTimeout(write, 250);
    };
    let asked = false;
    addEventListener(
      "scroll",
      () => {
        if (asked) return;
        asked = true;
        requestAnimationFrame(() => {
          asked = false;
          follow();
        });
      },
      { passive: true },
    );
    addEventListener("hashchange", () => (jumped = true));
    up.addEventListener("click", () => scrollTo({ top: 0 }));
  };
  const centre = (link) => {
    const box = link.closest(".md-sidebar__scrollwrap");
    if (!box || !link.offsetHeight || box.scrollHeight <= box.clientHeight) return;
    const ahead = link.getBoundingClientRect().top - box.getBoundingClientRect().top;
    box.scrollTop += ahead - box.clientHeight / 2;
  };

  /* ---- The search: its button, its key /, its ?q=; the rest is loaded when it is first used ---- */

  const startSearch = () => {
    /* The archive that opens from disk has none. */
    if (!words.index) return;
    const base = new URL("search/", script.src);
    const file = (name) => new URL(`${name}?${words.version}`, base);
    let panel;
    openSearch = async (query) => {
      panel ??= import(file("panel.js")).then(({ makePanel }) =>
        makePanel(document.querySelector(".dabt-search"), {
          file,
          index: new URL(words.index, location),
        }),
      );
      panel.then((it) => it.open(query), () => (panel = undefined));
    };
    document.querySelector(".dabt-search-button").addEventListener("click", () => openSearch());
    const asked = new URLSearchParams(location.search).get("q");
    if (asked) openSearch(asked);
  };
  let openSearch;

  /* ---- What is folded opens for who was sent into it, and on paper ---- */

  const openTarget = () => {
    const id = decodeURIComponent(location.hash.slice(1));
    const target = id && document.getElementById(id);
    if (target?.name?.startsWith("__tabbed_")) target.checked = true;
    const closed = target && target.closest("details:not([open])");
    if (!closed) return;
    for (let at = closed; at; at = at.parentElement.closest("details")) at.open = true;
    target.scrollIntoView();
  };
  const startFolding = () => {
    let opened = [];
    addEventListener("beforeprint", () => {
      opened = all("details:not([open])");
      for (const one of opened) one.open = true;
    });
    addEventListener("afterprint", () => {
      for (const one of opened) one.open = false;
    });
    addEventListener("hashchange", openTarget);
    openTarget();
  };

  /* ---- Keys, and the menu of a small screen ---- */

  const onKey = (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    const at = event.target;
    if (at.closest("input:not([type=checkbox], [type=radio]), textarea, select, dialog")) return;
    const turn = { p: "prev", ",": "prev", n: "next", ".": "next" }[event.key];
    const page = turn && document.querySelector(`link[rel=${turn}]`);
    if (event.key === "/" && openSearch) {
      event.preventDefault();
      openSearch();
    } else if (page) location.assign(page.href);
    else if (event.key === "Enter" && at instanceof HTMLLabelElement) at.click();
    else if (event.key === "Escape") drawer.checked = false;
  };
  /* A title that its line cuts off is shown whole under the pointer. */
  const showWhole = (event) => {
    const text = event.target.closest?.(".md-ellipsis");
    if (text && text.offsetWidth < text.scrollWidth) {
      (text.closest("a") ?? text).title = text.textContent.trim();
    }
  };

  /* The worker keeps what was read. Another version of the course is announced at the foot of the
     window; a worker that is refused, in a private window perhaps, is done without. */
  const announce = (waiting) => {
    if (document.querySelector(".dabt-news")) return;
    const bar = document.createElement("div");
    const act = document.createElement("button");
    bar.className = "dabt-news";
    bar.setAttribute("role", "status");
    document.body.append(bar);
    act.append(words.reload);
    act.onclick = () => waiting.postMessage({ ask: "switch", reload: true });
    bar.append(words.news, " ", act);
  };
  const watch = (fresh) => {
    const look = () => fresh.state === "installed" && box.controller && announce(fresh);
    fresh?.addEventListener("statechange", look);
    if (fresh) look();
  };
  const register = async () => {
    const registration = await box.register(words.worker, { updateViaCache: "none" });
    registration.onupdatefound = () => watch(registration.installing);
    watch(registration.installing);
    watch(registration.waiting);
    const { active } = await box.ready;
    const loaded = performance.getEntriesByType("resource").map((one) => one.name);
    active.postMessage({ ask: "opened", page: location.href, loaded });
  };
  const registerQuietly = () => register().catch(() => {});
  const box = words.worker && navigator.serviceWorker;
  if (box) {
    box.onmessage = ({ data }) => data === "reload" && location.reload();
    addEventListener("load", () => (window.requestIdleCallback ?? setTimeout)(registerQuietly));
  }

  followChoice();
  document.addEventListener("click", keepChoice, true);
  document.addEventListener("click", keepSection, true);
  document.addEventListener("auxclick", keepSection, true);
  document.addEventListener("pointerover", showWhole);
  addEventListener("keydown", onKey);
  addEventListener("hashchange", () => (drawer.checked = false));
  startScheme();
  startCopying();
  focusScrollers();
  startFollowing();
  startFolding();
  startSearch();
  for (const link of all(".md-nav--primary .md-nav__link--active[href]")) centre(link);
})();
