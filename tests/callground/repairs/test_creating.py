"""New functions and methods, in the right place and with the call's arguments as their signature."""

from __future__ import annotations

from mending import dedented, mender


def created(mend, path=None):
    repair = mend.of_kind("create")
    assert not repair.certain
    return mend.after(repair, path)


def test_a_function_above_the_statement_that_calls_it(tmp_path):
    text = """
        import os


        # Says where.
        def where(folder, names):
            return qqq_zzz(folder, names[0], "x", *names, deep=True, **os.environ)
        """
    expected = """
        import os


        # Says where.
        def qqq_zzz(folder, value, text, *args, deep, **kwargs):
            raise NotImplementedError


        def where(folder, names):
            return qqq_zzz(folder, names[0], "x", *names, deep=True, **os.environ)
        """
    with mender(tmp_path, {"a.py": text}) as mend:
        assert created(mend).replace("# Says where.\n", "") == dedented(expected).replace("# Says where.\n", "")


def test_a_method_at_the_end_of_the_class(tmp_path):
    text = """
        class A:
          def run(self, size):
            return self.qqq_zzz(size.total(), 3, key=1)

          def stop(self):
            pass


        def after():
            pass
        """
    with mender(tmp_path, {"a.py": text}) as mend:
        assert (
            "    pass\n\n  def qqq_zzz(self, total, number, key):\n    raise NotImplementedError\n\n\ndef after"
            in created(mend)
        )


def test_a_class_for_a_name_that_is_written_like_one(tmp_path):
    with mender(tmp_path, {"a.py": "def f():\n    raise QqqZzzError('x')\n"}) as mend:
        assert created(mend).startswith("class QqqZzzError(Exception):\n")


def test_a_method_in_another_file(tmp_path):
    files = {"b.py": "class B:\n    x = 1\n", "a.py": "from b import B\n\nB().qqq_zzz(1)\n"}
    with mender(tmp_path, files) as mend:
        other = str(tmp_path / "b.py")
        assert created(mend, other) == (
            "class B:\n    x = 1\n\n    def qqq_zzz(self, number):\n        raise NotImplementedError\n"
        )


def test_a_function_in_the_module_that_was_asked(tmp_path):
    files = {"b.py": "x = 1\n", "a.py": "import b\n\nb.qqq_zzz(b.x)\n"}
    with mender(tmp_path, files) as mend:
        other = str(tmp_path / "b.py")
        assert created(mend, other) == "x = 1\n\n\ndef qqq_zzz(x):\n    raise NotImplementedError\n"


def test_nothing_is_created_in_a_library(tmp_path):
    with mender(tmp_path, {"a.py": "import json\n\njson.qqq_zzz(1)\n"}) as mend:
        assert not [r for r in mend.offered() if r.kind == "create"]
