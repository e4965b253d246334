"""README and CHANGELOG say only what is true: every command, option, exit code and make target exists."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import typer.main

import fabricctl.errors
from fabricctl.cli.main import app

ROOT = Path(__file__).resolve().parent.parent
DOCUMENTS = ("README.md", "CHANGELOG.md")
EXIT_CODES = {
    value
    for name, value in vars(fabricctl.errors).items()
    if name.startswith("EXIT_") and isinstance(value, int) and name != "EXIT_BUG"
}
"""The code for a bug is no promise to operators and may be left out of the list."""
COMMAND: Any = typer.main.get_command(app)
"""The root command, of click or of the copy of it that typer carries: told apart by what it has."""


class Line(NamedTuple):
    """A command line as a document writes it."""

    where: str
    words: list[str]


def read(name: str) -> str:
    return (ROOT / name).read_text("utf-8")


def command_lines(name: str, program: str) -> Iterator[Line]:
    """Lines of code blocks, and `code spans`, that run ``program``."""
    in_block, held = False, ""
    for number, raw in enumerate(read(name).splitlines(), 1):
        where = f"{name}:{number}"
        if raw.lstrip().startswith("```"):
            in_block = not in_block
            continue
        if not in_block:
            for span in re.findall(r"`([^`]+)`", raw):
                if re.match(rf"{program}\s", span):
                    yield Line(where, words_of(span)[1:])
            continue
        text = held + raw.strip().removeprefix("$ ")
        if text.endswith("\\"):
            held = text[:-1] + " "
            continue
        held = ""
        for part in re.split(r"\s(?:&&|\|\||\||;)\s", text):
            words = words_of(part)
            if program in (word.rpartition("/")[2] for word in words[:1]):
                yield Line(where, words[1:])


def words_of(text: str) -> list[str]:
    """Shell words; a comment at the end is dropped, ``[--option]`` loses its brackets."""
    try:
        words = shlex.split(text, comments=True)
    except ValueError:  # prose with an apostrophe in a code block
        words = text.split()
    return [word.strip("[]") if word.startswith("[-") else word for word in words]


def parameters(command: Any) -> set[str]:
    named = {word for parameter in command.params for word in (*parameter.opts, *parameter.secondary_opts)}
    return named | {"--help"}


def takes_value(command: Any, option: str) -> bool:
    return any(
        option in parameter.opts and not getattr(parameter, "is_flag", False) for parameter in command.params
    )


def resolve(words: list[str]) -> tuple[Any, list[str]]:
    """The command that the words name, and the options they use."""
    command, options, rest = COMMAND, [], list(words)
    while rest:
        word = rest.pop(0)
        if word.startswith("-") and word != "-":
            options.append(word.split("=")[0])
            if options[-1] not in parameters(command):
                raise LookupError(f"`{command.name}` has no option {options[-1]}")
            if takes_value(command, options[-1]) and "=" not in word:
                rest[:1] = []
        elif hasattr(command, "commands"):
            if word not in command.commands:
                raise LookupError(f"`{command.name}` has no command {word!r}")
            command = command.commands[word]
    return command, options


def every_command(command: Any = COMMAND, path: str = "fabricctl") -> Iterator[tuple[str, Any]]:
    yield path, command
    for name, child in getattr(command, "commands", {}).items():
        yield from every_command(child, f"{path} {name}")


@pytest.mark.parametrize("document", DOCUMENTS)
def test_every_command_line_in_the_documents_exists(document: str) -> None:
    wrong = []
    for where, words in command_lines(document, "fabricctl"):
        try:
            resolve(words)
        except LookupError as error:
            wrong.append(f"{where}: {error}")
    assert wrong == []


def test_readme_shows_how_to_verify_a_cabling() -> None:
    named = [resolve(words)[0].name for _, words in command_lines("README.md", "fabricctl")]
    assert "verify-cabling" in named


@pytest.mark.parametrize(("path", "command"), list(every_command()), ids=lambda value: str(value)[:40])
def test_every_command_and_option_has_a_help_text(path: str, command: Any) -> None:
    assert (command.help or "").strip(), f"{path} has no help"
    silent = [
        parameter.opts[0]
        for parameter in command.params
        if not getattr(parameter, "hidden", False) and not (getattr(parameter, "help", "") or "").strip()
    ]
    assert silent == [], path


def test_readme_lists_exactly_the_exit_codes_of_the_error_tree() -> None:
    section = re.split(r"(?im)^#+\s.*exit codes?.*$", read("README.md"))
    assert len(section) == 2, "README needs one heading with the words 'exit codes'"
    body = re.split(r"(?m)^#+\s", section[1])[0]
    listed = {int(code) for code in re.findall(r"(?m)^\s*[|*-]\s*`?(\d+)`?\s*(?:\||:|—|-)", body)}
    assert listed - {fabricctl.errors.EXIT_BUG} == EXIT_CODES


@pytest.mark.parametrize("document", [*DOCUMENTS, "tests/data/README.md"])
def test_every_make_target_in_the_documents_exists(document: str) -> None:
    targets = set(re.findall(r"(?m)^([a-z][\w-]*):(?!=)", read("Makefile")))
    named = {
        word
        for _, words in command_lines(document, "make")
        for word in words
        if not word.startswith("-") and "=" not in word
    }
    assert named <= targets


def test_an_unknown_command_and_an_unknown_option_are_noticed() -> None:
    with pytest.raises(LookupError, match="frobnicate"):
        resolve(["frobnicate"])
    with pytest.raises(LookupError, match="--sideways"):
        resolve(["verify-cabling", "--sideways"])
