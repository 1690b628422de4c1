"""Edits pictures without a model: renders the placed hazard with the real camera and puts it into the picture.

Mesh, camera model and local ground give scale and contact; light, air, blur and grain are estimated from the picture;
bodies of nearer annotated objects hide the hazard. All colour arithmetic is in linear light.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, Final, Literal

import numpy as np
import numpy.typing as npt
from pydantic import Field
from scipy import ndimage

from data_registry.cameras import pinhole
from data_registry.geometry import Array, PinholeCamera
from data_registry.pictures import Rgb
from data_registry.projection import outline
from data_registry.recent import Recent
from data_registry.records import Placement, Surface
from data_registry.scene3d.light import Light, srgb_from_linear
from data_registry.scene3d.materials import Material
from data_registry.scene3d.mesh import Mesh, joined
from data_registry.scene3d.rasteriser import Rendering, render
from models.backend import LocalBackend, on_all_cores
from models.editors import surfaces
from models.editors.appearance import (
    Daylight,
    Look,
    Optics,
    Scenery,
    estimate_daylight,
    estimate_look,
    estimate_optics,
    linear,
)
from models.editors.editor import EditorSettings, EditRequest, HazardNotVisibleError, RawEdit
from models.editors.grain import grain
from models.editors.hazards import doorway, hazard_mesh, plan_centre
from models.editors.masks import dilated, dilated_hull, feather
from models.editors.occluders import occluders
from models.editors.reflections import fresnel, mirrored
from models.editors.shadows import PlanShade, sky_shade, sun_shade

Bools = npt.NDArray[np.bool_]
Window = tuple[int, int, int, int]

SKY_LOSS: Final = 0.88
"""Share of the sky's light that is lost right below the hazard."""
LOWEST_CASTER_M: Final = 0.02
"""Parts of a surface hazard that rise more than this throw a shadow."""
WET_MIRROR: Final = 0.75
"""How much less than water a wet road mirrors."""
BRIGHT: Final = 98.0
"""Percentile of the surroundings' brightness that nothing which does not glow may exceed in the dark."""
LAMPS: Final = 1
BLOOM: Final = 0.5
BLOOM_PX: Final = 7.0
"""Lamps are the second layer that is drawn; how much of their light is spread in the dark, and how far."""
NOTICEABLE: Final = 0.02
_PLAIN: Final = Light(np.array([0.0, 0.0, 1.0]), np.zeros(3), np.ones(3))


class CompositorSettings(EditorSettings, frozen=True):
    """What the compositor's output depends on."""

    backend: Literal["compositor"] = "compositor"
    revision: str = "2"
    samples: Annotated[int, Field(ge=1, le=4)] = 2
    """Samples a pixel along each axis."""
    margin_px: Annotated[int, Field(ge=4, le=64)] = 10
    """How far the edit mask reaches beyond object and shadow."""
    feather_px: Annotated[int, Field(ge=1, le=16)] = 4
    """Width of the feather inside the edit mask."""
    noise_gain: Annotated[float, Field(ge=0, le=2)] = 1.0


@dataclass(frozen=True, slots=True, eq=False)
class _Scene:
    """Everything about one view before it is drawn: bodies, look and shades in the ego frame, window in the picture."""

    request: EditRequest
    placement: Placement
    mesh: Mesh
    hole: Mesh | None
    look: Look
    sun: PlanShade | None
    sky: PlanShade | None
    window: Window

    @property
    def part(self) -> tuple[slice, slice]:
        """Rows and columns of the window."""
        left, top, right, bottom = self.window
        return slice(top, bottom), slice(left, right)


@dataclass(frozen=True, slots=True, eq=False)
class _Layers:
    """The hazard within the window, after occlusion: premultiplied linear RGB, coverage, and what the ground becomes.

    `source` (H, W, 3) is the source's part in linear light, `under` the same with shadow, reflection and doorway.
    """

    rgb: Array
    coverage: Array
    source: Array
    under: Array


class Compositor(LocalBackend):
    """The editor that needs no weights."""

    execution = on_all_cores()

    def __init__(self, settings: CompositorSettings | None = None) -> None:
        """Remember the settings."""
        self.identity_settings = settings or CompositorSettings()
        self._daylight = Recent[Daylight](kept=2)
        self._optics = Recent[Optics](kept=12)

    def edit(self, request: EditRequest) -> RawEdit:
        """Return one edited view; raises HazardNotVisibleError and UnknownShapeError as Editor says."""
        placement = request.screening.placement
        if placement is None:
            raise HazardNotVisibleError(f"{request.screening.combination_id} has no placement to draw")
        scene = self._scene(request, placement)
        layers = self._layers(scene)
        if not (layers.coverage >= 0.5).any():
            raise HazardNotVisibleError(
                f"{request.screening.combination_id}: nothing of the hazard shows in {request.camera.sensor_id}"
            )
        return self._compose(scene, layers)

    def _scene(self, request: EditRequest, placement: Placement) -> _Scene:
        ground = request.keyframe.ground
        view = Scenery(request.source, request.model)
        look = estimate_look(request.keyframe, view, self._known(request, view), plan_centre(placement))
        mesh = hazard_mesh(request, placement, look.light)
        hole = doorway(request, placement)
        casting = _casting(mesh, placement, request)
        sunny = look.sun_share > NOTICEABLE
        sun = sun_shade(casting, look.sun.direction, look.spread, ground) if casting and sunny else None
        sky = sky_shade(casting, ground) if casting else None
        window = self._window(request, [mesh, *([hole] if hole else [])], (sun, sky, look))
        return _Scene(request, placement, mesh, hole, look, sun, sky, window)

    def _known(self, request: EditRequest, view: Scenery) -> tuple[Daylight, Optics]:
        """Return what all hazards of a keyframe, and all in one of its pictures, have in common: found once."""
        keyframe, sensor = request.keyframe, request.camera.sensor_id
        return (
            self._daylight.get(keyframe.payload_digest, lambda: daylight_of(request)),
            self._optics.get((keyframe.payload_digest, sensor), lambda: estimate_optics(keyframe, view)),
        )

    def _window(
        self, request: EditRequest, meshes: list[Mesh], shades: tuple[PlanShade | None, PlanShade | None, Look]
    ) -> Window:
        """Return the part of the picture that hazard, shadow and reflection can touch, with the margin twice around."""
        sun, sky, look = shades
        ground = request.keyframe.ground
        points = [_bounds(mesh) for mesh in meshes]
        points += [ground.lift(shade.corners()) for shade in (sun, sky) if shade is not None]
        if look.wetness > 0:
            points += [_bounds(mirrored(mesh, ground)) for mesh in meshes]
        shown = outline(np.vstack(points), request.model)
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

    def _layers(self, scene: _Scene) -> _Layers:
        request, look, window = scene.request, scene.look, scene.window
        samples, model = self.identity_settings.samples, request.model
        is_surface = isinstance(scene.placement, Surface)
        bodies = surfaces.layers(scene.mesh) if is_surface else _body_and_lamps(scene.mesh)
        drawn = _drawn(bodies, model, (look.light, samples), window)
        nearer = joined([scene.mesh, *([scene.hole] if scene.hole else [])])
        blockers = occluders(request.keyframe, model, request.camera.timestamp_us, nearer)
        if scene.hole is not None:
            blockers = _without_owner(scene, blockers)
        hiding = _hiding(blockers, model, window)
        shown = np.where(hiding.depth < drawn.depth, np.float32(0.0), np.float32(1.0))
        rays = _pixel_rays(model, window)
        source = linear(request.source[scene.part])
        under = _under(scene, (rays, source, hiding))
        rgb = drawn.rgb
        if is_surface:
            back = surfaces.Backdrop(linear(request.source), under, rays)
            rgb = surfaces.painted(drawn, look, back, model, request.keyframe.ground)
        else:
            rgb = _toned(drawn, look, _level(source))
            under = under + _bloom(rgb * shown[..., None], drawn.owner == LAMPS, look)
        blur = look.blur_px
        return _Layers(
            ndimage.gaussian_filter(rgb * shown[..., None], (blur, blur, 0)),
            ndimage.gaussian_filter(drawn.coverage * shown, blur),
            source,
            under,
        )

    def _compose(self, scene: _Scene, layers: _Layers) -> RawEdit:
        request, part = scene.request, scene.part
        edit_mask = np.zeros(request.source.shape[:2], np.uint8)
        object_mask = edit_mask.copy()
        object_mask[part] = np.where(layers.coverage >= 0.5, 255, 0)
        changed = np.abs(_level(layers.under) - _level(layers.source)) > NOTICEABLE * _level(layers.under)
        margin = self.identity_settings.margin_px
        # a hull around a thin post and its long shadow would hold mostly what neither touches
        edit_mask[part] = np.maximum(dilated_hull(layers.coverage > NOTICEABLE, margin), dilated(changed, margin))
        weight: Any = feather(edit_mask, self.identity_settings.feather_px)[part].astype(np.float32)
        picture = request.source.copy()
        window, inside = picture[part], edit_mask[part] > 0
        window[inside] = self._mixed(scene, layers, weight, inside)
        return RawEdit(picture, edit_mask, object_mask)

    def _mixed(self, scene: _Scene, layers: _Layers, weight: Array, inside: Bools) -> Rgb:
        """Return the window's pixels inside the edit mask (N, 3): hazard over ground, grain, feathered to source."""
        coverage = layers.coverage[inside][:, None]
        mixed = layers.under[inside] * (1 - coverage) + layers.rgb[inside]
        noise = grain(scene.look.spot, scene.request.seed, scene.window)[inside]
        edited = srgb_from_linear(mixed) + noise * coverage * self.identity_settings.noise_gain
        share = weight[inside][:, None]
        blended = scene.request.source[scene.part][inside] / np.float32(255.0) * (1 - share) + edited * share
        return np.rint(np.clip(blended, 0.0, 1.0) * 255).astype(np.uint8)


def daylight_of(request: EditRequest) -> Daylight:
    """Return the daylight of a request's keyframe from all its pictures, from the request's own when there are none."""
    views = [
        Scenery(picture, _shrunk(pinhole(request.keyframe, request.keyframe.view(name)), picture))
        for name, picture in request.surroundings()
    ]
    return estimate_daylight(request.keyframe, views or [Scenery(request.source, request.model)])


def _shrunk(model: PinholeCamera, picture: Rgb) -> PinholeCamera:
    """Return the camera of a smaller picture: pixel centres stay where they were."""
    height, width = picture.shape[:2]
    across, down = width / model.width, height / model.height
    scale = np.array([[across, 0.0, (across - 1) / 2], [0.0, down, (down - 1) / 2], [0.0, 0.0, 1.0]])
    return PinholeCamera(scale @ model.intrinsics, model.ego_to_camera, width, height)


def _casting(mesh: Mesh, placement: Placement, request: EditRequest) -> Mesh | None:
    """Return what throws a shadow: everything, of a surface hazard only what rises from the road, if anything."""
    if not isinstance(placement, Surface):
        return mesh
    heights = (mesh.vertices[:, 2] - request.keyframe.ground.height_at(mesh.vertices))[mesh.faces]
    rises = (heights.max(axis=1) > LOWEST_CASTER_M) & ~np.isin(mesh.materials, surfaces.WET)
    if not rises.any():
        return None
    return Mesh(mesh.vertices, mesh.faces[rises], mesh.colours[rises], mesh.materials[rises])


def _without_owner(scene: _Scene, blockers: list[Mesh]) -> list[Mesh]:
    """Leave out the car whose door is open: the door hangs outside it, and the hole is in its side."""
    middle = scene.mesh.vertices.mean(axis=0)
    gaps = [float(np.hypot(*(blocker.vertices[:, :2].mean(axis=0) - middle[:2]))) for blocker in blockers]
    nearest = int(np.argmin(gaps)) if gaps else -1
    return [blocker for index, blocker in enumerate(blockers) if index != nearest]


def _hiding(blockers: list[Mesh], model: PinholeCamera, window: Window) -> Rendering:
    """Return what stands before hazard and ground; nothing at all costs nothing."""
    return _drawn(blockers, model, (_PLAIN, 1), window)


def _drawn(meshes: list[Mesh], model: PinholeCamera, how: tuple[Light, int], window: Window) -> Rendering:
    """Render meshes within a window, working only where they are: windows hold shadows and reflections too."""
    left, top, right, bottom = window
    shape = (bottom - top, right - left)
    rgb: Any = np.zeros((*shape, 3), np.float32)
    coverage: Any = np.zeros(shape, np.float32)
    whole = Rendering(rgb, coverage, np.full(shape, np.inf), np.full(shape, -1, np.int32))
    shown = [outline(_bounds(mesh), model) for mesh in meshes if len(mesh.faces)]
    bounds = [shape.bounds for shape in shown if not shape.is_empty]
    if not bounds:
        return whole
    lows, highs = np.floor(np.min(bounds, axis=0)).astype(int) - 1, np.ceil(np.max(bounds, axis=0)).astype(int) + 2
    inner = (max(left, lows[0]), max(top, lows[1]), min(right, highs[2]), min(bottom, highs[3]))
    if inner[0] >= inner[2] or inner[1] >= inner[3]:
        return whole
    found = render(meshes, model, how[0], (int(inner[0]), int(inner[1]), int(inner[2]), int(inner[3])), how[1])
    part = (slice(inner[1] - top, inner[3] - top), slice(inner[0] - left, inner[2] - left))
    for name in ("rgb", "coverage", "depth", "owner"):
        getattr(whole, name)[part] = getattr(found, name)
    return whole


def _under(scene: _Scene, view: tuple[Array, Array, Rendering]) -> Array:
    """Return the source's window in linear light with the hazard's shadow, its reflection and the doorway."""
    rays, source, hiding = view
    request, look = scene.request, scene.look
    ground, model = request.keyframe.ground, request.model
    normal = np.array([-ground.slope_x, -ground.slope_y, 1.0])
    sinking = rays @ normal
    with np.errstate(divide="ignore"):
        depth = (ground.height_m - float(model.position @ normal)) / sinking  # rays have length 1 along the axis
    bare = (sinking < 0) & (hiding.depth >= depth)
    points = model.position[:2] + rays[bare][:, :2] * depth[bare][:, None]
    kept = np.ones(bare.shape, np.float32)
    kept[bare] = _light_kept(scene, points, _level(source)[bare])
    under = source * np.where(bare, ndimage.gaussian_filter(kept, 0.6), np.float32(1.0))[..., None]
    if look.wetness > 0 and not isinstance(scene.placement, Surface):
        under = _with_reflection(scene, under, bare, rays)
    if scene.hole is not None:
        hole = render([scene.hole], model, look.light, scene.window, 2)
        seen = np.where(hiding.depth < hole.depth - 0.05, 0.0, ndimage.gaussian_filter(hole.coverage, 0.5))
        under = under * (1 - seen[..., None]) + hole.rgb * seen[..., None]
    return under


def _light_kept(scene: _Scene, points: Array, level: Array) -> Array:
    """Return the share (N,) of its light that ground at plan points (N, 2) keeps; shade has no sun to lose."""
    look = scene.look
    in_sun = np.clip((level / max(look.lit_level, 1e-4) - (1 - look.sun_share)) / (0.45 * look.sun_share + 1e-3), 0, 1)
    share = look.sun_share * in_sun
    sun, sky = (np.zeros(len(points)) if shade is None else shade.at(points) for shade in (scene.sun, scene.sky))
    return share * (1 - sun) + (1 - share) * (1 - SKY_LOSS * sky)


def _with_reflection(scene: _Scene, under: Array, bare: Bools, rays: Array) -> Array:
    """Let wet ground mirror the hazard: drawn out downwards, the stronger the flatter one looks at it."""
    request, look = scene.request, scene.look
    image = render([mirrored(scene.mesh, request.keyframe.ground)], request.model, look.light, scene.window, 1)
    reach = max(2.0, 0.03 * (scene.window[3] - scene.window[1]))
    rgb = ndimage.gaussian_filter(image.rgb, (reach, 1.5, 0))
    cover = ndimage.gaussian_filter(image.coverage, (reach, 1.5))
    share = fresnel(rays, request.keyframe.ground) * look.wetness * WET_MIRROR
    share = np.where(bare, np.clip(share, 0.0, 0.6), 0.0)[..., None]
    return under * (1 - share * cover[..., None]) + rgb * share


def _body_and_lamps(mesh: Mesh) -> list[Mesh]:
    """Split a mesh into what is lit and what glows; the order gives `LAMPS`."""
    glows = mesh.materials == Material.GLOWING
    return [Mesh(mesh.vertices, mesh.faces[part], mesh.colours[part], mesh.materials[part]) for part in (~glows, glows)]


def _toned(drawn: Rendering, look: Look, source_level: Array) -> Array:
    """Give premultiplied colours the picture's colourfulness and black, and in the dark no more light than around.

    Lamps stay as they are.
    """
    rgb, coverage = drawn.rgb, drawn.coverage[..., None]
    grey = (0.2126 * rgb[..., 0] + 0.7152 * rgb[..., 1] + 0.0722 * rgb[..., 2])[..., None]
    body = (grey + look.colourfulness * (rgb - grey)) * (1 - look.black) + 0.7 * look.black * coverage
    lit = (drawn.owner >= 0) & (drawn.owner != LAMPS)
    if look.is_night and lit.any():
        limit, level = float(np.percentile(source_level, BRIGHT)), _level(body)
        top = float(np.percentile(level[lit], BRIGHT))
        dimmed = level * min(1.0, limit / max(top, 1e-6))
        factor = np.minimum(dimmed, limit) / np.maximum(level, 1e-6)
        body = body * factor[..., None]
    return np.where((drawn.owner == LAMPS)[..., None], rgb, body)


def _bloom(rgb: Array, lamps: Array, look: Look) -> Array:
    """Return the light (H, W, 3) that lenses and wet air spread around lamps in the dark."""
    if not look.is_night or not lamps.any():
        return np.zeros_like(rgb)
    return BLOOM * ndimage.gaussian_filter(np.where(lamps[..., None], rgb, 0.0), (BLOOM_PX, BLOOM_PX, 0))


def _level(rgb: Array) -> Array:
    """Return the mean (H, W) of three channels; numpy's own mean over so short an axis is several times slower."""
    return (rgb[..., 0] + rgb[..., 1] + rgb[..., 2]) / 3.0


def _pixel_rays(model: PinholeCamera, window: Window) -> Array:
    """Return viewing directions (H, W, 3) of a window's pixels, of length 1 along the optical axis."""
    left, top, right, bottom = window
    turned = model.ego_to_camera.rotation.T @ np.linalg.inv(model.intrinsics)
    columns, rows = np.arange(left, right, dtype=np.float64), np.arange(top, bottom, dtype=np.float64)
    return (columns[:, None] * turned[:, 0] + turned[:, 2]) + (rows[:, None] * turned[:, 1])[:, None, :]


def _bounds(mesh: Mesh) -> Array:
    """Return the eight corners of the mesh's bounding box along the ego axes."""
    used = mesh.vertices[np.unique(mesh.faces)]
    low, high = used.min(axis=0), used.max(axis=0)
    return np.array([(x, y, z) for x in (low[0], high[0]) for y in (low[1], high[1]) for z in (low[2], high[2])])
