"""The validator: proves, from inside a pod and without any right, that its traffic is redirected to
the mesh's proxy.
"""
