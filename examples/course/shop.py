"""Shoot the products of the shop with the client as it is after a step: `python shop.py 1`."""

import sys
from importlib import import_module

sys.exit(import_module(f"step_{sys.argv[1]}").Client().run())
