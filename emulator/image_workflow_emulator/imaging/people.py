"""People: how somebody looks, in any picture."""

from collections.abc import Sequence
from typing import TypeVar

from msgspec import Struct

from image_workflow_emulator.imaging.colors import Color

_Value = TypeVar("_Value")

_SKINS: tuple[Color, ...] = (
    (224, 178, 144),
    (136, 90, 64),
    (244, 213, 190),
    (188, 134, 98),
    (98, 62, 46),
)
_HAIRS: tuple[Color, ...] = (
    (58, 42, 34),
    (30, 28, 30),
    (120, 78, 44),
    (182, 178, 174),
    (70, 44, 40),
)
_CLOTHES: tuple[Color, ...] = (
    (92, 112, 138),
    (168, 110, 96),
    (104, 128, 108),
    (198, 164, 112),
    (120, 104, 140),
)
_GENDERS = ("female", "neutral", "male")


class Person(Struct, frozen=True):
    """How somebody looks: the shape of the hair, and colours."""

    gender: str
    hair: Color
    skin: Color
    cloth: Color


def person_of(
    number: int,
    gender: str | None = None,
    skin: Color | None = None,
) -> Person:
    """Somebody; `number` chooses what is None, and the other colours."""
    return Person(
        gender=gender or _choice(_GENDERS, number),
        hair=_choice(_HAIRS, number),
        skin=skin or _choice(_SKINS, number),
        cloth=_choice(_CLOTHES, number),
    )


def _choice(values: Sequence[_Value], number: int) -> _Value:
    return values[number % len(values)]
