// Keeps the page up to date: fetches it again when something was recorded, and puts the new content in place. Nothing is
// replaced while the reader types, selects text or has opened a part of the page. Without this script pages stay as they were
// when they were opened.
"use strict";
(() => {
  const main = document.getElementById("main");
  const notice = document.getElementById("live");
  let waiting = false;
  let timer = 0;

  function isBusy() {
    const at = document.activeElement;
    const typing = at && (at.tagName === "INPUT" || at.tagName === "TEXTAREA");
    const selected = String(document.getSelection()).length > 0;
    return typing || selected || document.hidden || main.querySelector("details[open]") !== null;
  }

  function placeOf(element) {
    return element && main.contains(element) ? element.getAttribute("href") : null;
  }

  async function refresh() {
    timer = 0;
    if (isBusy()) {
      waiting = true;
      return;
    }
    waiting = false;
    const answer = await fetch(location.href, { headers: { Accept: "text/html" } }).catch(() => null);
    if (!answer || !answer.ok) return;
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    const fresh = page.getElementById("main");
    if (!fresh || isBusy() || fresh.innerHTML === main.innerHTML) return;
    const focused = placeOf(document.activeElement);
    main.replaceChildren(...fresh.childNodes);
    if (focused) {
      const again = Array.from(main.querySelectorAll("a")).find((link) => link.getAttribute("href") === focused);
      if (again) again.focus({ preventScroll: true });
    }
    notice.textContent = new Date().toLocaleTimeString();
  }

  function soon() {
    if (!timer) timer = setTimeout(refresh, 300);
  }

  new EventSource(document.body.dataset.live).addEventListener("news", soon);
  for (const event of ["focusout", "visibilitychange", "toggle"]) {
    document.addEventListener(event, () => waiting && soon(), true);
  }

  // The arrow keys go from sign to sign in a drawing.
  document.addEventListener("keydown", (event) => {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    const drawing = event.target.closest && event.target.closest("svg.curve");
    if (!step || !drawing) return;
    const signs = Array.from(drawing.querySelectorAll("a.sign"));
    const next = signs[signs.indexOf(event.target.closest("a.sign")) + step];
    if (next) {
      event.preventDefault();
      next.focus();
    }
  });
})();
