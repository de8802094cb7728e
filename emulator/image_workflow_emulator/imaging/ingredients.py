"""Pictures of ingredients: premade ones, drawn from their names and attributes, and a
Team's own, from their sources.
"""

from collections.abc import Sequence

from image_workflow_emulator.domain.recipes import CardRecipe, PremadeRecipe
from image_workflow_emulator.imaging.canvas import Canvas
from image_workflow_emulator.imaging.cards import Card
from image_workflow_emulator.imaging.codecs import load
from image_workflow_emulator.imaging.colors import chance, color_of_hue
from image_workflow_emulator.imaging.figures import Figure, draw_figure
from image_workflow_emulator.imaging.grounds import backdrop
from image_workflow_emulator.imaging.heads import paint_portrait
from image_workflow_emulator.imaging.looks import filtered, named_look
from image_workflow_emulator.imaging.people import person_of
from image_workflow_emulator.imaging.pictures import Picture
from image_workflow_emulator.imaging.places import draw_place, draw_shirt
from image_workflow_emulator.imaging.stances import stance_of


def own_ingredient(recipe: CardRecipe, inputs: Sequence[bytes]) -> Picture:
    """The picture of a Team's own ingredient: one of its sources large, the others
    small.
    """
    size = (recipe.width, recipe.height)
    longest_edge = max(size)
    files = inputs or [b""]  # a state file may name none
    sources = [load(data, longest_edge) for data in files]
    main = sources.pop(recipe.index % len(sources))
    if recipe.kind == "background":  # behind subjects, so without words
        return Canvas.of(size, main).image
    hue = chance(recipe.name, *recipe.inputs)
    card = _card_before(recipe, hue)
    card.canvas.paint_all([main], card.room)
    return card.finished(
        recipe.name,
        facts=_words_of(recipe.kind),
        swatches=sources,
    )


def premade_ingredient(recipe: PremadeRecipe, _inputs: Sequence[bytes]) -> Picture:
    """The picture of a premade ingredient."""
    size = (recipe.width, recipe.height)
    match recipe.kind:
        case "background":
            return Canvas.of(size, draw_place(recipe.name)).image
        case "photography_style":
            card = _style_card(recipe)
        case "pose":
            card = _pose_card(recipe)
        case "fashion_model":
            card = _model_card(recipe)
    words = [_words_of(recipe.kind), *recipe.attributes]
    facts = " · ".join(words)
    return card.finished(recipe.name, facts)


def _words_of(kind: str) -> str:
    return kind.replace("_", " ").capitalize()


def _card_before(recipe: CardRecipe | PremadeRecipe, hue: float) -> Card:
    """A card with a plain wall of a hue."""
    size = (recipe.width, recipe.height)
    return Card(size, backdrop(hue))


def _style_card(recipe: PremadeRecipe) -> Card:
    """A photo that was taken in the style."""
    hue = chance("style", recipe.name)
    card = _card_before(recipe, hue)
    photo = draw_shirt(recipe.name, recipe.index)
    look = named_look(recipe.name)
    if look is not None:
        photo = filtered(photo, look)
    card.canvas.paint_all([photo], card.room)
    return card


def _pose_card(recipe: PremadeRecipe) -> Card:
    hue = chance("pose", recipe.name)
    card = _card_before(recipe, hue)
    person = person_of(round(hue * 255))
    figure = Figure(person, stance_of(recipe.name))
    picture = draw_figure(figure)
    card.canvas.paint_all([picture], card.room)
    return card


def _model_card(recipe: PremadeRecipe) -> Card:
    ground = color_of_hue(
        hue=chance("model", recipe.name),
        saturation=0.12,
        value=0.95,
    )
    card = Card((recipe.width, recipe.height), ground)
    gender = None
    if recipe.attributes:
        gender = recipe.attributes[0]
    person = person_of(recipe.index, gender)
    paint_portrait(card.canvas, person, card.room)
    return card
