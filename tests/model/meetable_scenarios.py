"""The scenarios that random clients meet, each as everyone's or as one Team's.

They are given to the emulator and read by the model as they are. No rule is of GET /team or of a list: those are what
the clients look with, and the model is not told of it.
"""

from typing import Final

from tests.model.arithmetic import Json


def rules(*rules: Json) -> Json:
    return {"rules": list(rules)}


def timeline(*changes: Json) -> Json:
    return {"timeline": list(changes)}


SCENARIOS: Final[tuple[Json, ...]] = (
    rules({"match": {"work": "product_photography"}, "then": {"outputs": {"1": "content_rejected", "3": "timed_out"}}}),
    rules({"match": {"work": "*"}, "then": {"fail": "processing_failed"}}),
    rules({"match": {"work": "*"}, "when": {"nth": "2"}, "then": {"fail": "timed_out"}}),
    rules(
        {"match": {"work": "upscale"}, "when": {"nth": "1"}, "then": {"stall": True}},
        {"match": {"work": "pose.create"}, "then": {"duration": 30}},
        {"match": {"work": "edit_images"}, "then": {"duration": 1}},
    ),
    rules(
        {"match": {"work": "background.create"}, "then": {"scene": "foreground"}},
        {"match": {"work": "background.update"}, "then": {"scene": "clean"}},
    ),
    timeline({"at": 0, "set": {"admission": "paused", "retry_after": 7}}, {"at": 20, "set": {"admission": "open"}}),
    timeline(
        {"at": 0, "set": {"admission": "paused"}},
        {"at": 1, "set": {"admission": "paused", "retry_after": 3}},
        {"at": 60, "set": {"admission": "open"}},
    ),
    timeline(
        {"at": 1, "set": {"credential": "ash_second", "state": "revoked"}},
        {"at": 2, "set": {"team": "Ash", "subscription": "inactive"}},
        {"at": 15, "set": {"team": "Ash", "subscription": "active"}},
        {"at": 15, "set": {"credential": "ash_second", "state": "active"}},
    ),
    timeline(
        {"at": 2, "set": {"team": "Ash", "credits": 2, "concurrency_limit": 2}},
        {"at": 2, "set": {"team": "Birch", "credits": 9}},
        {"at": 8, "set": {"team": "Ash", "credits": 12, "concurrency_limit": 6}},
    ),
    rules(
        {"match": {"work": "*", "team": "Birch"}, "then": {"fail": "content_rejected"}},
        {"match": {"work": "*"}, "when": {"nth": "1"}, "then": {"stall": True}},
    ),
    rules({"match": {"operation": "createProduct", "team": "Ash"}, "then": {"problem": "rate_limited"}}),
    *(
        rules({"match": {"operation": operation}, "when": {"nth": "1"}, "then": then})
        for operation, then in (
            ("createUpscaleGeneration", {"problem": "internal_error", "at": "after_commit"}),
            ("createProductPhotographyGeneration", {"problem": "service_unavailable", "at": "after_commit"}),
            ("createPose", {"problem": "internal_error", "at": "after_commit"}),
            ("createProduct", {"problem": "internal_error"}),
            ("createEditImagesGeneration", {"problem": "insufficient_credits"}),
            ("updateProduct", {"problem": "service_unavailable"}),
            ("deleteAsset", {"problem": "resource_operation_in_progress"}),
        )
    ),
)
