"""What the packages are made of: the wheel, the import graph's weight, and what product text must not name."""

import json
import os
import re
import subprocess
import sys
import tomllib
import zipfile
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import pytest

from tests.machine import not_run

ROOT = Path(__file__).parent.parent
PACKAGES = ("flows", "tasks", "prompts", "models", "data_registry", "qa_audit")
HEAVY = ("torch", "diffusers", "transformers", "mmdet3d", "nuscenes", "matplotlib")
DATA = ("flows/settings/*.yaml", "prompts/taxonomy/**/*.yaml", "prompts/templates/**/*", "qa_audit/templates/**/*")

LIST_HEAVY = """
import importlib, json, pkgutil, sys
for name in json.loads(sys.argv[1]):
    package = importlib.import_module(name)
    for module in pkgutil.walk_packages(package.__path__, name + "."):
        if not module.name.endswith(".__main__"):
            importlib.import_module(module.name)
print(json.dumps(sorted(set(json.loads(sys.argv[2])) & set(sys.modules))))
"""


def _product_files() -> list[Path]:
    """Every text file that ships, Python or data, without caches."""
    found = [path for package in PACKAGES for path in (ROOT / package).rglob("*") if path.is_file()]
    return [path for path in found if "__pycache__" not in path.parts]


def _can_build() -> bool:
    try:
        return int(version("setuptools").split(".")[0]) >= 77  # as pyproject.toml's build-system asks
    except PackageNotFoundError:
        return False


@pytest.fixture(scope="module")
def wheel_names(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """The names in the wheel, built from a copy of the committed and uncommitted sources, without build leftovers."""
    if not _can_build():
        not_run("no setuptools of version 77 or later in this environment", "install the extra 'dev'")
    source = tmp_path_factory.mktemp("source")
    for path in [*_product_files(), *ROOT.glob("tests/*.py"), ROOT / "pyproject.toml", ROOT / "LICENSE"]:
        target = source / path.relative_to(ROOT)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(path.read_bytes())
    out = tmp_path_factory.mktemp("wheel")
    command = [
        sys.executable,
        "-m",
        "pip",
        "wheel",
        "--no-deps",
        "--no-build-isolation",
        "-q",
        "-w",
        str(out),
        str(source),
    ]
    subprocess.run(command, check=True, stdin=subprocess.DEVNULL)
    with zipfile.ZipFile(next(out.glob("exceptiondrive-*.whl"))) as wheel:
        return wheel.namelist()


def test_the_wheel_holds_every_module_and_data_file(wheel_names: list[str]) -> None:
    modules = {path.relative_to(ROOT).as_posix() for path in _product_files() if path.suffix == ".py"}
    data = {path.relative_to(ROOT).as_posix() for pattern in DATA for path in ROOT.glob(pattern) if path.is_file()}
    assert modules | data <= set(wheel_names)


def test_every_product_file_is_a_module_or_declared_data(wheel_names: list[str]) -> None:
    assert {path.relative_to(ROOT).as_posix() for path in _product_files()} <= set(wheel_names)


def test_the_wheel_holds_nothing_but_the_packages(wheel_names: list[str]) -> None:
    assert {name.split("/")[0] for name in wheel_names} <= {*PACKAGES, "exceptiondrive-0.1.0.dist-info"}


def test_each_package_says_what_it_owns() -> None:
    for package in PACKAGES:
        assert (ROOT / package / "__init__.py").read_text(encoding="utf-8").startswith('"""')


def test_importing_everything_loads_no_heavy_library() -> None:
    command = [sys.executable, "-c", LIST_HEAVY, json.dumps(PACKAGES), json.dumps(HEAVY)]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=True)
    assert json.loads(done.stdout.splitlines()[-1]) == []


# Split, so that this file does not name what it forbids.
REGISTRIES = ["pypi" + ".org", "pythonhosted" + ".org", "npmjs" + ".org", "deb" + ".debian.org"]
FORBIDDEN = re.compile("|".join([r"/work/(shared|main|wt|venv)", r"\.\./shared", *map(re.escape, REGISTRIES)]))


def test_product_files_name_no_machine_path_and_no_registry() -> None:
    texts = [path for path in _product_files() if path.suffix in {".py", ".yaml", ".jinja", ".html", ".css", ".js"}]
    named = {str(path.relative_to(ROOT)) for path in texts if FORBIDDEN.search(path.read_text(encoding="utf-8"))}
    assert named == set()


def test_every_dependency_of_the_core_and_of_the_tests_is_pinned() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    wanted = [
        *project["dependencies"],
        *(text for extra in project["optional-dependencies"].values() for text in extra),
    ]
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    pinned = {_canonical(line.split("==")[0]) for line in lines if "==" in line and not line.startswith("#")}
    names = {_canonical(re.split(r"[\[<>=~ ]", text)[0]) for text in wanted}
    assert names - {"exceptiondrive"} <= pinned


def _canonical(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()
