"""The flow tables of Open vSwitch: fields and matches, actions, and the pipeline that walks them.

What is compiled here stands in the node as `ovs-ofctl` prints it. The pipeline knows no device and
no namespace: whoever sends a packet through it gives its fields, says what connection tracking
makes of it (`Tracker`), and takes what comes out of which port.
"""
