"""A local, deterministic emulator of the Image Workflow Service API v1.

The rooms, from the shell inwards: `cli`, `app`, `web` and `control`, `service`, `scenario` and `imaging`, `domain`,
`kernel`. Imports run in that direction only.
"""

__version__ = "0.2.0"

DEFAULT_PORT = 8038
DEFAULT_URL = f"http://127.0.0.1:{DEFAULT_PORT}"
