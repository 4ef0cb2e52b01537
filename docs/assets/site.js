/* Small comforts. Everything works without this file. */
(() => {
  const annotation = document.currentScript.dataset.annotation;

  /* The language links keep the section being read: ids are the same in every language. */
  const keepSection = (event) => {
    const link = event.target.closest?.("a[data-dabt-switch]");
    if (link) link.hash = location.hash;
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
