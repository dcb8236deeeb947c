import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { describe, it } from "node:test";
import { RESTART_KEYS, SERVER_KEYS } from "../src/pure/settings";

interface Manifest {
  readonly enabledApiProposals?: unknown;
  readonly capabilities: { untrustedWorkspaces: { supported: unknown; restrictedConfigurations: string[] } };
  readonly contributes: {
    commands: { command: string }[];
    configuration: {
      properties: Record<string, { default: unknown; description?: string; markdownDescription?: string }>;
    };
  };
}

const manifest = JSON.parse(readFileSync("package.json", "utf-8")) as Manifest;
const sources = readdirSync("src", { recursive: true, encoding: "utf-8" })
  .filter((name) => name.endsWith(".ts"))
  .map((name) => [name, readFileSync(`src/${name}`, "utf-8")] as const);

describe("stable API only", () => {
  it("package.json declares no proposal", () => {
    assert.equal(manifest.enabledApiProposals, undefined);
    assert.ok(!readFileSync("package.json", "utf-8").includes("enabledApiProposals"));
  });

  it("the one name that is looked for stands in one file", () => {
    const users = sources.filter(([, text]) => text.includes("detailed" + "Reason")).map(([name]) => name);
    assert.deepEqual(users, ["editReason.ts"]);
  });
});

describe("settings", () => {
  const properties = manifest.contributes.configuration.properties;

  it("that the code reads are declared, each with its meaning", () => {
    for (const key of [...Object.keys(SERVER_KEYS), ...RESTART_KEYS]) {
      assert.ok(properties[`callground.${key}`], key);
    }
    for (const [name, setting] of Object.entries(properties)) {
      assert.ok(setting.description ?? setting.markdownDescription, name);
    }
  });

  it("that name an executable are restricted", () => {
    const restricted = manifest.capabilities.untrustedWorkspaces.restrictedConfigurations;
    assert.equal(manifest.capabilities.untrustedWorkspaces.supported, "limited");
    for (const name of ["callground.path", "callground.python", "callground.importStrategy"]) {
      assert.ok(restricted.includes(name), name);
    }
  });
});

describe("commands", () => {
  it("of the palette are registered", () => {
    const text = sources.find(([name]) => name === "commands.ts")?.[1] ?? "";
    for (const { command } of manifest.contributes.commands) {
      assert.match(text, new RegExp(`\\b${command.replace("callground.", "")}:`), command);
    }
  });
});

describe("telemetry", () => {
  it("is nowhere: nothing here opens a connection", () => {
    for (const [name, text] of sources) {
      assert.doesNotMatch(text, /from "node:(https?|net|tls|dgram)"|\bfetch\(|TelemetryLogger/, name);
    }
  });
});
