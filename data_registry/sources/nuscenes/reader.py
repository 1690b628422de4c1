"""The source of driving logs in nuScenes v1.0 form: which keyframes there are, their records, their pictures."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Final, Literal

from data_registry import identity
from data_registry.geometry import GeometryError
from data_registry.records import Camera, Keyframe, MapPatch
from data_registry.sources.nuscenes.expansion import Expansion, open_expansion
from data_registry.sources.nuscenes.index import FileDigests, open_index
from data_registry.sources.nuscenes.keyframes import ego_to_global, keyframe_of
from data_registry.sources.nuscenes.logs import Moment, Posed, SceneLog
from data_registry.sources.nuscenes.masks import mask_patch, mask_tiles
from data_registry.sources.nuscenes.motion import read_can_poses
from data_registry.sources.nuscenes.patches import Patch, no_map
from data_registry.sources.nuscenes.problems import (
    MapError,
    PictureChangedError,
    PictureMissingError,
    Problems,
    TablesError,
    UnknownRequestError,
)
from data_registry.sources.nuscenes.tables import version_folder
from data_registry.sources.source import Licence, Request, Selection, Skipped

Dataset = Literal["nuscenes", "streetset"]

NUSCENES_LICENCE: Final = Licence(
    name="Creative Commons Attribution-NonCommercial-ShareAlike 4.0 International",
    spdx="CC-BY-NC-SA-4.0",
    url="https://creativecommons.org/licenses/by-nc-sa/4.0/",
    attribution="nuScenes dataset, Motional AD LLC (https://www.nuscenes.org); H. Caesar et al., nuScenes: A multimodal"
    " dataset for autonomous driving, CVPR 2020",
    share_alike=True,
    non_commercial=True,
)
STREETSET_LICENCE: Final = Licence(
    name="Creative Commons Zero v1.0 Universal",
    spdx="CC0-1.0",
    url="https://creativecommons.org/publicdomain/zero/1.0/",
    attribution="streetset, synthetic driving logs of the ExceptionDrive project",
    share_alike=False,
    non_commercial=False,
)
"""Streetset is drawn by our own Apache-2.0 code and shows nothing real. Its pictures are data, not code: CC0 lets
releases and demos made from it go anywhere without a licence chain."""


@dataclass(slots=True)
class _Found:
    """What a selection has gathered so far."""

    limit: int | None
    keyframes: list[Keyframe] = field(default_factory=list[Keyframe])
    skipped: list[Skipped] = field(default_factory=list[Skipped])

    @property
    def room(self) -> int | None:
        return None if self.limit is None else self.limit - len(self.keyframes)

    @property
    def full(self) -> bool:
        return self.room is not None and self.room <= 0


class NuScenes:
    """One version of a nuScenes root, opened read-only.

    Sweeps, LiDAR files, CAN bus and both kinds of maps are optional; what is there is used. The official devkit is not
    needed.
    """

    def __init__(self, root: Path, version: str, index_folder: Path, dataset: Dataset = "nuscenes") -> None:
        """Open a root; the first time its tables are read, checked and indexed under `index_folder`.

        Args:
            root: folder with `<version>/`, `samples/` and optionally `sweeps/`, `maps/`, `can_bus/`.
            version: e.g. `v1.0-trainval`.
            index_folder: folder inside the store for indexes, file digests and decoded masks; never in the root.
            dataset: first part of every keyframe id.

        Raises:
            SourceError: the root, the version or a table is missing, or the tables are broken.
            StorageFullError: no room under `index_folder`.
        """
        self._root = root
        self._dataset: Dataset = dataset
        self._home = index_folder
        tables = version_folder(root, version)
        here = identity.sha256(str(root.resolve()).encode())[:16]
        caches = index_folder / f"root-{here}"
        self._digests = FileDigests(root, caches / "files.json")
        digests = caches / f"tables-{identity.sha256(version.encode())[:16]}.json"
        self._index = open_index(tables, index_folder, digests)
        self._expansion: Callable[[str], Expansion | None] = lru_cache(maxsize=4)(self._load_expansion)
        self._can_poses: Callable[[str], tuple[Posed, ...]] = lru_cache(maxsize=2)(self._load_can_poses)

    @property
    def dataset(self) -> Dataset:
        """First part of every keyframe id."""
        return self._dataset

    @property
    def licence(self) -> Licence:
        """Terms under which the logs came."""
        return STREETSET_LICENCE if self._dataset == "streetset" else NUSCENES_LICENCE

    def fingerprint(self) -> identity.Digest:
        """Return the digest of the tables' bytes: the same logs give the same one wherever they lie."""
        return self._index.fingerprint

    @property
    def scenes(self) -> tuple[str, ...]:
        """Names of all scenes, sorted."""
        return self._index.scenes

    def select(self, request: Request) -> Selection:
        """Return the wanted keyframes in order of scene names, then of time, and what was skipped.

        Raises:
            SourceError: an unknown scene or token was asked for, or a map or CAN bus file is broken.
            StorageFullError: no room for file digests or a decoded mask.
        """
        wanted = self._wanted(request)
        found = _Found(request.limit)
        try:
            for scene, tokens in wanted:
                if found.full:
                    break
                self._select_scene(self._index.scene(scene), tokens, request, found)
        finally:
            self._digests.save()
        return Selection(tuple(found.keyframes), tuple(found.skipped))

    def _wanted(self, request: Request) -> list[tuple[str, frozenset[str]]]:
        """Return the scenes to look at, each with the tokens asked for; none of these means: by choice."""
        problems = Problems()
        for scene in sorted(set(request.scenes) - set(self._index.scenes)):
            problems.add(f"scene {scene!r} is not in this version")
        owners: dict[str, set[str]] = {}
        for token in sorted(set(request.tokens)):
            owner = self._index.owner(token)
            if owner is None:
                problems.add(f"sample token {token!r} is not in this version")
            elif request.scenes and owner not in request.scenes:
                problems.add(f"sample token {token!r} is in {owner}, which is not among the scenes asked for")
            else:
                owners.setdefault(owner, set()).add(token)
        scenes = self._index.scenes
        known = f"{len(scenes)} scenes, {scenes[0]} to {scenes[-1]}" if scenes else "no scene at all"
        problems.raise_any(UnknownRequestError, str(self._root), f"This version has {known}: correct the request.")
        if request.tokens:
            return [(scene, frozenset(owners[scene])) for scene in sorted(owners)]
        return [(scene, frozenset()) for scene in scenes if not request.scenes or scene in request.scenes]

    def _select_scene(self, log: SceneLog, tokens: frozenset[str], request: Request, found: _Found) -> None:
        numbers = [n for n, moment in enumerate(log.moments) if not tokens or moment.token in tokens]
        if not numbers:
            found.skipped.append(Skipped(self._scene_id(log), "no_keyframes", "the scene has no keyframe"))
            return
        choice = "all" if tokens else request.choice
        numbers, lacking = self._chosen(log, numbers, choice, found.room)
        found.keyframes.extend(self._keyframe(log, number, request.history) for number in numbers)
        found.skipped.extend(self._skipped(log, lacking, bool(tokens)))

    def _chosen(
        self, log: SceneLog, numbers: Sequence[int], choice: str, room: int | None
    ) -> tuple[list[int], list[int]]:
        """Return keyframes with pictures, and those passed over for want of them when that is worth a report."""
        if choice == "middle":
            middle = (len(log.moments) - 1) / 2
            numbers = sorted(numbers, key=lambda number: (abs(number - middle), number))
        most = 1 if choice != "all" else room
        kept: list[int] = []
        lacking: list[int] = []
        for number in numbers:
            if most is not None and len(kept) >= most:
                break
            (lacking if self._missing(log.moments[number]) else kept).append(number)
        return sorted(kept), [] if choice != "all" and kept else sorted(lacking)

    def _missing(self, moment: Moment) -> list[str]:
        return [reading.channel for reading in moment.readings if self._digests.of(reading.filename) is None]

    def _skipped(self, log: SceneLog, lacking: Sequence[int], by_token: bool) -> Iterable[Skipped]:
        """Report keyframes without pictures: each when it was asked for by token, else one line for the scene."""
        if not lacking:
            return
        if not by_token:
            detail = f"{len(lacking)} of {len(log.moments)} keyframes lack picture files, the first one "
            yield Skipped(self._scene_id(log), "pictures_missing", detail + self._lack(log.moments[lacking[0]]))
            return
        for number in lacking:
            moment = log.moments[number]
            name = identity.keyframe_id(self._dataset, log.name, moment.token)
            yield Skipped(name, "pictures_missing", f"the keyframe lacks {self._lack(moment)}")

    def _lack(self, moment: Moment) -> str:
        return f"those of {', '.join(self._missing(moment))}: fetch the samples/ files of this scene"

    def _scene_id(self, log: SceneLog) -> str:
        return f"{self._dataset}/{log.name}"

    def _keyframe(self, log: SceneLog, number: int, history: int) -> Keyframe:
        try:
            patch = self._map_patch(log, number)
            can = self._can_poses(log.name)
            return keyframe_of(self._dataset, (log, number), (patch, can), self._digests.of, history)
        except (GeometryError, identity.IdentityError) as error:
            name = identity.keyframe_id(self._dataset, log.name, log.moments[number].token)
            raise TablesError(f"{name} has no keyframe record: {error}; restore the records of this sample") from error

    def _map_patch(self, log: SceneLog, number: int) -> MapPatch:
        patch = Patch.around(ego_to_global(log, number))
        expansion = self._expansion(log.location)
        if expansion is not None:
            return expansion.patch(patch)
        mask = self._root / log.mask
        if not log.mask or not mask.is_file():
            return no_map()
        digest = self._digests.of(log.mask)
        return no_map() if digest is None else mask_patch(mask_tiles(mask, digest, self._home / "masks"), patch)

    def _load_expansion(self, location: str) -> Expansion | None:
        relative = f"maps/expansion/{location}.json"
        path = self._root / relative
        if not path.is_file():
            return None
        digest = self._digests.of(relative)
        if digest is None:
            raise MapError(
                f"{path} cannot be read: give it read permission, or remove it: the map mask serves without it"
            )
        return open_expansion(path, digest, self._home / "maps")

    def _load_can_poses(self, scene: str) -> tuple[Posed, ...]:
        return read_can_poses(self._root / "can_bus" / f"{scene}_pose.json")

    def picture(self, keyframe: Keyframe, camera: Camera) -> bytes:
        """Return one picture file of a keyframe.

        Raises:
            UnknownRequestError: the keyframe or camera is not of this root.
            PictureMissingError: the file is gone, or was never there.
            PictureChangedError: its digest is not the keyframe's.
        """
        path = self._root / self.file_name(keyframe, camera)
        if camera.sha256 is None:
            raise PictureMissingError(f"{path} was not there when {keyframe.id} was made: fetch it and build again")
        try:
            content = path.read_bytes()
        except OSError as error:
            raise PictureMissingError(
                f"{path} cannot be read ({error.strerror}): {keyframe.id} was made with it; restore the file"
            ) from error
        if identity.sha256(content) != camera.sha256:
            raise PictureChangedError(
                f"{path} is not the picture that {keyframe.id} was made from (sha256 {camera.sha256[:12]}...): restore"
                " the file, or build again to make new keyframes"
            )
        return content

    def file_name(self, keyframe: Keyframe, camera: Camera) -> str:
        """Return where a picture of a keyframe lies below the root; whether it is there is not looked at.

        Raises:
            UnknownRequestError: the keyframe or camera is not of this root.
        """
        if keyframe.dataset == self._dataset and self._index.owner(keyframe.token) == keyframe.scene:
            log = self._index.scene(keyframe.scene)
            number = [moment.token for moment in log.moments].index(keyframe.token) + camera.frame_offset
            readings = log.moments[number].readings if number >= 0 else ()
            for reading in readings:
                if reading.channel == camera.sensor_id:
                    return reading.filename
        raise UnknownRequestError(
            f"{self._root} has no picture of {camera.sensor_id} at offset {camera.frame_offset} for {keyframe.id}:"
            " open the root that the keyframe came from"
        )
