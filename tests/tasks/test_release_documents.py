"""Card, licences and Croissant: complete, escaped, and true to the release."""

import dataclasses
import datetime
import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from data_registry.components.hazards import HAZARDS
from data_registry.release import Release, open_release
from data_registry.sources.source import Licence
from tasks.distribution import PAPERS_SHARES
from tasks.publish import publish
from tasks.release_documents import code, escape
from tests.tasks.publications import DRAWN_ENDS, Logs, build


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory) -> Release:
    folder = tmp_path_factory.mktemp("release")
    return open_release(publish(build(folder), folder / "releases").path)


@pytest.fixture(scope="module")
def croissant(release: Release) -> dict[str, Any]:
    return json.loads(release.read("croissant.json"))


def every_node(value: Any) -> list[dict[str, Any]]:
    if isinstance(value, dict):
        return [value, *(node for key, one in value.items() if key != "@context" for node in every_node(one))]
    return [node for one in value for node in every_node(one)] if isinstance(value, list) else []


def test_croissant_has_what_version_1_1_requires(croissant: dict[str, Any]):
    required = {"@context", "@type", "conformsTo", "description", "license", "name", "url", "creator", "distribution"}
    assert required <= croissant.keys()
    assert croissant["@type"] == "sc:Dataset"
    assert "http://mlcommons.org/croissant/1.1" in croissant["conformsTo"]
    assert croissant["version"] == "0.0.0-dev"


def test_croissant_terms_are_all_in_its_context(croissant: dict[str, Any]):
    context = croissant["@context"]
    assert (context["@vocab"], context["cr"]) == ("http://schema.org/", "http://mlcommons.org/croissant/")
    croissants = {"field", "source", "extract", "column", "key", "references", "isArray", "arrayShape", "recordSet"}
    assert all(context[term] == f"cr:{term}" for term in croissants)
    for node in every_node(croissant):
        for key in node:
            prefix, _, local = key.partition(":")
            assert not local or prefix in context, key


def test_croissant_names_every_table_and_text_with_the_digest_of_its_bytes(croissant: dict[str, Any], release: Release):
    files = {node["contentUrl"]: node for node in croissant["distribution"] if node["@type"] == "cr:FileObject"}
    expected = {path for path in release.by_path if path.startswith("tables/")} | {"README.md", "LICENSES.md"}
    assert files.keys() == expected
    for path, node in files.items():
        assert (node["sha256"], node["contentSize"]) == (
            release.by_path[path].sha256,
            f"{release.by_path[path].bytes} B",
        )


def test_croissant_ids_are_unique_and_every_reference_leads_somewhere(croissant: dict[str, Any]):
    defined = [node["@id"] for node in every_node(croissant) if "@id" in node and len(node) > 1]
    assert len(set(defined)) == len(defined)
    referred = {node["@id"] for node in every_node(croissant) if node.keys() == {"@id"}}
    assert referred <= set(defined)


def test_croissant_describes_every_column_of_every_table(croissant: dict[str, Any]):
    sets = {node["name"]: node for node in croissant["recordSet"]}
    assert list(sets) == [table.name for table in HAZARDS.tables]
    for table in HAZARDS.tables:
        fields = {field["name"]: field for field in sets[table.name]["field"]}
        assert list(fields) == list(table.columns)
        for name, field in fields.items():
            assert field["description"] == table.columns[name].doc
            assert field["source"]["extract"] == {"column": name}
    quad = next(field for field in sets["regions"]["field"] if field["name"] == "quad")
    assert (quad["dataType"], quad["isArray"], quad["arrayShape"]) == ("sc:Float", True, "4,2")
    owner = next(field for field in sets["views"]["field"] if field["name"] == "pair_id")
    assert owner["references"] == {"@id": "pairs/pair_id"}


def test_croissant_says_where_the_data_comes_from_and_what_made_it(croissant: dict[str, Any]):
    assert croissant["license"] == croissant["prov:wasDerivedFrom"]["sc:license"]
    assert Logs().fingerprint() in croissant["prov:wasDerivedFrom"]["@id"]
    assert [activity["prov:label"] for activity in croissant["prov:wasGeneratedBy"]] == [
        f"{stage}, version 3" for stage in ("screen", "edit", "measure", "localize", "judge", "decide")
    ]
    assert croissant["rai:dataLimitations"]


def test_a_date_is_given_only_by_the_maintainers(croissant: dict[str, Any], tmp_path: Path):
    assert "datePublished" not in croissant
    dated = dataclasses.replace(build(tmp_path), published_on=datetime.date(2026, 3, 1))
    published = publish(dated, tmp_path / "releases")
    assert json.loads((published.path / "croissant.json").read_bytes())["datePublished"] == "2026-03-01"


def test_the_card_counts_what_the_tables_hold(release: Release):
    card = release.read("README.md").decode()
    assert "| 6 | 1 | 1 | 3 | 1 | 0 | 4 |" in card
    for table in HAZARDS.tables:
        assert f"### {table.name}\n\n{release.frame('hazards', table.name).height} rows" in card
    assert "Not complete" not in card


def test_the_card_says_how_pairs_spread_beside_the_paper_and_what_was_drawn(tmp_path: Path):
    made = build(tmp_path, ends=DRAWN_ENDS)
    card = open_release(publish(made, tmp_path / "releases").path).read("README.md").decode()
    one = made.screened.settled[0].item.task
    assert f"| {one.family} | 1 | 50.0 % | {100 * PAPERS_SHARES[one.family]:.1f} % |" in card
    assert "3 of the 4 combinations asked for were drawn, from 4 that have a placement in view." in card
    assert "These tasks had too few and left seats to others: " in card
    for task in {entry.item.task.id for entry in made.screened.settled}:
        assert card.count(f"\n| {task} | ") == 1


def test_tables_of_the_card_have_as_many_cells_as_their_heads(release: Release):
    for document in ("README.md", "LICENSES.md"):
        width = 0
        for line in release.read(document).decode().splitlines():
            cells = len(re.findall(r"(?<!\\)\|", line))
            assert cells in (0, width) or not width, line
            width = cells


def test_the_licence_chain_reaches_feathered_pixels(release: Release, tmp_path: Path):
    text = release.read("LICENSES.md").decode()
    assert "feathering" in text
    assert "share-alike terms therefore reach the whole" in text
    free = build(tmp_path)
    free.source.licence = Licence("Own", "CC0-1.0", "https://example.org/", "Us", False, True)  # pyright: ignore
    other = (publish(free, tmp_path / "releases").path / "LICENSES.md").read_text()
    assert "share-alike terms" not in other
    assert "no commercial use" in other


def test_hostile_words_of_a_source_do_not_become_markup(tmp_path: Path):
    hostile = build(tmp_path)
    name = "x](http://evil) <script>alert(1)</script> | a | b\n# heading ``` `code`"
    hostile.source.licence = Licence(name, "L", "u", "a", True, True)  # pyright: ignore[reportAttributeAccessIssue]
    published = publish(hostile, tmp_path / "releases")
    for document in ("README.md", "LICENSES.md"):
        text = (published.path / document).read_text()
        assert "<script>" not in text
        assert "\n# heading" not in text
        assert "x](http" not in text
    assert json.loads((published.path / "croissant.json").read_bytes())["prov:wasDerivedFrom"]["prov:label"] == name


@given(st.text())
def test_escaped_text_stays_in_its_cell(text: str):
    for made in (escape(text), code(text)):
        assert made.isprintable()
        assert not re.search(r"<|>", escape(text))
        assert not re.search(r"(?<!\\)(?:\\\\)*[|\[]", escape(text))
    assert code(text).count("`") == 2
