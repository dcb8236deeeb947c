"""Settings from pyproject.toml and from an editor."""

from __future__ import annotations

import pytest

from callground.config import Config, find_root, load, read_settings


@pytest.fixture
def project(tmp_path):
    def write(text, name="pyproject.toml", encoding="utf-8"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode(encoding))
        return str(tmp_path)

    return write


def test_every_key(project):
    root = project(
        """
[tool.callground]
scope = "changed"
python = ".venv"
exclude = ["build/", "*_pb2.py"]
roots = ["lib"]
[tool.callground.severity]
unknown-import = "warning"
not-callable = "off"
[tool.callground.per-file-ignores]
"tests/**" = ["unknown-member"]
"""
    )
    config, problems = load(root)
    assert problems == ()
    assert config == Config(
        scope="changed",
        python=".venv",
        exclude=("build/", "*_pb2.py"),
        roots=("lib",),
        severity={"unknown-import": "warning", "not-callable": "off"},
        per_file_ignores=(("tests/**", ("unknown-member",)),),
    )


def test_nothing_to_read(tmp_path, project):
    assert load(str(tmp_path)) == (Config(), ())
    assert load(project("[tool.ruff]\nline-length = 3\n")) == (Config(), ())


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("scop = 'all'", "unknown setting `scop`; did you mean `scope`?"),
        ("per_file_ignores = {}", "unknown setting `per_file_ignores`; did you mean `per-file-ignores`?"),
        ("zzz = 1", "unknown setting `zzz`"),
        ("scope = 'some'", "`scope` must be one of 'all', 'changed', 'ai', not 'some'; the default is used"),
        ("scope = 3", "`scope` must be one of 'all', 'changed', 'ai', not 3; the default is used"),
        ("python = ['x']", "`python` must be a string, not a list; the default is used"),
        ("exclude = 'x'", "`exclude` must be a list of strings, not a string; the default is used"),
        ("exclude = [1]", "`exclude` must be a list of strings, not a list; the default is used"),
        (
            "severity = 'off'",
            "`severity` must be a table of rule = severity, not a string; the default is used",
        ),
        (
            "severity = {unknown-nam = 'off'}",
            "`severity`: unknown rule `unknown-nam`; did you mean `unknown-name`?",
        ),
        (
            "severity = {unknown-name = 'loud'}",
            "`severity.unknown-name` must be one of 'error', 'warning', 'hint', 'off', not 'loud'",
        ),
        (
            "per-file-ignores = {'a.py' = 'x'}",
            "`per-file-ignores.a.py` must be a list of rule codes, not a string; it is left out",
        ),
        ("per-file-ignores = {'a.py' = ['x']}", "`per-file-ignores.a.py`: unknown rule `x`"),
        (
            "per-file-ignores = 1",
            "`per-file-ignores` must be a table of pattern = [rules], not a number; the default is used",
        ),
    ],
)
def test_a_setting_that_cannot_be_used_is_named_once(project, text, message):
    config, problems = load(project(f"[tool.callground]\n{text}\n"))
    assert [p.message for p in problems] == [message]
    assert (config.scope, config.python, config.exclude) == (None, None, ())


def test_one_bad_setting_does_not_cost_the_others(project):
    config, problems = load(project("[tool.callground]\nscope = 'ai'\npython = 1\nexclude = ['x']\n"))
    assert (config.scope, config.exclude, len(problems)) == ("ai", ("x",), 1)


@pytest.mark.parametrize("text", ["[tool.callground", "tool = 3", "tool = {callground = 1}", "\ufeff[tool]\n"])
def test_odd_files(project, text):
    config, problems = load(project(text))
    assert config == Config()
    assert len(problems) == (0 if text in ("tool = 3", "\ufeff[tool]\n") else 1)


def test_not_utf_8(project):
    config, problems = load(project("# \xe9\n", encoding="latin-1"))
    assert config == Config()
    assert "cannot be read" in problems[0].message


def test_editor_settings_have_the_same_keys_and_lie_over_the_files():
    base = Config(scope="all", exclude=("x",))
    config, problems = read_settings({"scope": "ai", "python": None, "severity": {"unknown-name": "hint"}}, base=base)
    assert (config.scope, config.exclude, config.severity) == ("ai", ("x",), {"unknown-name": "hint"})
    assert problems == ()


@pytest.mark.parametrize("settings", [[], "x", 3, True])
def test_settings_that_are_no_table(settings):
    config, problems = read_settings(settings)
    assert config == Config()
    assert len(problems) == 1


def test_no_settings_at_all():
    assert read_settings(None) == (Config(), ())


@pytest.mark.parametrize(
    ("pattern", "relative", "expected"),
    [
        ("tests/**", "tests/a/b.py", True),
        ("tests/**", "src/tests/a.py", False),
        ("**/tests/**", "src/tests/a.py", True),
        ("**/tests/**", "tests/a.py", True),
        ("tests", "tests/a.py", True),
        ("tests/", "tests/a.py", True),
        ("tests", "tests.py", False),
        ("*_pb2.py", "gen/x_pb2.py", True),
        ("./a.py", "a.py", True),
        ("a.py", "b/a.py", True),
        ("b/a.py", "c/b/a.py", False),
    ],
)
def test_per_file_patterns(pattern, relative, expected):
    config = Config(per_file_ignores=((pattern, ("unknown-name",)),))
    assert bool(config.ignored_in(relative)) is expected


def test_root_is_the_nearest_folder_with_settings(project, tmp_path):
    project("[tool.callground]\nscope = 'all'\n")
    project("[project]\nname = 'inner'\n", "pkg/pyproject.toml")
    (tmp_path / "pkg" / "deep").mkdir()
    assert find_root(str(tmp_path / "pkg" / "deep")) == str(tmp_path)


def test_root_without_settings_is_the_nearest_marked_folder(project, tmp_path):
    (tmp_path / ".git").mkdir()
    project("[project]\n", "pkg/pyproject.toml")
    file = tmp_path / "pkg" / "a.py"
    file.write_text("")
    assert find_root(str(file)) == str(tmp_path / "pkg")
    (tmp_path / "other").mkdir()
    assert find_root(str(tmp_path / "other")) == str(tmp_path)


def test_a_repository_is_a_border(project, tmp_path):
    project("[tool.callground]\nscope = 'all'\n")
    (tmp_path / "repo" / ".git").mkdir(parents=True)
    assert find_root(str(tmp_path / "repo")) == str(tmp_path / "repo")


def test_root_of_an_unmarked_package_is_the_folder_around_it(tmp_path):
    (tmp_path / "pkg" / "sub").mkdir(parents=True)
    for folder in ("pkg", "pkg/sub"):
        (tmp_path / folder / "__init__.py").write_text("")
    assert find_root(str(tmp_path / "pkg" / "sub")) == str(tmp_path)


def test_signals_of_provenance():
    config, problems = read_settings({"provenance": {"commits": False, "keep-committed": True}})
    assert (config.provenance.commits, config.provenance.keep_committed, config.provenance.edits) == (False, True, True)
    assert problems == ()


@pytest.mark.parametrize(
    ("value", "told"),
    [
        (3, "must be a table"),
        ({"comits": True}, "did you mean `commits`?"),
        ({"commits": "no"}, "must be true or false, not a string"),
    ],
)
def test_signals_that_cannot_be_set(value, told):
    config, problems = read_settings({"provenance": value})
    assert config.provenance.commits
    assert [told in str(problem) for problem in problems] == [True]
