"""Where a site's state lives: a file or a PostgreSQL database, and never a password in plain sight.

The first of these that is given counts: the option ``--state``, the environment variable ``FABRICCTL_STATE``, the
site file's ``state: {url: ...}``, else ``$XDG_STATE_HOME/fabricctl/<site name>.sqlite``.

A database wants no password in its URL: libpq takes it from ``PGPASSFILE`` (or ``?passfile=FILE``), from
``~/.pgpass`` or ``PGPASSWORD``; or the whole URL stands in an environment variable, and ``env:NAME`` names it.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field
from pathlib import Path

from fabricctl.errors import StateError, UsageError

ENVIRONMENT = "FABRICCTL_STATE"
_DRIVER = "postgresql+psycopg"
_POSTGRESQL = ("postgresql", "postgres", _DRIVER)
_SCHEME = re.compile(r"([a-z][a-z0-9+.-]*)://", re.IGNORECASE)
_SECRETS = ("password", "sslpassword")
_FORMS = "a file, postgresql://user@host/database, or env:NAME where the variable NAME holds one of these"


@dataclass(frozen=True, slots=True)
class Location:
    """A state store's place.

    :param place: for people, without any password; :param server: URL of a database server, may hold a password:
        never printed. :param path: the file, empty for a database server.
    """

    place: str
    server: str = field(repr=False)
    path: str = ""

    @property
    def written(self) -> bool:
        """Whether there is a store; a database server counts as one, and so does a file nobody lets us look at."""
        if not self.path:
            return True
        try:
            os.stat(self.path)
        except (FileNotFoundError, NotADirectoryError):
            return False
        except (OSError, ValueError):
            return True
        return True

    @property
    def url(self) -> str:
        """For SQLAlchemy, which is imported only here: who finds no file needs none. May hold a password."""
        if not self.path:
            return self.server
        from sqlalchemy import URL

        return URL.create("sqlite+pysqlite", database=os.path.abspath(self.path)).render_as_string()


def find_location(
    option: str = "", *, site_name: str = "", site_url: str = "", site_path: str = ""
) -> Location:
    """The store that options, environment and site file name.

    :param option: text of ``--state``; :param site_url: of the site file, :param site_path: the file it stands in.
    :raises UsageError: nothing names one, or what names it cannot be used.
    :raises StateError: there is no folder for the default one.
    """
    if option:
        return parse_location(option, said_by="--state")
    told = os.environ.get(ENVIRONMENT, "")
    if told:
        return parse_location(told, said_by=ENVIRONMENT, secret=True)
    if site_url:
        folder = os.path.dirname(site_path) if site_path != "-" else ""
        return parse_location(site_url, said_by=f"{site_path or 'site file'}: state.url", folder=folder)
    if site_name:
        return _file(default_file(site_name, ".sqlite"))
    raise UsageError("which state store? give --site or --state", hint=f"--state takes {_FORMS}")


def parse_location(text: str, *, said_by: str, folder: str = "", secret: bool = False) -> Location:
    """Read a place.

    :param said_by: who names it, for messages; :param folder: a relative file is relative to it.
    :param secret: the text may hold a password (it came from an environment variable).
    :raises UsageError: it is none, or holds a password where everybody reads it.
    """
    text = text.strip()
    if text.startswith("env:"):
        name = text[4:].strip()
        value = os.environ.get(name, "")
        if not value:
            raise UsageError(f"{said_by} names the environment variable {name}, which is not set")
        if value.startswith("env:"):
            raise UsageError(f"{name} names another variable; expected a file or a URL")
        return parse_location(value, said_by=name, folder=folder, secret=True)
    scheme = _SCHEME.match(text)
    if scheme is None:
        return _file(text, folder, said_by)
    word = scheme[1].lower()
    if word.partition("+")[0] == "sqlite":
        return _file(text[scheme.end() :].removeprefix("/"), folder, said_by)
    if word not in _POSTGRESQL:
        raise UsageError(f"{said_by}: {word}:// is no state store known here; expected {_FORMS}")
    return _database(text, said_by, secret)


def _file(text: str, folder: str = "", said_by: str = "") -> Location:
    if not text or "\0" in text or text == ":memory:":
        raise UsageError(f"{said_by}: {text!r} is no file name; expected {_FORMS}")
    path = os.path.join(folder, os.path.expanduser(text))
    try:
        os.path.abspath(path).encode()
    except OSError as exc:  # the folder we stand in was removed
        reason = (exc.strerror or str(exc)).lower()
        raise StateError(f"the current folder cannot be used: {reason}", place=path) from exc
    except UnicodeEncodeError as exc:
        raise UsageError(
            f"{said_by or 'state store'}: {path!r} is no UTF-8; SQLite wants such names"
        ) from exc
    return Location(path, "", path)


def _database(text: str, said_by: str, secret: bool) -> Location:
    from sqlalchemy import make_url
    from sqlalchemy.exc import ArgumentError

    try:
        url = make_url(text)
    except (ArgumentError, ValueError) as exc:
        raise UsageError(f"{said_by}: this is no URL; expected postgresql://user@host/database") from exc
    if not secret and (url.password is not None or any(word in url.query for word in _SECRETS)):
        raise UsageError(
            f"{said_by}: the URL holds a password, and everybody who reads it there would know it",
            hint="leave it out and use PGPASSFILE or ?passfile=FILE, or put the whole URL into an environment "
            "variable and write env:NAME",
        )
    shown = url.difference_update_query(_SECRETS).set(drivername="postgresql", password=None)
    full = url.set(drivername=_DRIVER)
    return Location(shown.render_as_string(), full.render_as_string(hide_password=False))


def default_file(site_name: str, ending: str) -> str:
    """Path of a site's own file in the folder of states. :raises StateError: there is no home folder."""
    return str(state_folder() / f"{_file_name(site_name)}{ending}")


def state_folder() -> Path:
    """XDG Base Directory Specification: state that is neither configuration nor cache."""
    told = os.environ.get("XDG_STATE_HOME", "")
    if os.path.isabs(told):
        return Path(told) / "fabricctl"
    try:
        home = Path.home()
    except RuntimeError as exc:  # a container's user id that has no name, and no HOME
        raise StateError(
            "there is no home folder for the default one",
            hint="set HOME or XDG_STATE_HOME, or name one: --state",
        ) from exc
    return home / ".local" / "state" / "fabricctl"


def _file_name(site: str) -> str:
    """A site's name as a file name; two names that would meet keep apart by their digits."""
    from hashlib import blake2b

    plain = re.sub(r"[^A-Za-z0-9._-]+", "-", site).strip(".-")[:80]
    return (
        plain
        if plain == site
        else f"{plain or 'site'}-{blake2b(site.encode('utf-8', 'replace'), digest_size=3).hexdigest()}"
    )
