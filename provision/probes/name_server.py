"""A DNS server is asked, by dnspython: over UDP, and over TCP when the answer did not fit."""

from __future__ import annotations

import asyncio
import socket

from provision.install.doctor_seen import DnsSeen, NoAnswer, Why
from provision.probes.failing import why_of

PORT = 53
TRIES = 2


async def ask_name(
    server: str, name: str, kind: str = "A", *, port: int = PORT, answer_s: float = 2.0
) -> DnsSeen | NoAnswer:
    """Ask for records of a name. :param kind: ``A``, ``AAAA``, ``SOA``; :param answer_s: seconds for each try."""
    import dns.asyncquery
    import dns.exception
    import dns.message
    import dns.rcode
    import dns.rdatatype

    try:
        address = await _address(server, port)
        query = dns.message.make_query(name, kind)
    except OSError as error:
        return why_of(error)
    except (dns.exception.DNSException, UnicodeError):
        return NoAnswer(Why.UNNAMED, f"{name!r} is no name")
    failed = NoAnswer(Why.SILENT, "no answer")
    for _ in range(TRIES):
        try:
            answer, tcp = await dns.asyncquery.udp_with_fallback(
                query, address, timeout=answer_s, port=port, ignore_unexpected=True
            )
        except dns.exception.Timeout:
            failed = NoAnswer(Why.SILENT, f"no answer to {TRIES} questions, {answer_s:g} s each")
            continue
        except (dns.exception.DNSException, EOFError) as error:
            return NoAnswer(Why.GARBLED, f"no answer of DNS: {type(error).__name__}")
        except OSError as error:
            return why_of(error)
        wanted = dns.rdatatype.from_text(kind)
        texts = [record.to_text() for rrset in answer.answer if rrset.rdtype == wanted for record in rrset]
        return DnsSeen(name, kind, dns.rcode.to_text(answer.rcode()), tuple(sorted(texts)), tcp)
    return failed


async def ask_reverse(
    server: str, address: str, *, port: int = PORT, answer_s: float = 2.0
) -> DnsSeen | NoAnswer:
    """Ask for the name of an address."""
    import dns.exception
    import dns.reversename

    try:
        name = dns.reversename.from_address(address).to_text()
    except (dns.exception.DNSException, ValueError):
        return NoAnswer(Why.UNNAMED, f"{address!r} is no address")
    return await ask_name(server, name, "PTR", port=port, answer_s=answer_s)


async def _address(server: str, port: int) -> str:
    found = await asyncio.get_running_loop().getaddrinfo(server, port, type=socket.SOCK_DGRAM)
    return str(found[0][4][0])
