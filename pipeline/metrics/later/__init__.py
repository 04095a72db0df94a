"""Measures that came after the editions of their protocols, one file each, found by being here.

A file has ``FAMILIES``, the families of protocols that get its measures, and ``MEASURES``. What they say of a cell
lies beside its result as a supplement; results, addresses and signatures stay as they are.
"""
