"""The logs that keyframes are read from: nuScenes roots, and the embedded synthetic ones."""
