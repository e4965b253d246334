"""A site file for simulated BMCs, and commands run on it as an operator does."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from fabricctl.cli.main import main
from fabricctl.site.load import load_site
from fabricctl.site.schema import Site
from tests.sim.idrac import Simulator

HEAD = """\
name: hall
node_models:
  m: {{hcas: [mlx5_0]}}
nodes:
  "{hosts}": {{model: m}}
state: {{url: hall.sqlite}}
management:
  secrets: file:hall.secrets
  bmc_addresses: {{{addresses}}}
  bmc_access:
{access}
"""


class Hall:
    """A folder with a site file, a state store and a secret store.

    :param tags: what the site file says of service tags; None: the truth; empty: nothing.
    :param password: reference of all, empty: the secret store tells.
    """

    def __init__(
        self,
        folder: Path,
        sim: Simulator,
        capsys: pytest.CaptureFixture[str],
        *,
        tags: Mapping[str, str] | None = None,
        password: str = "",
    ) -> None:
        self.folder, self.sim, self._capsys = folder, sim, capsys
        self.path = str(folder / "site.yaml")
        told = {bmc.host: bmc.service_tag for bmc in sim} if tags is None else tags
        word = f", password: '{password}'" if password else ""
        text = HEAD.format(
            hosts=",".join(sim.hosts),
            addresses=", ".join(f"{host}: {at}" for host, at in zip(sim.hosts, sim.addresses, strict=True)),
            access="\n".join(f"    {host}: {{port: {sim.port}{word}}}" for host in sim.hosts),
        )
        if told:
            text += "  service_tags:\n" + "".join(f'    {host}: "{tag}"\n' for host, tag in told.items())
        Path(self.path).write_text(text)

    @property
    def site(self) -> Site:
        """The site as it is read."""
        return load_site(Path(self.path).read_text(), self.path)

    def run(self, *arguments: str) -> tuple[int, str, str]:
        """Exit code, standard output, standard error of ``fabricctl bmc ...``."""
        code = main(["bmc", *arguments, "--site", self.path])
        out, err = self._capsys.readouterr()
        return code, out, err

    def document(self, name: str, *arguments: str) -> dict[str, Any]:
        """The JSON of a command, which its published schema must accept."""
        document: dict[str, Any] = json.loads(self.run(*arguments, "--format", "json")[1])
        main(["schema", name])
        jsonschema.validate(document, json.loads(self._capsys.readouterr()[0]))
        return document
