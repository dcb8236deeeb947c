"""The data step: fetch, mine, keep out what is not allowed, write one file of groups and a list of what is in it."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from callground.caller.training import mine_services, public_sets
from callground.caller.training.archives import Archive
from callground.caller.training.contamination import Evaluation, evaluation_texts
from callground.caller.training.corpus import Group, write
from callground.caller.training.mine_python import python_project
from callground.caller.training.sources import (
    EVALUATION_PROJECTS,
    EVALUATION_SETS,
    PROJECTS,
    SAME_OWNERS,
    SERVICES,
    TOOL_SERVERS,
    fetch,
)


def archives(folder: Path) -> list[Archive]:
    """The distributions in `folder` that may be used, by name: permissive, and not kept for evaluation."""
    found = [Archive(path) for path in sorted(folder.iterdir()) if path.name.endswith((".whl", ".zip", ".tar.gz"))]
    barred = EVALUATION_PROJECTS | SAME_OWNERS
    return sorted(
        (archive for archive in found if archive.permissive and archive.project not in barred), key=lambda a: a.project
    )


def service_groups(found: list[Archive]) -> Iterator[Group]:
    """The groups of the service definitions among the distributions."""
    by_name = {archive.project: archive for archive in found}
    if "botocore" in by_name:
        services = dict(mine_services.botocore_services(by_name["botocore"]))
        yield from services.values()
        if "awscli" in by_name:
            yield from mine_services.aws_examples(by_name["awscli"], services)
    if "google-api-python-client" in by_name:
        yield from mine_services.discovery_services(by_name["google-api-python-client"])
    if "azure-cli" in by_name:
        yield from mine_services.azure_commands(by_name["azure-cli"])
    if "homeassistant" in by_name:
        yield from mine_services.home_assistant(by_name["homeassistant"])


def project_groups(found: list[Archive]) -> Iterator[Group]:
    """The groups of the Python projects among the distributions."""
    for archive in found:
        if archive.project not in SERVICES:
            yield from python_project(archive)


def make(
    folder: Path,
    sets: Path | None,
    target: Path,
    evaluation: Path | None = None,
    *,
    only: Sequence[str] | None = None,
    download: bool = True,
) -> dict[str, int]:
    """Writes `target` (groups) and ``sources.json`` beside it; the number of pairs by kind, and of those kept out.

    `evaluation` is the folder of the distributions that are evaluated on; near-duplicates of their texts are left out.
    `only` names the distributions of a short run, which fetches nothing of what is evaluated on.
    """
    evaluation = evaluation or folder / "evaluation"
    if download:
        fetch(folder, tuple(only) if only else (*SERVICES, *PROJECTS, *TOOL_SERVERS))
        if not only:
            fetch(evaluation, (*EVALUATION_SETS, *sorted(EVALUATION_PROJECTS)))
    barred = Evaluation(evaluation_texts(evaluation) if evaluation.is_dir() else ())
    found = [archive for archive in archives(folder) if only is None or archive.project in only]
    counts: Counter[str] = Counter()

    def cleaned() -> Iterator[Group]:
        for group in _everything(found, sets):
            kept, left_out = barred.cleaned(group)
            counts[group.source] += len(kept.pairs)
            counts["near-duplicates of evaluation texts, left out"] += left_out
            yield kept

    write(cleaned(), target)
    listed = [{"name": a.project, "version": a.version, "licence": a.licence} for a in found]
    target.with_name("sources.json").write_text(json.dumps(listed, indent=1) + "\n", "utf-8")
    return dict(counts)


def _everything(found: list[Archive], sets: Path | None) -> Iterator[Group]:
    if sets is not None:
        for name, read_set in public_sets.SETS.items():
            if (sets / name).is_dir():
                yield from read_set(sets)
    yield from service_groups(found)
    yield from project_groups(found)
