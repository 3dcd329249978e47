"""The house: imports point downward, and no room reads another's private names."""

import ast
import statistics
from pathlib import Path

import pytest

import kerndict

ROOT = Path(kerndict.__file__).parent
#: The rooms from the top down; a room may import those below it, and itself.
FLOORS = [
    {"__main__"},
    {"cli"},
    {"paper"},
    {"display", "export", "persistence"},
    {"dask"},
    {"tabular"},
    {"tables"},
    {"datasets"},
    {"containers"},
    {"inspection"},
    {"classifiers"},
    {"feature_weights"},
    {"coherence"},
    {"landmarks"},
    {"model"},
    {"explanation"},
    {"rules"},
    {"learning"},
    {"spaces"},
    {"coding"},
    {"core"},
    {"pursuit"},
    {"kernels"},
    {"preparation"},
    {"_chunks", "_jit", "_stack", "_state"},
    {"_jit_cache"},
    {"_arrays", "_files", "_limits", "_pipelines", "_threads", "_validation", "_warn", "_words"},
    {"exceptions"},
]
LEVEL = {room: level for level, rooms in enumerate(FLOORS) for room in rooms}
MODULES = [path for path in sorted(ROOT.rglob("*.py")) if path != ROOT / "__init__.py"]
#: Private names that scikit-learn, numba, Dask and the standard library ask for or have.
FOREIGN = {
    "_exit",
    "_getframe",
    "_reduce",
    "_init_callback_context",
    "_replace",
    "_SubParsersAction",
    "_meta",
    "_sk_visual_block_",
    "_sklearn_output_config",
    "_infrequent_enabled",
    "_infrequent_indices",
    "_default_to_infrequent_mappings",
    "_missing_indices",
    "_n_features_outs",
    "_compute_n_features_outs",
    "_set_drop_idx",
    "_fit_dtype",
    "_fill_dtype",
    "_n_features",
    "_precomputed",
    "_transformer_to_input_indices",
}


def room_of(path):
    return path.relative_to(ROOT).parts[0].removesuffix(".py")


def imported_rooms(tree):
    """Yield the rooms that a module imports when it runs, with the line and the names."""
    typing_only = {
        node
        for branch in ast.walk(tree)
        if isinstance(branch, ast.If) and "TYPE_CHECKING" in ast.dump(branch.test)
        for node in ast.walk(branch)
    }
    for node in ast.walk(tree):
        if node in typing_only:
            continue
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("kerndict"):
            parts = node.module.split(".")
            names = [alias.name for alias in node.names]
            for room in [parts[1]] if len(parts) > 1 else names:
                yield room, node.lineno, names if len(parts) > 1 else []
        elif isinstance(node, ast.Import):
            for alias in node.names:
                parts = alias.name.split(".")
                if parts[0] == "kerndict" and len(parts) > 1:
                    yield parts[1], node.lineno, []


def parsed(path):
    return ast.parse(path.read_text(encoding="utf-8"))


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_imports_point_downward(path):
    room = room_of(path)
    for other, line, _ in imported_rooms(parsed(path)):
        if other != room and other in LEVEL:
            assert LEVEL[other] > LEVEL[room], f"line {line}: {room} imports {other}"


def test_every_room_has_a_floor():
    assert {room_of(path) for path in MODULES} == set(LEVEL)


def defined_privates(paths):
    """Return the private names that modules define: functions, classes, attributes, fields."""
    found = set()
    for path in paths:
        for node in ast.walk(parsed(path)):
            if isinstance(node, ast.FunctionDef | ast.ClassDef):
                found.add(node.name)
            elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
                found.add(node.attr)
            elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                found.add(node.id)
    return {name for name in found if is_private(name)}


def is_private(name):
    return name.startswith("_") and not name.startswith("__")


@pytest.mark.parametrize("room", sorted(LEVEL))
def test_no_room_reads_private_names_of_another(room):
    paths = [path for path in MODULES if room_of(path) == room]
    of_room = defined_privates(paths) | FOREIGN
    for path in paths:
        tree, of_file = parsed(path), defined_privates([path]) | FOREIGN
        for node in ast.walk(tree):
            if isinstance(node, ast.Attribute) and is_private(node.attr):
                inherited = isinstance(node.value, ast.Name) and node.value.id in ("self", "cls")
                names = of_room if inherited else of_file
                assert node.attr in names, f"{path.name}, line {node.lineno}: {node.attr}"
        for other, line, names in imported_rooms(tree):
            if other != room:
                private = [name for name in names if is_private(name)]
                assert not private, f"{path.name}, line {line}: {private} of {other}"


def test_the_drawing_matches_the_tree():
    text = (Path(__file__).parents[1] / "CONTRIBUTING.md").read_text(encoding="utf-8")
    drawing = next(block for block in text.split("```") if block.startswith("\ncli/"))
    lines = drawing.strip().splitlines()
    drawn = {
        name.rstrip("/").removesuffix(".py"): row
        for row, line in enumerate(lines)
        for name in line[:31].split()
    }
    assert {room for room in LEVEL if not room.startswith("_")} <= set(drawn)
    assert set(drawn) - {"..."} <= set(LEVEL)
    for path in MODULES:
        room = room_of(path)
        for other, line, _ in imported_rooms(parsed(path)):
            if room in drawn and other in drawn:
                assert drawn[other] >= drawn[room], f"line {line}: {room} is drawn below {other}"


def test_files_stay_small():
    sizes = {path: len(path.read_text(encoding="utf-8").splitlines()) for path in MODULES}
    assert {str(path): size for path, size in sizes.items() if size > 300} == {}
    assert 80 <= statistics.median(sizes.values()) <= 120
