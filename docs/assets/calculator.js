/* The memory calculator: the formulas of examples/memory, and the form that asks them.

   A test of the browser compares `dabtMemory.predict` with Python's, to the byte. All numbers are
   whole and below 2^53. Shapes, cards and limits come from the page, none is written here. */
(() => {
  "use strict";

  const all = (node, selector) => [...node.querySelectorAll(selector)];
  const make = (tag, name, ...content) => {
    const node = document.createElement(tag);
    if (name) node.className = name;
    node.append(...content);
    return node;
  };

  /* ---- The formulas, in the order of examples/memory ---- */

  // Exact where Math.ceil(a / b) is not: a quotient may be rounded to a whole number.
  const divide = (a, b) => (a - (a % b)) / b + (a % b ? 1 : 0);
  const SHAPE = ["hidden", "feed_forward", "layers", "heads", "key_heads", "head_size"];
  const FLAGS = ["tied", "query_bias", "query_norm"];

  function shapeOf(data, settings) {
    const names = [...SHAPE, "vocabulary", ...FLAGS];
    const preset = data.presets[settings.model];
    const entries = names.map((name, at) => [name, preset ? preset[at] : settings[name] || 0]);
    const shape = Object.fromEntries(entries);
    shape.query = shape.heads * shape.head_size;
    shape.key = shape.key_heads * shape.head_size;
    return shape;
  }

  function countParameters(shape) {
    const { hidden: h, query, key, feed_forward: f } = shape;
    const table = shape.vocabulary * h;
    const linear = shape.layers * (2 * h * query + 2 * h * key + 3 * h * f);
    const biases = shape.query_bias ? query + 2 * key : 0;
    const norms = shape.query_norm ? 2 * shape.head_size : 0;
    const other = shape.layers * (2 * h + biases + norms) + h;
    const head = shape.tied ? 0 : table;
    return { embedding: table, head, linear, other, total: table + head + linear + other };
  }

  function countLora({ hidden: h, query, key, feed_forward: f, layers }, rank) {
    return layers * rank * (2 * (h + query) + 2 * (h + key) + 3 * (h + f));
  }

  function nf4Bytes(data, weights) {
    const scales = divide(weights, data.nf4_block);
    return divide(weights, 2) + scales + 4 * divide(scales, 256);
  }

  function stateBytes(data, counts, optimizer, moment) {
    const [wide, narrow] = data.optimizers[optimizer];
    if (!narrow) return counts.total * wide * moment;
    const small = counts.total - counts.embedding;
    return narrow * (small + 4 * divide(small, data.block)) + counts.embedding * narrow * 4;
  }

  function normBytes(size, compute) {
    return (compute === "fp32" ? 12 : 8) * size + 4;
  }

  function layerBytes(shape, compute) {
    const wide = compute === "fp32" ? 4 : 2;
    let total = 2 * normBytes(shape.hidden, compute) + 4 * wide * shape.feed_forward;
    total += wide * (2 * shape.query + 2 * shape.key) + 4 * shape.heads;
    if (compute === "autocast") total += 5 * wide * shape.hidden;
    if (shape.query_norm) {
      const inner = compute === "fp32" ? 8 : 6;
      total += inner * (shape.query + shape.key) + 4 * (shape.heads + shape.key_heads);
    }
    return total;
  }

  // What the forward pass keeps, the log-softmax of the loss apart: it is among the logits.
  function keptBytes(shape, { rows, length, recompute }, compute) {
    const wide = compute === "bf16" ? 2 : 4;
    const layer = recompute ? wide * shape.hidden : layerBytes(shape, compute);
    const end = normBytes(shape.hidden, compute) + (compute === "autocast" ? 2 * shape.hidden : 0);
    const angles = 2 * length * shape.head_size * wide;
    return rows * length * (shape.layers * layer + end + 16) + angles;
  }

  function copyBytes(data, run, shape, counts, compute) {
    if (run.shards < 3) return compute === "autocast" ? 2 * (counts.linear + counts.embedding) : 0;
    const root = counts.embedding + counts.head + shape.hidden;
    const linear = counts.linear / shape.layers;
    const other = (counts.other - shape.hidden) / shape.layers;
    if (run.method === "qlora") return nf4Bytes(data, linear) + 2 * (other + root);
    return (run.precision === "fp32" && run.method === "full" ? 4 : 2) * (linear + other + root);
  }

  function predict(data, run) {
    const shape = shapeOf(data, run);
    const counts = countParameters(shape);
    const full = run.method === "full";
    const trained = full ? counts : { embedding: 0, total: countLora(shape, run.rank) };
    const frozen = { full: 0, lora: 2 * counts.total }[run.method];
    const base = frozen ?? nf4Bytes(data, counts.linear) + 2 * (counts.total - counts.linear);
    const narrow = run.precision === "bf16" || run.precision === "master";
    const wide = narrow ? 2 : 4;
    const copy = run.precision === "master" ? 4 * trained.total : 0;
    const moment = run.precision === "bf16" ? 2 : 4;

    const autocast = full && run.precision === "mixed" && run.shards < 3;
    const compute = autocast ? "autocast" : run.precision === "fp32" ? "fp32" : "bf16";
    const tokens = run.rows * run.length;
    const logits = 12 * shape.vocabulary * tokens;
    const layer = run.recompute ? tokens * layerBytes(shape, compute) : 0;
    const twice = full && shape.tied ? (autocast ? 1 : 2) * wide * counts.embedding : 0;
    const share = (bytes, stage) => (run.shards >= stage ? divide(bytes, run.gpus) : bytes);

    const budget = {
      weights: share(base + wide * trained.total, 3),
      gradients: share(wide * trained.total, 2),
      optimizer: share(stateBytes(data, trained, run.optimizer, moment) + copy, 1),
      copies: copyBytes(data, run, shape, counts, compute),
      activations: keptBytes(shape, run, compute) + Math.max(0, layer - logits),
      logits,
      context: data.context,
      backward: Math.max(layer, twice),
    };
    const { weights, gradients, optimizer, copies, activations, context, backward } = budget;
    budget.static = weights + gradients + optimizer;
    const before = budget.static - (run.accumulate ? 0 : gradients);
    budget.at_loss = before + copies + activations + logits + context;
    budget.at_step = budget.static + backward + context;
    budget.total = Math.max(budget.at_loss, budget.at_step);
    return budget;
  }

  // The settings that cannot be, by field: the key of a message and its values.
  function check(data, run) {
    const faults = {};
    const custom = !data.presets[run.model];
    for (const [name, [least, most]] of Object.entries(data.limits)) {
      const asked = name === "rank" ? run.method !== "full" : custom || !isShape(name);
      const fits = Number.isInteger(run[name]) && run[name] >= least && run[name] <= most;
      if (asked && !fits) faults[name] = ["whole", { least, most }];
    }
    if (custom && !faults.heads && !faults.key_heads && run.heads % run.key_heads) {
      faults.key_heads = ["divides", { heads: run.heads }];
    }
    if (run.shards && run.gpus === 1) faults.shards = ["alone", {}];
    return faults;
  }

  const isShape = (name) => SHAPE.includes(name) || name === "vocabulary";

  window.dabtMemory = { predict, check };

  /* ---- The form ---- */

  const LOSS = ["weights", "gradients", "optimizer", "copies", "activations", "logits", "context"];
  const STEP = ["weights", "gradients", "optimizer", "backward", "context"];
  const CUSTOM = "custom";

  function calculator(section) {
    const told = section.querySelector(".dabt-calc__told").content.textContent;
    const { data, strings } = JSON.parse(told);
    const language = section.closest("[lang]").lang;
    const form = section.querySelector("form");
    const part = (name) => section.querySelector(`.dabt-calc__${name}`);
    const fields = all(form, "[name]");
    const field = (name) => form.elements[name];
    const start = { ...data.defaults };
    const first = data.presets[start.model];
    [...SHAPE, "vocabulary"].forEach((name, at) => (start[name] = first[at]));
    let waiting = 0;

    const say = (key, values = {}) =>
      strings[key].replace(/\{(\w+)\}/g, (_, name) => values[name]);
    const format = (value, digits) =>
      new Intl.NumberFormat(`${language}-u-nu-latn`, {
        minimumFractionDigits: digits,
        maximumFractionDigits: digits,
      }).format(value);
    const inGib = (bytes) => format(bytes / 2 ** 30, 1);
    // Of one piece, whatever the direction around it: no line breaks, no reordering.
    const whole = (text) => `\u2068${text.replace(/ /g, "\u00a0")}\u2069`;
    const gib = (bytes) => whole(say("gib", { value: inGib(bytes) }));
    const gb = (bytes) => whole(say("gb", { value: format(bytes / 1e9, 1) }));
    const named = ([name, sold]) => whole(`${name} ${say("gb", { value: sold })}`);

    function read() {
      const run = {};
      for (const one of fields) {
        if (one.type === "checkbox") run[one.name] = one.checked;
        else if (one.type === "number" || one.name === "shards") {
          run[one.name] = one.value === "" ? NaN : Number(one.value);
        } else run[one.name] = one.value;
      }
      return run;
    }

    function write(run) {
      for (const one of fields) {
        if (!(one.name in run)) continue;
        if (one.type === "checkbox") one.checked = run[one.name];
        else one.value = run[one.name];
      }
    }

    // What cannot be read is left at its default: an address is written by anybody.
    function fromAddress() {
      const asked = new URLSearchParams(location.search);
      const run = { ...start };
      for (const one of fields) {
        const value = asked.get(one.name);
        if (value === null) continue;
        const known = one.options && [...one.options].some((each) => each.value === value);
        if (one.type === "checkbox") run[one.name] = value === "1";
        else if (known || (one.type === "number" && /^\d{1,9}$/.test(value))) run[one.name] = value;
      }
      return run;
    }

    function toAddress(run) {
      const address = new URL(location.href);
      for (const one of fields) {
        const value = run[one.name];
        const hidden = one.closest("[hidden]");
        if (hidden || String(value) === String(start[one.name] ?? false)) {
          address.searchParams.delete(one.name);
        } else address.searchParams.set(one.name, one.type === "checkbox" ? Number(value) : value);
      }
      address.hash = section.id;
      return address.href;
    }

    function showFaults(faults) {
      for (const one of fields) {
        const [key, values] = faults[one.name] ?? [];
        const note = section.querySelector(`[id="${one.id}-fault"]`);
        if (!note) continue;
        note.textContent = key ? say(key, values) : "";
        note.hidden = !key;
        if (key) one.setAttribute("aria-invalid", "true");
        else one.removeAttribute("aria-invalid");
      }
    }

    // A live region is read again whenever it changes: only when its words do.
    function tell(text) {
      if (part("answer").textContent !== text) part("answer").textContent = text;
    }

    function row(head, ...cells) {
      const th = make("th", "", ...[head].flat());
      th.scope = "row";
      return make("tr", "", th, ...cells.map((one) => make("td", "", one)));
    }

    function showParts(budget) {
      const names = budget.at_loss >= budget.at_step ? LOSS : STEP;
      const used = names.filter((one) => budget[one] && (one !== "gradients" || budget.shown));
      part("bar").replaceChildren(
        ...used.map((one) => {
          const piece = make("i", `dabt-calc__piece dabt-calc__piece--${one}`);
          piece.style.flexGrow = budget[one] / budget.total;
          return piece;
        }),
      );
      part("parts").replaceChildren(
        ...used.map((one) => {
          const swatch = make("i", `dabt-calc__swatch dabt-calc__piece dabt-calc__piece--${one}`);
          const percent = format((100 * budget[one]) / budget.total, 0);
          const name = [swatch, strings[one]];
          const size = [inGib(budget[one]), format(budget[one] / 1e9, 1)];
          return row(name, ...size, say("percent", { value: percent }));
        }),
      );
      const moment = names === LOSS ? "peak_loss" : "peak_step";
      const other = Math.min(budget.at_loss, budget.at_step);
      part("moment").textContent = say(moment, { value: gib(other) });
    }

    function showCards(total) {
      part("cards").replaceChildren(
        ...data.cards.map((card) => {
          const left = card[2] - total;
          const words = say(left < 0 ? "short" : "fits", { value: gib(Math.abs(left)) });
          const line = row(named(card), inGib(card[2]), words);
          line.className = left < 0 ? "dabt-calc__no" : "dabt-calc__yes";
          return line;
        }),
      );
    }

    function showShards(run) {
      part("sharding").hidden = run.gpus === 1;
      if (run.gpus === 1) return;
      part("shards").replaceChildren(
        ...[0, 1, 2, 3].map((shards) => {
          const { static: held, total } = predict(data, { ...run, shards });
          const line = row(field("shards").options[shards].text, inGib(held), inGib(total));
          if (shards === run.shards) line.setAttribute("aria-current", "true");
          return line;
        }),
      );
    }

    function show() {
      const run = read();
      part("custom").hidden = run.model !== CUSTOM;
      part("rank").hidden = run.method === "full";
      const faults = check(data, run);
      showFaults(faults);
      const count = Object.keys(faults).length;
      const budget = count ? null : predict(data, run);
      const sure = budget && Number.isSafeInteger(budget.total);
      part("result").hidden = part("link").hidden = !sure;
      if (!sure) return tell(say(count ? "faulty" : "huge"));
      budget.shown = run.accumulate || budget.at_step > budget.at_loss;
      const fitting = data.cards.find(([, , usable]) => usable >= budget.total);
      const values = { gib: gib(budget.total), gb: gb(budget.total), card: fitting && named(fitting) };
      tell(say(fitting ? "answer" : "answer_none", values));
      showParts(budget);
      showCards(budget.total);
      showShards(run);
      part("link").href = toAddress(run);
    }

    function later() {
      clearTimeout(waiting);
      waiting = setTimeout(() => {
        show();
        if (!part("result").hidden) history.replaceState(history.state, "", part("link").href);
      }, 300);
    }

    form.addEventListener("submit", (event) => event.preventDefault());
    form.addEventListener("input", later);
    part("reset").addEventListener("click", () => {
      write(start);
      all(form, "[type=checkbox]").forEach((one) => (one.checked = start[one.name] ?? false));
      later();
    });
    write(fromAddress());
    form.hidden = false;
    show();
  }

  for (const section of all(document, ".dabt-calc")) {
    section.dataset.ready = "";
    calculator(section);
  }
})();
