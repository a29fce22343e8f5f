// The page's own script: maths, the sources panel, the menu on phones. Text arrives escaped; nothing here makes markup
// of text, and everything works on what the server sent, again after each change of it.

const KATEX = "__KATEX_JS__"; // set by the server: Gradio's own copy, so no other host is asked
const PHONE = matchMedia("(max-width: 820px)");
const CALM = matchMedia("(prefers-reduced-motion: reduce)");
let katex = null;
let lastMarker = null;

if (KATEX) {
  import(new URL(KATEX, document.baseURI)).then(
    (module) => { katex = module.default; renderMaths(); },
    () => {}, // without KaTeX the source of each formula stays on the page
  );
}

// Commands that KaTeX calls untrusted (\href, \includegraphics, \htmlClass …) make a formula unreadable on purpose:
// its source is shown instead, so nothing is swallowed and no link comes to life.
function distrust() { throw new Error("untrusted command"); }

function renderFormula(element) {
  element.dataset.done = "true";
  const source = element.textContent;
  const display = element.dataset.display === "true";
  const edge = display ? 2 : 1;
  const rendered = document.createElement("span");
  try {
    katex.render(source.slice(edge, -edge), rendered, {
      displayMode: display, throwOnError: true, strict: "ignore", trust: distrust, maxSize: 12, maxExpand: 300,
    });
    element.replaceChildren(rendered);
  } catch {
    element.classList.add("cf-bad");
  }
}

function renderMaths() {
  if (!katex) return;
  for (const element of document.querySelectorAll(".cf-math:not([data-done])")) {
    if (element.closest("[hidden]")) continue; // a formula that is not laid out cannot be measured; it comes when shown
    renderFormula(element);
  }
  measureFormulas();
}

// A formula that is wider than its paragraph scrolls in a box of its own, so that the page never scrolls sideways.
function measureFormulas() {
  for (const element of document.querySelectorAll(".cf-math[data-done]")) {
    const room = element.closest("p, li, h3, div")?.clientWidth ?? 0;
    const wide = room > 0 && [...element.querySelectorAll(".base")].some((base) => base.offsetWidth > room);
    element.classList.toggle("cf-wide", wide);
    if (wide) element.tabIndex = 0;
  }
}

function scrollTo(element, block) {
  element.scrollIntoView({ block, behavior: CALM.matches ? "auto" : "smooth" });
}

function openSource(button) {
  const { turn, source, evidence } = button.dataset;
  const panel = document.getElementById("cf-sources");
  const section = [...panel.querySelectorAll(".cf-section")].find((own) => own.dataset.turn === turn);
  if (!section) return;
  for (const own of panel.querySelectorAll(".cf-section")) own.hidden = own !== section;
  for (const on of document.querySelectorAll(".cf-on")) on.classList.remove("cf-on");
  lastMarker = button;
  renderMaths();
  const article = [...section.querySelectorAll(".cf-source")].find((own) => own.dataset.source === source);
  if (!article) return scrollTo(section, "start");
  button.classList.add("cf-on");
  article.classList.add("cf-on");
  const wanted = (evidence ?? "").split(" ").filter(Boolean);
  const marks = [...article.querySelectorAll("mark")].filter(
    (mark) => wanted.length === 0 || wanted.includes(mark.dataset.evidence),
  );
  for (const mark of marks) mark.classList.add("cf-on");
  article.focus({ preventScroll: true });
  const height = PHONE.matches ? innerHeight : panel.clientHeight || innerHeight;
  const depth = marks.length ? marks[0].getBoundingClientRect().bottom - article.getBoundingClientRect().top : 0;
  if (depth > height * 0.85) scrollTo(marks[0], "center");
  else scrollTo(article, "start");
}

function goBack() {
  if (!lastMarker?.isConnected) return;
  scrollTo(lastMarker, "center");
  lastMarker.focus({ preventScroll: true });
}

function setMenu(open) {
  document.body.classList.toggle("cf-rail-open", open);
  document.querySelector(".cf-menu")?.setAttribute("aria-expanded", String(open));
}

document.addEventListener("click", (event) => {
  const button = event.target.closest?.("button");
  if (!button) return;
  if (button.dataset.source !== undefined) openSource(button);
  else if (button.classList.contains("cf-back")) goBack();
  else if (button.classList.contains("cf-menu")) setMenu(!document.body.classList.contains("cf-rail-open"));
  else if (button.id === "cf-new" || button.closest(".cf-conversations")) setMenu(false);
});

// Enter that ends the composing of a character (Chinese, Japanese, Korean) does not send the question.
for (const kind of ["keydown", "keypress"]) {
  document.addEventListener(kind, (event) => {
    if (event.key === "Enter" && event.isComposing) event.stopPropagation();
  }, true);
}

// A line that screen readers speak: it must stand on the page before its words change, so the server cannot send it.
const spoken = document.createElement("p");
spoken.className = "cf-spoken";
spoken.setAttribute("role", "status");
document.body.append(spoken);

function speak(words) {
  if (spoken.textContent !== words) spoken.textContent = words;
}

// Follow the turn under way: its question comes to the top, then the view stays where the reader puts it.
let following = null;
function follow() {
  const running = document.querySelector("#cf-live .cf-running");
  const now = running?.dataset.turn ?? null;
  if (now !== null && following === null) {
    scrollTo(running, PHONE.matches ? "start" : "nearest");
  }
  if (now === null && following !== null) {
    const done = document.querySelector(`#cf-thread .cf-turn[data-turn="${CSS.escape(following)}"]`);
    document.getElementById("cf-side").scrollTop = 0;
    speak(done?.querySelector(".cf-refusal-title, .cf-strong")?.textContent ?? "The answer is ready.");
    if (done) scrollTo(done, PHONE.matches ? "start" : "nearest");
    // The button that was pressed is gone with the run: the next question can be typed at once.
    if (!PHONE.matches && document.activeElement === document.body) document.querySelector("#cf-question textarea")?.focus();
  }
  if (running) speak(running.querySelector(".cf-status").textContent);
  following = now;
}

let scheduled = false;
new MutationObserver(() => {
  if (scheduled) return;
  scheduled = true;
  queueMicrotask(() => {
    scheduled = false;
    renderMaths();
    follow();
    setMenu(document.body.classList.contains("cf-rail-open"));
  });
}).observe(document.body, { childList: true, subtree: true, characterData: true });

addEventListener("resize", measureFormulas);
