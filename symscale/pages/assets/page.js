"use strict";
// Explains symbols on hover, focus and touch, and copies LaTeX.
(() => {
  const known = JSON.parse(document.getElementById("symbols").textContent);
  const tip = document.getElementById("tip");
  const said = document.getElementById("said");
  const line = name => {
    const [unit, meaning] = known[name];
    return `${name}${unit === "1" ? "" : ` [${unit}]`}: ${meaning}`;
  };
  const show = (text, box) => {
    tip.textContent = text;
    tip.hidden = false;
    const size = tip.getBoundingClientRect(), room = document.documentElement.clientWidth;
    const left = Math.min(Math.max(4, box.left), room - size.width - 4);
    const above = box.top - size.height - 6;
    tip.style.left = `${Math.max(4, left)}px`;
    tip.style.top = `${above > 4 ? above : box.bottom + 6}px`;
  };
  const hide = () => { tip.hidden = true; };
  const symbol = event => event.target instanceof Element ? event.target.closest("[data-s]") : null;
  const point = event => {
    const found = symbol(event);
    if (found && known[found.dataset.s]) show(line(found.dataset.s), found.getBoundingClientRect());
    else hide();
  };
  document.addEventListener("mouseover", point);
  document.addEventListener("click", point);
  document.addEventListener("scroll", hide, true);
  document.addEventListener("keydown", event => { if (event.key === "Escape") hide(); });
  document.addEventListener("focusin", event => {
    if (!(event.target instanceof Element) || !event.target.matches(".eq > .scroll")) return hide();
    if (!event.target.matches(":focus-visible")) return;
    const names = new Set([...event.target.querySelectorAll("[data-s]")].map(e => e.dataset.s));
    const lines = [...names].filter(name => known[name]).map(line);
    if (lines.length) show(lines.join("\n"), event.target.getBoundingClientRect());
  });
  document.addEventListener("focusout", hide);
  const copy = async text => {
    try {
      await navigator.clipboard.writeText(text);
      return true;
    } catch {
      const area = document.createElement("textarea");
      area.value = text;
      document.body.append(area);
      area.select();
      const done = document.execCommand("copy");
      area.remove();
      return done;
    }
  };
  document.addEventListener("click", async event => {
    const button = event.target instanceof Element ? event.target.closest("button[data-copy]") : null;
    if (!button) return;
    const label = button.textContent, done = await copy(button.dataset.copy);
    button.textContent = done ? "Copied" : "Not copied";
    said.textContent = done ? "Copied to the clipboard" : "The browser refuses to copy";
    setTimeout(() => { button.textContent = label; }, 1500);
  });
})();
