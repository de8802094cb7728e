"""Pictures: what to draw (recipes), how to draw it (render), and what an upload becomes (normalize).

Bytes in, bytes out, the same for the same input. Nothing here knows requests, sandboxes or time. Only `recipes` may be
imported by code that must start quickly; every other module loads Pillow.
"""
