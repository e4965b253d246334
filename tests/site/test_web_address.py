"""Addresses of MAAS, Ironic and proxies by which nothing can be reached are refused when the site file is read."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError
from yarl import URL

from fabricctl.site.provisioning import DoctorRoles, Install, Ironic, Maas
from fabricctl.site.web_address import web_address

GOOD = [
    "http://192.0.2.1:5240/MAAS",
    "https://maas.example",
    "https://maas.example.:443/MAAS",
    "http://[2001:db8::1]:5240/MAAS",
    "http://localhost:65535/",
    "http://maas_1.lab/MAAS/api/2.0",
    "http://maas-è.example/MAAS",
]
BAD = {
    "http://h:99999/MAAS": "port '99999' is not from 1 to 65535",
    "http://h:0/MAAS": "port '0' is not from 1 to 65535",
    "http://h:x/MAAS": "port 'x' is not from 1 to 65535",
    "http://h:/MAAS": "port '' is not from 1 to 65535",
    "http://h:80:80/MAAS": "port '80:80' is not from 1 to 65535",
    "http://[::1/MAAS": "'[::1' is no host with a port",
    "http://::1/MAAS": "'::1' is no host with a port",
    "http://[::1]x/MAAS": "'[::1]x' is no host with a port",
    "http://[::g]/MAAS": "'[::g]' is no host",
    "http://a..b/MAAS": "'a..b' is no host",
    "http://-a/MAAS": "'-a' is no host",
    "http://" + "a" * 64 + "/MAAS": "is no host",
    "http://host name/MAAS": "found 'http://host name/MAAS'",
    "http://user:pw@h/MAAS": "found one with a user or password in it",
    "http:///MAAS": "found 'http:///MAAS'",
    "ftp://h/MAAS": "found 'ftp://h/MAAS'",
    "http://h/MAAS?x": "found 'http://h/MAAS?x'",
    "": "found ''",
}


@pytest.mark.parametrize("url", GOOD)
def test_an_address_is_taken_as_it_was_written(url: str) -> None:
    assert Maas(url=url).url == url.rstrip("/")
    assert Ironic(url=url).url == url.rstrip("/")


@pytest.mark.parametrize(("url", "words"), BAD.items(), ids=list(BAD))
@pytest.mark.parametrize("section", [Maas, Ironic])
def test_an_address_that_leads_nowhere_is_refused_with_words(
    section: type[Maas | Ironic], url: str, words: str
) -> None:
    with pytest.raises(ValidationError) as caught:
        section(url=url)
    assert words in str(caught.value)
    assert "expected http(s)://HOST[:PORT]" in str(caught.value)


@pytest.mark.parametrize("url", ["http://h:99999", "http://[::1", "http://h:x", "http://u:p@h:1", "h:3142"])
def test_proxies_and_pages_are_held_to_the_same(url: str) -> None:
    with pytest.raises(ValidationError, match="expected http"):
        Install(apt_proxy=url)
    for name in ("proxy", "metadata", "page"):
        with pytest.raises(ValidationError, match="expected http"):
            DoctorRoles(**{name: url})


def test_a_proxy_has_no_path_and_a_page_may_have_a_query() -> None:
    assert Install(apt_proxy="http://192.0.2.10:3142/").apt_proxy == "http://192.0.2.10:3142/"
    assert DoctorRoles(page="http://h/a?b=c").page == "http://h/a?b=c"
    with pytest.raises(ValidationError, match="expected http"):
        Install(apt_proxy="http://192.0.2.10:3142/x")


@given(st.text("ahz019.:[]/%-_", max_size=16), st.text("0159x:", max_size=6))
def test_what_is_taken_is_an_address_for_those_who_connect_too(place: str, port: str) -> None:
    try:
        taken = web_address(f"http://{place}:{port}/MAAS", "an address")
    except ValueError:
        return
    url = URL(taken, encoded=True)
    assert url.host
    assert url.port is not None
    assert 0 < url.port < 65536
