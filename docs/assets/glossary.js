/* The filter of the glossary page, which is whole without it. */
(() => {
  const glossary = document.querySelector(".dabt-glossary");
  const box = glossary.querySelector(".dabt-glossary__filter");
  const status = box.querySelector("[role=status]");
  /* As in the search of a dictionary: no vowel sign, no accent, no capital, one alif. */
  const plain = (text) =>
    text.normalize("NFD").replace(/[\u0300-\u036f\u064b-\u065f\u0640]/g, "").toLowerCase();
  const entries = [...glossary.querySelectorAll(".dabt-entry")];
  const texts = entries.map((entry) => plain(entry.textContent));
  box.hidden = false;
  box.querySelector("input").addEventListener("input", (event) => {
    const wanted = plain(event.target.value.trim());
    entries.forEach((entry, index) => (entry.hidden = !texts[index].includes(wanted)));
    for (const letter of glossary.querySelectorAll(".dabt-letter")) {
      letter.hidden = !letter.querySelector(".dabt-entry:not([hidden])");
    }
    const left = entries.filter((entry) => !entry.hidden).length;
    status.textContent = !wanted ? "" : left || status.dataset.none;
  });
})();
