"""Pictures: how to draw a recipe (render), and what an upload becomes (normalize).

Bytes in, bytes out, the same for the same input. Nothing here knows requests, sandboxes
or time. The server imports `helpers`, `memory` and `messages` alone; every other module
loads Pillow, and runs in the helper processes that these start, or in the server where
none can be.
"""
