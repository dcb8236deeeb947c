"""The store: a shared file that may vanish, break or be full, and never takes anyone down."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from callground.facts import store as store_module
from callground.facts.cachedir import cache_directory
from callground.facts.extract import extract_module
from callground.facts.store import FILE_NAME, Store, content_digest, facts_key

FACTS = extract_module("import a\n\ndef f(x): return x\n")
DIGEST = content_digest("import a\n\ndef f(x): return x\n")


def test_facts_are_kept_between_two_openings(tmp_path: Path) -> None:
    with Store(tmp_path) as store:
        assert store.facts(DIGEST) is None
        store.put_facts(DIGEST, FACTS)
        assert store.facts(DIGEST) == FACTS  # before they are written
    with Store(tmp_path) as store:
        assert store.facts(DIGEST) == FACTS
        assert store.facts(content_digest(b"")) is None


def test_the_key_holds_the_extractor_and_the_parser(monkeypatch: pytest.MonkeyPatch) -> None:
    assert facts_key("d") != facts_key("e")
    before = facts_key("d")
    monkeypatch.setattr(store_module, "EXTRACTOR_VERSION", 999)
    assert facts_key("d") != before
    assert facts_key("d").endswith(f"{sys.version_info[0]}.{sys.version_info[1]}")


def test_digests_of_text_and_bytes_agree() -> None:
    assert content_digest("é") == content_digest("é".encode())
    assert len(content_digest("\ud800")) == 32


def test_json_values_have_namespaces(tmp_path: Path) -> None:
    with Store(tmp_path) as store:
        store.put_json("probe", "k", {"a": [1, None, "é"]})
        store.put_json("other", "k", 2)
        store.flush()
        assert store.get_json("probe", "k") == {"a": [1, None, "é"]}
        assert store.get_json("other", "k") == 2
        store.remove("probe", "k")
        assert store.get_json("probe", "k") is None
        store.put("probe", "k", b"not json")
        assert store.get_json("probe", "k") is None
        assert store.get("probe", "k") is None  # dropped
        with pytest.raises(TypeError):
            store.put_json("probe", "k", object())


def test_a_second_process_sees_what_was_flushed(tmp_path: Path) -> None:
    program = (
        "import sys; from pathlib import Path; from callground.facts.store import Store\n"
        "with Store(Path(sys.argv[1])) as store:\n"
        "    print(store.facts(sys.argv[2]) is not None)\n"
        "    store.put_json('from', 'child', 1)\n"
    )
    paths = [path for path in sys.path if path]
    with Store(tmp_path) as store:
        store.put_facts(DIGEST, FACTS)
        store.flush()
        run = subprocess.run(
            [sys.executable, "-c", f"import sys; sys.path[:0] = {paths!r}\n{program}", str(tmp_path), DIGEST],
            capture_output=True,
            text=True,
            check=True,
        )
        assert run.stdout.strip() == "True"
        assert store.get_json("from", "child") == 1


def test_threads_share_a_store(tmp_path: Path) -> None:
    with Store(tmp_path) as store:

        def work(number: int) -> None:
            for step in range(50):
                store.put_json("n", f"{number}.{step}", step)
                assert store.get_json("n", f"{number}.{step}") == step

        threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert store.info().entries == {"n": 200}


def test_many_entries_are_written_without_a_flush(tmp_path: Path) -> None:
    with Store(tmp_path) as one, Store(tmp_path) as other:
        for number in range(100):
            one.put("n", str(number), b"x" * 10)
        assert other.get("n", "0") == b"x" * 10


def test_past_the_cap_the_longest_unused_goes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [1_000_000.0]
    monkeypatch.setattr(store_module.time, "time", lambda: clock[0])
    with Store(tmp_path, cap=100_000) as store:
        for number in range(9):
            clock[0] += 10_000
            store.put("n", str(number), bytes(10_000))
            store.flush()
        clock[0] += 10_000
        assert store.get("n", "0") is not None  # used again: now the youngest
        store.flush()
        for number in range(9, 13):
            clock[0] += 10_000
            store.put("n", str(number), bytes(10_000))
            store.flush()
        kept = [number for number in range(13) if store.get("n", str(number)) is not None]
        assert 0 in kept
        assert 12 in kept
        assert 1 not in kept
        info = store.info()
        assert info.value_bytes <= info.cap


def test_clear_and_info(tmp_path: Path) -> None:
    with Store(tmp_path) as store:
        for number in range(50):
            store.put("big", str(number), os.urandom(20_000))
        store.put_facts(DIGEST, FACTS)
        info = store.info()
        assert info.state == "disk"
        assert info.path == str(tmp_path / FILE_NAME)
        assert info.entries == {"big": 50, "facts": 1}
        assert info.value_bytes > 1_000_000
        assert info.file_bytes > 1_000_000
        assert info.trouble == ""
        store.clear()
        info = store.info()
        assert info.entries == {}
        assert info.file_bytes < 200_000
        assert store.facts(DIGEST) is None


def _garbage(path: Path) -> None:
    path.write_bytes(b"this is no database, whatever its name says" * 100)


def _other_table(path: Path) -> None:
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE entries (a, b)")
    connection.close()


def _cut_off(path: Path) -> None:
    with Store(path.parent) as store:
        for number in range(200):
            store.put("n", str(number), os.urandom(2_000))
    data = path.read_bytes()
    path.write_bytes(data[: len(data) // 2])


def _empty(path: Path) -> None:
    path.write_bytes(b"")


def _folder(path: Path) -> None:
    path.mkdir()


@pytest.mark.parametrize("damage", [_garbage, _other_table, _cut_off, _empty, _folder])
def test_a_broken_file_takes_nobody_down(tmp_path: Path, damage: Callable[[Path], None]) -> None:
    damage(tmp_path / FILE_NAME)
    with Store(tmp_path) as store:
        for number in range(200):
            store.get("n", str(number))
            store.put("m", str(number), os.urandom(2_000))
        store.put_facts(DIGEST, FACTS)
        store.flush()
        assert store.facts(DIGEST) == FACTS
        store.info()
        store.clear()


def test_a_file_that_breaks_while_it_is_open(tmp_path: Path) -> None:
    with Store(tmp_path) as store:
        store.put_facts(DIGEST, FACTS)
        store.flush()
        for path in tmp_path.iterdir():
            with path.open("r+b") as stream:
                stream.write(b"\xff" * path.stat().st_size)
        store.facts(DIGEST)
        store.put_facts(DIGEST, FACTS)
        store.flush()
        assert store.facts(DIGEST) == FACTS


def test_a_folder_that_vanishes(tmp_path: Path) -> None:
    folder = tmp_path / "cache"
    with Store(folder) as store:
        store.put_facts(DIGEST, FACTS)
        store.flush()
        for path in folder.iterdir():
            path.unlink()
        folder.rmdir()
        store.put_facts(DIGEST, FACTS)
        store.flush()
        assert store.facts(DIGEST) == FACTS


def test_without_a_folder_a_temporary_one_is_used(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("")
    with Store(blocked / "below") as store:
        assert store.info().state == "temporary"
        assert store.trouble
        store.put_facts(DIGEST, FACTS)
        assert store.facts(DIGEST) == FACTS
        assert store.path is not None
        place = store.path.parent
        assert place.exists()
    assert not place.exists()


def test_without_any_folder_it_works_in_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(**_: object) -> str:
        raise OSError("no space")

    monkeypatch.setattr(store_module.tempfile, "mkdtemp", refuse)
    monkeypatch.setattr(store_module, "_MEMORY_CAP", 5_000)
    blocked = tmp_path / "file"
    blocked.write_text("")
    with Store(blocked / "below") as store:
        assert store.info().state == "memory"
        store.put_facts(DIGEST, FACTS)
        assert store.facts(DIGEST) == FACTS
        for number in range(20):
            store.put("n", str(number), bytes(1_000))
        assert store.info().value_bytes <= 5_000
        assert store.get("n", "19") is not None
        store.clear()
        assert store.info().entries == {}


def test_a_locked_file_is_a_miss_and_no_more(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store_module, "_BUSY_SECONDS", 0.01)
    with Store(tmp_path) as store:
        lock = sqlite3.connect(tmp_path / FILE_NAME, isolation_level=None)
        lock.execute("BEGIN EXCLUSIVE")
        store.put_facts(DIGEST, FACTS)
        store.flush()
        assert "locked" in store.trouble
        assert store.facts(DIGEST) == FACTS  # kept in memory meanwhile
        lock.execute("ROLLBACK")
        lock.close()
        store.put_json("n", "k", 1)
        store.flush()
        assert store.info().state == "disk"
    with Store(tmp_path) as store:
        assert store.get_json("n", "k") == 1


def test_an_entry_that_is_not_ours_is_dropped(tmp_path: Path) -> None:
    with Store(tmp_path) as store:
        store.put("facts", facts_key(DIGEST), b"broken")
        store.flush()
        assert store.facts(DIGEST) is None
        assert store.get("facts", facts_key(DIGEST)) is None


def test_a_closed_store_goes_on_in_memory(tmp_path: Path) -> None:
    store = Store(tmp_path)
    store.close()
    store.put_json("n", "k", 1)
    assert store.get_json("n", "k") == 1
    store.close()


@pytest.mark.parametrize(
    ("variables", "platform", "expected"),
    [
        ({"CALLGROUND_CACHE_DIR": "/c", "XDG_CACHE_HOME": "/x"}, "linux", "/c"),
        ({"XDG_CACHE_HOME": "/x"}, "linux", "/x/callground"),
        ({"XDG_CACHE_HOME": "relative"}, "linux", "~/.cache/callground"),
        ({}, "linux", "~/.cache/callground"),
        ({}, "darwin", "~/Library/Caches/callground"),
        ({"LOCALAPPDATA": "/local"}, "win32", "/local/callground/Cache"),
        ({}, "win32", "~/AppData/Local/callground/Cache"),
    ],
)
def test_where_the_cache_is(variables: dict[str, str], platform: str, expected: str) -> None:
    assert cache_directory(variables, platform) == Path(expected).expanduser()
