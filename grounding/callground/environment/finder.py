"""Where a module lies, by the interpreter's own rules, without running anything."""

from __future__ import annotations

import hashlib
import os
import re
import sys
from collections.abc import Sequence
from typing import NamedTuple

from callground.environment import typeshed
from callground.environment.cpython import ALWAYS_BUILTIN, ALWAYS_THERE, REGISTERED, STARTUP
from callground.environment.distributions import Distribution, Distributions
from callground.environment.listing import Listing, Listings, mark_of
from callground.environment.model import Environment, Redirect
from callground.environment.places import Located, Roots, dotted_name
from callground.environment.stubs import StubFinder

__all__ = ["Distribution", "Finder", "Located", "Roots", "dotted_name"]


class _Hit(NamedTuple):
    kind: str
    path: str | None
    is_package: bool
    locations: tuple[str, ...]
    folder: str
    """The search path entry (or package folder) that it was found in."""


_EXTENDS_PATH = re.compile(r"extend_path|declare_namespace")
_CHANGES_IMPORT = re.compile(
    r"sys\.modules\s*\[(?!\s*__name__\s*\])[^\]\n]*\]\s*=(?!=)|modules\.(?:update|setdefault|__setitem__)\("
    r"|\bmeta_path\b|\bpath_hooks\b|__path__\s*(?:=(?!=)|\+=|\.\s*\w+\()|__path__\s*\["
)
_TEXT_LIMIT = 1_000_000


class Finder:
    """Locates modules of one environment together with one workspace.

    Listings are cached: call `stamp` on a timer, and `refresh` when it changed.  Not safe for
    simultaneous use from several threads.
    """

    def __init__(self, environment: Environment, roots: Roots | Sequence[str] = ()) -> None:
        self.environment = environment
        self.roots = roots if isinstance(roots, Roots) else Roots(tuple(roots))
        self._listings = Listings()
        self._located: dict[str, Located | None] = {}
        self._extended: dict[str, tuple[str, ...]] = {}
        self._held: dict[tuple[str, ...], dict[str, list[str]]] = {}
        self._typeshed = typeshed.bundled()
        entries = tuple(entry.path for entry in environment.search)
        self._path = tuple(dict.fromkeys((*self.roots.primary, *entries)))
        self._sources = {entry.path: entry.source for entry in environment.search if entry.kind == "pth"}
        self._zips = tuple(entry for entry in entries if os.path.isfile(entry))
        self._stubs = StubFinder(self._path, self._listings)
        self._distributions = Distributions(
            (entry.path for entry in environment.search if entry.kind != "stdlib"), self._listings
        )
        self._builtins = environment.builtins | ALWAYS_BUILTIN
        major, minor, _ = environment.version
        self._tag = re.compile(
            rf"^(?:abi{major}t?|(?:cpython-|cp){major}{minor}[a-z]*(?:-.*)?|pypy{major}{minor}-.*)?$"
        )

    # -- questions ---------------------------------------------------------------------------

    def locate(self, name: str) -> Located | None:
        """The module `name`; None when neither the import system nor a stub package has it."""
        try:
            return self._located[name]
        except KeyError:
            pass
        parts = name.split(".")
        found = None
        if all(part and "/" not in part and "\\" not in part and "\0" not in part for part in parts):
            found = self._top(name) if len(parts) == 1 else self._child(name)
        self._located[name] = found
        return found

    def submodules(self, name: str) -> frozenset[str]:
        """Last names of what can be imported from the package `name`; ``""`` asks for top-level names."""
        version = self.environment.python_version
        found: set[str] = set()
        if not name:
            found |= self._builtins
            found.update(each.name for each in self.environment.redirects if "." not in each.name)
            folders: tuple[str, ...] = self._path
            if self._typeshed and self.environment.is_described:
                found |= self._typeshed.submodules("", version) - typeshed.PSEUDO_MODULES
        else:
            package = self.locate(name)
            if package is None or not package.is_package:
                return frozenset()
            folders = self._locations(package)
            if package.kind == "assumed" and self._typeshed:
                found |= self._typeshed.submodules(name, version)
            prefix = name + "."
            for redirect in self.environment.redirects:
                if redirect.name.startswith(prefix):
                    found.add(redirect.name[len(prefix) :].partition(".")[0])
        for folder in folders:
            listing = self._list(folder)
            for file in listing.files:
                stem, dot, suffix = file.partition(".")
                if dot and suffix in ("py", "pyc"):
                    found.add(stem)
            found.update(stem for stem, tag, file in listing.extensions if self._fits(tag, file))
            found |= listing.folders
        return frozenset(each for each in found if each.isidentifier() and each not in ("__init__", "__pycache__"))

    def module_of(self, path: str) -> str | None:
        """The dotted name under which the file `path` is imported.

        None when no root holds it, when a part of its path is no identifier, or when another file of the
        same name is found first.  A file in a script folder goes by the name that it has there.
        """
        path = os.path.abspath(path)
        above = [os.path.dirname(path)]
        while os.path.dirname(above[-1]) != above[-1]:
            above.append(os.path.dirname(above[-1]))
        for roots in (self.roots.primary, self.roots.scripts, self._path):
            for root in above:  # the innermost first
                name = dotted_name(path, root) if root in roots else None
                if name is None:
                    continue
                found = self.locate(name)
                if found is not None and path in (found.path, found.stub_path):
                    return name
        return None

    def distribution_of(self, module: str) -> Distribution | None:
        """The installed distribution that `module` comes from; None for the standard library."""
        found = self.locate(module)
        if found is None or found.origin != "third-party":
            return None
        place = found.path or (found.search_locations[0] if found.search_locations else "")
        for entry, source in self._sources.items():
            if place.startswith(entry + os.sep):
                owner = self._distributions.owner_of_file(source)
                if owner is not None:
                    return owner
        for redirect in self.environment.redirects:
            if module == redirect.name or module.startswith(redirect.name + "."):
                owner = self._distributions.owner_of_file(redirect.source)
                if owner is not None:
                    return owner
        return self._distributions.owner(module)

    def installed(self, distribution: str) -> Distribution | None:
        """The installed distribution of that name (any spelling)."""
        return self._distributions.named(distribution)

    def import_names(self, distribution: str) -> frozenset[str]:
        """Top-level names that the installed distribution of that name provides."""
        return self._distributions.import_names(distribution)

    def required_by(self, module: str) -> tuple[Distribution, frozenset[str]] | None:
        """The installed distribution with a module of that name, and the distributions it requires, extras included.

        Also for a workspace's own module: a checkout whose distribution is installed beside it.
        """
        return self._distributions.required_by(module)

    def import_open(self, name: str) -> str | None:
        """Why `name`, though not located, may exist all the same; None when it certainly does not."""
        top = name.partition(".")[0]
        for each in self.environment.open_imports:
            if not each.names or top in each.names:
                return each.reason
        parts = name.split(".")
        for end in range(len(parts) - 1, 0, -1):
            ancestor = self.locate(".".join(parts[:end]))
            if ancestor is None:
                continue
            if ancestor.kind == "zip":
                return f"{ancestor.name} lies in a zip file"
            if ancestor.kind == "stub":
                return f"{ancestor.name} is known by its stub only"
            if ancestor.kind == "assumed":
                return "the files of the standard library cannot be read"
            if ancestor.also:
                return f"{ancestor.name} may also be {ancestor.also[0]}"
            if ancestor.compiled and ancestor.origin != "stdlib":
                return f"{ancestor.name} is compiled and may register submodules"
            if ancestor.origin == "stdlib" or ancestor.kind != "source" or not ancestor.path:
                continue  # what the standard library registers is known (_REGISTERED)
            if _CHANGES_IMPORT.search(_text(ancestor.path)):
                return f"{ancestor.name} changes how its submodules are imported"
        if self.locate(top) is None:
            for folder in self._holders(self.roots.folders).get(top, ()):
                return f"{folder} has a module {top}, which a script there can import"
        return None

    # -- changes -----------------------------------------------------------------------------

    def stamp(self) -> str:
        """A token that changes when an installation, a ``.pth`` file or a workspace folder changed.

        Costs one ``stat`` for each search path entry and each workspace folder in use; folders deep inside
        site-packages are left to `refresh`, since installers change the top folder as well.
        """
        prefixes = tuple(root + os.sep for root in self.roots.primary)
        site = tuple(entry + os.sep for entry in self.environment.site + self.environment.stdlib)
        watched = set(self._path) | set(self.environment.pth_files)
        if self.environment.prefix:
            watched.add(os.path.join(self.environment.prefix, "pyvenv.cfg"))
        watched.update(
            folder for folder in self._listings.listed() if folder.startswith(prefixes) and not folder.startswith(site)
        )
        digest = hashlib.sha256()
        for path in sorted(watched):
            digest.update(f"{path}\0{mark_of(path)}\n".encode("utf-8", "surrogatepass"))
        return digest.hexdigest()[:16]

    def refresh(self) -> bool:
        """Forget what changed on disk; whether anything did.

        A changed ``.pth`` file or ``pyvenv.cfg`` changes the environment itself: discover it again.
        """
        changed = self._listings.refresh()
        if changed:
            self._located.clear()
            self._extended.clear()
            self._held.clear()
            self._stubs.forget()
            self._distributions.forget()
        return changed

    # -- top level ---------------------------------------------------------------------------

    def _top(self, name: str) -> Located | None:
        if name in self._builtins or name in ALWAYS_THERE:
            return Located(name, "builtin", None, self._typeshed_stub(name), "stdlib", False)
        path = self._path
        if name in STARTUP and not self.environment.is_described:
            path = self.environment.stdlib
        hit = self._search(path, name)
        if hit is None or hit.kind == "namespace":
            redirected = self._redirected(name, hit)
            if redirected is not None:
                return redirected
        if hit is not None:
            also = self._rivals(name, hit)
            if name == "distutils" and self._origin(hit.folder) == "stdlib":
                # setuptools may put its own copy in the place of the standard library's.
                also += tuple(path for each in self.environment.redirects if each.name == name for path in each.paths)
            return self._located_at(name, hit, also)
        assumed = self._assumed(name)
        if assumed is not None:
            return assumed
        folders = self._holders(self.roots.scripts).get(name, ())
        for position, folder in enumerate(folders):
            hit = self._search((folder,), name)
            if hit is not None and (hit.kind != "namespace" or self._holds_modules(hit.locations)):
                return self._located_at(name, hit, self._elsewhere(name, folders[position + 1 :]))
        return self._stub_only(name, None)

    def _rivals(self, name: str, hit: _Hit) -> tuple[str, ...]:
        """Other files that `name` may mean, depending on how the program is started."""
        if hit.kind == "namespace":
            return ()
        rivals: list[str] = []
        if hit.folder in self.roots.primary:
            shadowed = self._search(self.environment.stdlib, name)
            if shadowed is not None and shadowed.path:
                rivals.append(shadowed.path)
            elif self.environment.is_described and self._assumed(name) is not None:
                rivals.append("<stdlib>")
            # Two projects of one repository may both have a package of this name.
            rivals.extend(self._elsewhere(name, self.roots.primary))
        elif hit.folder not in self.environment.stdlib:
            for root in self.roots.primary:
                # A folder without __init__.py, hidden by the installed package.
                hidden = os.path.join(root, name)
                if name in self._list(root).folders and self._holds_modules((hidden,)):
                    rivals.append(hidden)
        if hit.folder not in self.environment.stdlib:
            rivals.extend(self._elsewhere(name, self._holders(self.roots.scripts).get(name, ())))
        return tuple(each for each in rivals if each != hit.path)

    def _holds_modules(self, folders: Sequence[str]) -> bool:
        """Whether there is any Python in folders that would make up a namespace package."""
        for folder in folders:
            listing = self._list(folder)
            if any(file.endswith(".py") for file in listing.files):
                return True
            if any("__init__.py" in self._list(os.path.join(folder, each)).files for each in listing.folders):
                return True
        return False

    def _holders(self, folders: tuple[str, ...]) -> dict[str, list[str]]:
        """Top-level name -> which of the folders have it; there may be thousands of them."""
        known = self._held.get(folders)
        if known is None:
            known = self._held[folders] = {}
            for folder in folders:
                listing = self._list(folder)
                stems = {file.partition(".")[0] for file in listing.files if file.endswith((".py", ".pyc"))}
                stems |= {stem for stem, tag, file in listing.extensions if self._fits(tag, file)}
                for stem in stems | listing.folders:
                    known.setdefault(stem, []).append(folder)
        return known

    def _elsewhere(self, name: str, folders: Sequence[str]) -> tuple[str, ...]:
        """The files that `name` would mean in each of the folders alone."""
        found = []
        for folder in folders:
            hit = self._search((folder,), name)
            if hit is not None and hit.path:
                found.append(hit.path)
        return tuple(found)

    def _assumed(self, name: str) -> Located | None:
        """A standard library module that cannot be seen, but is there by what is known of its version."""
        if self.environment.builtins_known and not self.environment.is_described:
            return None
        version = self.environment.python_version
        listed = self._typeshed.listed(name, version) if self._typeshed else None
        if name in typeshed.PSEUDO_MODULES or listed is False:
            return None
        if listed or name in sys.stdlib_module_names:
            package = bool(self._typeshed and self._typeshed.is_package(name))
            return Located(name, "assumed", None, self._typeshed_stub(name), "stdlib", package)
        return None

    def _redirected(self, name: str, hit: _Hit | None) -> Located | None:
        """What a finder of an editable install serves for `name`, with the portions that the path has."""
        portions: list[str] = list(hit.locations) if hit else []
        for redirect in self.environment.redirects:
            if redirect.name == name:
                if redirect.is_namespace:
                    portions.extend(redirect.paths)
                    continue
                found = self._at(redirect)
                if found is not None and found.kind != "namespace":
                    return self._located_at(name, found, ())
                if found is not None:
                    portions.extend(found.locations)
            elif redirect.name.startswith(name + ".") and not portions:
                # Only a submodule is redirected: the package around it exists all the same.
                portions.append(os.path.dirname(redirect.paths[0]) if redirect.paths else "")
        if not portions or (hit is not None and tuple(portions) == hit.locations):
            return None
        return self._located_at(name, _Hit("namespace", None, True, tuple(dict.fromkeys(portions)), ""), ())

    def _at(self, redirect: Redirect) -> _Hit | None:
        if not redirect.paths:
            return None
        folder, last = os.path.split(redirect.paths[0])
        return self._search((folder,), last.partition(".")[0])

    # -- below -------------------------------------------------------------------------------

    def _child(self, name: str) -> Located | None:
        head, _, last = name.rpartition(".")
        if name == "os.path":
            module = self.locate("ntpath" if self.environment.platform == "win32" else "posixpath")
            return module._replace(name=name, stub_path=self._typeshed_stub(name)) if module else None
        parent = self.locate(head)
        if parent is None:
            return self._redirected(name, None)
        if name in REGISTERED or (name in ("typing.io", "typing.re") and self.environment.python_version < (3, 13)):
            return Located(name, "builtin", None, self._typeshed_stub(name), "stdlib", False)
        if parent.kind == "assumed":
            if self._typeshed and self._typeshed.listed(name, self.environment.python_version):
                stub = self._typeshed_stub(name)
                if stub is not None:
                    return Located(name, "assumed", None, stub, "stdlib", self._typeshed.is_package(name))
            return None
        if parent.is_package and parent.kind != "stub":
            hit = self._search(parent.search_locations, last)
            if hit is None or hit.kind == "namespace":
                more = self._locations(parent)
                if more != parent.search_locations:
                    hit = self._search(more, last)
            if hit is None or hit.kind == "namespace":
                redirected = self._redirected(name, hit)
                if redirected is not None:
                    return redirected
            if hit is not None:
                return self._located_at(name, hit, parent.also)
        return self._stub_only(name, parent)

    def _locations(self, package: Located) -> tuple[str, ...]:
        """Where submodules lie, with what a legacy namespace package (pkgutil, pkg_resources) adds."""
        known = self._extended.get(package.name)
        if known is not None:
            return known
        locations = package.search_locations
        if package.path and package.kind == "source":
            head, _, last = package.name.rpartition(".")
            parent = self.locate(head) if head else None
            around = self._locations(parent) if parent else self._path
            others = [
                os.path.join(folder, last)
                for folder in around
                if last in self._list(folder).folders and os.path.join(folder, last) not in locations
            ]
            if others and _EXTENDS_PATH.search(_text(package.path)):
                locations = (*locations, *others)
        self._extended[package.name] = locations
        return locations

    def _stub_only(self, name: str, parent: Located | None) -> Located | None:
        stub, partial = self._typeshed_stub(name), False
        origin = "stdlib" if stub else parent.origin if parent else "third-party"
        if stub is None:
            stub, partial = self._stubs.packaged(name) or (None, False)
        if stub is None and parent is not None:
            stub = self._stubs.inside(self._locations(parent), name.rpartition(".")[2])
        if stub is None:
            return None
        package = os.path.basename(stub) == "__init__.pyi"
        return Located(name, "stub", None, stub, origin, package, partial_stub=partial)

    # -- shared ------------------------------------------------------------------------------

    def _list(self, folder: str) -> Listing:
        for archive in self._zips:
            if folder == archive or folder.startswith(archive + os.sep):
                return self._listings.list_zip(archive, folder[len(archive) + 1 :].replace(os.sep, "/"))
        return self._listings.entries(folder)

    def _search(self, folders: Sequence[str], last: str) -> _Hit | None:
        """What the path-based finder finds in `folders`: a regular package or module; namespaces last."""
        portions: list[str] = []
        for folder in folders:
            listing = self._list(folder)
            inner = os.path.join(folder, last)
            if last in listing.folders:
                kind, file = self._file(self._list(inner), "__init__")
                if file:
                    return self._hit(kind, os.path.join(inner, file), True, (inner,), folder)
            kind, file = self._file(listing, last)
            if file:
                return self._hit(kind, os.path.join(folder, file), False, (), folder)
            if last in listing.folders:
                portions.append(inner)
        return _Hit("namespace", None, True, tuple(portions), "") if portions else None

    def _hit(self, kind: str, path: str, package: bool, locations: tuple[str, ...], folder: str) -> _Hit:
        if any(path.startswith(archive + os.sep) for archive in self._zips):
            return _Hit("zip", None, package, locations, folder)
        return _Hit(kind, path, package, locations, folder)

    def _file(self, listing: Listing, stem: str) -> tuple[str, str]:
        """(kind, file name) of the module `stem` in a folder, in the interpreter's order."""
        for name, tag, file in listing.extensions:
            if name == stem and self._fits(tag, file):
                if stem + ".py" in listing.files:  # mypyc, Cython in pure Python mode: the source says it all
                    break
                return "extension", file
        for kind, suffix in (("source", ".py"), ("bytecode", ".pyc")):
            if stem + suffix in listing.files:
                return kind, stem + suffix
        return "", ""

    def _fits(self, tag: str, file: str) -> bool:
        """Whether this interpreter loads an extension with that tag."""
        return file.endswith(".pyd") == (self.environment.platform == "win32") and bool(self._tag.match(tag))

    def _located_at(self, name: str, hit: _Hit, also: tuple[str, ...]) -> Located:
        place = hit.path or (hit.locations[0] if hit.locations else hit.folder)
        origin = self._origin(place)
        partial = False
        if origin == "stdlib":
            stub = self._typeshed_stub(name)
        else:
            stub, partial = self._stubs.for_module(name, hit.path, hit.locations)
        located = Located(
            name, hit.kind, hit.path, stub, origin, hit.is_package, hit.locations, None, None, partial, also
        )
        if origin == "third-party":
            self._located[name] = located  # distribution_of asks for it
            owner = self.distribution_of(name)
            if owner is not None:
                located = located._replace(distribution=owner.name, version=owner.version)
        return located

    def _origin(self, path: str) -> str:
        def below(folders: Sequence[str]) -> bool:
            return any(path == folder or path.startswith(folder + os.sep) for folder in folders)

        if below(self.environment.site):
            return "third-party"
        if below(self.environment.stdlib):
            return "stdlib"
        if self.environment.prefix and below((self.environment.prefix,)):
            return "third-party"
        return "workspace" if below(self.roots.primary) or below(self.roots.scripts) else "third-party"

    def _typeshed_stub(self, name: str) -> str | None:
        return self._typeshed.stub_path(name, self.environment.python_version) if self._typeshed else None


def _text(path: str) -> str:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read(_TEXT_LIMIT)
    except (OSError, ValueError):
        return ""
