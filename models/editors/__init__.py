"""Back ends that draw a placed hazard into one picture."""
