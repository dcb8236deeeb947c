"""``callground cache info`` and ``callground cache clear``."""

from __future__ import annotations

from callground.facts.store import Store


def run_cache(action: str) -> int:
    """Show or clear what is kept on disk between runs."""
    with Store() as store:
        if action == "clear":
            store.clear()
            print(f"cleared {store.path}")
            return 0
        info = store.info()
    where = {"temporary": " (temporary: the cache folder cannot be used)", "memory": " (in memory only)"}
    print(f"file     {info.path or 'none'}{where.get(info.state, '')}")
    print(f"size     {_size(info.file_bytes)} on disk, {_size(info.value_bytes)} of {_size(info.cap)} used")
    for namespace, count in sorted(info.entries.items()):
        print(f"entries  {count} {namespace}")
    if info.trouble:
        print(f"trouble  {info.trouble}")
    return 0


def _size(number: float) -> str:
    for unit in ("bytes", "kB", "MB"):
        if number < 1000:
            return f"{number:.0f} {unit}" if unit == "bytes" else f"{number:.1f} {unit}"
        number /= 1000
    return f"{number:.1f} GB"
