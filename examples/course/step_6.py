"""The key may be revoked: go on with its successor."""

import os

import step_5
from step_0 import Json, Refused


class Client(step_5.Client):
    def ask(
        self,
        method: str,
        path: str,
        body: Json | None = None,
    ) -> Json:
        try:
            return super().ask(method, path, body)
        except Refused as refused:
            next_key = os.environ.get("IMAGE_WORKFLOW_NEXT_API_KEY", self.api_key)
            if (
                refused.code not in ("credential_revoked", "credential_expired")
                or next_key == self.api_key
            ):
                raise
            self.api_key = next_key
            return super().ask(method, path, body)
