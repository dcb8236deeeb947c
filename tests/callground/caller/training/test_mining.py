"""What is mined out of distributions, on small ones made here."""

from __future__ import annotations

import gzip
import json
import zipfile

import pytest

from callground.caller.training import mining, public_sets
from callground.caller.training.archives import Archive
from callground.caller.training.contamination import Evaluation
from callground.caller.training.corpus import Group, MinedTool, Pair, read, write
from callground.caller.training.folds import is_decision_metatool, is_decision_seal, is_decision_service
from callground.caller.training.mine_python import python_project
from callground.caller.training.mine_services import (
    aws_examples,
    azure_commands,
    botocore_services,
    discovery_services,
    home_assistant,
)
from callground.caller.training.sources import EVALUATION_PROJECTS, PROJECTS, SAME_OWNERS, SERVICES, TOOL_SERVERS


@pytest.fixture
def wheel(tmp_path):
    def make(name, files, licence="License-Expression: MIT", folder=tmp_path):
        folder.mkdir(exist_ok=True)
        path = folder / f"{name.replace('-', '_')}-1.0-py3-none-any.whl"
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr(f"{name}-1.0.dist-info/METADATA", f"Name: {name}\nVersion: 1.0\n{licence}\n")
            for member, content in files.items():
                archive.writestr(member, content)
        return Archive(path)

    return make


def requests(group):
    return {(pair.request, group.tools[pair.tool].name) for pair in group.pairs}


@pytest.mark.parametrize(
    ("licence", "usable"),
    [
        ("License-Expression: MIT", True),
        ("Classifier: License :: OSI Approved :: BSD License", True),
        ("License: Apache 2.0", True),
        ("License-Expression: GPL-3.0-or-later", False),
        ("Classifier: License :: OSI Approved :: GNU Lesser General Public License v3 (LGPLv3)", False),
        ("License-Expression: MPL-2.0", False),
        ("License-Expression: MIT AND GPL-2.0-only", False),
        ("Summary: says nothing", False),
    ],
)
def test_only_permissive_licences(wheel, licence, usable):
    assert wheel("thing", {}, licence).permissive is usable


PROJECT = {
    "shop/__init__.py": "",
    "shop/mail.py": '''
def send_receipt(order, copy_to=None):
    """Sends the receipt of an order to its customer. Needs a connection."""

def send_reminder(order):
    pass

def send_all(orders):
    pass

def send_later(orders):
    pass
''',
    "shop/orders.py": """
from shop import mail
from shop.mail import send_reminder as remind

class Basket:
    def send_away(self, order):
        # Send the receipt to whoever ordered
        mail.send_receipt(order)
        # Send a reminder about the bill
        remind(order)
        # Send everything through the queue now
        self.send_away(order)
        # because the caller waits for it anyway
        mail.send_all([])
        # Send it over the unknown thing again
        unknown.send_receipt(order)
        # send_all(orders)
        mail.send_all([])
""",
    "tests/test_mail.py": "# Send the thing for the test\nsend_all([])",
}


def test_comments_lead_to_the_function_that_is_called(wheel):
    _, comments = python_project(wheel("shop", PROJECT))
    plain = {(request.lower(), tool) for request, tool in requests(comments)}
    assert {tool for _, tool in plain} == {"send_receipt", "send_reminder", "Basket.send_away"}
    assert len(plain) == 3
    assert all("unknown" not in request and "test" not in request for request, _ in plain)


def test_docstrings_become_requests(wheel):
    documented, _ = python_project(wheel("shop", PROJECT))
    ((request, name),) = requests(documented)
    assert name == "send_receipt"
    assert "receipt of an order" in request
    assert documented.pairs[0].told


def test_mcp_tools_are_a_group_of_their_own(wheel):
    source = '''
def register(server):
    @server.tool()
    async def find_flights(origin: str, goal: str):
        """Finds the flights between two airports."""

    @server.tool()
    async def book_flight(number: str):
        """Books a seat on a flight by its number."""
'''
    groups = {group.source: group for group in python_project(wheel("air-mcp", {"air/server.py": source}))}
    assert [tool.name for tool in groups["mcp"].tools] == ["find_flights", "book_flight"]
    assert groups["mcp"].tools[0].args == ("origin", "goal")
    assert {name for _, name in requests(groups["mcp"])} == {"find_flights", "book_flight"}


def a_service(decisions: bool) -> str:
    return next(name for name in (f"service{at}" for at in range(100)) if is_decision_service(name) is decisions)


def test_services_and_their_examples(wheel):
    model = {
        "operations": {
            "DeleteRole": {"documentation": "<p>Deletes the given role.</p> More.", "input": {"shape": "In"}},
            "ListRoles": {"documentation": "<p>Lists all the roles.</p>"},
        },
        "shapes": {"In": {"members": {"Force": {}, "RoleName": {}}, "required": ["RoleName"]}},
    }
    packed = gzip.compress(json.dumps(model).encode())
    ours, theirs = a_service(False), a_service(True)
    files = {f"botocore/data/{name}/2020-01-01/service-2.json.gz": packed for name in (ours, theirs)}
    services = dict(botocore_services(wheel("botocore", files)))
    assert list(services) == [ours], "the services of the decisions are left out"
    group = services[ours]
    assert [(tool.name, tool.args) for tool in group.tools] == [
        ("DeleteRole", ("RoleName", "Force")),
        ("ListRoles", ()),
    ]
    assert {name for _, name in requests(group)} == {"DeleteRole", "ListRoles"}

    page = "**Example 1: To remove an old role**\n\nThe following ``delete-role`` example removes one. ::\n\n    aws"
    examples = wheel("awscli", {f"awscli/examples/{ours}/delete-role.rst": page})
    (made,) = aws_examples(examples, services)
    assert {name for _, name in requests(made)} == {"DeleteRole"}
    assert any("remove an old role" in request.lower() for request, _ in requests(made))


def test_discovery_documents(wheel):
    document = {
        "resources": {
            "events": {
                "methods": {
                    "move": {
                        "id": "cal.events.move",
                        "description": "Moves an event away.",
                        "parameters": {"eventId": {}},
                    }
                }
            }
        }
    }
    name = "googleapiclient/discovery_cache/documents/cal.v{}.json"
    old = json.dumps({"methods": {}})
    (group,) = discovery_services(wheel("google", {name.format(1): old, name.format(3): json.dumps(document)}))
    assert group.tools == [MinedTool("move_events", "Moves an event away.", ("eventId",))]
    assert {name for _, name in requests(group)} == {"move_events"}


def test_azure_helps_and_commands(wheel):
    helps = """helps['vm open'] = '''
type: command
short-summary: Opens a port of a machine.
examples:
  - name: Let web traffic in to a machine.
    text: az vm open --port 80
'''
"""
    command = '''
@register_command("vnet list")
class List(AAZCommand):
    """List the networks of a group.

    :example: Show me every network here
        az vnet list
    """
    def _schema(self):
        options=["-g", "--resource-group"]
'''
    root = "azure/cli/command_modules/net/"
    files = {f"{root}_help.py": helps, f"{root}aaz/latest/vnet/_list.py": command}
    (group,) = azure_commands(wheel("azure-cli", files))
    assert {(tool.name, tool.args) for tool in group.tools} == {
        ("vm open", ("port",)),
        ("vnet list", ("resource-group",)),
    }
    texts = " ".join(request.lower() for request, _ in requests(group))
    assert "let web traffic in to a machine" in texts
    assert "show me every network here" in texts


def test_home_assistant_speaks_many_languages(wheel):
    def texts(description, name):
        return json.dumps({"services": {"go": {"description": description, "fields": {"speed": {}}}}, "title": name})

    root = "homeassistant/components/robot/translations/"
    languages = {"de": "Schickt den Roboter los.", "ko": "로봇을 보냅니다.", "fr": "Envoie le robot."}
    files = {f"{root}{language}.json": texts(text, f"Der {language} Titel") for language, text in languages.items()}
    files |= {f"{root}en.json": texts("Sends the robot away.", "The title of a robot")}
    groups = list(home_assistant(wheel("homeassistant", files)))
    actions = next(group for group in groups if group.source == "home-assistant")
    assert actions.tools == [MinedTool("robot.go", "Sends the robot away.", ("speed",))]
    told = [pair.request for pair in actions.pairs if pair.told]
    assert told
    assert any("robot away" in request for request in told)
    german = next(group for group in groups if (group.source, group.name) == ("translation", "de"))
    assert ("Der de Titel", "The title of a robot") in requests(german)


def test_seal_tools_leaves_the_decisions_rows(tmp_path):
    root = tmp_path / "seal" / "Seal-Tools_Dataset"
    root.mkdir(parents=True)
    tool = {
        "api_name": "getTide",
        "api_description": "Retrieve the tide of a harbour",
        "field": "Sea/Tides",
        "parameters": {"harbour": {}},
    }
    (root / "tool.jsonl").write_text(json.dumps(tool))
    rows = [{"query": f"When is high water in harbour {at}?", "calling": [{"api": "getTide"}]} for at in range(40)]
    for split in public_sets.SEAL_SPLITS:
        (root / f"{split}.jsonl").write_text("\n".join(json.dumps(row) for row in rows))
    (ours,) = public_sets.seal_tools(tmp_path)
    (theirs,) = public_sets.seal_tools(tmp_path, decisions=True)
    asked = {pair.request for pair in ours.pairs if not pair.told}
    assert asked == {row["query"] for row in rows if not is_decision_seal("dev", row["query"])}
    assert asked
    assert {pair.request for pair in theirs.pairs} == {row["query"] for row in rows}, "all of the split that is theirs"
    assert any(pair.told for pair in ours.pairs)


def test_metatool_leaves_the_decisions_tools(tmp_path):
    root = tmp_path / "metatool"
    root.mkdir()
    names = [f"plugin{at}" for at in range(12)]
    (root / "plugin_des.json").write_text(json.dumps({name: f"Does {name}" for name in names}))
    rows = "".join(f'"What about {name}, part {at}?",{name}\n' for name in names for at in range(5))
    (root / "all_clean_data.csv").write_text("Query,Tool\n" + rows)
    (group,) = public_sets.metatool(tmp_path, each=3)
    ours = {name for name in names if not is_decision_metatool(name)}
    assert {tool.name for tool in group.tools} == ours < set(names)
    assert len(group.pairs) == 3 * len(ours)
    assert all(group.tools[pair.tool].name in pair.request for pair in group.pairs)
    (theirs,) = public_sets.kept_back(tmp_path)
    assert {tool.name for tool in theirs.tools} == set(names)
    assert {theirs.tools[pair.tool].name for pair in theirs.pairs} == set(names) - ours


def test_toolalpaca_is_kept_back_whole(tmp_path):
    root = tmp_path / "toolalpaca"
    root.mkdir()
    interface = {
        "Name": "Pets",
        "Function_Description": {
            "find": 'Finds a pet.\nParameters: {"kind": "Required. string."}\nOutput: a pet',
            "feed": "Feeds a pet.\nParameters: {}\n",
            "components": "",
        },
        "Instructions": ["Where is my cat?", "Find and feed the cat."],
        "Golden_Answers": [[{"Action": "find"}], [{"Action": "find"}, {"Action": "feed"}]],
    }
    for name in ("eval_real", "eval_simulated"):
        (root / f"{name}.json").write_text(json.dumps([interface]))
    group, _ = public_sets.kept_back(tmp_path)
    assert group.tools == [MinedTool("find", "Finds a pet.", ("kind",)), MinedTool("feed", "Feeds a pet.")]
    assert requests(group) == {("Where is my cat?", "find")}
    assert "toolalpaca" not in public_sets.SETS


def test_near_duplicates_of_evaluation_texts_are_left_out():
    barred = Evaluation(["Book me a table for four at the harbour restaurant tonight", "short one here"])
    tools = [
        MinedTool("book", "Reserves a table"),
        MinedTool("other", "Book me a table for four at the harbour restaurant"),
    ]
    group = Group(
        "x",
        "y",
        tools,
        [
            Pair("book me a table for four at the harbour restaurant tonight!", 0),
            Pair("Please book me a table for four at the harbour restaurant", 0),
            Pair("Short one, here.", 0),
            Pair("Book me a room in the harbour hotel", 0),
            Pair("Do another thing", 1),
        ],
    )
    kept, left_out = barred.cleaned(group)
    assert [pair.request for pair in kept.pairs] == ["Book me a room in the harbour hotel"]
    assert left_out == 4


def test_nothing_that_is_evaluated_on_is_in_the_lists():
    named = {*SERVICES, *PROJECTS, *TOOL_SERVERS}
    assert len(named) == len(SERVICES) + len(PROJECTS) + len(TOOL_SERVERS)
    assert len(PROJECTS) >= 40
    assert not named & (EVALUATION_PROJECTS | SAME_OWNERS)


def test_the_data_step(wheel, tmp_path):
    """Evaluation projects and unusable licences stay out even where they lie in the folder; near-duplicates too."""
    folder = tmp_path / "dists"
    wheel("shop", PROJECT, folder=folder)
    wheel("celery", PROJECT, folder=folder)
    wheel("rich", PROJECT, folder=folder)
    wheel("copyleft", PROJECT, "License-Expression: GPL-3.0-only", folder=folder)
    row = {"question": [[{"role": "user", "content": "Send a reminder about the bill"}]], "function": []}
    wheel("bfcl-eval", {"bfcl_eval/data/BFCL_v4_simple.json": json.dumps(row)}, folder=folder / "evaluation")
    target = tmp_path / "groups.jsonl"
    counts = mining.make(folder, None, target, download=False)
    groups = list(read(target))
    assert {group.name for group in groups} == {"shop"}
    assert counts["near-duplicates of evaluation texts, left out"] == 1
    assert not [pair for group in groups for pair in group.pairs if "reminder" in pair.request]
    assert json.loads((tmp_path / "sources.json").read_text()) == [{"name": "shop", "version": "1.0", "licence": "MIT"}]


def test_a_short_run_mines_only_what_is_named(wheel, tmp_path):
    folder = tmp_path / "dists"
    wheel("shop", PROJECT, folder=folder)
    wheel("store", PROJECT, folder=folder)
    mining.make(folder, None, tmp_path / "groups.jsonl", only=["store"], download=False)
    assert {group.name for group in read(tmp_path / "groups.jsonl")} == {"store"}


def test_groups_come_back_as_they_were_written(tmp_path):
    groups = [Group("x", "y", [MinedTool("a", "b", ("c",))], [Pair("d", 0, True)]), Group("x", "empty")]
    assert write(groups, tmp_path / "groups.jsonl") == 1
    assert list(read(tmp_path / "groups.jsonl")) == groups[:1]
