"""Parts of a release, each with its own schema version, tables and invariants; importing this package registers all."""

from data_registry.components.hazards import HAZARDS
from data_registry.tables import component

__all__ = ["HAZARDS", "component"]
