# SPDX-License-Identifier: MIT
"""garner against its peers: time, memory and the machine's own limits, over a table of workloads.

Nothing is imported here: a process must be held to its CPUs before a peer's library sees them.
"""
