"""Pictures: how to draw a recipe (render), and what an upload becomes (normalize).

Bytes in, bytes out, the same for the same input. Nothing here knows requests, sandboxes or time. Every module loads
Pillow: import it where a picture is first needed.
"""
