/* The page on reading without a network: keeps the whole course when asked, shows what is kept. */
(() => {
  const panel = document.querySelector(".dabt-offline");
  const script = document.querySelector("script[data-worker]");
  const strings = JSON.parse(panel.dataset.strings);
  const part = (name) => panel.querySelector(`.dabt-offline__${name}`);
  const button = (name) => panel.querySelector(`[data-do=${name}]`);
  const language = document.documentElement.lang;
  const AT_ONCE = 4;
  let list;
  let going = null;

  const fill = (key, values = {}) =>
    strings[key].replace(/\{(\w+)\}/g, (_, name) => values[name]);
  const megabytes = (bytes) => {
    const digits = { minimumFractionDigits: 1, maximumFractionDigits: 1 };
    const number = new Intl.NumberFormat(`${language}-u-nu-latn`, digits);
    /* Isolated, from left to right: an Arabic sentence would put the unit before the number. */
    return `\u2066${fill("size", { value: number.format(bytes / 1e6) })}\u2069`;
  };
  const tell = (key, values) => {
    part("told").textContent = key ? fill(key, values) : "";
  };

  /* ---- The worker ---- */

  const ask = async (data) => {
    const { active } = await navigator.serviceWorker.ready;
    return new Promise((done, fail) => {
      const { port1, port2 } = new MessageChannel();
      port1.onmessage = ({ data: said }) => {
        if (said.failed) fail(new Error(said.failed));
        else done(said.done);
        port1.close();
      };
      active.postMessage(data, [port2]);
    });
  };

  /* ---- What is kept, and what is not ---- */

  const sum = (addresses, field) =>
    addresses.reduce((all, one) => all + list.files[one][field], 0);
  const course = (every) =>
    Object.keys(list.files).filter((one) => {
      const of = list.files[one][3];
      return every || !of || of === language;
    });
  const lacking = (every) => {
    const kept = new Set(list.kept);
    return course(every).filter((one) => !kept.has(one));
  };
  const home = script && new URL(".", new URL(script.dataset.worker, location.href));
  const addressOf = (href) => href.slice(home.href.length).split(/[?#]/)[0];
  const titles = () => {
    const links = document.querySelectorAll(".md-nav--primary a.md-nav__link[href]");
    const found = [...links].map((link) => [addressOf(link.href), link.textContent.trim()]);
    return new Map(found.filter(([address]) => address in list.files));
  };

  const showPages = () => {
    const kept = new Set(list.kept);
    const shown = [...titles()].filter(([address]) => kept.has(address));
    const items = shown.map(([address, title]) => {
      const item = document.createElement("li");
      const link = document.createElement("a");
      link.href = new URL(address, home);
      link.textContent = title;
      item.append(link);
      return item;
    });
    part("kept").querySelector("ul").replaceChildren(...items);
    part("kept").hidden = !items.length;
    return items.length;
  };

  const showButton = (name, every) => {
    const rest = lacking(every);
    const begun = list.wanted.length && rest.length < course(every).length;
    const key = begun && list.wanted.includes(every ? "*" : language) ? `rest_${name}` : name;
    button(name).textContent = fill(key, { size: megabytes(sum(rest, 1)) });
    button(name).hidden = Boolean(going) || !rest.length;
  };

  const show = () => {
    const pages = Object.keys(list.files).filter((one) => isPage(one) && list.files[one][3] === language);
    const kept = pages.filter((one) => list.kept.includes(one));
    part("state").textContent = fill("state", { kept: kept.length, total: pages.length });
    showButton("one", false);
    showButton("all", true);
    button("stop").hidden = !going;
    button("remove").hidden = Boolean(going) || !list.kept.length;
    part("buttons").hidden = false;
    part("bar").hidden = part("count").hidden = !going;
    showPages();
  };
  const isPage = (address) => address === "" || address.endsWith("/");
  const refresh = async () => {
    list = await ask({ ask: "list" });
    show();
  };

  /* ---- Keeping ---- */

  const hasRoom = async (bytes) => {
    const { quota, usage } = (await navigator.storage?.estimate?.()) ?? {};
    return quota === undefined || quota - usage > bytes;
  };

  const follow = (all, rest) => {
    const size = sum(all, 1);
    let files = all.length - rest.length;
    let done = size - sum(rest, 1);
    const step = (address) => {
      if (address) {
        files += 1;
        done += list.files[address][1];
      }
      part("bar").value = done / size;
      const values = { files, all: all.length, done: megabytes(done), size: megabytes(size) };
      part("count").textContent = fill("count", values);
    };
    step();
    return step;
  };

  /* Fetch some at a time; returns why it ended. */
  const fetchAll = async (rest, step) => {
    const queue = [...rest];
    let ended = "done";
    const next = async () => {
      while (queue.length && ended === "done") {
        if (going.stopped) return (ended = "stopped");
        const address = queue.shift();
        const got = await ask({ ask: "keep", address }).catch(() => "broken");
        if (got === "kept") step(address);
        else if (ended === "done") ended = { full: "full", other: "changed" }[got] ?? "broken";
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, next));
    return ended;
  };

  const keepAll = async (every) => {
    const rest = lacking(every);
    const need = { size: megabytes(sum(course(every), 2)) };
    going = { stopped: false };
    tell();
    try {
      await navigator.storage?.persist?.();
      if (!(await hasRoom(sum(rest, 2)))) return end("full", need);
      const codes = every ? Object.values(list.files).map((one) => one[3]) : [language];
      const wanted = [...new Set([...list.wanted, ...codes, ...(every ? ["*"] : [])])];
      await ask({ ask: "want", languages: wanted.filter(Boolean) });
      show();
      await end(await fetchAll(rest, follow(course(every), rest)), need);
    } catch (error) {
      await end(error.message === "QuotaExceededError" ? "full" : "refused", need);
    }
  };

  const end = async (key, values) => {
    const focused = panel.contains(document.activeElement);
    going = null;
    await refresh();
    tell(key, values);
    if (focused && document.activeElement === document.body) firstShown()?.focus();
  };
  const firstShown = () => panel.querySelector("button:not([hidden])");

  const remove = async () => {
    if (!confirm(fill("sure"))) return;
    await ask({ ask: "remove" });
    await end("removed");
  };

  button("one").addEventListener("click", () => keepAll(false));
  button("all").addEventListener("click", () => keepAll(true));
  button("stop").addEventListener("click", () => (going.stopped = true));
  button("remove").addEventListener("click", remove);

  /* ---- A page that is not kept led here ---- */

  const showMissing = () => {
    const asked = new URLSearchParams(location.search).get("missing");
    if (asked === null) return;
    const wanted = new URL(asked, home);
    if (!wanted.href.startsWith(home.href)) return;
    const address = addressOf(wanted.href);
    const name = titles().get(address) ?? address;
    part("missing").querySelector("bdi").textContent = name;
    part("missing").querySelector("a").href = wanted;
    part("missing").hidden = false;
    part("kept").open = true;
    addEventListener("online", () => location.replace(wanted));
  };

  const start = async () => {
    try {
      await navigator.serviceWorker.register(script.dataset.worker, { updateViaCache: "none" });
      await refresh();
      showMissing();
    } catch {
      tell("refused");
    }
  };
  start();
})();
