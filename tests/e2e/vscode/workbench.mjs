// One window of the workbench, as a person sees it, and the probe's hand inside of the extension host.
import fs from "node:fs";
import path from "node:path";
import { chromium } from "playwright-core";

const PATIENCE = Number(process.env.CALLGROUND_PATIENCE ?? 90_000);

export class Workbench {
  /** given: port, probe (folder of requests), shots (folder of pictures), chromium (path). */
  constructor(given) {
    this.given = given;
    this.said = [];
  }

  /** Open a folder (or a .code-workspace file) with a file in it. */
  async open(place, file) {
    const { port, chromium: executablePath } = this.given;
    const authority = `127.0.0.1:${port}`;
    this.browser ??= await chromium.launch({ executablePath, args: ["--no-sandbox", "--disable-gpu"] });
    this.context ??= await this.browser.newContext({
      viewport: { width: 1200, height: 760 },
      permissions: ["clipboard-read", "clipboard-write"],
    });
    this.page = await this.context.newPage();
    this.page.setDefaultTimeout(PATIENCE);
    const kind = place.endsWith(".code-workspace") ? "workspace" : "folder";
    // The authority has to stand in the file's address, else another resource is opened.
    const payload = file ? [["openFile", `vscode-remote://${authority}${file}`]] : [];
    const began = Date.now();
    const owner = path.join(this.given.probe, "owner");
    fs.rmSync(owner, { force: true });
    await this.page.goto(
      `http://${authority}/?${kind}=${encodeURIComponent(place)}&payload=${encodeURIComponent(JSON.stringify(payload))}`,
    );
    await this.page.waitForSelector(".monaco-workbench");
    if (file) {
      await this.page.locator(`.tab[data-resource-name="${path.basename(file)}"]`).waitFor();
    }
    this.opened = Date.now();
    await this.until("the probe", () => fs.existsSync(owner));
    return this.opened - began;
  }

  async close() {
    await this.browser?.close();
  }

  /** Ask the probe. */
  async ask(action, given = {}) {
    const [request, answer] = ["request", "answer"].map((name) =>
      path.join(this.given.probe, `${name}.json`),
    );
    fs.rmSync(answer, { force: true });
    fs.writeFileSync(`${request}.part`, JSON.stringify({ action, ...given }));
    fs.renameSync(`${request}.part`, request);
    await this.until(`an answer to ${action}`, () => fs.existsSync(answer), 50);
    const { value, error } = JSON.parse(fs.readFileSync(answer, "utf-8"));
    if (error) {
      throw new Error(`${action}: ${error}`);
    }
    return value;
  }

  async until(what, condition, every = 150, patience = PATIENCE) {
    const began = Date.now();
    for (;;) {
      const value = await condition();
      if (value) {
        return value;
      }
      if (Date.now() - began > patience) {
        throw new Error(`waited in vain: ${what}`);
      }
      await new Promise((resolve) => setTimeout(resolve, every));
    }
  }

  /** Wait for exactly these of our findings: [[text, code], ...]. */
  async findings(file, wanted) {
    let seen;
    try {
      return await this.until(`${JSON.stringify(wanted)} in ${file}`, async () => {
        const text = (await this.ask("text", { file })) ?? "";
        const lines = text.split("\n");
        const all = (await this.ask("diagnostics", { file })).filter((each) => each.source === "callground");
        seen = all.map((d) => [lines[d.range[0]]?.slice(d.range[1], d.range[3]), d.code]).sort();
        return JSON.stringify(seen) === JSON.stringify([...wanted].sort()) && all;
      });
    } catch (error) {
      throw new Error(`${error.message}; seen: ${JSON.stringify(seen)}`);
    }
  }

  /** What our extension has popped up.  The workbench has messages of its own, about its connection for example. */
  async notifications() {
    const all = await this.page
      .locator(".notification-toast")
      .evaluateAll((toasts) =>
        toasts.map((toast) =>
          [toast, ...toast.querySelectorAll("[aria-label]")]
            .map((part) => part.getAttribute("aria-label") ?? part.textContent)
            .join(" "),
        ),
      );
    return all.filter((text) => /callground/i.test(text));
  }

  async shot(name) {
    await this.page.waitForTimeout(400);
    await this.page.screenshot({ path: path.join(this.given.shots, `${name}.png`) });
  }

  /** Run a command of the palette by its title. */
  async palette(title) {
    await this.page.keyboard.press("F1");
    const input = this.page.locator(".quick-input-widget input.input").first();
    await input.waitFor({ state: "visible" });
    await input.fill(`>${title}`);
    await this.page
      .locator(".quick-input-list .monaco-list-row")
      .first()
      .filter({ hasText: title })
      .waitFor();
    await this.page.keyboard.press("Enter");
    await input.waitFor({ state: "hidden" });
  }

  /** The menu of quick fixes at the cursor, open.  A menu that closes at once (something moved) is asked for again. */
  async quickFixes() {
    const menu = this.page.locator(".action-widget:not(.action-list-submenu-panel)");
    await this.until(
      "the menu of quick fixes",
      async () => {
        await this.page.keyboard.press("Control+.");
        await menu.waitFor({ timeout: 8000 }).catch(() => undefined);
        await this.page.waitForTimeout(300);
        return menu.isVisible();
      },
      500,
    );
    return menu;
  }

  /** What the Problems entry of the status bar says. */
  problems() {
    return this.page.locator("#status\\.problems").getAttribute("aria-label");
  }

  /** The text of the language status, behind the braces in the status bar. */
  async languageStatus() {
    const entry = this.page.locator("#status\\.languageStatus");
    return (await entry.count()) ? ((await entry.getAttribute("aria-label")) ?? "") : "";
  }

  async languageStatusSays(pattern) {
    let seen = "";
    try {
      return await this.until(`language status ${pattern}`, async () => {
        seen = await this.languageStatus();
        return pattern.test(seen) && seen;
      });
    } catch (error) {
      throw new Error(`${error.message}; seen: ${seen}`);
    }
  }

  /** Put the cursor into a piece of text of the active editor. */
  async cursor(file, text) {
    const lines = (await this.ask("text", { file })).split("\n");
    const line = lines.findIndex((each) => each.includes(text));
    check(line >= 0, `${text} is not in ${JSON.stringify(lines)}`);
    const character = lines[line].indexOf(text) + 1;
    await this.ask("select", { range: [line, character, line, character] });
    await this.ask("command", { id: "workbench.action.focusActiveEditorGroup" });
    return line;
  }

  /** Where the squiggles of the screen stand: [left, right] of each, with the text's own place. */
  async squiggles(kind = "error") {
    return this.page.evaluate((wanted) => {
      return [...document.querySelectorAll(`.view-overlays .squiggly-${wanted}`)].map((each) => {
        const box = each.getBoundingClientRect();
        return [box.left, box.right, box.top];
      });
    }, kind);
  }

  /** The box of a piece of text on the screen. */
  async box(text) {
    return this.page.evaluate((wanted) => {
      for (const line of document.querySelectorAll(".view-lines .view-line")) {
        const walker = document.createTreeWalker(line, NodeFilter.SHOW_TEXT);
        const nodes = [];
        while (walker.nextNode()) nodes.push(walker.currentNode);
        const whole = nodes.map((node) => node.data).join("");
        const at = whole.indexOf(wanted);
        if (at < 0) continue;
        const place = (offset) => {
          let left = offset;
          for (const node of nodes) {
            if (left <= node.data.length) return [node, left];
            left -= node.data.length;
          }
          return [nodes.at(-1), nodes.at(-1).data.length];
        };
        const range = document.createRange();
        range.setStart(...place(at));
        range.setEnd(...place(at + wanted.length));
        const box = range.getBoundingClientRect();
        return [box.left, box.right, box.top];
      }
      return null;
    }, text);
  }

  /** A squiggle stands exactly under a text. */
  async squiggleUnder(text, kind = "error") {
    let seen;
    return this.until(`a squiggle under ${text}`, async () => {
      const box = await this.box(text);
      seen = await this.squiggles(kind);
      return box && seen.find(([left, right]) => Math.abs(left - box[0]) < 2 && Math.abs(right - box[1]) < 2);
    });
  }
}

export function check(condition, message) {
  if (!condition) {
    throw new Error(message);
  }
}
