"""Formats are told from content."""

from __future__ import annotations

from pathlib import Path

import pytest
from discovery_samples import BLOCKS, DB_CSV, LINES, LST, NET_DUMP, NOISE, PORTS, SMINFO, UFM

from fabricctl.discovery.model import DiscoveryFormat as F
from fabricctl.discovery.recognise import parse_any, recognise
from fabricctl.errors import DiscoveryError
from tests.conftest import read_capture

SAMPLES = [
    (PORTS, F.IBNETDISCOVER_PORTS),
    (BLOCKS, F.IBLINKINFO),
    (LINES, F.IBLINKINFO_LINES),
    (LST, F.SUBNET_LST),
    (NET_DUMP, F.NET_DUMP),
    (DB_CSV, F.DB_CSV),
    (UFM, F.UFM_LINKS),
    (SMINFO, F.SMINFO),
]


@pytest.mark.parametrize(("text", "form"), SAMPLES, ids=[form.value for _, form in SAMPLES])
def test_each_sample_is_recognised_and_parsed(text: str, form: F) -> None:
    assert recognise(text) is form
    assert parse_any(text, "x").sources[0].format is form


@pytest.mark.parametrize(("text", "form"), SAMPLES, ids=[form.value for _, form in SAMPLES])
def test_noise_blank_lines_and_windows_line_ends_do_not_hide_a_format(text: str, form: F) -> None:
    if form is not F.UFM_LINKS:
        assert recognise(NOISE * 300 + "\n \n" + text) is form
    assert recognise("\n" + text.replace("\n", "\r\n")) is form


def test_every_capture_of_ibnetdiscover_is_recognised(captures: Path) -> None:
    files = sorted(p for p in (captures / "ibnetdiscover").iterdir() if "treydock" not in p.name)
    assert files
    for file in files:
        assert (file.name, recognise(read_capture(file))) == (file.name, F.IBNETDISCOVER)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "f: the file is empty"),
        (" \n\n", "f: the file is empty"),
        (
            "<!DOCTYPE html>\n<html>",
            "f:1: this is an HTML page, not a discovery; it begins with '<!DOCTYPE html>'",
        ),
        ('{"error": "Unauthorized"}', "this is a JSON answer that reports an error"),
        ('[{"name": "x"}]', "this is JSON of another kind"),
        ("a_device,a_port,z_device,z_port\nx,1,y,2\n", "a CSV table, perhaps a cabling plan"),
        ('Ca\t: 0x9c059103002df700 ports 1 "gpu480 mlx5_7"\n', "a list of nodes .* without cables"),
        ('0x1 "leaf"\n', "a node name map"),
        (NOISE, "nothing but a tool's error messages"),
        (
            "\n\nhello\n",
            "f:3: this is no discovery known here; it begins with 'hello' .accepted are ibnetdiscover, ",
        ),
        ("PK\x03\x04\0\0", "binary data"),
    ],
)
def test_what_is_no_discovery_is_named(text: str, message: str) -> None:
    with pytest.raises(DiscoveryError, match=message):
        parse_any(text, "f")


def test_a_long_first_line_is_shortened() -> None:
    with pytest.raises(DiscoveryError) as caught:
        parse_any("x" * 5000, "f")
    assert len(str(caught.value)) < 400


@pytest.mark.parametrize(
    ("schema", "words"),
    [
        ("fabricctl.work-order/1", "a work order of fabricctl"),
        ("fabricctl.identify/1", "an identification of fabricctl"),
        ("fabricctl.verify-cabling/1", "a report of fabricctl"),
    ],
)
def test_own_documents_are_called_what_they_are(schema: str, words: str) -> None:
    text = f'{{"schema": "{schema}", "status": "made", "error": null}}'
    with pytest.raises(DiscoveryError) as caught:
        parse_any(text, "x.json")
    assert f"this is {words} ({schema})" in str(caught.value)
