"""The Credits may run out: a person has to act, and what is there already must not be lost."""

import json
import sys

import step_4
from step_0 import PRODUCTS, Refused


class Client(step_4.Client):
    def run(self) -> int:
        done: dict[str, list[str]] = {}
        try:
            for name in PRODUCTS:
                done[name] = self.shoot(name)
        except Refused as refused:
            rest = [name for name in PRODUCTS if name not in done]
            print(f"{refused}\nnot done: {', '.join(rest)}", file=sys.stderr)
        print(json.dumps(done))
        return 0 if len(done) == len(PRODUCTS) else 3
