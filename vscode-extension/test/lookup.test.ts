import assert from "node:assert/strict";
import { posix } from "node:path";
import { describe, it } from "node:test";
import {
  chooseServer,
  cleanEnvironment,
  interpretersToTry,
  lies,
  outside,
  type Surroundings,
} from "../src/pure/lookup";

const around = (executables: string[], given: Partial<Surroundings> = {}): Surroundings => ({
  trusted: true,
  path: "",
  importStrategy: "fromEnvironment",
  scripts: "/venv/bin",
  searchPath: ["/usr/bin", "/project/bin", ".", ""],
  workspaceFolders: ["/project"],
  windows: false,
  isExecutable: (path) => executables.includes(path),
  join: (...parts) => posix.join(...parts),
  ...given,
});

describe("the server is", () => {
  const cases: [string, string[], Partial<Surroundings>, string][] = [
    [
      "what the setting names",
      ["/my/callground", "/venv/bin/callground"],
      { path: "/my/callground" },
      "/my/callground",
    ],
    [
      "nothing else when the setting is wrong",
      ["/venv/bin/callground"],
      { path: "/my/callground" },
      "missing",
    ],
    ["beside the interpreter", ["/venv/bin/callground", "/usr/bin/callground"], {}, "/venv/bin/callground"],
    ["on PATH", ["/usr/bin/callground"], {}, "/usr/bin/callground"],
    [
      "on PATH without an interpreter",
      ["/usr/bin/callground"],
      { scripts: undefined },
      "/usr/bin/callground",
    ],
    ["never a program of the workspace on PATH", ["/project/bin/callground", "callground"], {}, "bundled"],
    ["bundled when asked for", ["/venv/bin/callground"], { importStrategy: "useBundled" }, "bundled"],
    ["bundled without trust", ["/venv/bin/callground", "/usr/bin/callground"], { trusted: false }, "bundled"],
    ["bundled when there is none", [], {}, "bundled"],
  ];
  for (const [name, executables, given, wanted] of cases) {
    it(name, () => {
      const choice = chooseServer(around(executables, given));
      assert.equal(choice.kind === "program" ? choice.program : choice.kind, wanted);
    });
  }

  it("an .exe on Windows", () => {
    const choice = chooseServer(around(["/venv/bin/callground.exe"], { windows: true }));
    assert.equal(choice.kind, "program");
  });
});

describe("interpreters for the bundled server", () => {
  const found = ["/usr/bin/python3", "/usr/bin/python", "/project/bin/python3"];

  it("are the selected one, then PATH's", () => {
    const tried = interpretersToTry(around(found), ["/project/.venv/bin/python"]);
    assert.deepEqual(tried, ["/project/.venv/bin/python", "/usr/bin/python3", "/usr/bin/python"]);
  });

  it("lie outside of a workspace that is not trusted", () => {
    const tried = interpretersToTry(around(found, { trusted: false }), [
      "/project/.venv/bin/python",
      "/opt/py",
    ]);
    assert.deepEqual(tried, ["/opt/py", "/usr/bin/python3", "/usr/bin/python"]);
  });
});

describe("paths", () => {
  it("lie in a folder", () => {
    assert.ok(lies("/project/a/b", ["/project"]));
    assert.ok(lies("/project", ["/project/"]));
    assert.ok(!lies("/project2/a", ["/project"]));
    assert.ok(lies("c:\\Project\\x", ["C:\\project"]));
  });

  it("of PATH that are relative are left out", () => {
    assert.deepEqual(outside([".", "", "bin", "/usr/bin", "C:\\bin", "/project/bin"], ["/project"]), [
      "/usr/bin",
      "C:\\bin",
    ]);
  });
});

describe("the server's environment", () => {
  it("has nothing that brings foreign modules in", () => {
    const cleaned = cleanEnvironment({
      PATH: "/usr/bin",
      PYTHONPATH: ".",
      PYTHONHOME: "/x",
      PythonStartup: "y",
    });
    assert.deepEqual(cleaned, { PATH: "/usr/bin", PYTHONSAFEPATH: "1", PYTHONUTF8: "1" });
  });
});
