"""A vendor's list of service tags and factory passwords: which column is what, and what is wrong with a row.

No message repeats a cell: in a list whose columns are swapped or shifted any of them may be a password.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from fabricctl.errors import InputError
from fabricctl.words import many
from provision.bmc.secret import Secret

TAG = re.compile(r"[0-9A-Z]{7}\Z")
"""A Dell service tag: seven digits and letters."""
HEADER_ROWS = 60
"""How far down the header may stand: titles and order numbers come before it."""
SHOWN = 20
"""Errors that are told one by one."""
LONGEST_USER = 64
_EXAMPLE = "Service Tag, User, iDRAC Password"
_WORDS = re.compile(r"[^a-z0-9]+")
_PASSWORD = {"password", "passwd", "pwd", "passwort", "kennwort", "pw"}
_JOINED_PASSWORD = re.compile(r"(?:\w*)(?:password|passwd)\Z")
_USER = {"user", "username", "login", "account", "benutzer"}
_TAG_NAMES = {"tag", "servicetag", "svctag", "svctags", "tags"}
_SERIAL_NAMES = {"serial", "serialnumber", "sn", "st"}
_OTHER_TAGS = {"asset", "parent", "rack", "express"}
"""An asset tag or an express service code is another number."""
_OF_BMC = {"idrac", "bmc", "secure", "default", "factory", "drac", "ilo", "ipmi", "root", "lom"}
_OF_OTHERS = {"bios", "setup", "hash", "hint", "expiry", "os", "windows", "switch"}


class Cell(NamedTuple):
    """A cell. :param number: a spreadsheet holds it as a number: leading zeros are lost."""

    text: str
    number: bool = False


class Row(NamedTuple):
    """A row. :param line: 1-based, where it starts."""

    line: int
    cells: tuple[Cell, ...]


@dataclass(frozen=True, slots=True)
class Delivered:
    """One machine's factory password. :param user: empty where the list does not tell it."""

    tag: str
    user: str
    password: Secret
    line: int


class VendorListError(InputError):
    """Everything that is wrong with a list, the first ones one by one. :param errors: each with its line."""

    def __init__(self, errors: Sequence[InputError], path: str) -> None:
        shown = list(errors[:SHOWN])
        if len(errors) > SHOWN:
            shown.append(InputError(f"and {many(len(errors) - SHOWN, 'more error')}", path=path))
        super().__init__("; ".join(str(error) for error in shown))
        self.errors = shown

    def __str__(self) -> str:
        return self.message


class _Columns(NamedTuple):
    """Places of the columns; :param user: -1 when there is none; :param width: how many there are."""

    tag: int
    user: int
    password: int
    width: int


def read_rows(rows: Sequence[Row], path: str) -> list[Delivered]:
    """Machines of a list, in its order.

    :param path: as messages name it. :raises VendorListError: :raises InputError: with file and line.
    """
    filled = [row for row in rows if any(cell.text.strip() for cell in row.cells)]
    if not filled:
        raise InputError(f"is empty; expected a list with columns such as {_EXAMPLE}", path=path)
    for at, row in enumerate(filled[:HEADER_ROWS]):
        columns = _header(row, path)
        if columns is not None:
            return _read(filled[at + 1 :], columns, path, row.line)
    return _read(filled, _without_header(filled, path), path, 0)


def has_header(rows: Sequence[Row]) -> bool:
    """Whether one of the rows is a header; of a text it tells what stands between its cells."""
    try:
        return any(_header(row, "") is not None for row in rows[:HEADER_ROWS])
    except InputError:
        return True


def _header(row: Row, path: str) -> _Columns | None:
    """The columns a header names, None for any other row."""
    named = [_words(cell.text) for cell in row.cells]
    tags = [at for at, words in enumerate(named) if _is_tag(words)]
    if not tags:
        tags = [at for at, words in enumerate(named) if _joined(words) in _SERIAL_NAMES or "serial" in words]
    passwords = [at for at, words in enumerate(named) if _is_password(words) and at not in tags]
    if not tags or not passwords:
        return None
    users = [
        at
        for at, words in enumerate(named)
        if at not in passwords and (set(words) | {_joined(words)}) & _USER
    ]
    users = _preferred(users, named)[:1]
    passwords = _preferred(passwords, named)
    for what, found in (("service tags", tags), ("BMC passwords", passwords)):
        if len(found) > 1:
            names = ", ".join(repr(row.cells[at].text.strip()) for at in found)
            hint = "keep only one of them in the file"
            raise InputError(
                f"the header names {len(found)} columns of {what}: {names}",
                path=path,
                line=row.line,
                hint=hint,
            )
    return _Columns(tags[0], users[0] if users else -1, passwords[0], len(named))


def _words(text: str) -> list[str]:
    spaced = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", text.strip().lstrip("#"))
    return [word for word in _WORDS.split(spaced.lower()) if word] if len(text) <= 60 else []


def _joined(words: Sequence[str]) -> str:
    return "".join(words)


def _is_tag(words: Sequence[str]) -> bool:
    joined = _joined(words)
    named = bool(set(words) & _TAG_NAMES) or joined in _TAG_NAMES or joined.endswith("servicetag")
    return named and ("service" in words or not set(words) & _OTHER_TAGS)


def _is_password(words: Sequence[str]) -> bool:
    return any(word in _PASSWORD or _JOINED_PASSWORD.match(word) for word in words) and not (
        {"user", "username", "date", "changed"} & set(words)
    )


def _preferred(found: list[int], named: Sequence[Sequence[str]]) -> list[int]:
    """Of several columns those that speak of the BMC, else those that speak of nothing else."""
    if len(found) < 2:
        return found
    of_bmc = [at for at in found if set(named[at]) & _OF_BMC and not set(named[at]) & _OF_OTHERS]
    return of_bmc or [at for at in found if not set(named[at]) & _OF_OTHERS] or found


def _without_header(rows: Sequence[Row], path: str) -> _Columns:
    """The columns of a list without header, where they are clear: one of tags, one of passwords, maybe one of users.

    :raises InputError: they are not.
    """
    width = len(rows[0].cells)
    if any(len(row.cells) != width for row in rows):
        odd = next(row for row in rows if len(row.cells) != width)
        raise _unclear(f"row of {len(odd.cells)} cells among rows of {width}", odd.line, path)
    columns = [[row.cells[at].text.strip() for row in rows] for at in range(width)]
    tags = [at for at, cells in enumerate(columns) if all(TAG.match(cell.upper()) for cell in cells)]
    rest = [at for at in range(width) if at not in tags]
    users = [at for at in rest if len(set(columns[at])) == 1 and len(rows) > 1]
    users = users or [at for at in rest if all(cell.lower() in ("root", "admin") for cell in columns[at])]
    passwords = [at for at in rest if at not in users]
    if len(tags) == 1 and len(passwords) == 1:
        return _Columns(tags[0], users[0] if users else -1, passwords[0], width)
    if not tags:
        raise _unclear("no column holds only service tags (7 digits and letters)", rows[0].line, path)
    what = (
        "several columns could hold the tags"
        if len(tags) > 1
        else "it is not clear which column holds passwords"
    )
    raise _unclear(what, rows[0].line, path)


def _unclear(what: str, line: int, path: str) -> InputError:
    return InputError(
        f"no header was recognised, and {what}", path=path, line=line, hint=f"add a header such as {_EXAMPLE}"
    )


def _read(rows: Sequence[Row], columns: _Columns, path: str, header: int) -> list[Delivered]:
    if not rows:
        raise InputError("has a header and no rows", path=path, line=header)
    machines: list[Delivered] = []
    errors: list[InputError] = []
    first: dict[str, int] = {}
    for row in rows:
        machine = _machine(row, columns)
        texts = [machine] if isinstance(machine, str) else []
        if isinstance(machine, Delivered):
            if machine.tag in first:
                texts = [f"service tag {machine.tag} stands in line {first[machine.tag]} already"]
            first.setdefault(machine.tag, row.line)
            machines.append(machine)
        errors += [InputError(text, path=path, line=row.line) for text in texts]
    if errors:
        raise VendorListError(errors, path)
    return machines


def _machine(row: Row, columns: _Columns) -> Delivered | str:
    """The machine of a row, or what is wrong with it."""
    if any(cell.text.strip() for cell in row.cells[columns.width :]):
        return (
            f"has {len(row.cells)} cells, expected {columns.width}; quote a password that holds the separator"
        )
    tag, password = _cell(row, columns.tag), _cell(row, columns.password)
    user = _cell(row, columns.user).text.strip() if columns.user >= 0 else ""
    text, word = tag.text.strip().upper(), password.text.strip()
    if not TAG.match(text):
        found = "nothing" if not text else many(len(text), "character")
        return f"column {columns.tag + 1}: expected a service tag of 7 digits and letters, found {found}"
    if not word:
        return f"service tag {text} has no password (column {columns.password + 1})"
    if password.number:
        return (
            f"the password of service tag {text} is a number in the spreadsheet, which drops leading zeros; "
            "expected text"
        )
    if not word.isprintable() or len(word) > 127:
        return f"the password of service tag {text} has characters that no keyboard has, or more than 127"
    if len(user) > LONGEST_USER or not user.isprintable() or " " in user:
        return f"the user name of service tag {text} is none"
    return Delivered(text, user, Secret(word), row.line)


def _cell(row: Row, at: int) -> Cell:
    return row.cells[at] if at < len(row.cells) else Cell("")
