/* The filter of the glossary page. */
(() => {
  const root = document.querySelector(".dabt-glossary");
  const box = root.querySelector(".dabt-glossary__filter");
  const status = box.querySelector("[role=status]");
  /* No vowel sign, accent or capital. */
  const plain = (text) =>
    text.normalize("NFD").replace(/[\u0300-\u036f\u064b-\u065f\u0640]/g, "").toLowerCase();
  const entries = [...root.querySelectorAll(".dabt-entry")];
  const texts = entries.map((entry) => plain(entry.textContent));
  box.querySelector("input").addEventListener("input", (event) => {
    const wanted = plain(event.target.value.trim());
    entries.forEach((entry, index) => (entry.hidden = !texts[index].includes(wanted)));
    for (const letter of root.querySelectorAll(".dabt-letter")) {
      letter.hidden = !letter.querySelector(".dabt-entry:not([hidden])");
    }
    const left = entries.filter((entry) => !entry.hidden).length;
    status.textContent = !wanted ? "" : left || status.dataset.none;
  });
})();
