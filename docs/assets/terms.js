/* Definitions of marked terms, shown on hover, focus and tap; asked for when a reader first moves
 * the pointer or the focus in the page. Without this file marks are links. */
(() => {
  const MARK = "a.dabt-term";
  const { definitions } = document.currentScript.dataset;
  const notes = document.querySelector(".dabt-terms");
  const tip = document.createElement("div");
  tip.className = "dabt-tip";
  tip.hidden = true;
  notes.after(tip);
  let open = null;
  let touched = false;
  let waiting;

  let loading;
  const load = () => (loading ??= fetchDefinitions().catch(() => (loading = undefined)));
  const fetchDefinitions = async () => {
    const answer = await fetch(definitions);
    const texts = await answer.json();
    for (const mark of document.querySelectorAll(MARK)) {
      const term = mark.hash.replace("#term-", "");
      const id = `def-${term}`;
      mark.setAttribute("aria-describedby", id);
      if (document.getElementById(id) || !texts[term]) continue;
      const note = document.createElement("p");
      note.id = id;
      note.innerHTML = texts[term];
      notes.append(note);
    }
  };
  for (const sign of ["pointermove", "touchstart", "focusin"]) {
    addEventListener(sign, load, { once: true, passive: true });
  }

  const hide = () => {
    clearTimeout(waiting);
    tip.hidden = true;
    open = null;
  };
  const show = async (mark) => {
    if (open === mark) return;
    open = mark;
    await load();
    const note = document.getElementById(mark.getAttribute("aria-describedby"));
    if (!note || open !== mark) return;
    const more = document.createElement("a");
    more.href = mark.href;
    more.textContent = notes.dataset.more;
    tip.replaceChildren(...note.cloneNode(true).childNodes, document.createElement("br"), more);
    tip.hidden = false;
    place(mark);
  };
  /* Under the line of the mark, or above it near the foot of the window; never past its sides. */
  const place = (mark) => {
    const line = mark.getClientRects()[0];
    const origin = tip.offsetParent.getBoundingClientRect();
    const width = document.documentElement.clientWidth;
    const middle = (line.left + line.right - tip.offsetWidth) / 2;
    const left = Math.max(8, Math.min(middle, width - tip.offsetWidth - 8));
    const below = line.bottom + tip.offsetHeight + 8 < innerHeight;
    const top = below ? line.bottom + 4 : line.top - tip.offsetHeight - 4;
    tip.style.left = `${left - origin.left}px`;
    tip.style.top = `${top - origin.top}px`;
  };
  const soon = (act, delay) => {
    clearTimeout(waiting);
    waiting = setTimeout(act, delay);
  };

  addEventListener("pointerdown", (event) => {
    touched = event.pointerType !== "mouse";
    if (open && !tip.contains(event.target) && event.target.closest(MARK) !== open) hide();
  });
  addEventListener("pointerover", (event) => {
    if (event.pointerType !== "mouse") return;
    const mark = event.target.closest?.(MARK);
    if (mark) soon(() => show(mark), 120);
    else if (tip.contains(event.target)) clearTimeout(waiting);
    else if (open !== document.activeElement) soon(hide, 200);
  });
  addEventListener("focusin", (event) => {
    const mark = event.target.closest(MARK);
    if (mark?.matches(":focus-visible")) show(mark);
    else if (open && !touched && !tip.contains(event.target)) hide();
  });
  /* The first tap shows, the second follows the link. */
  addEventListener("click", (event) => {
    const mark = event.target.closest(MARK);
    if (!mark || !touched || !event.detail || open === mark) return;
    event.preventDefault();
    show(mark);
  });
  addEventListener("keydown", (event) => {
    if (event.key === "Escape") hide();
  });
  addEventListener("resize", hide);
})();
