"""What holds for a namespace or the node as a whole: sysctls, counters, the manifest, Kubernetes'
objects.
"""
