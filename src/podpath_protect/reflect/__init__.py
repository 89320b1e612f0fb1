"""The reflector: somebody outside of a pod who connects back when the pod's validator asks, to
prove inbound redirection.
"""
