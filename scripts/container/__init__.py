"""The container image of agents, collecting pods and validators: built of Debian packages and
podpath's wheels, scanned, and written as one archive. `scripts/build-image` is its command.
"""
