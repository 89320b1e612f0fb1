"""The typed, frozen model of one Kubernetes node: what a walk walks through."""
