// The server inside of the extension: our two packages and what they need, pure Python only, so that one
// vsix serves every platform and every interpreter from 3.10 on.
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

// These are or need compiled packages.  Each stands behind one module of ours that does without: the interpreter's
// own copy is used where it has one.  A dependency that fails here belongs into this list, or into the bundle.
const LEFT_OUT = ["jsonschema", "numpy", "onnxruntime", "rapidfuzz", "tokenizers"];

const top = fileURLToPath(new URL("..", import.meta.url));
const target = join(top, "bundled", "libs");
const wheels = mkdtempSync(join(tmpdir(), "callground-wheel-"));
const python = process.env.PYTHON ?? "python3";

function pip(...parameters) {
  const quiet = ["--quiet", "--disable-pip-version-check", "--no-input"];
  const done = spawnSync(python, ["-m", "pip", ...parameters, ...quiet], { stdio: "inherit" });
  if (done.status !== 0) {
    throw new Error(`pip ${parameters[0]} failed; is ${python} a Python with pip?`);
  }
}

/** What pyproject.toml names as dependencies, without their markers. */
function dependencies() {
  const text = readFileSync(join(top, "..", "pyproject.toml"), "utf-8");
  const listed = /\ndependencies = \[(.*?)\n\]/s.exec(text)?.[1] ?? "";
  const all = [...listed.matchAll(/^ +"([^";]+)/gm)].map((match) => match[1].trim());
  const kept = all.filter((each) => !LEFT_OUT.some((name) => each.startsWith(name)));
  if (kept.length < 5 || kept.length + LEFT_OUT.length < all.length) {
    throw new Error("the dependencies in pyproject.toml were not understood");
  }
  return kept;
}

rmSync(target, { recursive: true, force: true });
try {
  pip("wheel", "--no-deps", "--wheel-dir", wheels, join(top, ".."));
  const wheel = join(wheels, readdirSync(wheels).find((name) => name.endsWith(".whl")) ?? "");
  const pure = ["--only-binary=:all:", "--implementation", "py", "--abi", "none", "--platform", "any"];
  const into = ["--target", target, "--python-version", "3.10", "--no-compile", ...pure];
  pip("install", "--no-deps", ...into, wheel);
  // pip reads markers as the Python that runs it: what a dependency needs on 3.10 only is named here.
  pip("install", ...into, ...dependencies(), "exceptiongroup>=1.1.1");
} finally {
  rmSync(wheels, { recursive: true, force: true });
}
// Programs, and stubs of other people's packages, which are no evidence that something exists.
const third = join("jedi", "third_party");
// The caller's network needs compiled packages: where an interpreter has those, it has callground's own wheel too.
const model = join("callground", "caller", "model");
for (const spare of ["bin", model, join(third, "django-stubs"), join(third, "typeshed", "stubs")]) {
  rmSync(join(target, spare), { recursive: true, force: true });
}
for (const needed of ["callground", "callground_server", "pygls", "lsprotocol", "tomli", "exceptiongroup"]) {
  if (!existsSync(join(target, needed))) {
    throw new Error(`${needed} is not in the bundle`);
  }
}
