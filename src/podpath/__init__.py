"""podpath explains, down to the line, why a pod on a Kubernetes node cannot reach something."""

__version__ = "0.1.0"
