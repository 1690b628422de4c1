"""Reads what people write by hand as YAML: bounded, strict, and with one kind of error."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml
from yaml.composer import ComposerError
from yaml.constructor import ConstructorError


def read_bounded(path: Path, largest: int) -> bytes:
    """Return a file's bytes; raises ValueError when it is no file or has more than `largest` bytes, else OSError."""
    if not path.is_file():
        raise ValueError("is not a file")
    with path.open("rb") as file:
        content = file.read(largest + 1)
    if len(content) > largest:
        raise ValueError(f"is larger than {largest:,} bytes: nothing that is written by hand gets so large")
    return content


def parse_yaml(content: str | bytes) -> Any:
    """Read strict YAML, bytes as UTF-8; raises ValueError, whatever the reader itself raises."""
    try:
        text = content.decode("utf-8") if isinstance(content, bytes) else content
        return yaml.load(text, StrictLoader)
    except (yaml.YAMLError, ValueError, LookupError, AttributeError, TypeError, RecursionError) as error:
        raise ValueError(f"not YAML: {' '.join(str(error).split())}") from error


class StrictLoader(yaml.SafeLoader):
    """Safe YAML that refuses keys that are no text or given twice, and aliases, which can unfold without bound."""

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        """Read one node; raises ComposerError for an alias."""
        if self.check_event(yaml.AliasEvent):
            raise ComposerError(None, None, "aliases are not allowed", self.peek_event().start_mark)
        return super().compose_node(parent, index)

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        """Read one mapping; raises ConstructorError for a key that is no text or given twice."""
        seen: set[str] = set()
        for key, _ in node.value:
            if key.tag != "tag:yaml.org,2002:str" or not isinstance(key, yaml.ScalarNode):
                raise ConstructorError(None, None, "a key is not text: name a field, or quote it", key.start_mark)
            if key.value in seen:
                raise ConstructorError(None, None, f"{key.value} is given twice", key.start_mark)
            seen.add(key.value)
        return super().construct_mapping(node, deep)
