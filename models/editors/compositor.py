"""Edits pictures without a model: renders the placed hazard with the real camera and puts it into the picture.

Mesh, camera model and local ground give scale and contact; light, blur and noise are estimated from the picture;
nearer annotated boxes hide the hazard. All colour arithmetic is in linear light.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, Final, Literal

import numpy as np
import numpy.typing as npt
import shapely
from pydantic import Field
from scipy import ndimage

from data_registry.geometry import Array, PinholeCamera, Transform
from data_registry.pictures import Mask, Rgb
from data_registry.projection import outline
from data_registry.records import Box, Keyframe, Placement, Standing, Surface
from data_registry.scene3d.light import srgb_from_linear
from data_registry.scene3d.mesh import Mesh
from data_registry.scene3d.rasteriser import Rendering, render, shadow_polygon
from data_registry.scene3d.shapes import SHAPES, SURFACES
from data_registry.scene3d.solids import box as solid_box
from models.backend import LocalBackend
from models.editors.appearance import Look, estimate_look, linear
from models.editors.editor import EditorSettings, EditRequest, HazardNotVisibleError, RawEdit, UnknownShapeError
from models.editors.masks import dilated_hull, feather
from models.editors.shadows import shade_ground

Bools = npt.NDArray[np.bool_]
OCCLUDER_SHARE: Final = 0.97
"""Annotated boxes are drawn a little loose around their objects."""
PAINTS: Final = ((0.62, 0.63, 0.64), (0.52, 0.49, 0.42), (0.24, 0.30, 0.37), (0.36, 0.13, 0.11))
CLOTHES: Final = ((0.07, 0.11, 0.20), (0.24, 0.08, 0.07), (0.10, 0.13, 0.09), (0.32, 0.30, 0.28))
"""Linear RGB that the seed chooses from."""


class CompositorSettings(EditorSettings, frozen=True):
    """What the compositor's output depends on."""

    backend: Literal["compositor"] = "compositor"
    revision: str = "1"
    samples: Annotated[int, Field(ge=1, le=4)] = 2
    """Samples a pixel along each axis."""
    margin_px: Annotated[int, Field(ge=4, le=64)] = 10
    """How far the edit mask reaches beyond object and shadow."""
    feather_px: Annotated[int, Field(ge=1, le=16)] = 4
    """Width of the feather inside the edit mask."""
    noise_gain: Annotated[float, Field(ge=0, le=2)] = 1.0


@dataclass(frozen=True, slots=True, eq=False)
class _Layers:
    """Rendered hazard within a window, after occlusion: premultiplied linear RGB, coverage, darkness of the ground."""

    rgb: Array
    coverage: Array
    darkness: Array


class Compositor(LocalBackend):
    """The editor that needs no weights."""

    def __init__(self, settings: CompositorSettings | None = None) -> None:
        """Remember the settings."""
        self.identity_settings = settings or CompositorSettings()

    def edit(self, request: EditRequest) -> RawEdit:
        """Return one edited view; raises HazardNotVisibleError and UnknownShapeError as Editor says."""
        placement = request.screening.placement
        if placement is None:
            raise HazardNotVisibleError(f"{request.screening.combination_id} has no placement to draw")
        mesh = hazard_mesh(request, placement)
        look = estimate_look(
            request.source,
            request.model,
            request.keyframe.ground,
            mesh.vertices[:, :2].mean(axis=0),
            _occupied(request),
        )
        window = self._window(request, mesh, look)
        layers = self._layers(request, mesh, look, window)
        seen = layers.coverage >= 0.5
        if not seen.any():
            raise HazardNotVisibleError(
                f"{request.screening.combination_id}: nothing of the hazard shows in {request.camera.sensor_id}"
            )
        return self._compose(request, look, layers, window)

    def _window(self, request: EditRequest, mesh: Mesh, look: Look) -> tuple[int, int, int, int]:
        """Return the part of the picture that hazard and shadow can touch, with the margin twice around."""
        ground = request.keyframe.ground
        shadow = shadow_polygon(mesh, look.light, ground)
        shade = ground.lift(shapely.get_coordinates(shadow).reshape(-1, 2))
        around = shapely.Polygon(_plan_hull(mesh)).buffer(1.0)
        skirt = ground.lift(shapely.get_coordinates(around.envelope)[:4])
        shown = outline(np.vstack([_bounds(mesh), skirt, _sparse(shade)]), request.model)
        if shown.is_empty:
            raise HazardNotVisibleError(
                f"{request.screening.combination_id}: the hazard is outside {request.camera.sensor_id}"
            )
        left, top, right, bottom = shown.bounds
        pad = 2 * self.identity_settings.margin_px
        return (
            max(0, int(left) - pad),
            max(0, int(top) - pad),
            min(request.model.width, int(right) + pad + 2),
            min(request.model.height, int(bottom) + pad + 2),
        )

    def _layers(self, request: EditRequest, mesh: Mesh, look: Look, window: tuple[int, int, int, int]) -> _Layers:
        drawn = render([mesh], request.model, look.light, window, self.identity_settings.samples)
        blockers = occluders(request.keyframe, request.camera.timestamp_us)
        hiding = render(blockers, request.model, look.light, window, 1)
        shown = np.where(hiding.depth < drawn.depth, 0.0, 1.0)
        is_surface = isinstance(request.screening.placement, Surface)
        darkness = np.zeros(shown.shape) if is_surface else _darkness(request, mesh, look, (window, hiding))
        blur = look.blur_px
        rgb = ndimage.gaussian_filter(drawn.rgb * shown[..., None], (blur, blur, 0))
        coverage = ndimage.gaussian_filter(drawn.coverage * shown, blur)
        return _Layers(rgb, coverage, darkness)

    def _compose(self, request: EditRequest, look: Look, layers: _Layers, window: tuple[int, int, int, int]) -> RawEdit:
        left, top, right, bottom = window
        region = (slice(top, bottom), slice(left, right))
        source = request.source[region]
        mixed = linear(source) * (1 - layers.darkness[..., None])
        mixed = mixed * (1 - layers.coverage[..., None]) + layers.rgb
        noise = _grain(request.seed, layers.coverage.shape, look.noise * self.identity_settings.noise_gain)
        edited = srgb_from_linear(mixed) + noise * layers.coverage[..., None]
        edit_mask = np.zeros(request.source.shape[:2], np.uint8)
        object_mask = edit_mask.copy()
        object_mask[region] = np.where(layers.coverage >= 0.5, 255, 0)
        touched = (layers.coverage > 0.02) | (layers.darkness > 0.02)
        edit_mask[region] = dilated_hull(touched, self.identity_settings.margin_px)
        weight = feather(edit_mask, self.identity_settings.feather_px)[region][..., None]
        blended = source / 255.0 * (1 - weight) + edited * weight
        picture = request.source.copy()
        picture[region] = np.rint(np.clip(blended, 0.0, 1.0) * 255).astype(np.uint8)
        return RawEdit(_kept(request.source, picture, edit_mask), edit_mask, object_mask)


def hazard_mesh(request: EditRequest, placement: Placement) -> Mesh:
    """Return the hazard's mesh in the ego frame at time 0.

    Raises:
        UnknownShapeError: the appearance's shape is not one that can be drawn, or the placement kind is not.
    """
    appearance = request.task.appearance(request.screening.appearance or "")
    if isinstance(placement, Surface) and appearance.shape in SURFACES:
        return SURFACES[appearance.shape](np.array(placement.polygon), request.keyframe.ground.height_at)
    if not isinstance(placement, Standing) or appearance.shape not in SHAPES:
        raise UnknownShapeError(
            f"task {request.task.id}: the compositor cannot draw shape {appearance.shape!r} ({placement.kind});"
            f" it has {', '.join(sorted([*SHAPES, *SURFACES]))}"
        )
    shape: Any = SHAPES[appearance.shape]
    colours = CLOTHES if appearance.shape == "pedestrian" else PAINTS
    pose = placement.box.pose()
    foot = Transform(pose.rotation, pose.translation - pose.rotation @ np.array([0, 0, placement.box.size[2] / 2]))
    return shape(*placement.box.size, colour=colours[request.seed % len(colours)]).placed(foot)


def occluders(keyframe: Keyframe, timestamp_us: int) -> list[Mesh]:
    """Return the annotated boxes as solids, moving ones where they are when the camera fires."""
    seconds = (timestamp_us - keyframe.timestamp_us) / 1e6
    meshes: list[Mesh] = []
    for note in keyframe.annotations:
        moved = np.array([*(note.velocity or (0.0, 0.0)), 0.0]) * seconds
        meshes.append(_box_mesh(note.box, moved))
    return meshes


def _box_mesh(box: Box, moved: Array) -> Mesh:
    length, width, height = (OCCLUDER_SHARE * extent / 2 for extent in box.size)
    pose = box.pose()
    solid = solid_box((-length, -width, -height), (length, width, height), (0.5, 0.5, 0.5))
    return solid.placed(Transform(pose.rotation, pose.translation + moved))


def _occupied(request: EditRequest) -> Any:
    return shapely.union_all([shapely.Polygon(note.box.footprint()) for note in request.keyframe.annotations])


def _darkness(request: EditRequest, mesh: Mesh, look: Look, view: tuple[tuple[int, int, int, int], Rendering]) -> Array:
    """Return how much the hazard darkens the ground, 0 where something else stands before the ground."""
    window, hiding = view
    ground, model = request.keyframe.ground, request.model
    rays = _pixel_rays(model, window)
    points = ground.intersect(model.position, rays)
    depth = model.ego_to_camera.apply(points)[:, 2].reshape(hiding.depth.shape)
    darkness = shade_ground(points[:, :2].reshape(*depth.shape, 2), mesh, look, ground)
    hidden = ~np.isfinite(depth) | (hiding.depth < depth)
    return np.where(hidden, 0.0, darkness)


def _pixel_rays(model: PinholeCamera, window: tuple[int, int, int, int]) -> Array:
    left, top, right, bottom = window
    columns, rows = np.meshgrid(np.arange(left, right), np.arange(top, bottom))
    return model.rays(np.column_stack([columns.ravel(), rows.ravel()]).astype(np.float64))


def _grain(seed: int, shape: tuple[int, ...], sigma: float) -> Array:
    """Return sRGB noise (H, W, 3) with the picture's sigma, mostly of brightness, a little soft like a JPEG's."""
    draw = np.random.Generator(np.random.PCG64(seed))
    white = 0.9 * draw.standard_normal((*shape, 1)) + 0.44 * draw.standard_normal((*shape, 3))
    return np.asarray(ndimage.gaussian_filter(white, (0.5, 0.5, 0)), dtype=np.float64) * sigma * 1.6


def _plan_hull(mesh: Mesh) -> Array:
    hull: Any = shapely.convex_hull(shapely.multipoints(mesh.vertices[:, :2]))
    return np.asarray(hull.exterior.coords)[:-1]


def _bounds(mesh: Mesh) -> Array:
    """Return the eight corners of the mesh's bounding box along the ego axes."""
    low, high = mesh.vertices.min(axis=0), mesh.vertices.max(axis=0)
    return np.array([(x, y, z) for x in (low[0], high[0]) for y in (low[1], high[1]) for z in (low[2], high[2])])


def _sparse(points: Array) -> Array:
    """Return the corners of the rectangle around ground points (N, 3), at their largest and smallest heights."""
    if not len(points):
        return points
    low, high = points.min(axis=0), points.max(axis=0)
    return np.array([(x, y, z) for x in (low[0], high[0]) for y in (low[1], high[1]) for z in (low[2], high[2])])


def _kept(source: Rgb, picture: Rgb, edit_mask: Mask) -> Rgb:
    return np.where(edit_mask[..., None] > 0, picture, source)
