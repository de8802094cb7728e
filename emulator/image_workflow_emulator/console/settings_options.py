"""The options of a served emulator, made from the table of settings.

A variable counts where its option is not typed, unless it describes a link of
Kubernetes or Docker.
"""

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import click
from click.core import ParameterSource
from click.shell_completion import CompletionItem
from click.types import OptionHelpExtra

from image_workflow_emulator.console.options import Decorator, Function
from image_workflow_emulator.console.values import completions
from image_workflow_emulator.settings import (
    OPTIONS,
    Option,
    OptionTexts,
    Settings,
    is_of_link,
    read_settings,
)


class SettingOption(click.Option):
    """The option for one of the settings, whose value is its text."""

    def __init__(
        self,
        param_decls: Sequence[str],
        option: Option,
        default_words: str,
    ) -> None:
        """Describe the option; its default is told in words."""
        super().__init__(
            param_decls,
            metavar=option.kind.placeholder,
            envvar=option.variable,
            show_envvar=True,
            multiple=option.is_repeated,
            help=option.description,
        )
        self.option = option
        self._default_words = default_words

    def get_help_extra(self, ctx: click.Context) -> OptionHelpExtra:
        """Tell the default in words."""
        return {**super().get_help_extra(ctx), "default": self._default_words}

    def resolve_envvar_value(self, ctx: click.Context) -> str | None:
        """Return the text of the variable, unless another program means something else
        by it.
        """
        text = super().resolve_envvar_value(ctx)
        if text is None or is_of_link(self.option.variable, text):
            return None
        return text

    def value_from_envvar(self, ctx: click.Context) -> Any:
        """Return the text of the variable, in which commas separate values."""
        text = self.resolve_envvar_value(ctx)
        if text is None or not self.multiple:
            return text
        return [text]

    def shell_complete(
        self,
        ctx: click.Context,
        incomplete: str,
    ) -> list[CompletionItem]:
        """Offer the words that the setting has, or files."""
        return completions(self.option.kind, incomplete)


@dataclass(frozen=True, kw_only=True)
class GivenSettings:
    """The settings of a command, for one that passes them on to others."""

    settings: Settings
    """What they mean."""
    typed: OptionTexts
    """The texts that were typed."""
    texts: OptionTexts
    """All texts, those of variables included."""


def settings_options(**defaults: str) -> Decorator:
    """Add the options of a served emulator, as one value `given` (GivenSettings).

    `defaults` are the texts that the command has in place of the usual defaults.
    """

    def decorate(function: Function) -> Function:
        @functools.wraps(function)
        def command(**values: Any) -> Any:
            context = click.get_current_context()
            return function(given=_pop_settings(context, values, defaults), **values)

        _add_options(command, defaults)
        return command

    return decorate


def _pop_settings(
    context: click.Context,
    values: dict[str, Any],
    defaults: OptionTexts,
) -> GivenSettings:
    """Take the settings out of the values of a command. Raises SettingError."""
    texts = dict[str, str]()
    typed = dict[str, str]()
    variables = dict[str, str]()
    for option in OPTIONS:
        value = values.pop(option.field)
        if value is None or value == ():
            continue
        text = value
        if option.is_repeated:
            text = ",".join(value)
        texts[option.field] = text
        source = context.get_parameter_source(option.field)
        if source is ParameterSource.ENVIRONMENT:
            variables[option.field] = option.variable
        else:
            typed[option.field] = text
    settings = read_settings({**defaults, **texts}, variables)
    return GivenSettings(
        settings=settings,
        typed=typed,
        texts=texts,
    )


def _add_options(command: Function, defaults: OptionTexts) -> None:
    """Give a command the options, in the order of the table."""
    for option in reversed(OPTIONS):
        default = defaults.get(option.field, option.default)
        if option.field == "port" and default == "0":
            default = "a free one"
        click.option(
            option.flag,
            option.field,
            cls=SettingOption,
            option=option,
            default_words=default,
        )(command)
