import { FORMAT_NAMES } from "../../src/config/outputs.ts";
import { countText } from "../../src/diagnostics/text.ts";
import type { Added, Compiled, GivenFile, ListView, Problem, Wanted } from "./calls.ts";
import { byId, download, element, numberText, sizeText } from "./element.ts";
import { EXAMPLE } from "./example.ts";
import { LineView } from "./line-view.ts";
import { LinkError, MOST_TEXT, isLink, linkFor, readLink } from "./link.ts";
import { alarmBox, missingBox, problemBox, sourcesOf, summaryOf, whyOf } from "./results.ts";
import { PageError, WorkerClient } from "./worker-client.ts";

/** The page: it takes files, asks the worker, and shows its answers. All work on lists happens in the worker. */

const client = new WorkerClient(byId("worker", "script").textContent);
const session = client.calls;
const rows = (from: number, count: number): ReturnType<typeof session.rows> =>
  session.rows(from, count);
const TABS = ["sources", "text", "lines", "why", "formats"] as const;
type Tab = (typeof TABS)[number];
const views = {
  text: new LineView(byId("view-text"), rows),
  lines: new LineView(byId("view-lines"), rows),
  formats: new LineView(byId("view-format"), rows),
};

let compiled: Compiled | undefined;
let tab: Tab = "sources";
/** The file that the tab of formats shows. */
let formatFile: string | undefined;
/** Whether the configuration is the user's own, which new files do not replace. */
let isOwnConfig = false;
/** Tasks that are not finished. */
let running = 0;
/** More text in a field would make the page slow: it becomes a file. */
const MOST_PASTED = 100_000;
/** What a link holds may be made to take long. */
const MOST_OF_LINK_MS = 10_000;

/** Runs a task of the user, and shows what goes wrong. */
async function attempt(task: () => Promise<void>, status = ""): Promise<void> {
  byId("status").textContent = status;
  busy(1);
  try {
    await task();
  } catch (error) {
    const problems =
      error instanceof PageError
        ? error.problems
        : [{ severity: "error" as const, code: "bug", message: String(error) }];
    byId("problems").replaceChildren(...problems.map(problemBox));
    scrollTo(0, 0);
  } finally {
    busy(-1);
  }
}

function busy(step: number): void {
  running += step;
  byId("main", "main").ariaBusy = String(running > 0);
  if (running === 0) byId("status").textContent = "";
}

async function add(given: readonly GivenFile[]): Promise<void> {
  if (given.length === 0) return;
  await attempt(async () => {
    take(await session.add(given));
    await compile();
  }, "Reading…");
}

function take({ files, config, isGiven, notes }: Added): void {
  if (isGiven || !isOwnConfig) byId("config", "textarea").value = config;
  isOwnConfig ||= isGiven;
  const isEmpty = files.length === 0 && !isOwnConfig;
  byId("drop").classList.toggle("used", !isEmpty);
  byId("actions").hidden = isEmpty;
  byId("intro").hidden = !isEmpty;
  byId("example").hidden = !isEmpty;
  byId("configuration").hidden = isEmpty;
  byId("notes").replaceChildren(...notes.map((note) => element("p", { class: "warn" }, note)));
  byId("known").replaceChildren(
    ...files.map(({ name, bytes }) => {
      const button = element("button", { type: "button", "aria-label": `Remove ${name}` }, "×");
      button.addEventListener("click", () => {
        void attempt(async () => {
          take(await session.remove(name));
          await compile();
        });
      });
      const size = element("span", { class: "faint" }, sizeText(bytes));
      return element("li", {}, element("span", {}, name), size, button);
    }),
  );
}

/** Back to the empty page. */
async function clear(): Promise<void> {
  isOwnConfig = false;
  take(await session.clear());
  compiled = undefined;
  byId("problems").replaceChildren();
  byId("results").hidden = true;
  showAddress("");
}

/** Changes the address without loading the page again. */
function showAddress(hash: string): void {
  history.replaceState(null, "", location.href.replace(/#.*$/, "") + hash);
}

async function compile(): Promise<void> {
  if (byId("known").childElementCount === 0 && !isOwnConfig) return await clear();
  byId("status").textContent = "Compiling…";
  byId("problems").replaceChildren();
  // A link of what was compiled before.
  showAddress("");
  const config = byId("config", "textarea").value;
  try {
    compiled = await session.compile(config);
  } catch (error) {
    compiled = undefined;
    byId("results").hidden = true;
    throw error;
  }
  showProblems(compiled);
  byId("results").hidden = compiled.lists.length === 0;
  byId("lists").hidden = compiled.lists.length < 2;
  byId("list", "select").replaceChildren(
    ...compiled.lists.map(({ name }, index) => element("option", { value: String(index) }, name)),
  );
  formatFile = undefined;
  byId("written").replaceChildren();
  byId("answer").replaceChildren();
  showList();
  scrollTo(0, 0);
  if (!byId("results").hidden) byId("results").focus({ preventScroll: true });
}

function isError({ severity }: Problem): boolean {
  return severity === "error";
}

/** What stops a publish comes before the results, what is only worth knowing after them. */
function showProblems({ problems, isRefused, missing, unused, lists }: Compiled): void {
  const boxes = problems.filter(isError).map(problemBox);
  if (unused.length > 0) {
    const words = `The configuration does not name ${unused.join(", ")}.`;
    boxes.unshift(element("div", { class: "problem" }, words));
  }
  if (isRefused) {
    const words = "The program would refuse to publish this list. It is shown anyway.";
    boxes.unshift(element("div", { class: "problem error" }, words));
  }
  if (missing.length > 0) boxes.unshift(missingBox(missing, lists.length > 0));
  byId("problems").replaceChildren(...boxes);
  const others = problems.filter((one) => !isError(one));
  const shown = byId("warnings", "details");
  shown.hidden = others.length === 0;
  shown.open = false;
  shown.querySelector("summary")!.textContent = countText(others.length, "warning");
  shown.querySelector("div")!.replaceChildren(...others.map(problemBox));
}

/** Opens what a link holds. */
async function openLink(): Promise<void> {
  if (!isLink(location.hash)) return;
  const { hash } = location;
  await attempt(async () => {
    const limit = setTimeout(() => {
      const message = `What the link holds takes longer than ${MOST_OF_LINK_MS / 1000} seconds to compile.`;
      client.restart([{ severity: "error", code: "link", message }]);
    }, MOST_OF_LINK_MS);
    try {
      const { config, isOwn, lists } = await readLink(hash);
      await clear();
      const added = await session.restore(lists);
      take({ ...added, config: isOwn ? config : added.config, isGiven: isOwn });
      await compile();
      showAddress(hash);
      byId("notes").replaceChildren(element("p", { class: "faint" }, "Opened from a link."));
    } catch (error) {
      await clear();
      throw error instanceof LinkError
        ? new PageError([
            {
              severity: "error",
              code: "link",
              message: `The link cannot be opened. ${error.message}`,
              hint: "Ask for a new one",
            },
          ])
        : error;
    } finally {
      clearTimeout(limit);
    }
  }, "Opening the link…");
}

/** Puts what the page compiles into its address, and copies that. */
async function share(): Promise<void> {
  const shared = { config: byId("config", "textarea").value, isOwn: isOwnConfig };
  const lists = await session.texts(MOST_TEXT);
  const whole = lists && (await linkFor({ ...shared, lists }));
  const hash = whole ?? (await linkFor({ ...shared, isOwn: true, lists: [] }));
  if (hash === undefined)
    throw new PageError([
      {
        severity: "error",
        code: "link",
        message: "The configuration is too long for a link.",
        hint: "Download it, and send the file",
      },
    ]);
  showAddress(hash);
  // Only a page that came over https, or from this machine, may copy.
  const isCopied =
    "clipboard" in navigator &&
    (await navigator.clipboard.writeText(location.href).then(
      () => true,
      () => false,
    ));
  const done = isCopied ? "The link is copied" : "The address of this page is the link";
  const content =
    whole === undefined
      ? "the configuration alone, because the lists are too long"
      : "the configuration and the lists";
  const words = `${done}. It has ${content}, behind the # that browsers do not send to servers.`;
  byId("notes").replaceChildren(element("p", {}, words));
}

function current(): { list: ListView; index: number } | undefined {
  const index = byId("list", "select").selectedIndex;
  const list = compiled?.lists[Math.max(0, index)];
  return list && { list, index: Math.max(0, index) };
}

function showList(): void {
  const chosen = current();
  if (chosen === undefined) return;
  const { list } = chosen;
  byId("alarms").replaceChildren(...alarmBox(list.alarms));
  byId("summary").replaceChildren(...summaryOf(list, compiled!.seconds));
  byId("panel-sources").replaceChildren(...sourcesOf(list));
  byId("source", "select").replaceChildren(
    ...list.sources.map(({ name, lines }, index) =>
      element("option", { value: String(index) }, `${name} (${numberText(lines)})`),
    ),
  );
  showFates();
  select(tab);
}

function showFates(): void {
  const source = current()!.list.sources[byId("source", "select").selectedIndex];
  const fates = [
    ["", source?.lines ?? 0, "all lines"] as const,
    ["kept", source?.kept ?? 0, ""] as const,
    ...(source?.dropped ?? []),
  ];
  byId("fate", "select").replaceChildren(
    ...fates.map(([fate, count, meaning]) =>
      element("option", { value: fate }, `${fate === "" ? meaning : fate} (${numberText(count)})`),
    ),
  );
}

function select(wanted: Tab): void {
  tab = wanted;
  for (const one of TABS) {
    const isOn = one === wanted;
    const button = byId(`tab-${one}`, "button");
    button.setAttribute("aria-selected", String(isOn));
    button.tabIndex = isOn ? 0 : -1;
    byId(`panel-${one}`).hidden = !isOn;
  }
  void attempt(showLines);
}

/** Shows the lines of the open tab. */
async function showLines(): Promise<void> {
  const chosen = current();
  if (chosen === undefined || tab === "sources" || tab === "why") return;
  const { list, index } = chosen;
  const wanted: Wanted | undefined =
    tab === "text"
      ? { kind: "file", path: list.path, find: byId("find-text", "input").value }
      : tab === "lines"
        ? {
            kind: "source",
            list: index,
            source: byId("source", "select").selectedIndex,
            fate: byId("fate", "select").value,
            find: byId("find-lines", "input").value,
          }
        : formatFile === undefined
          ? undefined
          : { kind: "file", path: formatFile, find: "" };
  byId("view-format").hidden = formatFile === undefined;
  if (wanted === undefined) return;
  const shown = tab;
  const count = await session.open(wanted);
  if (shown === tab) views[shown as "text"].show(count, "No lines.");
}

async function write(): Promise<void> {
  const chosen = current();
  if (chosen === undefined) return;
  const { files, losses } = await session.write(chosen.index, byId("format", "select").value);
  const buttons = files.map(({ name, bytes }) => {
    const short = name.split("/").at(-1)!;
    const button = element("button", { type: "button" }, `Download ${short} (${sizeText(bytes)})`);
    button.addEventListener("click", () => void save(name));
    return button;
  });
  const lost =
    losses.length === 0
      ? []
      : [element("p", { class: "warn" }, `Not expressed exactly: ${losses.join(", ")}`)];
  byId("written").replaceChildren(element("div", { class: "row" }, ...buttons), ...lost);
  formatFile = files[0]?.name;
  await showLines();
}

async function save(path: string): Promise<void> {
  download(await session.file(path), path.split("/").at(-1)!);
}

function filesIn(list: FileList | null | undefined): GivenFile[] {
  return [...(list ?? [])].map((file) => ({ name: file.name, blob: file }));
}

function onDrop(): void {
  const zone = byId("drop");
  for (const event of ["dragover", "dragleave", "drop"] as const)
    document.addEventListener(event, (happened) => {
      if (happened.dataTransfer?.types.includes("Files") !== true) return;
      happened.preventDefault();
      zone.classList.toggle("over", event === "dragover");
      if (event === "drop") void add(filesIn(happened.dataTransfer.files));
    });
}

async function addText(text: string): Promise<void> {
  await add([{ name: "pasted.txt", blob: new Blob([text]) }]);
}

/** What is pasted becomes a file. A long text never enters the field, which would take long to lay it out. */
function onPaste(): void {
  const field = byId("paste", "textarea");
  field.addEventListener("paste", (event) => {
    const text = event.clipboardData?.getData("text/plain") ?? "";
    if (text.length < MOST_PASTED) return;
    event.preventDefault();
    void addText(text);
  });
  field.addEventListener("input", () => {
    byId("add").hidden = field.value.trim() === "";
  });
  byId("add").addEventListener("click", () => {
    void addText(field.value);
    field.value = "";
    byId("add").hidden = true;
  });
}

function onTabs(): void {
  for (const [index, one] of TABS.entries()) {
    const button = byId(`tab-${one}`, "button");
    button.addEventListener("click", () => select(one));
    button.addEventListener("keydown", ({ key }) => {
      const step = key === "ArrowRight" ? 1 : key === "ArrowLeft" ? TABS.length - 1 : 0;
      if (step === 0) return;
      const next = TABS[(index + step) % TABS.length]!;
      select(next);
      byId(`tab-${next}`, "button").focus();
    });
  }
}

function onFields(): void {
  const input = byId("files", "input");
  byId("choose").addEventListener("click", () => input.click());
  input.addEventListener("change", () => {
    void add(filesIn(input.files));
    input.value = "";
  });
  byId("example").addEventListener("click", () => {
    void add(EXAMPLE.map(([name, text]) => ({ name, blob: new Blob([text]) })));
  });
  byId("clear").addEventListener("click", () => void attempt(clear));
  byId("share").addEventListener("click", () => void attempt(share));
  byId("change").addEventListener("click", () => {
    byId("drop").scrollIntoView();
    byId("paste").focus({ preventScroll: true });
  });
  addEventListener("hashchange", () => void openLink());
  const config = byId("config", "textarea");
  config.addEventListener("input", () => (isOwnConfig = true));
  byId("compile").addEventListener("click", () => void attempt(compile, "Compiling…"));
  byId("save-config").addEventListener("click", () => {
    const ending = /^\s*\{/.test(config.value) ? "jsonc" : "yaml";
    download(new Blob([config.value]), `my-list.${ending}`);
  });
  byId("list").addEventListener("change", showList);
  byId("save-list").addEventListener("click", () => {
    const chosen = current();
    if (chosen !== undefined) void save(chosen.list.path);
  });
  byId("source").addEventListener("change", () => {
    showFates();
    void attempt(showLines);
  });
  for (const id of ["fate", "find-text", "find-lines"])
    byId(id).addEventListener("input", () => void attempt(showLines));
  byId("format", "select").replaceChildren(
    ...FORMAT_NAMES.filter((name) => name !== "adblock").map((name) => element("option", {}, name)),
  );
  byId("write").addEventListener("click", () => void attempt(write, "Writing…"));
  byId("ask").addEventListener("submit", (event) => {
    event.preventDefault();
    void attempt(async () => {
      const answer = await session.why(current()?.index ?? 0, byId("name", "input").value);
      byId("answer").replaceChildren(...(answer === undefined ? [] : whyOf(answer)));
    });
  });
}

onDrop();
onPaste();
onTabs();
onFields();
void openLink();
