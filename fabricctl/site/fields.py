"""The scalar types of a site file: each says what it expected and what it found."""

from __future__ import annotations

from datetime import date
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import Annotated, Any

from pydantic import PlainSerializer, PlainValidator, WithJsonSchema

from fabricctl.errors import UsageError
from fabricctl.hostset import expand
from fabricctl.rates import LANE_GBPS, Rate, parse_rate
from fabricctl.site.yaml_lines import typed

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network


def _found(value: object) -> str:
    if value is None:
        return "found nothing"
    return f"found {str(value)[:60]!r}" if isinstance(value, str | int | float) else "found a list or mapping"


def _host_set(value: object) -> str:
    if not isinstance(value, str) or not value.strip():
        raise ValueError(f"expected a host set such as gpu[001-511], {_found(value)}")
    try:
        expand(value)
    except UsageError as exc:
        raise ValueError(str(exc)) from exc
    return str(value)


def _rate(value: object) -> Rate:
    if isinstance(value, Rate):
        return value
    rate = parse_rate(value) if isinstance(value, str) else None
    if rate is None:
        speeds = ", ".join(LANE_GBPS)
        raise ValueError(f"expected a width and a speed such as 4xNDR (speeds: {speeds}), {_found(value)}")
    return rate


def _network(value: object) -> Network:
    if isinstance(value, IPv4Network | IPv6Network):
        return value
    text = value if isinstance(value, str) else ""
    try:
        network = ip_network(text, strict=False) if "/" in text else None
    except ValueError:
        network = None
    if network is None:
        raise ValueError(f"expected a subnet such as 192.0.2.0/24, {_found(value)}")
    if network.network_address != ip_address(text.partition("/")[0]):
        raise ValueError(f"expected a subnet, {_found(value)}, which is an address inside {network}")
    return network


def _address(value: object) -> Address:
    if isinstance(value, IPv4Address | IPv6Address):
        return value
    try:
        return ip_address(value if isinstance(value, str) else "")
    except ValueError as exc:
        raise ValueError(f"expected an address such as 192.0.2.7, {_found(value)}") from exc


def _date(value: object) -> date:
    if isinstance(value, date):
        return value
    try:
        return date.fromisoformat(value if isinstance(value, str) else "")
    except ValueError as exc:
        raise ValueError(f"expected a date such as 2026-03-31, {_found(value)}") from exc


def _opaque(value: object) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise ValueError(f"expected a mapping, {_found(value)}")  # noqa: TRY004 - pydantic reads ValueError
    result = typed(value)
    assert isinstance(result, dict)
    return result


def _text_schema(description: str) -> WithJsonSchema:
    return WithJsonSchema({"type": "string", "description": description})


HostSet = Annotated[str, PlainValidator(_host_set), _text_schema("Host set such as gpu[001-511],ufm1.")]
"""A host set, checked and kept as written."""

LinkRate = Annotated[
    Rate, PlainValidator(_rate), PlainSerializer(str), _text_schema("Width and speed such as 4xNDR.")
]
"""``4xNDR`` -> Rate."""

Subnet = Annotated[
    Network, PlainValidator(_network), PlainSerializer(str), _text_schema("Subnet such as 192.0.2.0/24.")
]
"""An IPv4 or IPv6 network without host bits."""

IpAddress = Annotated[
    Address, PlainValidator(_address), PlainSerializer(str), _text_schema("Address such as 192.0.2.7.")
]
"""An IPv4 or IPv6 address."""

Day = Annotated[date, PlainValidator(_date), PlainSerializer(str), _text_schema("Date such as 2026-03-31.")]
"""An ISO date."""

PortText = Annotated[str, WithJsonSchema({"type": ["string", "integer"]})]
"""A port number, a range of numbers (``25-32``) or a label of the switch's model, as written."""

PlanMapping = Annotated[dict[str, Any], PlainValidator(_opaque), WithJsonSchema({"type": "object"})]
"""An inline plan: its keys belong to the plan's generator, which checks them."""
