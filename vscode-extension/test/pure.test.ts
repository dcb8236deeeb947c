import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { aiTool, humanAction } from "../src/pure/aiSource";
import { Backoff, GOOD_LIFE, MOST_CRASHES } from "../src/pure/backoff";
import { withoutDuplicates, type Place } from "../src/pure/overlap";
import { insertedRanges } from "../src/pure/ranges";
import { serverSettings } from "../src/pure/settings";
import { counted, indexProgress, shown } from "../src/pure/statusText";

const place = (line: number, start: number, end: number, endLine = line): Place => ({
  start: { line, character: start },
  end: { line: endLine, character: end },
});

describe("restarts", () => {
  it("wait twice as long each time, then stop", () => {
    const backoff = new Backoff();
    const delays = Array.from({ length: MOST_CRASHES + 1 }, () => backoff.crashed(0));
    assert.deepEqual(delays, [1000, 2000, 4000, 8000, 16000, 32000, undefined]);
    backoff.reset();
    assert.equal(backoff.crashed(0), 1000);
  });

  it("begin anew after a good life", () => {
    const backoff = new Backoff();
    backoff.crashed(0);
    backoff.crashed(0);
    backoff.started(10);
    assert.equal(backoff.crashed(11), 4000);
    backoff.started(20);
    assert.equal(backoff.crashed(20 + GOOD_LIFE), 1000);
  });
});

describe("duplicates", () => {
  const cases: [string, Place, Place, boolean][] = [
    ["the same range", place(1, 2, 5), place(1, 2, 5), false],
    ["a part of it", place(1, 2, 5), place(1, 4, 9), false],
    ["beside it", place(1, 2, 5), place(1, 5, 9), true],
    ["another line", place(1, 2, 5), place(2, 2, 5), true],
    ["several lines around it", place(1, 2, 5), place(0, 0, 0, 3), false],
  ];
  for (const [name, ours, other, kept] of cases) {
    it(name, () => {
      assert.equal(withoutDuplicates([{ range: ours }], [other]).length, kept ? 1 : 0);
    });
  }
});

describe("settings for the server", () => {
  const read = (set: Record<string, unknown>, defaults: Record<string, unknown>, python?: string) =>
    serverSettings(
      (key) => ({ workspaceValue: set[key] }),
      (key) => set[key] ?? defaults[key],
      python,
    );

  it("leave out what nobody has set", () => {
    assert.deepEqual(read({}, { scope: null, exclude: [], severity: {} }), {});
  });

  it("use the server's keys", () => {
    const set = { perFileIgnores: { "tests/**": ["unknown-member"] }, scope: "all" };
    assert.deepEqual(read(set, {}), { "per-file-ignores": set.perFileIgnores, scope: "all" });
  });

  it("name the selected interpreter, unless a person has set another", () => {
    assert.deepEqual(read({}, {}, "/v/bin/python"), { python: "/v/bin/python" });
    assert.deepEqual(read({ python: ".venv" }, {}, "/v/bin/python"), { python: ".venv" });
  });
});

describe("status", () => {
  const document = {
    uri: "file:///a.py",
    version: 1,
    grounded: 5,
    ungrounded: 1,
    abstained: 2,
    complete: true,
    reasons: { untyped: 1, "not-loaded": 2 },
  };
  const folder = (done: number, total: number, indexing = true) => ({ uri: "f", indexing, done, total });

  it("counts the calls of the file", () => {
    assert.equal(counted(document), "5 grounded, 1 ungrounded, 2 abstained");
    const view = shown("running", [], document);
    assert.equal(view.text, "5 grounded, 1 ungrounded, 2 abstained");
    assert.equal(view.busy, false);
    assert.match(view.detail, /not-loaded/);
  });

  it("shows how far the index is", () => {
    assert.equal(
      indexProgress([folder(1, 10), folder(2, 30), folder(9, 9, false)]),
      "indexing, 3 of 40 files",
    );
    assert.equal(indexProgress([folder(9, 9, false)]), undefined);
    const view = shown("running", [folder(1, 10)], undefined);
    assert.equal(view.text, "indexing, 1 of 10 files");
    assert.equal(view.busy, true);
  });

  it("names the environment of the innermost folder, and why it may be the wrong one", () => {
    const environment = { python: "/v/bin/python", version: "3.12.1", doubtful: null };
    const outer = { ...folder(1, 1, false), uri: "file:///w", environment };
    const inner = {
      ...outer,
      uri: "file:///w/in",
      environment: { ...environment, doubtful: "half of it is missing" },
    };
    const at = (uri: string) => shown("running", [outer, inner], { ...document, uri });
    assert.match(at("file:///w/a.py").detail, /Python 3\.12\.1 \(\/v\/bin\/python\)$/);
    assert.equal(at("file:///w/a.py").severity, "information");
    assert.match(at("file:///w/in/a.py").detail, /doubtful: half of it is missing$/);
    assert.equal(at("file:///w/in/a.py").severity, "warning");
  });

  it("says that the server ended and comes again", () => {
    const view = shown("waiting", [], undefined, 2000);
    assert.match(view.text, /starts again in 2 s/);
    assert.equal(view.severity, "warning");
    assert.equal(shown("failed", [], undefined).severity, "error");
  });
});

describe("sources of edits", () => {
  it("are AI only where the editor says so", () => {
    assert.equal(aiTool({ source: "inlineCompletionAccept", extension: "some.tool" }), "some.tool");
    assert.equal(aiTool({ source: "Chat.applyEdits" }), "Chat.applyEdits");
    for (const source of ["cursor", "snippet", "suggest", "rename", "reloadFromDisk", "unknown"]) {
      assert.equal(aiTool({ source }), undefined);
    }
    assert.equal(aiTool(undefined), undefined);
  });

  it("are a person's for completions, snippets and renaming", () => {
    assert.equal(humanAction({ source: "suggest" }), "completion");
    assert.equal(humanAction({ source: "cursor" }), undefined);
    assert.equal(humanAction({ source: "Chat.applyEdits" }), undefined);
  });
});

describe("ranges of inserted text", () => {
  /** Applies the changes, and gives the texts under the ranges. */
  const texts = (text: string, changes: [number, number, string][]): string[] => {
    const position = (offset: number, whole: string) => {
      const lines = whole.slice(0, offset).split("\n");
      return { line: lines.length - 1, character: lines[lines.length - 1]?.length ?? 0 };
    };
    const given = changes.map(([start, end, inserted]) => ({
      range: { start: position(start, text), end: position(end, text) },
      rangeOffset: start,
      text: inserted,
    }));
    let after = text;
    for (const [start, end, inserted] of [...changes].sort((a, b) => b[0] - a[0])) {
      after = after.slice(0, start) + inserted + after.slice(end);
    }
    const lines = after.split("\n");
    const offset = ({ line, character }: Place["start"]) =>
      lines.slice(0, line).reduce((sum, each) => sum + each.length + 1, 0) + character;
    return insertedRanges(given).map(({ start, end }) => after.slice(offset(start), offset(end)));
  };

  it("lie where the texts are after all changes", () => {
    const text = "one\ntwo\nthree\n";
    assert.deepEqual(texts(text, [[3, 3, "A\nB"]]), ["A\nB"]);
    assert.deepEqual(
      texts(text, [
        [0, 1, "XY"],
        [2, 3, "Z\nZ"],
        [8, 9, "Q"],
      ]),
      ["XY", "Z\nZ", "Q"],
    );
    assert.deepEqual(
      texts(text, [
        [1, 5, "new"],
        [6, 6, "!"],
        [9, 9, "?\n?"],
      ]),
      ["new", "!", "?\n?"],
    );
    assert.deepEqual(texts(text, [[0, 3, ""]]), []);
  });
});
