/* The way back to where the reader stopped: on the home and on the page of his progress. */
import { all, dataset, done, entries, language, read, slugOf } from "./way.js";

/* A chapter that was finished sends on to the next page that is not. */
export function resume(line) {
  const { last } = read();
  const links = entries().filter((link) => link.matches(".md-nav *"));
  const finished = done();
  const at = links.findIndex((link) => slugOf(link) === last?.slug);
  const link = finished[last?.slug]
    ? links.find((each, index) => index > at && !finished[slugOf(each)])
    : links[at];
  line.hidden = at < 0 || !link;
  if (line.hidden) return;
  const same = link === links[at];
  const section = same && last.titles?.[language];
  const to = document.createElement("a");
  to.href = link.pathname + (same && last.id ? `#${last.id}` : "");
  to.textContent = link.textContent.trim() + (section ? ` · ${section}` : "");
  line.replaceChildren(`${dataset.resume} `, to);
}

let [line] = all(".dabt-resume");
if (!line) {
  line = document.createElement("p");
  line.className = "dabt-resume";
  all(".md-content .md-button")[0].parentElement.after(line);
}
const refresh = () => resume(line);
addEventListener("pageshow", refresh);
addEventListener("storage", refresh);
refresh();
