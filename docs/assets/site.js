/* Small comforts. Everything works without this file. */
(() => {
  const annotation = document.currentScript.dataset.annotation;

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

  /* The theme draws code annotations as links without a name. */
  const nameAnnotations = () => {
    for (const link of document.querySelectorAll(".md-annotation__index:not([aria-label])")) {
      const number = link.querySelector("[data-md-annotation-id]")?.dataset.mdAnnotationId;
      if (number) link.setAttribute("aria-label", `${annotation} ${number}`);
    }
  };

  /* The bar of a code block holds one button: it is no landmark, least of all thirty of them. */
  const demoteCodeBars = () => {
    for (const bar of document.querySelectorAll(".md-code__nav:not([role])")) {
      bar.setAttribute("role", "none");
    }
  };

  /* A wide table scrolls; the keyboard must reach what scrolls. */
  const focusScrollers = () => {
    for (const box of document.querySelectorAll(".md-typeset__scrollwrap, .md-typeset pre > code")) {
      if (box.scrollWidth > box.clientWidth) box.tabIndex = 0;
    }
  };

  /* From here on the theme writes the colour of the chosen scheme. */
  const freeThemeColor = () => {
    for (const meta of document.querySelectorAll('meta[name="theme-color"][media]')) meta.remove();
  };

  followChoice();
  document.addEventListener("click", keepChoice, true);
  document.addEventListener("click", keepSection, true);
  document.addEventListener("auxclick", keepSection, true);
  const start = () => {
    const mend = () => {
      nameAnnotations();
      demoteCodeBars();
    };
    mend();
    focusScrollers();
    freeThemeColor();
    new MutationObserver(mend).observe(document.body, { childList: true, subtree: true });
  };
  if (window.document$) window.document$.subscribe(start);
  else document.addEventListener("DOMContentLoaded", start);
})();
