"""The one-way rule, read off the imports: a layer imports from itself and from the layers below it.

Every import counts: at the top, inside a function, under TYPE_CHECKING, relative or absolute.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

import fabricctl
import provision

LAYERS = ("values", "pure", "adapters", "workflows", "cli")
"""Lowest first."""
FOLDERS = {
    "site": "pure",
    "plan": "pure",
    "discovery": "pure",
    "cabling": "pure",
    "identity": "pure",
    "repair": "pure",
    "causes": "pure",
    "picture": "pure",
    "history": "pure",
    "nodes": "pure",
    "report": "pure",
    "adapters": "adapters",
    "workflows": "workflows",
    "cli": "cli",
}
PARTS = (
    ("discovery",),
    ("plan",),
    ("site",),
    ("identity.model", "causes.model", "repair.model", "nodes.model"),
    ("cabling",),
    ("identity", "causes", "repair", "history", "nodes"),
    ("report",),
    ("picture",),
)
"""The order inside the pure layer, lowest first: a part imports what stands above its line, and itself. What identity,
causes and repair end in are values, which the verdict carries."""
WORLD = {
    *("os", "subprocess", "socket", "shutil", "tempfile", "glob", "asyncio", "signal", "threading", "time"),
    *("paramiko", "urllib", "http", "requests", "aiohttp", "sqlalchemy", "logging", "getpass", "sys"),
}
"""Modules through which the world is touched: input and output, environment, clock, processes."""
CALLS = {"print", "open", "input", "breakpoint", "exec", "eval"}
PURE_PATHS = ("PurePath", "PurePosixPath")
"""Of pathlib, what only takes names apart."""


class Import(NamedTuple):
    """One imported module with the line that imports it."""

    module: str
    line: int


class Module(NamedTuple):
    """A product module: dotted name, parsed source."""

    name: str
    path: Path
    tree: ast.Module

    @property
    def package(self) -> str:
        return self.name if self.path.name == "__init__.py" else self.name.rpartition(".")[0]


def modules_under(package_file: str | None) -> list[Module]:
    assert package_file is not None
    root = Path(package_file).parent
    return [read_module(root, path) for path in sorted(root.rglob("*.py"))]


def read_module(root: Path, path: Path) -> Module:
    parts = [root.name, *path.relative_to(root).with_suffix("").parts]
    name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
    return Module(name, path, ast.parse(path.read_text("utf-8"), str(path)))


def imports_of(module: Module) -> Iterator[Import]:
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield Import(alias.name, node.lineno)
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                parents = module.package.split(".")
                kept = parents[: len(parents) - node.level + 1]
                base = ".".join([*kept, *([base] if base else [])])
            yield Import(base, node.lineno)
            for alias in node.names:  # `from fabricctl import cli` imports a module, too
                yield Import(f"{base}.{alias.name}", node.lineno)
        elif isinstance(node, ast.Call) and _called(node) in ("__import__", "import_module"):
            yield Import(_named(node, module), node.lineno)


def _named(call: ast.Call, module: Module) -> str:
    """What ``import_module`` is called with; of ``f"fabricctl.plan.{name}"`` the package, which must be told."""
    named = call.args[0] if call.args else None
    known = named.values[0] if isinstance(named, ast.JoinedStr) else named
    where = f"{module.path}:{call.lineno}"
    assert isinstance(known, ast.Constant), f"{where}: import of a computed name"
    text = str(known.value)
    if known is named:
        return text
    assert re.match(r"[a-z_]+\.[a-z_]+\.", text), f"{where}: import of a computed name, its package not told"
    return text.rpartition(".")[0]


def _called(call: ast.Call) -> str:
    function = call.func
    if isinstance(function, ast.Attribute):
        return function.attr
    return function.id if isinstance(function, ast.Name) else ""


def layer_of(name: str) -> str:
    """The layer of a dotted name under ``fabricctl``."""
    parts = name.split(".")
    if len(parts) < 2:
        return "values"
    return FOLDERS.get(parts[1], "cli" if parts[1] == "__main__" else "values")


PROVISION_LAYERS = {
    "bmc": 0,
    "install": 1,
    "report": 2,
    "http": 2,
    **dict.fromkeys(("redfish", "secrets", "maas", "ironic", "probes"), 3),
    "workflows": 4,
}
"""Folders of ``provision``: values and decisions, their presentation, what adapters share, adapters (apart from each
other), workflows."""
PROVISION_PURE = ("bmc", "install", "report")


def provision_folder(name: str) -> str | None:
    """Folder of a dotted name under ``provision``, None for the package itself and for other packages."""
    parts = name.split(".")
    return parts[1] if parts[0] == "provision" and len(parts) > 1 else None


def against_provisions_order(modules: list[Module]) -> list[str]:
    """Import lines by which a folder of provision reaches up, to its neighbour, or to what it may not know."""
    found = []
    for module in modules:
        own = provision_folder(module.name)
        if own is None:
            continue
        for imported, line in imports_of(module):
            other = provision_folder(imported)
            up = other is not None and other != own and PROVISION_LAYERS[other] >= PROVISION_LAYERS[own]
            layer = layer_of(imported) if imported.startswith("fabricctl.") else ""
            impure = own in PROVISION_PURE and layer in ("adapters", "workflows")
            workflows = own != "workflows" and layer == "workflows"
            if up or impure or workflows:
                found.append(f"{module.path}:{line}: {own} imports {imported}")
    return found


PRODUCT = modules_under(fabricctl.__file__)
PROVISION = modules_under(provision.__file__)
LOWEST = [module for module in PRODUCT if layer_of(module.name) in ("values", "pure")]


def upward(modules: list[Module]) -> list[str]:
    """Import lines by which a layer of fabricctl reaches up."""
    return [
        f"{module.path}:{line}: {layer_of(module.name)} imports {imported} of layer {layer_of(imported)}"
        for module in modules
        for imported, line in imports_of(module)
        if imported.startswith("fabricctl.")
        and LAYERS.index(layer_of(imported)) > LAYERS.index(layer_of(module.name))
    ]


def naming(modules: list[Module], *packages: str) -> list[str]:
    """Import lines that name one of the packages or something inside."""
    return [
        f"{module.path}:{line}: imports {imported}"
        for module in modules
        for imported, line in imports_of(module)
        if any(imported == package or imported.startswith(f"{package}.") for package in packages)
    ]


def test_every_folder_of_fabricctl_has_a_layer() -> None:
    root = Path(str(fabricctl.__file__)).parent
    folders = {path.parent.relative_to(root).parts[0] for path in root.rglob("*.py") if path.parent != root}
    assert folders <= set(FOLDERS)


def test_no_layer_imports_upward() -> None:
    assert upward(PRODUCT) == []


def part_of(name: str) -> tuple[int, str] | None:
    """Rank and part of a module inside the pure layer, None for another."""
    parts = name.split(".")
    for inside in (".".join(parts[1:3]), ".".join(parts[1:2])):
        for rank, row in enumerate(PARTS):
            if inside in row:
                return rank, inside
    return None


def against_the_order(modules: list[Module]) -> list[str]:
    """Import lines by which a part of the pure layer reaches up, or to its neighbour."""
    found = []
    for module in modules:
        own = part_of(module.name)
        for imported, line in imports_of(module):
            other = part_of(imported) if imported.startswith("fabricctl.") else None
            if own is not None and other is not None and own != other and other[0] >= own[0]:
                found.append(f"{module.path}:{line}: {own[1]} imports {imported}")
    return found


def test_every_pure_folder_has_its_place_in_the_order() -> None:
    assert {name for row in PARTS for name in row if "." not in name} == {
        folder for folder, layer in FOLDERS.items() if layer == "pure"
    }


def test_no_part_of_the_pure_layer_imports_upward() -> None:
    assert against_the_order(PRODUCT) == []


@pytest.mark.parametrize(
    ("name", "source"),
    [
        ("plan/a.py", "from fabricctl.repair.model import Move"),
        ("report/a.py", "def f():\n    from fabricctl.picture import page"),
        ("history/a.py", "from fabricctl.report.words import CLASSES"),
        ("repair/a.py", "from ..causes import stories"),
        ("cabling/a.py", "from fabricctl.identity import identify"),
        ("identity/model.py", "from fabricctl.cabling.ends import Ends"),
    ],
)
def test_the_check_sees_an_import_against_the_order(tmp_path: Path, name: str, source: str) -> None:
    path = tmp_path / "fabricctl" / name
    path.parent.mkdir(parents=True)
    path.write_text(source, encoding="utf-8")
    assert against_the_order([read_module(tmp_path / "fabricctl", path)])


def test_only_the_cli_of_fabricctl_imports_provision() -> None:
    assert naming([m for m in PRODUCT if layer_of(m.name) != "cli"], "provision") == []


def test_provision_does_not_import_fabricctls_cli() -> None:
    assert naming(PROVISION, "fabricctl.cli") == []


def test_every_folder_of_provision_has_a_layer() -> None:
    root = Path(str(provision.__file__)).parent
    folders = {path.parent.relative_to(root).parts[0] for path in root.rglob("*.py") if path.parent != root}
    assert folders <= set(PROVISION_LAYERS)


def test_no_folder_of_provision_imports_upward() -> None:
    assert against_provisions_order(PROVISION) == []


def test_provisions_values_and_decisions_touch_nothing() -> None:
    pure = [module for module in PROVISION if provision_folder(module.name) in PROVISION_PURE]
    assert naming(pure, *WORLD) == []
    assert [line for module in pure for line in touches(module)] == []


@pytest.mark.parametrize(
    ("name", "source"),
    [
        ("bmc/a.py", "from provision.redfish.bmc import Bmc"),
        ("bmc/a.py", "from fabricctl.adapters.files import decode"),
        ("redfish/a.py", "from provision.secrets import store"),
        ("report/a.py", "def f():\n    from provision.workflows import harvest"),
        ("secrets/a.py", "from fabricctl.workflows.history import operator"),
    ],
)
def test_the_check_sees_an_import_against_provisions_order(tmp_path: Path, name: str, source: str) -> None:
    path = tmp_path / "provision" / name
    path.parent.mkdir(parents=True)
    path.write_text(source, encoding="utf-8")
    assert against_provisions_order([read_module(tmp_path / "provision", path)])


def test_product_code_never_imports_tests() -> None:
    assert naming([*PRODUCT, *PROVISION], "tests", "conftest", "pytest", "hypothesis") == []


def test_values_and_pure_code_import_nothing_that_touches_the_world() -> None:
    assert naming(LOWEST, *WORLD) == []


def test_values_and_pure_code_neither_print_nor_open_nor_use_the_disk() -> None:
    assert [line for module in LOWEST for line in touches(module)] == []


def test_only_the_cli_prints_or_exits() -> None:
    below = [module for module in PRODUCT if layer_of(module.name) != "cli"]
    found = [
        f"{module.path}:{node.lineno}: {_called(node)}()"
        for module in [*below, *PROVISION]
        for node in ast.walk(module.tree)
        if isinstance(node, ast.Call) and _called(node) in ("print", "exit", "_exit", "echo")
    ]
    assert found == []


def touches(module: Module) -> Iterator[str]:
    """Where a module prints, opens a file or takes the half of pathlib that can."""
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in CALLS:
            yield f"{module.path}:{node.lineno}: {_called(node)}()"
        elif isinstance(node, ast.Import) and any(alias.name == "pathlib" for alias in node.names):
            yield f"{module.path}:{node.lineno}: import pathlib; take PurePath from it instead"
    for imported, line in imports_of(module):
        head, _, name = imported.partition(".")
        if head == "pathlib" and name and name not in PURE_PATHS:
            yield f"{module.path}:{line}: pathlib.{name}"


@pytest.mark.parametrize(
    ("name", "source", "imported"),
    [
        ("site/a.py", "from fabricctl.adapters import ssh", "fabricctl.adapters"),
        ("plan/a.py", "def f():\n    import fabricctl.workflows.verify", "fabricctl.workflows.verify"),
        ("adapters/a.py", "from ..cli import main", "fabricctl.cli"),
        ("errors.py", "if TYPE_CHECKING:\n    from .plan.model import Plan", "fabricctl.plan.model"),
        (
            "workflows/a.py",
            "import importlib\nimportlib.import_module('fabricctl.cli.main')",
            "fabricctl.cli.main",
        ),
        ("plan/a.py", "import_module(f'fabricctl.adapters.{kind}')", "fabricctl.adapters"),
        ("workflows/a.py", "from fabricctl import cli", "fabricctl.cli"),
    ],
)
def test_the_check_sees_an_upward_import_however_it_is_written(
    tmp_path: Path, name: str, source: str, imported: str
) -> None:
    root = tmp_path / "fabricctl"
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(source, encoding="utf-8")
    assert any(imported in line for line in upward([read_module(root, path)]))


@pytest.mark.parametrize(
    "source", ["print(1)", "def f():\n    from pathlib import Path", "import pathlib", "open('x')"]
)
def test_the_check_sees_a_pure_module_touch_the_world(tmp_path: Path, source: str) -> None:
    path = tmp_path / "fabricctl" / "plan" / "a.py"
    path.parent.mkdir(parents=True)
    path.write_text(source, encoding="utf-8")
    assert list(touches(read_module(tmp_path / "fabricctl", path)))
