// The page's own script: it puts what podpath answers into the page as text, never as markup.

const at = (id) => document.getElementById(id);
const SHOWN = 200; // options of a list that are drawn at once; typing narrows it
let offered = { ends: [], tried: [], sysctls: {}, namespaces: [] };

function make(tag, attributes = {}, ...inside) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...inside);
  return element;
}

async function call(path, options = {}) {
  const answer = await fetch(path, { credentials: "omit", redirect: "error", ...options });
  const said = await answer.json().catch(() => ({}));
  if (!answer.ok) throw new Error(said.error || `podpath answered ${answer.status}: see its terminal`);
  return said;
}

const post = (path, said) =>
  call(path, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(said) });

// A field with a list: arrows move, Enter takes, Escape closes, typing narrows.
function combine(id, wanted) {
  const field = at(id);
  const list = at(`${id}-list`);
  let options = [];
  let chosen = -1;

  const close = () => {
    list.hidden = true;
    chosen = -1;
    field.setAttribute("aria-expanded", "false");
    field.removeAttribute("aria-activedescendant");
  };
  const mark = (place) => {
    options.forEach((one, number) => one.element.setAttribute("aria-selected", String(number === place)));
    chosen = place;
    if (place < 0) return;
    field.setAttribute("aria-activedescendant", options[place].element.id);
    options[place].element.scrollIntoView({ block: "nearest" });
  };
  const take = (end) => {
    field.value = end.label;
    close();
    if (id !== "target") return;
    at("port").value = end.port ? String(end.port) : at("port").value;
    if (end.protocol) at("protocol").value = end.protocol.toLowerCase();
  };
  const open = (narrow) => {
    const typed = narrow ? field.value.trim().toLowerCase() : "";
    const fitting = offered.ends.filter(
      (end) => wanted(end) && `${end.label} ${end.address}`.toLowerCase().includes(typed),
    );
    options = fitting.slice(0, SHOWN).map((end, number) => {
      const name = make("bdi", {}, end.label);
      const address = end.label.includes(end.address) ? "" : make("small", {}, end.address);
      const element = make("div", { role: "option", id: `${id}-${number}`, "aria-selected": "false" }, name, address);
      element.addEventListener("pointerdown", (event) => event.preventDefault());
      element.addEventListener("click", () => take(end));
      return { end, element };
    });
    const groups = Map.groupBy(options, (one) => one.end.group);
    list.replaceChildren(
      ...[...groups].map(([group, all]) =>
        make("div", { role: "group", "aria-label": group }, make("span", {}, group), ...all.map((one) => one.element)),
      ),
    );
    const left = fitting.length - options.length + (offered.left_out || 0);
    if (!options.length) list.append(make("p", { class: "none" }, "Nothing of that name: an address will do, too."));
    if (left > 0) list.append(make("p", { class: "none" }, `${left} more: type a part of the name`));
    list.hidden = false;
    field.setAttribute("aria-expanded", "true");
    mark(-1);
  };

  field.addEventListener("focus", () => open(false));
  field.addEventListener("click", () => list.hidden && open(false));
  field.addEventListener("input", () => open(true));
  field.addEventListener("blur", close);
  field.addEventListener("keydown", (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step) {
      event.preventDefault();
      if (list.hidden) open(false);
      if (options.length) mark((chosen + step + options.length) % options.length);
    } else if (event.key === "Enter" && chosen >= 0) {
      event.preventDefault();
      take(options[chosen].end);
    } else if (event.key === "Escape" && !list.hidden) {
      event.preventDefault();
      close();
    }
  });
}

const readForm = () => ({
  source: at("source").value,
  target: at("target").value,
  protocol: at("protocol").value,
  port: at("port").value,
  options: at("options").value,
});

function fill(tried) {
  for (const [name, value] of Object.entries(tried)) at(name).value = value;
}

function showError(error) {
  at("error").textContent = error.message;
  at("error").hidden = false;
}

let working = false;

async function busy(doing, work) {
  if (working) return;
  working = true;
  const buttons = [...document.querySelectorAll("button")];
  at("error").hidden = true;
  at("busy").textContent = `${doing} …`;
  buttons.forEach((one) => (one.disabled = true));
  try {
    await work();
    at("busy").textContent = "";
  } catch (error) {
    at("busy").textContent = "";
    showError(error);
  } finally {
    buttons.forEach((one) => (one.disabled = false));
    working = false;
  }
}

// A frame is as high as its page. The page runs no script, so its height is read from here.
function fit(frame) {
  const page = frame.contentDocument;
  if (!page || !page.documentElement) return;
  const measure = () => {
    frame.style.height = `${Math.ceil(page.documentElement.getBoundingClientRect().height) + 2}px`;
  };
  new ResizeObserver(measure).observe(page.documentElement);
  measure();
}

function showPage({ title, number }, wide) {
  const address = `answers/${number}`;
  const frame = make("iframe", { title, sandbox: "allow-same-origin" });
  frame.addEventListener("load", () => fit(frame));
  frame.src = address;
  const link = make("a", { href: address, target: "_blank", rel: "noopener noreferrer" }, "by itself");
  return make("div", { class: wide ? "page wide" : "page" }, make("p", {}, title, link), frame);
}

function showFix(fix) {
  const button = make("button", { type: "button", class: "chip" }, "Try it in the model");
  button.addEventListener("click", () => {
    at("change-part").open = true;
    at("text").value = fix.commands.join("\n");
    ask("change", "Walking before and after");
  });
  return make("div", { class: "fix" }, make("h3", {}, fix.title), make("pre", {}, fix.commands.join("\n")), button);
}

function show(answer) {
  const heading = at("heading");
  heading.textContent = answer.heading;
  heading.className = answer.color;
  at("asked").textContent = answer.asked;
  at("fixes").replaceChildren(...answer.fixes.map(showFix));
  const lone = answer.pages.length !== 3;
  at("pages").replaceChildren(...answer.pages.map((page, place) => showPage(page, lone || place === 0)));
  at("answer").hidden = false;
  document.title = `${answer.heading} – podpath`;
  heading.focus();
}

const ask = (question, doing) =>
  busy(doing, async () => {
    show(await post(question, { ...readForm(), change: at("text").value, netns: at("netns").value }));
  });

function addLine(line) {
  const text = at("text");
  text.value = text.value.trim() ? `${text.value.trimEnd()}\n${line}` : line;
  text.focus();
}

function listSysctls() {
  const known = Object.entries(offered.sysctls[at("netns").value] || {});
  at("sysctls").replaceChildren(...known.map(([key, value]) => make("option", { value: `${key} = ${value}` })));
}

function say(compared) {
  if (compared) at("compared").textContent = `Compared with ${compared}.`;
}

async function load() {
  offered = await call("node");
  at("node").textContent = offered.node;
  at("again").hidden = !offered.live;
  at("netns").replaceChildren(...offered.namespaces.map((name) => make("option", { value: name }, name)));
  const chips = offered.tried.map((tried) => {
    const chip = make("button", { type: "button", class: "chip" });
    chip.append(make("bdi", {}, tried.source), " → ", make("bdi", {}, tried.target), tried.port ? ` :${tried.port}` : "");
    chip.addEventListener("click", () => fill(tried));
    return chip;
  });
  at("tried").replaceChildren(at("tried").firstElementChild, ...chips);
  at("tried").hidden = !chips.length;
  if (chips.length && !at("source").value) fill(offered.tried[0]);
  listSysctls();
  say(offered.compared);
}

combine("source", (end) => end.is_source);
combine("target", () => true);
at("netns").addEventListener("change", listSysctls);
at("sysctl").addEventListener("change", () => {
  const [key, value] = at("sysctl").value.split(" = ");
  if (value === undefined) return;
  addLine(`sysctl -w ${key}=${value}`);
  at("sysctl").value = "";
});
for (const chip of at("templates").querySelectorAll("button")) {
  chip.addEventListener("click", () => addLine(chip.dataset.line));
}
at("ask").addEventListener("submit", (event) => {
  event.preventDefault();
  ask("follow", "Walking");
});
at("explain").addEventListener("click", () => ask("explain", "Looking for what breaks it"));
at("change").addEventListener("click", () => ask("change", "Walking before and after"));
at("compare").addEventListener("click", () => ask("compare", "Comparing"));
at("other").addEventListener("change", () =>
  busy("Reading the other node", async () => {
    const [file] = at("other").files;
    if (!file) return;
    if (file.size > 64 * 1024 * 1024) throw new Error("The file is longer than 64 MB: give it to podpath ui with --good.");
    const name = encodeURIComponent(file.name);
    const headers = { "content-type": "application/octet-stream" };
    say((await call(`other?name=${name}`, { method: "POST", headers, body: file })).compared);
  }),
);
at("again").addEventListener("click", () =>
  busy("Reading the node", async () => {
    await post("again", {});
    await load();
  }),
);
load().catch(showError);
