from __future__ import annotations

import json
import re
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fabricctl.errors import BmcAnswerError, BmcError, BmcNotFoundError
from provision.bmc.log_marks import after, latest, mark_of, read_mark
from provision.bmc.log_noise import builtin_noise, ignore_of, read_noise, site_rules
from provision.bmc.logs import (
    BackInTime,
    LogEntry,
    Severity,
    fold_repeats,
    group,
    kind_of,
    log_findings,
    newest_first,
    parse_rule,
    read_entry,
    without_doubles,
)
from provision.bmc.times import believable, parse_offset, parse_span, parse_time
from provision.redfish.bmc import Group, Members
from provision.report.logs_report import in_time
from provision.workflows.logs import BmcLogs, LogQuery, read_logs
from tests.provision.dumps import dgx, edit, r750
from tests.provision.stateful_bmc import StatefulBmc, run

CAPTURED = datetime(2024, 8, 8, 23, 48, 10, tzinfo=UTC)
"""When the R750 was captured: 18:48:10-05:00 by its own clock."""
LOGS = "/redfish/v1/Managers/iDRAC.Embedded.1/LogServices"
CHICAGO = timezone(timedelta(hours=-5))

# ---- times ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2024-08-08T18:48:07-05:00", datetime(2024, 8, 8, 23, 48, 7, tzinfo=UTC)),
        (
            "2024-2-15T05:59:20+00:00",
            datetime(2024, 2, 15, 5, 59, 20, tzinfo=UTC),
        ),  # DGX H100, no leading zero
        ("2024-08-08T18:48:07Z", datetime(2024, 8, 8, 18, 48, 7, tzinfo=UTC)),
        ("2024-08-08 18:48:07.250+0530", datetime(2024, 8, 8, 13, 18, 7, 250_000, tzinfo=UTC)),
        (
            "2024-08-08T18:48:07",
            datetime(2024, 8, 8, 23, 48, 7, tzinfo=UTC),
        ),  # in the zone of the log service
    ],
)
def test_times_of_bmcs_are_read_however_they_are_written(text: str, expected: datetime) -> None:
    assert parse_time(text, CHICAGO) == expected


@pytest.mark.parametrize("text", ["", "TIME_NA", "00:00:00Z", "2024-13-01T00:00:00Z", "2024-01-01", None, 17])
def test_what_is_no_time_is_none(text: object) -> None:
    assert parse_time(text) is None


@given(
    st.datetimes(datetime(1970, 1, 2), datetime(2150, 1, 1)),
    st.integers(-14 * 60, 14 * 60).filter(lambda minutes: minutes != 0),
)
def test_a_written_time_is_read_back(moment: datetime, minutes: int) -> None:
    aware = moment.replace(tzinfo=timezone(timedelta(minutes=minutes)))
    assert parse_time(aware.isoformat()) == aware


@given(st.text(max_size=40))
def test_no_text_breaks_the_reading_of_times(text: str) -> None:
    found = parse_time(text)
    assert found is None or found.tzinfo is not None
    parse_offset(text)
    parse_span(text)


@pytest.mark.parametrize(
    ("text", "days"), [("7d", 7), ("12h", 0.5), ("2w", 14), ("90m", 0.0625), ("last week", None), ("", None)]
)
def test_spans_of_time(text: str, days: float | None) -> None:
    assert parse_span(text) == (None if days is None else timedelta(days=days))


@pytest.mark.parametrize(
    "text",
    [
        "1970-01-01T00:00:13+00:00",  # an IPMI clock that was never set
        "2000-01-01T00:00:10+00:00",  # diagnostic log of the DGX H100
        "2106-02-07T06:28:15+00:00",  # the unspecified time of IPMI, all bits set
    ],
)
def test_times_of_clocks_that_were_never_set_are_not_believed(text: str) -> None:
    assert not believable(parse_time(text), CAPTURED)


# ---- entries of the dumps ------------------------------------------------------------------------------------------


@pytest.mark.captures
def test_both_logs_of_the_r750_are_read_newest_first(captures: Path) -> None:
    found = run(read_logs(r750(captures), LogQuery(CAPTURED)))
    assert found.read == ("Sel", "Lclog")
    # by hand: 5 SEL entries; of 5 Lifecycle entries two are "the previous log entry was repeated 5 (1) times"
    assert [(e.log, e.id, e.key, e.times) for e in found.entries] == [
        ("Sel", "1024", "7e012790", 1),
        ("Sel", "1023", "7e012602", 1),
        ("Sel", "1022", "7e012580", 1),
        ("Sel", "1021", "7e012490", 1),
        ("Sel", "1020", "7e012102", 1),
        ("Lclog", "83434", "USR0030", 1),
        ("Lclog", "83432", "SWC9005", 6),
        ("Lclog", "83430", "USR0030", 2),
    ]
    assert found.entries[6].severity is Severity.CRITICAL
    assert found.entries[6].at == datetime(2024, 8, 8, 23, 47, 42, tzinfo=UTC)


@pytest.mark.captures
def test_the_login_of_a_crawler_and_its_certificate_export_are_not_serious(captures: Path) -> None:
    found = run(read_logs(r750(captures), LogQuery(CAPTURED)))
    ignore = ignore_of([])
    assert [entry.key for entry in found.entries if not ignore(entry) and entry.severity] == []


@pytest.mark.captures
def test_the_sel_of_the_dgx_is_turned_newest_first(captures: Path) -> None:
    now = datetime(2024, 7, 10, 22, 12, tzinfo=UTC)
    found = run(read_logs(dgx(captures), LogQuery(now, kinds=("sel",))))
    sel = [entry for entry in found.entries if entry.log == "SEL"]
    assert len(sel) == 75
    assert [sel[0].id, sel[-1].id] == ["75", "1"]


@pytest.mark.captures
def test_audit_and_dump_logs_of_the_dgx_are_left_out(captures: Path) -> None:
    found = run(read_logs(dgx(captures), LogQuery(datetime(2024, 7, 10, 22, 12, tzinfo=UTC))))
    assert found.read == ("EventLog", "SEL", "BIOS")


@pytest.mark.parametrize(
    ("name", "entry_type", "kind"),
    [
        ("Sel", "SEL", "sel"),
        ("Lclog", "OEM", "lifecycle"),
        ("FaultList", "Multiple", "dumps"),
        ("AuditLog", "Event", "audit"),
        ("DiagnosticLog", "Multiple", "dumps"),
        ("DecodedLog", "Multiple", "dumps"),
        ("EventLog", "Event", "events"),
        ("Journal", "OEM", "dumps"),
        ("BIOS", "SEL", "sel"),
        ("Log1", "SEL", "sel"),
    ],
)
def test_logs_are_told_apart(name: str, entry_type: str, kind: str) -> None:
    assert kind_of(name, entry_type) == kind


# ---- back to a time ------------------------------------------------------------------------------------------------


def entry_body(number: int, created: str, severity: str = "OK", key: str = "PSU0003") -> dict[str, Any]:
    return {
        "Id": str(number),
        "Created": created,
        "Message": f"entry {key}",
        "MessageId": f"IDRAC.2.8.{key}",
        "Severity": severity,
    }


class PagedBmc(StatefulBmc):
    """Counts the entries that were handed out before the reader had enough."""

    taken = 0

    async def members(self, path: str, group: Group = Group.QUICK, **options: Any) -> Members:
        until = options.get("until")
        if not path.endswith("/Entries") or until is None:
            return await super().members(path, group)
        assert group is Group.SLOW
        found = Members()
        for body in self.body(path)["Members"]:
            self.taken += 1
            if until(body):
                break
            found.append(body)
        return found


def bmc_with(entries: list[dict[str, Any]], now: str = "2024-08-08T18:48:10-05:00") -> PagedBmc:
    service = {
        "@odata.id": f"{LOGS}/Lclog",
        "Id": "Lclog",
        "LogEntryType": "OEM",
        "DateTime": now,
        "DateTimeLocalOffset": "-05:00",
        "Entries": {"@odata.id": f"{LOGS}/Lclog/Entries"},
    }
    return PagedBmc({LOGS: {"Members": [service]}, f"{LOGS}/Lclog/Entries": {"Members": entries}})


def hourly(count: int, end: datetime = CAPTURED) -> list[dict[str, Any]]:
    """Entries an hour apart, the newest first, as an iDRAC lists them."""
    return [
        entry_body(count - at, (end - timedelta(hours=at)).isoformat(timespec="seconds"))
        for at in range(count)
    ]


def test_more_than_the_fifty_newest_are_read() -> None:
    # https://github.com/dell/iDRAC-Redfish-Scripting/issues/12
    found = run(read_logs(bmc_with(hourly(180)), LogQuery(CAPTURED, span=timedelta(hours=150))))
    assert len(found.entries) == 151


def test_a_walk_back_ends_a_page_after_the_time_asked_for() -> None:
    bmc = bmc_with(hourly(5000))
    found = run(read_logs(bmc, LogQuery(CAPTURED, span=timedelta(hours=10))))
    assert len(found.entries) == 11
    assert bmc.taken == 11 + 50 + 1


def test_one_entry_of_a_time_when_the_clock_was_wrong_does_not_end_the_walk() -> None:
    entries = hourly(30)
    entries[3]["Created"] = "2021-01-01T00:00:00+00:00"
    found = run(read_logs(bmc_with(entries), LogQuery(CAPTURED, span=timedelta(hours=20))))
    assert len(found.entries) == 20


def test_entries_whose_clock_was_not_set_are_kept_and_said() -> None:
    entries = hourly(4)
    entries[2]["Created"] = "1970-01-01T00:00:13+00:00"
    found = run(read_logs(bmc_with(entries), LogQuery(CAPTURED, span=timedelta(hours=1))))
    assert [(e.id, e.at is None, e.written) for e in found.entries][-1] == (
        "2",
        True,
        "1970-01-01T00:00:13+00:00",
    )


def test_a_log_that_lists_the_oldest_first_is_read_whole() -> None:
    bmc = bmc_with(hourly(300)[::-1])
    found = run(read_logs(bmc, LogQuery(CAPTURED, span=timedelta(hours=2))))
    assert [entry.id for entry in found.entries] == ["300", "299", "298"]


def test_days_back_are_counted_from_the_bmcs_own_now() -> None:
    late = CAPTURED + timedelta(days=800)  # the controller's clock; the BMC's is 800 days behind
    found = run(read_logs(bmc_with(hourly(60)), LogQuery(late, span=timedelta(hours=5))))
    assert len(found.entries) == 6
    assert found.skew_s == pytest.approx(-800 * 86_400, abs=10)


def test_times_without_offset_are_of_the_log_services_zone() -> None:
    bmc = bmc_with([entry_body(1, "2024-08-08T18:48:07")])
    found = run(read_logs(bmc, LogQuery(CAPTURED)))
    assert found.entries[0].at == datetime(2024, 8, 8, 23, 48, 7, tzinfo=UTC)


@given(st.lists(st.integers(0, 400), max_size=160), st.integers(0, 400))
def test_no_entry_of_the_time_asked_for_is_lost_in_an_ordered_log(hours: list[int], back: int) -> None:
    ordered = sorted(hours)
    bodies = [
        entry_body(len(ordered) - at, (CAPTURED - timedelta(hours=h)).isoformat())
        for at, h in enumerate(ordered)
    ]
    walk = BackInTime(CAPTURED - timedelta(hours=back), None, CAPTURED)
    kept = []
    for body in bodies:
        if walk(body):
            break
        kept.append(body)
    assert sum(h <= back for h in ordered) == sum(
        (parse_time(b["Created"]) or CAPTURED) >= CAPTURED - timedelta(hours=back) for b in kept
    )


# ---- partial failures ----------------------------------------------------------------------------------------------


class HalfDead(StatefulBmc):
    """One of its logs answers 503."""

    dead: tuple[str, ...] = ("Sel",)

    async def members(self, path: str, group: Group = Group.QUICK, **options: Any) -> Members:
        if any(path == f"{LOGS}/{name}/Entries" for name in self.dead):
            raise BmcAnswerError("HTTP 503", status=503, bmc="gpu001")
        return await super().members(path, group, **options)


@pytest.mark.captures
def test_a_log_that_cannot_be_read_is_named_and_the_others_stand(captures: Path) -> None:
    found = run(read_logs(HalfDead(r750(captures).resources), LogQuery(CAPTURED)))
    assert (found.read, found.unread) == (("Lclog",), ("Sel: HTTP 503",))


@pytest.mark.captures
def test_when_no_log_can_be_read_the_bmc_could_not_tell(captures: Path) -> None:
    bmc = HalfDead(r750(captures).resources)
    bmc.dead = ("Sel", "Lclog")
    with pytest.raises(BmcAnswerError):
        run(read_logs(bmc, LogQuery(CAPTURED)))


def test_a_bmc_without_logs_could_not_tell() -> None:
    with pytest.raises(BmcNotFoundError):
        run(read_logs(StatefulBmc({}), LogQuery(CAPTURED)))


# ---- what is serious -----------------------------------------------------------------------------------------------


def entry(
    key: str,
    severity: Severity = Severity.WARNING,
    text: str = "text",
    host: str = "gpu001",
    log: str = "Lclog",
) -> LogEntry:
    return LogEntry(host, log, "1", key, text, severity, CAPTURED, CAPTURED.isoformat())


def test_entries_the_ignore_list_does_not_know_are_findings_grouped_by_message() -> None:
    entries = [
        entry("PSU0003", Severity.CRITICAL, "Power supply 2 lost input.", "gpu001"),
        entry("PSU0003", Severity.CRITICAL, "Power supply 2 lost input.", "gpu003"),
        entry("TMP0110", Severity.WARNING, "Inlet warm.", "gpu002"),
    ]
    groups = group(entries)
    assert [(one.key, one.severity, one.hosts) for one in groups] == [
        ("PSU0003", Severity.CRITICAL, ("gpu001", "gpu003")),
        ("TMP0110", Severity.WARNING, ("gpu002",)),
    ]
    assert [finding.host for finding in log_findings(groups)] == ["gpu001", "gpu003", "gpu002"]


@pytest.mark.parametrize(
    ("rule", "key", "text", "taken"),
    [
        ("RAC0182", "RAC0182", "", True),
        ("rac0182", "RAC0182", "", True),
        ("RAC018", "RAC0182", "", False),
        ("USR*", "USR0034", "", True),
        ("*034", "USR0034", "", True),
        ("U*0*4", "USR0034", "", True),
        ("US.*", "USR0034", "", False),  # a dot is a dot
        ("/Fan \\d+ .*redundan/", "FAN1", "Fan 3 lost redundancy", True),
        ("/^PSU/", "PSU0003", "lost input", True),
    ],
)
def test_rules_of_an_ignore_list(rule: str, key: str, text: str, taken: bool) -> None:
    assert parse_rule(rule).takes(entry(key, text=text)) is taken


@pytest.mark.parametrize("rule", ["", " ", "*", "**", "/(/", "/*/"])
def test_a_rule_that_is_none_is_refused(rule: str) -> None:
    with pytest.raises(ValueError, match=r"message id|regular expression"):
        parse_rule(rule)


@given(st.from_regex(r"[A-Z]{2,4}[0-9]{1,5}", fullmatch=True), st.integers(0, 9))
def test_an_id_with_a_star_anywhere_still_takes_the_id(key: str, at: int) -> None:
    cut = min(at, len(key) - 1)
    assert parse_rule(f"{key[:cut]}*{key[cut:]}").takes(entry(key))
    assert parse_rule(key).takes(entry(key))
    assert not parse_rule(key).takes(entry(f"{key}0"))


@given(st.text(min_size=1, max_size=20).filter(lambda t: t.strip("* \t") and not t.startswith("/")))
def test_any_other_text_is_a_rule_that_takes_at_least_itself(text: str) -> None:
    if text.strip() and not (text.strip().startswith("/") and text.strip().endswith("/")):
        assert parse_rule(text).takes(entry(text.strip()))


def test_a_rule_of_the_site_hides_an_entry_and_says_so() -> None:
    ignore = ignore_of(site_rules(["TMP0110"]))
    assert ignore(entry("TMP0110")) == "log_ignore TMP0110"
    assert ignore(entry("TMP0111")) == ""


def test_refused_logins_are_noise_but_not_when_they_are_critical() -> None:
    ignore = ignore_of([])
    assert ignore(entry("USR0031", Severity.WARNING))
    assert not ignore(entry("USR0031", Severity.CRITICAL))


def test_every_line_of_the_builtin_list_has_its_source() -> None:
    noise = builtin_noise()
    assert noise
    assert all(one.source.strip() and one.rule.reason.strip() for one in noise)


def test_a_table_with_an_unknown_severity_is_refused() -> None:
    with pytest.raises(KeyError):
        read_noise("message,level,why,source\nUSR1,loud,x,y\n")


def test_an_unknown_severity_counts_as_a_warning() -> None:
    found = read_entry("h", "l", {"Severity": "Catastrophic", "MessageId": "X"}, None, CAPTURED)
    assert found.severity is Severity.WARNING


def test_an_event_in_both_logs_is_told_once_and_by_its_message_id() -> None:
    def at(log: str, key: str, seconds: int) -> LogEntry:
        moment = CAPTURED + timedelta(seconds=seconds)
        return LogEntry("h", log, "1", key, "PSU 2 lost input.", Severity.CRITICAL, moment, "")

    both = [at("Sel", "6f8002ff", 0), at("Lclog", "PSU0003", 2), at("Sel", "6f8002ff", 4000)]
    assert [(one.key, one.at) for one in without_doubles(both)] == [
        ("PSU0003", both[1].at),
        ("6f8002ff", both[2].at),
    ]


def test_repeats_are_counted_to_the_entry_before_them() -> None:
    entries = [
        entry("LOG007", Severity.OK, "The previous log entry was repeated 3 times."),
        entry("LOG007", Severity.OK, "The previous log entry was repeated 2 times."),
        entry("PSU0003"),
        entry("TMP0110"),
    ]
    assert [(one.key, one.times) for one in fold_repeats(entries)] == [("PSU0003", 6), ("TMP0110", 1)]


def test_ids_tell_the_order_even_while_the_clock_was_wrong() -> None:
    listed = [LogEntry("h", "l", number, "K", "t", Severity.OK, None, "") for number in ("9", "10", "8")]
    assert [one.id for one in newest_first(listed)] == ["10", "9", "8"]


def test_entries_without_time_stay_beside_their_neighbours_in_the_list() -> None:
    def at(number: str, hour: int | None, host: str = "a") -> LogEntry:
        moment = None if hour is None else datetime(2024, 8, 8, hour, tzinfo=UTC)
        return LogEntry(host, "l", number, "K", "t", Severity.OK, moment, "1970-01-01T00:00:09Z")

    shown = [(one, "") for one in (at("3", 9), at("2", None), at("1", 5), at("7", 7, "b"))]
    assert [one.id for one, _ in in_time(shown)] == ["3", "2", "7", "1"]


def test_what_was_read_says_which_message_ids_there_are() -> None:
    body = {"MessageId": "IDRAC.2.14.USR0030", "Message": "Successfully  logged\nin", "Id": "1"}
    found = read_entry("h", "l", body, None, CAPTURED)
    assert (found.key, found.text) == ("USR0030", "Successfully logged in")
    assert read_entry("h", "l", {"MessageId": "0x02FFFF"}, None, CAPTURED).key == "0x02FFFF"


def test_an_entry_with_null_fields_is_read() -> None:
    body = {"Id": None, "Created": None, "Severity": None, "Message": None, "MessageId": None, "Oem": None}
    found = read_entry("h", "l", body, None, CAPTURED)
    assert (found.at, found.key, found.severity) == (None, "", Severity.OK)


@pytest.mark.captures
def test_a_null_severity_in_a_dump_is_no_finding(captures: Path) -> None:
    bmc = r750(captures)
    edit(bmc, f"{LOGS}/Sel/Entries")["Members"][0]["Severity"] = None
    found: BmcLogs = run(read_logs(bmc, LogQuery(CAPTURED)))
    assert not re.search("unknown", found.entries[0].severity.word)


def test_errors_that_are_no_answer_end_the_reading() -> None:
    bmc = bmc_with(hourly(3))
    bmc.silent = lambda now: BmcError("gone", bmc="gpu001")
    with pytest.raises(BmcError, match="gone"):
        run(read_logs(bmc, LogQuery(CAPTURED)))


# ---- how far a log was read ----------------------------------------------------------------------------------------


def numbered(number: int, times: int = 1) -> LogEntry:
    at = CAPTURED + timedelta(minutes=number)
    return LogEntry("h", "l", str(number), "K", "t", Severity.WARNING, at, at.isoformat(), times=times)


@given(st.integers(1, 30), st.integers(1, 30))
def test_what_came_after_a_mark_and_what_was_before_it_are_all_there_is(count: int, seen: int) -> None:
    listed = [numbered(number) for number in range(count, 0, -1)]
    new = after(listed, mark_of(numbered(seen)))
    oldest = seen if seen <= count else 0
    assert [int(one.id) for one in new] == list(range(count, oldest, -1))


def test_repeats_since_the_mark_are_new() -> None:
    listed = [numbered(3, times=5), numbered(2)]
    assert [(one.id, one.times) for one in after(listed, mark_of(numbered(3, times=2)))] == [("3", 3)]
    assert after(listed, mark_of(numbered(3, times=5))) == []


def test_an_entry_with_the_same_id_of_another_time_is_not_the_marked_one() -> None:
    other = LogEntry("h", "l", "2", "K", "t", Severity.WARNING, None, "2020-01-01T00:00:00Z")
    assert after([numbered(2)], mark_of(other)) == [numbered(2)]


@given(st.builds(numbered, st.integers(1, 10_000), st.integers(1, 50)))
def test_a_mark_survives_being_kept(entry: LogEntry) -> None:
    assert read_mark(json.loads(json.dumps(mark_of(entry).value()))) == mark_of(entry)


@pytest.mark.parametrize("value", [None, "", {}, {"id": ""}, [1], {"written": "x"}])
def test_what_is_no_mark_is_none(value: object) -> None:
    assert read_mark(value) is None


def test_the_newest_entry_is_the_one_of_the_highest_id() -> None:
    assert latest([numbered(9), numbered(10), numbered(8)]) == {("h", "l"): numbered(10)}
