"""Triangle meshes with one colour and one material a face.

A mesh in its own frame has x forward, y left, z up and its origin at the ground contact below its centre; placed, it is
in whatever frame the transform leads to (the ego frame at time 0 when it is rendered). Windings carry no meaning: the
rasteriser shades both sides of a face.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from data_registry.geometry import Array, GeometryError, Transform
from data_registry.scene3d.materials import Material

Faces = npt.NDArray[np.int64]
Materials = npt.NDArray[np.uint8]


@dataclass(frozen=True, slots=True, eq=False)
class Mesh:
    """Triangles in space.

    Attributes:
        vertices: (N, 3), metres.
        faces: (M, 3), indices into vertices.
        colours: (M, 3), linear RGB in 0..1 (reflectances; of glowing faces the light sent out), one a face.
        materials: (M,), a Material's code, one a face; all matte when none is given.
    """

    vertices: Array
    faces: Faces
    colours: Array
    materials: Materials = field(default_factory=lambda: np.zeros(0, dtype=np.uint8))

    def __post_init__(self) -> None:
        """Refuse arrays that do not fit together, so that rendering need not check."""
        if self.vertices.ndim != 2 or self.vertices.shape[1:] != (3,) or not np.isfinite(self.vertices).all():
            raise GeometryError(f"mesh vertices must be finite and (N, 3), got shape {self.vertices.shape}")
        if self.faces.ndim != 2 or self.faces.shape[1:] != (3,) or self.colours.shape != self.faces.shape:
            raise GeometryError(f"mesh faces {self.faces.shape} and colours {self.colours.shape} must both be (M, 3)")
        if not self.materials.size:
            object.__setattr__(self, "materials", np.full(len(self.faces), Material.MATTE, dtype=np.uint8))
        if self.materials.shape != (len(self.faces),) or (self.materials >= len(Material)).any():
            raise GeometryError(f"mesh materials {self.materials.shape} must be one known code for each face")
        if self.faces.size and not 0 <= int(self.faces.min()) <= int(self.faces.max()) < len(self.vertices):
            raise GeometryError(f"mesh faces name vertices outside 0..{len(self.vertices) - 1}")

    def placed(self, transform: Transform) -> Mesh:
        """Return the mesh moved from its own frame to the transform's parent frame."""
        return Mesh(transform.apply(self.vertices), self.faces, self.colours, self.materials)

    def scaled(self, factors: Sequence[float] | float) -> Mesh:
        """Return the mesh stretched about its origin by one factor or by (x, y, z) factors."""
        return Mesh(self.vertices * np.asarray(factors, dtype=np.float64), self.faces, self.colours, self.materials)

    def made_of(self, material: Material) -> Mesh:
        """Return the mesh with every face of one material."""
        return Mesh(self.vertices, self.faces, self.colours, np.full(len(self.faces), material, dtype=np.uint8))

    def triangles(self) -> Array:
        """Return the corners of every face, shape (M, 3, 3): face, corner, coordinate."""
        return self.vertices[self.faces]


def joined(meshes: Sequence[Mesh]) -> Mesh:
    """Return one mesh with all faces of the given ones, in order; no mesh at all gives an empty one."""
    if not meshes:
        return Mesh(np.zeros((0, 3)), np.zeros((0, 3), dtype=np.int64), np.zeros((0, 3)))
    if len(meshes) == 1:
        return meshes[0]
    starts = np.cumsum([0] + [len(mesh.vertices) for mesh in meshes[:-1]])
    return Mesh(
        np.concatenate([mesh.vertices for mesh in meshes]),
        np.concatenate([mesh.faces + start for mesh, start in zip(meshes, starts, strict=True)]),
        np.concatenate([mesh.colours for mesh in meshes]),
        np.concatenate([mesh.materials for mesh in meshes]),
    )


def triple(values: npt.ArrayLike) -> tuple[float, float, float]:
    """Return three numbers, shape (3,), as plain ones: compiled loops take them faster than a small array."""
    x, y, z = np.asarray(values, dtype=np.float64).tolist()
    return x, y, z
