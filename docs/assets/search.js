/* The search's button, its key / and its ?q=; everything else is loaded when it is first used. */
(() => {
  const script = document.currentScript;
  const { index, version } = script.dataset;
  const dialog = document.querySelector(".dabt-search");
  const base = new URL("search/", script.src);
  const file = (name) => new URL(`${name}?${version}`, base);
  let panel;
  const open = async (query) => {
    panel ??= import(file("panel.js")).then(({ makePanel }) =>
      makePanel(dialog, { file, index: new URL(index, location) }),
    );
    panel.then((it) => it.open(query), () => (panel = undefined));
  };
  const typing = (target) => target.closest("input:not([type=checkbox]), textarea, select, dialog");

  document.querySelector(".dabt-search-button").addEventListener("click", () => open());
  addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || typing(event.target)) return;
    if (event.key !== "/") return;
    event.preventDefault();
    open();
  });
  const asked = new URLSearchParams(location.search).get("q");
  if (asked) open(asked);
})();
