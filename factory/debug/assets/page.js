
// The page refreshes itself every 5 seconds. It changes only the nodes of the document that differ,
// so the focus, a selection and the scroll position stay.
"use strict";
(() => {
  const period = 5000;

  function renew(old, fresh) {
    if (old.nodeType !== fresh.nodeType || old.nodeName !== fresh.nodeName || old.id !== fresh.id) {
      old.replaceWith(document.importNode(fresh, true));
      return;
    }
    if (old.nodeType !== Node.ELEMENT_NODE) {
      if (old.data !== fresh.data) old.data = fresh.data;
      return;
    }
    for (const { name, value } of fresh.attributes) {
      if (old.getAttribute(name) !== value) old.setAttribute(name, value);
    }
    for (const { name } of [...old.attributes]) {
      if (!fresh.hasAttribute(name)) old.removeAttribute(name);
    }
    const before = [...old.childNodes], after = [...fresh.childNodes];
    after.forEach((node, n) => {
      if (n < before.length) renew(before[n], node);
      else old.append(document.importNode(node, true));
    });
    before.slice(after.length).forEach((node) => node.remove());
  }

  async function load() {
    try {
      const answer = await fetch(location.href, { cache: "no-store", signal: AbortSignal.timeout(10000) });
      if (!answer.ok) throw new Error(answer.status);
      const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
      const focused = document.activeElement?.getAttribute("href");
      renew(document.getElementById("page"), fresh.getElementById("page"));
      if (focused && document.activeElement === document.body) {
        document.querySelector(`a[href="${CSS.escape(focused)}"]`)?.focus({ preventScroll: true });
      }
    } catch {
      document.getElementById("lost").textContent = "no answer from the program";
    }
  }

  async function loop() {
    if (!document.hidden) await load();
    setTimeout(loop, period);
  }
  document.addEventListener("visibilitychange", () => { if (!document.hidden) load(); });
  setTimeout(loop, period);
})();
