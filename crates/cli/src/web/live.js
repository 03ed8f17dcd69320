// Keeps the page up to date: fetches it again when something was recorded, and puts the new content in place. Nothing is
// replaced while the reader types, selects text or has opened a part of the page. Without this script pages stay as they were
// when they were opened.
//
// A browser allows six connections to a server. So one of all open pages listens, whichever holds the lock, and passes the
// news on to the others. When it is closed, the next page gets the lock.
"use strict";
(() => {
  const main = document.getElementById("main");
  const notice = document.getElementById("live");
  const address = document.body.dataset.live;
  let known = document.body.dataset.known;
  let newest = known;
  let waiting = false;
  let timer = 0;
  let pause = 300;

  function isBusy() {
    const at = document.activeElement;
    const typing = at && (at.tagName === "INPUT" || at.tagName === "TEXTAREA");
    const selected = String(document.getSelection()).length > 0;
    return typing || selected || document.hidden || main.querySelector("details[open]") !== null;
  }

  const stops = () => Array.from(main.querySelectorAll("a[href], summary, [tabindex='0']"));

  // A function that finds the same element in the new content: a link by its address, another by its place.
  function findAgain(element) {
    if (!element || !main.contains(element)) return () => null;
    const link = element.getAttribute("href");
    const place = stops().indexOf(element);
    return () => (link ? stops().find((stop) => stop.getAttribute("href") === link) : stops()[place]);
  }

  async function refresh() {
    timer = 0;
    if (known === newest) return;
    if (isBusy()) {
      waiting = true;
      return;
    }
    waiting = false;
    const began = performance.now();
    const answer = await fetch(location.href, { headers: { Accept: "text/html" } }).catch(() => null);
    // A page that takes long to make is made less often.
    pause = Math.min(10000, Math.max(300, 4 * (performance.now() - began)));
    if (!answer || !answer.ok) return;
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    const fresh = page.getElementById("main");
    if (!fresh || isBusy()) {
      waiting = true;
      return;
    }
    known = page.body.dataset.known;
    if (fresh.innerHTML === main.innerHTML) return;
    const again = findAgain(document.activeElement);
    main.replaceChildren(...fresh.childNodes);
    const focused = again();
    if (focused) focused.focus({ preventScroll: true });
    notice.textContent = new Date().toLocaleTimeString();
  }

  function soon() {
    if (!timer) timer = setTimeout(refresh, pause);
  }

  function hear(size) {
    newest = size;
    if (size !== known) soon();
  }

  const others = "BroadcastChannel" in window && new BroadcastChannel(address);

  function listen() {
    const source = new EventSource(address);
    let heard = null;
    source.addEventListener("news", (event) => {
      heard = event.data;
      hear(heard);
      if (others) others.postMessage(heard);
    });
    if (others) {
      others.addEventListener("message", (event) => {
        if (event.data === "?" && heard !== null) others.postMessage(heard);
      });
    }
    return source;
  }

  if (others && navigator.locks) {
    others.addEventListener("message", (event) => event.data !== "?" && hear(event.data));
    others.postMessage("?");
    // One page of the browser listens for all. It leaves that to another if the server has no place for it.
    const claim = () =>
      navigator.locks
        .request(address, () => new Promise((release) => {
          const source = listen();
          source.addEventListener("error", () => source.readyState === EventSource.CLOSED && release());
        }))
        .then(() => setTimeout(claim, 10000));
    claim();
  } else {
    // Only pages that are seen listen.
    let source = null;
    const watch = () => {
      if (source) source.close();
      source = document.hidden ? null : listen();
    };
    watch();
    document.addEventListener("visibilitychange", watch);
  }

  for (const event of ["focusout", "visibilitychange", "toggle", "selectionchange"]) {
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
