"""The files about a release: the card, the licence chain, and the Croissant description with its provenance.

All of them are made from the release's own content, never from a clock or a machine. Texts that come from logs and task
files are escaped: a scene's description must not become a link, a tag or a heading.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import jinja2
import polars as pl

from data_registry import identity
from data_registry.components.hazards import HAZARDS
from data_registry.manifest import ComponentEntry
from data_registry.release import table_path
from data_registry.tables import Column, TableSchema
from data_registry.verify import CROISSANT
from tasks.distribution import PAPERS_SHARES, by_family, by_task
from tasks.publication import Publication

CARD: Final = "README.md"
LICENCES: Final = "LICENSES.md"
_TEMPLATES: Final = Path(__file__).parent / "templates"
_SPECIAL: Final = re.compile(r"([\\`*\[\]#|~]|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9]))")

_CONTEXT: Final[dict[str, Any]] = {
    "@language": "en",
    "@vocab": "http://schema.org/",
    "sc": "http://schema.org/",
    "cr": "http://mlcommons.org/croissant/",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "dct": "http://purl.org/dc/terms/",
    "prov": "http://www.w3.org/ns/prov#",
    **{
        term: f"cr:{term}"
        for term in (
            *(
                "annotation",
                "arrayShape",
                "citeAs",
                "column",
                "containedIn",
                "equivalentProperty",
                "excludes",
                "extract",
            ),
            *("field", "fileObject", "fileProperty", "fileSet", "format", "includes", "isArray", "isLiveDataset"),
            *("jsonPath", "key", "md5", "parentField", "readLines", "recordSet", "references", "regex", "sdVersion"),
            *("separator", "source", "subField", "transform", "unArchive", "value"),
        )
    },
    "conformsTo": "dct:conformsTo",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "examples": {"@id": "cr:examples", "@type": "@json"},
}
"""JSON-LD context of Croissant 1.1 (its appendix 1), with PROV-O."""
_KINDS: Final = {pl.String: "sc:Text", pl.Boolean: "sc:Boolean", pl.Int32: "sc:Integer", pl.Int64: "sc:Integer"}


class Plain(str):
    """A text that is Markdown already."""

    __slots__ = ()


def escape(value: object) -> str:
    r"""Return a value as Markdown that shows it literally, on one line.

    >>> print(escape("a|b <script> # [x](y)"))
    a\|b &lt;script&gt; \# \[x\](y)
    """
    if isinstance(value, Plain):
        return value
    text = "".join(sign if sign.isprintable() else " " for sign in str(value))
    text = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return _SPECIAL.sub(r"\\\1", text)


def code(value: object) -> Plain:
    """Return a value as inline code: nothing in it is Markdown."""
    text = "".join(sign if sign.isprintable() and sign != "`" else " " for sign in str(value))
    return Plain(f"`{text}`")


def share_of(part: float, whole: float) -> str:
    """Return a part of a whole in per cent, a dash where there is no whole.

    >>> share_of(1, 3), share_of(0, 0)
    ('33.3 %', '-')
    """
    return f"{100 * part / whole:.1f} %" if whole else "-"


@dataclass(frozen=True, slots=True)
class Documents:
    """Makes the files about one release."""

    publication: Publication
    frames: Mapping[str, pl.DataFrame]
    funnel: Mapping[str, Mapping[str, int]]

    def make(self, components: Mapping[str, ComponentEntry]) -> dict[str, bytes]:
        """Return the documents by path, from what the components hold."""
        made = {CARD: self._render("card.md.jinja"), LICENCES: self._render("licences.md.jinja")}
        return {**made, CROISSANT: identity.canonical_json(self._croissant(components, made)) + b"\n"}

    def _render(self, template: str) -> bytes:
        environment = jinja2.Environment(
            loader=jinja2.FileSystemLoader(_TEMPLATES),
            undefined=jinja2.StrictUndefined,
            finalize=escape,
            autoescape=False,  # Markdown, not HTML: `finalize` escapes every value
            trim_blocks=True,
            lstrip_blocks=True,
            keep_trailing_newline=True,
        )
        environment.filters["code"] = code
        return environment.get_template(template).render(self._facts()).encode()

    def _facts(self) -> dict[str, Any]:
        """Return what the templates may say."""
        publication = self.publication
        return {
            "name": publication.name,
            "version": publication.version,
            "complete": publication.complete,
            "dataset": publication.source.dataset,
            "licence": publication.source.licence,
            "fingerprint": publication.source.fingerprint(),
            "funnel": self.funnel,
            "component": HAZARDS,
            "rows": {name: frame.height for name, frame in self.frames.items()},
            "families": by_family(publication),
            "tasks": by_task(publication),
            "papers_shares": PAPERS_SHARES,
            "draw": publication.draw,
            "share": share_of,
            "splits": _count(self.frames["pairs"], "split", "subset"),
            "reasons": _count(self.frames["rejections"], "stage", "status", "reason_code"),
            "backends": self._backends(),
            "example": next(iter(self.frames["pairs"]["pair_id"]), None),
            "edited_views": self.frames["views"].filter("is_edited").height,
        }

    def _backends(self) -> list[tuple[str, int, str, str]]:
        """Return (stage, version, back end, revision) in the order of the stages."""
        stages = [self.publication.stages[results.stage] for results in self.publication.results]
        settings = [stage.backend.identity_settings for stage in stages]
        return [
            (stage.name, stage.version, one.backend, one.revision) for stage, one in zip(stages, settings, strict=True)
        ]

    def _croissant(self, components: Mapping[str, ComponentEntry], documents: Mapping[str, bytes]) -> dict[str, Any]:
        publication, licence = self.publication, self.publication.source.licence
        files = {entry.path: entry for component in components.values() for entry in component.files}
        tables = [_table_file(path, files[path].bytes, files[path].sha256) for path in map(table_path, self.frames)]
        texts = [_file(path, "text/markdown", len(text), identity.sha256(text)) for path, text in documents.items()]
        dated = {"datePublished": publication.published_on.isoformat()} if publication.published_on else {}
        return {
            "@context": _CONTEXT,
            "@type": "sc:Dataset",
            "conformsTo": ["http://mlcommons.org/croissant/1.1", "http://mlcommons.org/croissant/RAI/1.0"],
            "name": publication.name,
            "version": publication.version,
            "description": _DESCRIPTION + (_SYNTHETIC if publication.source.dataset == "streetset" else ""),
            "url": CARD,
            "license": licence.url,
            "creator": {"@type": "sc:Organization", "name": "ExceptionDrive"},
            "keywords": [
                "autonomous driving",
                "planning",
                "long tail",
                "hazards",
                "counterfactual",
                publication.source.dataset,
            ],
            "inLanguage": "en",
            "isLiveDataset": False,
            "creditText": licence.attribution,
            **dated,
            **_RESPONSIBLE,
            **self._provenance(),
            "distribution": [*tables, *texts, _DELTAS],
            "recordSet": [_record_set(schema) for schema in HAZARDS.tables],
        }

    def _provenance(self) -> dict[str, Any]:
        """Return where the data comes from and which activities made it, in PROV-O's words."""
        source = self.publication.source
        return {
            "prov:wasDerivedFrom": {
                "@id": f"urn:exceptiondrive:source:{source.dataset}:{source.fingerprint()}",
                "prov:label": source.licence.name,
                "sc:license": source.licence.url,
            },
            "prov:wasGeneratedBy": [
                {
                    "@type": "prov:Activity",
                    "@id": f"urn:exceptiondrive:stage:{stage}:{version}",
                    "prov:label": f"{stage}, version {version}",
                    "prov:wasAssociatedWith": {"@type": "prov:SoftwareAgent", "prov:label": f"{backend} {revision}"},
                }
                for stage, version, backend, revision in self._backends()
            ],
        }


def _count(frame: pl.DataFrame, *columns: str) -> list[tuple[Any, ...]]:
    """Return distinct rows of some columns, sorted, each with how often it occurs."""
    counts = Counter(frame.select(columns).iter_rows())
    return [(*row, count) for row, count in sorted(counts.items())]


def _file(path: str, kind: str, size: int, digest: identity.Digest) -> dict[str, Any]:
    return {
        "@type": "cr:FileObject",
        "@id": path,
        "name": path,
        "contentUrl": path,
        "contentSize": f"{size} B",
        "encodingFormat": kind,
        "sha256": digest,
    }


def _table_file(path: str, size: int, digest: identity.Digest) -> dict[str, Any]:
    return _file(path, "application/vnd.apache.parquet", size, digest)


def _record_set(schema: TableSchema) -> dict[str, Any]:
    keys = [{"@id": f"{schema.name}/{column}"} for column in schema.key]
    return {
        "@type": "cr:RecordSet",
        "@id": schema.name,
        "name": schema.name,
        "key": keys if len(keys) > 1 else keys[0],
        "field": [_field(schema, name, column) for name, column in schema.columns.items()],
    }


def _field(schema: TableSchema, name: str, column: Column) -> dict[str, Any]:
    """Describe one column; an array column says its shape, a foreign key its target."""
    field: dict[str, Any] = {
        "@type": "cr:Field",
        "@id": f"{schema.name}/{name}",
        "name": name,
        "description": column.doc,
        "dataType": next((kind for dtype, kind in _KINDS.items() if column.dtype == dtype), "sc:Float"),
        "source": {"fileObject": {"@id": table_path(schema.name)}, "extract": {"column": name}},
    }
    if isinstance(column.dtype, pl.Array):
        field |= {"isArray": True, "arrayShape": ",".join(str(size) for size in column.dtype.shape)}
    targets = [reference.table for reference in schema.references if name in reference.columns]
    return field | ({"references": {"@id": f"{targets[0]}/{name}"}} if targets else {})


_DESCRIPTION: Final = (
    "Pairs of driving views and the same views with a plausible, rare hazard placed on the ego vehicle's way:"
    " which ground to keep free, by how much, and how each pair was made, measured and decided. Edited pixels are"
    " stored as deltas to the source pictures; the source pictures are not part of this release."
)
_SYNTHETIC: Final = " The logs are synthetic: a drawn street, made to try the pipeline."
_DELTAS: Final[dict[str, Any]] = {
    "@type": "cr:FileSet",
    "@id": "deltas",
    "name": "deltas",
    "description": "For each edited view the changed pixels and two masks. Table views names the files, manifest.json"
    " their sha256.",
    "encodingFormat": "image/png",
    "includes": "deltas/**/*.png",
}
_RESPONSIBLE: Final[dict[str, Any]] = {
    "rai:dataCollection": "No new recordings: keyframes of existing driving logs, edited by a pipeline whose stages are"
    " listed as activities.",
    "rai:dataManipulationProtocol": "Pixels inside the edit mask may differ from the source; pixels outside it are the"
    " decoded source's, exactly. Each candidate is measured, localized, judged and decided; rejections and their"
    " evidence are in table rejections.",
    "rai:machineAnnotationTools": ["Regions, measurements and judgements are made by the back ends in table lineage."],
    "rai:dataLimitations": "Hazards are synthetic. Depth extent comes from size priors. Results say nothing about real"
    " vehicles beyond the logs' places, weather and sensors.",
    "rai:dataBiases": "Places, traffic and weather are those of the source logs; hazards are those of the task files,"
    " and only combinations that passed screening.",
    "rai:dataUseCases": "Evaluating planners and perception on rare hazards against the same scene without them. Not"
    " for training that is then evaluated on this release.",
    "rai:dataSocialImpact": "Meant to find unsafe plans before they are driven. A good score is no proof of safety.",
    "rai:personalSensitiveInformation": [
        "Deltas hold crops of street pictures; faces and number plates are as the source logs have them, and lie in a"
        " delta only where an edit touches them."
    ],
    "rai:dataReleaseMaintenance": "Final versions never change; corrections get a new version.",
}
"""Fields of Croissant's extension for responsible AI, version 1.0."""
