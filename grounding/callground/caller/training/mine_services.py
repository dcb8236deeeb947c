"""Tools out of service definitions: botocore's models, Google's discovery documents, Home Assistant's actions.

Each service is one group: its operations are told apart by little, as a person's own tools are.  The requests are
made from the documentation (see `phrasing`) or are real ones: the titles of the examples of the AWS and Azure command
lines ("To describe an instance").
"""

from __future__ import annotations

import ast
import gzip
import json
import random
import re
import zlib
from collections.abc import Iterator, Mapping
from typing import Any

from callground.caller.training.archives import Archive
from callground.caller.training.corpus import Group, MinedTool, Pair, clean, distinct
from callground.caller.training.folds import is_decision_service
from callground.caller.training.phrasing import first_sentence, polite, request

_MARKUP = re.compile(r"<[^>]+>")
_TITLE = re.compile(r"^\*\*(?:Example \d+\s*[:.-]\s*)?(.{8,200}?)\*\*\s*$", re.M)
_FOLLOWING = re.compile(
    r"^The following (?:``[^`]+``|\S+) (?:command )?(?:example|command) (\w+ .{8,200}?)(?:::|\.|$)", re.M
)


def _chance(*names: str) -> random.Random:
    return random.Random(zlib.crc32("/".join(names).encode()))


def _plain(markup: str) -> str:
    return clean(_MARKUP.sub(" ", markup))


def _asked(group: Group, chance: random.Random, times: int) -> None:
    """Adds requests made from each tool's own description."""
    for at, tool in enumerate(group.tools):
        sentence = first_sentence(tool.description)
        made = (
            {request(sentence, tool.args, chance) for _ in range(times)} if 3 <= len(sentence.split()) <= 40 else set()
        )
        group.pairs += [Pair(text, at, told=True) for text in sorted(text for text in made if text)]


def botocore_services(archive: Archive, per_operation: int = 1) -> Iterator[tuple[str, Group]]:
    """(the service's folder name, its operations) of botocore's newest models; decisions' services left out."""
    newest: dict[str, str] = {}
    for name in archive.names():
        found = re.match(r"botocore/data/([^/]+)/([^/]+)/service-2\.json(?:\.gz)?$", name)
        if found and newest.get(found[1], "") < name:
            newest[found[1]] = name
    for service, name in sorted(newest.items()):
        if is_decision_service(service):
            continue
        data = archive.read(name)
        model = json.loads(gzip.decompress(data) if name.endswith(".gz") else data)
        group = Group("botocore", service)
        for operation, told in sorted(model["operations"].items()):
            shape = model["shapes"].get((told.get("input") or {}).get("shape", ""), {})
            members = sorted(shape.get("members", {}), key=lambda member: member not in shape.get("required", ()))
            group.tools.append(MinedTool(operation, _plain(told.get("documentation", ""))[:400], distinct(members)))
        _asked(group, _chance("botocore", service), per_operation)
        yield service, group


def aws_examples(archive: Archive, services: Mapping[str, Group]) -> Iterator[Group]:
    """The titles of the AWS command line's examples, as requests for the operations of `services`."""
    for service, tools in services.items():
        chance = _chance("awscli", service)
        places = {re.sub(r"\W", "", tool.name).lower(): at for at, tool in enumerate(tools.tools)}
        group = Group("awscli", service, tools.tools)
        for name in archive.names(f"awscli/examples/{service}/"):
            at = places.get(name.rpartition("/")[2].removesuffix(".rst").replace("-", "").lower())
            if at is None:
                continue
            text = archive.text(name)
            orders = [re.sub(r"^[Tt]o ", "", clean(title)) for title in _TITLE.findall(text)]
            orders += [clean(told) for told in _FOLLOWING.findall(text)]
            for order in dict.fromkeys(order.replace("``", "").rstrip(":") for order in orders):
                spoken = request(order, (), chance) if order.split(" ")[0].endswith("s") else polite(order, chance)
                if spoken and len(spoken.split()) >= 3:
                    group.pairs.append(Pair(spoken, at))
        yield group


def discovery_services(archive: Archive) -> Iterator[Group]:
    """Google's services: the newest version of each discovery document."""
    newest: dict[str, str] = {}
    for name in archive.names("googleapiclient/discovery_cache/documents/"):
        found = re.match(r".*/([^/]+?)\.([^/.]+(?:\.[^/.]+)?)\.json$", name)
        if found and newest.get(found[1], "") < name:
            newest[found[1]] = name
    for service, name in sorted(newest.items()):
        group = Group("discovery", service)
        for method in _methods(json.loads(archive.read(name))):
            parts = method["id"].split(".")
            group.tools.append(
                MinedTool(
                    "_".join(reversed(parts[-2:])),
                    clean(method.get("description", ""))[:400],
                    distinct(key for key in method.get("parameters", {})),
                )
            )
        _asked(group, _chance("discovery", service), 1)
        yield group


def _methods(resource: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield from resource.get("methods", {}).values()
    for inner in resource.get("resources", {}).values():
        yield from _methods(inner)


def azure_commands(archive: Archive) -> Iterator[Group]:
    """The Azure command line: one group a command module, the titles of the examples as requests."""
    modules: dict[str, Group] = {}
    for name in archive.names("azure/cli/command_modules/"):
        parts = name.split("/")
        if not name.endswith(".py") or len(parts) < 5 or "/tests/" in name:
            continue
        group = modules.setdefault(parts[3], Group("azure-cli", parts[3]))
        if parts[-1].startswith("_help"):
            _helps(archive.text(name), group)
        elif "/aaz/latest/" in name and parts[-1].startswith("_"):
            _aaz(archive.text(name), group)
    for module, group in sorted(modules.items()):
        chance = _chance("azure-cli", module)
        group.pairs = [Pair(polite(pair.request, chance), pair.tool) for pair in group.pairs]
        _asked(group, chance, 1)
        yield group


def _command(group: Group, name: str, summary: str, options: list[str], titles: list[str]) -> None:
    if any(tool.name == name for tool in group.tools):
        return
    group.tools.append(MinedTool(name, clean(summary)[:400], distinct(options)))
    group.pairs += [
        Pair(clean(title).rstrip("."), len(group.tools) - 1) for title in titles if 3 <= len(title.split()) <= 40
    ]


def _helps(source: str, group: Group) -> None:
    """``helps['vm create'] = "type: command ..."`` entries."""
    for found in re.finditer(r"^helps\[['\"](.+?)['\"]\]\s*=\s*[rf]?(\"\"\"|''')(.*?)\2", source, re.M | re.S):
        text = found[3]
        if "type: command" not in text:
            continue
        summary = re.search(r"short-summary:\s*[>|]?-?\s*(.+)", text)
        head, _, examples = text.partition("examples:")
        titles = re.findall(r"-\s*name:\s*[>|]?-?\s*(.+)", examples)
        options = [option.strip("- ") for option in re.findall(r"-\s*name:\s*(--[\w-]+)", head)]
        options = options or re.findall(r" --([a-z][\w-]+)", examples)
        _command(group, found[1], summary[1].strip("'\" ") if summary else "", options, titles)


def _aaz(source: str, group: Group) -> None:
    """Command classes: ``@register_command("vnet create")`` over a docstring with ``:example:`` lines."""
    try:
        tree = ast.parse(source)
    except SyntaxError:
        return
    for node in tree.body:
        if not isinstance(node, ast.ClassDef):
            continue
        names = [
            call.args[0].value
            for call in node.decorator_list
            if isinstance(call, ast.Call) and call.args and isinstance(call.args[0], ast.Constant)
        ]
        doc = ast.get_docstring(node) or ""
        if not names or not isinstance(names[0], str) or not doc:
            continue
        options = re.findall(r'options=\[[^\]]*?"--([\w-]+)"', source)
        _command(group, names[0], doc.split("\n")[0], options, re.findall(r":example:\s*(.+)", doc))


_LANGUAGES = (
    "zh-Hans",
    "zh-Hant",
    "ja",
    "ko",
    "es",
    "fr",
    "de",
    "pt-BR",
    "pt",
    "ru",
    "it",
    "tr",
    "vi",
    "id",
    "nl",
    "pl",
)


def home_assistant(archive: Archive, alignments: int = 4000) -> Iterator[Group]:
    """Home Assistant's actions, with descriptions in many languages as requests for the English one.

    The groups named after a language pair other texts of the interface with their English originals.
    """
    english: dict[str, dict[str, Any]] = {}
    for name in archive.names("homeassistant/components/"):
        if name.endswith("/translations/en.json"):
            english[name.split("/")[2]] = json.loads(archive.read(name))
    for component, texts in sorted(english.items()):
        services = texts.get("services", {})
        if not services:
            continue
        group, chance = Group("home-assistant", component), _chance("home-assistant", component)
        for service, told in sorted(services.items()):
            name = f"{component}.{service}"
            group.tools.append(MinedTool(name, clean(told.get("description", "")), distinct(told.get("fields", {}))))
        _asked(group, chance, 2)
        for language in chance.sample(_LANGUAGES, 5):
            name = f"homeassistant/components/{component}/translations/{language}.json"
            other = json.loads(archive.read(name)).get("services", {}) if archive.has(name) else {}
            for at, service in enumerate(sorted(services)):
                text = clean(other.get(service, {}).get("description", ""))
                if text and text != group.tools[at].description:
                    group.pairs.append(Pair(text[:200], at))
        yield group
    for language in _LANGUAGES:
        chance = _chance("home-assistant", language)
        aligned: dict[str, str] = {}
        for component, texts in sorted(english.items()):
            name = f"homeassistant/components/{component}/translations/{language}.json"
            if archive.has(name):
                other = dict(_leaves(json.loads(archive.read(name))))
                aligned.update(
                    {
                        text: other[key]
                        for key, text in _leaves(texts)
                        if other.get(key, text) != text and len(text.split()) > 3
                    }
                )
        chosen = chance.sample(sorted(aligned.items()), min(len(aligned), alignments // len(_LANGUAGES)))
        group = Group("translation", language, [MinedTool(clean(text)[:80], "") for text, _ in chosen])
        group.pairs = [Pair(clean(text)[:200], at) for at, (_, text) in enumerate(chosen)]
        yield group


def _leaves(tree: Any, path: str = "") -> Iterator[tuple[str, str]]:
    if isinstance(tree, dict):
        for key, inner in tree.items():
            yield from _leaves(inner, f"{path}/{key}")
    elif isinstance(tree, str) and "[%key" not in tree and "{" not in tree:
        yield path, tree
