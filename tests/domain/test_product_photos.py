"""Packing of subjects and the choice of the Primary (section 4, D22, D32)."""

import pytest

from emulator.domain.product_photos import pack, primary_of


@pytest.mark.parametrize(
    ("expected", "products", "loose"),
    [
        pytest.param("a", [("a", "a")], "", id="one photo"),
        pytest.param("b a c", [("b", "a b c")], "", id="the Main photo comes first, the others in order"),
        pytest.param("a d b e c", [("a", "a b c"), ("d", "d e f")], "", id="remaining views take turns"),
        pytest.param("a x y b", [("a", "a b")], "x y", id="explicit Assets come before remaining views"),
        pytest.param("x y", [], "x y", id="loose Assets alone"),
        pytest.param("a b c d e", [], "a b c d e f g", id="more than five loose Assets"),
        pytest.param("a b c d e", [(x, x) for x in "abcdef"], "", id="more than five Products"),
        pytest.param("a b c d x", [(x, x) for x in "abcd"], "x y", id="the cap cuts explicit Assets"),
        pytest.param("a", [("a", "a"), ("a", "a")], "a", id="nothing is packed twice"),
        pytest.param("a b c", [("a", "a b"), ("a", "a b c")], "", id="a view of two Products is packed once"),
        pytest.param("a d b c", [("a", "a b"), ("d", "d b c")], "", id="a packed view costs its Product no turn"),
        pytest.param("a e x b f", [("a", "a x b c"), ("e", "e f")], "x", id="an explicit view costs no turn"),
        pytest.param(
            "a g h b d", [("a", "a b c"), ("g", "g"), ("h", "h d e")], "", id="a Product that ran out is passed"
        ),
    ],
)
def test_subjects_are_packed(expected: str, products: list[tuple[str, str]], loose: str) -> None:
    chosen = [(primary, photos.split()) for primary, photos in products]
    assert tuple(expected.split()) == pack(chosen, loose.split())


@pytest.mark.parametrize(("expected", "preferred"), [("b", "b"), ("a", "gone")])
def test_a_primary_stays_while_it_is_a_member_and_is_followed_by_the_first(expected: str, preferred: str) -> None:
    assert expected == primary_of(["a", "b"], preferred)
