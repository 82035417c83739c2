"""Times of Protocol Buffers are those of ``datetime`` where they can be, and told where not."""

from __future__ import annotations

import pathlib
import types
import typing
from datetime import datetime, timedelta, timezone

import nearcall
import pytest

from conftest import ROOT, generated

YEAR_1, YEAR_9999 = -62_135_596_800, 253_402_300_799
LENGTH_MAX = 315_576_000_000
EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
MICROSECOND = timedelta(microseconds=1)

LAST = datetime.max.replace(tzinfo=timezone.utc)
FIRST = datetime.min.replace(tzinfo=timezone.utc)


@pytest.fixture(scope="module")
def times(tmp_path_factory: pytest.TempPathFactory) -> types.ModuleType:
    """What the compiler makes of ``laps.proto``."""
    file: pathlib.Path = ROOT / "tests/idl/python/laps.proto"
    return generated(file, tmp_path_factory.mktemp("times"))


@pytest.mark.parametrize(
    ("seconds", "nanos", "time"),
    [
        (0, 0, EPOCH),
        (-1, 999_999_000, EPOCH - MICROSECOND),
        (-2, 500_000_000, EPOCH - timedelta(seconds=1.5)),
        (YEAR_1, 0, FIRST),
        (YEAR_9999, 999_999_000, LAST),
    ],
)
def test_a_timestamp_is_a_datetime(
    times: types.ModuleType, seconds: int, nanos: int, time: datetime
) -> None:
    told = times.Timestamp(seconds, nanos).to_datetime()
    assert told == time and told.tzinfo is timezone.utc
    assert times.Timestamp.from_datetime(time) == times.Timestamp(seconds, nanos)


@pytest.mark.parametrize(
    ("seconds", "nanos", "length"),
    [
        (0, 0, timedelta(0)),
        (0, -1_000, -MICROSECOND),
        (-1, -500_000_000, timedelta(seconds=-1.5)),
        (1, 500_000_000, timedelta(seconds=1.5)),
        (LENGTH_MAX, 999_999_000, timedelta(seconds=LENGTH_MAX + 1) - MICROSECOND),
        (-LENGTH_MAX, -999_999_000, timedelta(seconds=-LENGTH_MAX - 1) + MICROSECOND),
    ],
)
def test_a_duration_is_a_timedelta(
    times: types.ModuleType, seconds: int, nanos: int, length: timedelta
) -> None:
    assert times.Duration(seconds, nanos).to_timedelta() == length
    assert times.Duration.from_timedelta(length) == times.Duration(seconds, nanos)


def test_what_is_below_a_microsecond_is_left_out(times: types.ModuleType) -> None:
    assert times.Timestamp(0, 1_999).to_datetime() == EPOCH + MICROSECOND
    assert times.Timestamp(-1, 999_999_999).to_datetime() == EPOCH - MICROSECOND
    assert times.Timestamp(YEAR_9999, 999_999_999).to_datetime() == LAST
    assert times.Duration(0, 1_999).to_timedelta() == MICROSECOND
    assert times.Duration(0, -1_999).to_timedelta() == -MICROSECOND
    assert times.Duration(0, -999).to_timedelta() == timedelta(0)
    kept = times.Timestamp(0, 1_999)
    assert kept.to_datetime() and kept.nanos == 1_999


def test_a_time_of_any_zone_is_that_time(times: types.ModuleType) -> None:
    for hours in (-12, 2, 14):
        zone = timezone(timedelta(hours=hours))
        assert times.Timestamp.from_datetime(EPOCH.astimezone(zone)) == times.Timestamp(0, 0)
    with pytest.raises(TypeError, match="^1970-01-01T00:00:00 has no time zone: datetime.now"):
        times.Timestamp.from_datetime(datetime(1970, 1, 1))


def test_a_zone_may_move_a_time_out_of_the_years(times: types.ModuleType) -> None:
    east, west = timezone(timedelta(hours=14)), timezone(timedelta(hours=-12))
    for time in (FIRST.replace(tzinfo=east), LAST.replace(tzinfo=west)):
        with pytest.raises(nearcall.OutOfRange, match="Timestamp.seconds is "):
            times.Timestamp.from_datetime(time)


SECONDS = f"allowed is {YEAR_1} to {YEAR_9999}"
LENGTHS = f"allowed is -{LENGTH_MAX} to {LENGTH_MAX}"


@pytest.mark.parametrize(
    ("of", "seconds", "nanos", "words"),
    [
        ("Timestamp", YEAR_1 - 1, 0, f"seconds is {YEAR_1 - 1}, {SECONDS}"),
        ("Timestamp", YEAR_9999 + 1, 0, f"seconds is {YEAR_9999 + 1}, {SECONDS}"),
        ("Timestamp", -(2**63), 0, f"seconds is {-(2**63)}, {SECONDS}"),
        ("Timestamp", 0, -1, "nanos is -1, allowed is 0 to 999999999"),
        ("Timestamp", -1, 10**9, "nanos is 1000000000, allowed is 0 to 999999999"),
        ("Duration", LENGTH_MAX + 1, 0, f"seconds is {LENGTH_MAX + 1}, {LENGTHS}"),
        ("Duration", -(2**63), 0, f"seconds is {-(2**63)}, {LENGTHS}"),
        ("Duration", 1, -1, "nanos is -1, allowed is 0 to 999999999"),
        ("Duration", -1, 1, "nanos is 1, allowed is -999999999 to 0"),
        ("Duration", 0, 10**9, "nanos is 1000000000, allowed is -999999999 to 999999999"),
        ("Duration", 0, -(2**31), f"nanos is {-(2**31)}, allowed is -999999999 to 999999999"),
    ],
)
def test_what_is_no_time_is_told(
    times: types.ModuleType, of: str, seconds: int, nanos: int, words: str
) -> None:
    value = getattr(times, of)(seconds, nanos)
    convert: typing.Callable[[], object]
    convert = value.to_datetime if of == "Timestamp" else value.to_timedelta
    with pytest.raises(nearcall.OutOfRange) as raised:
        convert()
    assert str(raised.value) == f"google.protobuf.{of}.{words}"
    assert isinstance(raised.value, ValueError) and raised.value.ran is nearcall.Ran.NO


def test_a_longer_timedelta_is_refused(times: types.ModuleType) -> None:
    over = timedelta(seconds=LENGTH_MAX + 1)
    for length in (over, -over, timedelta.max, timedelta.min):
        with pytest.raises(nearcall.OutOfRange, match=f"Duration.seconds is .*{LENGTHS}$"):
            times.Duration.from_timedelta(length)


def test_both_are_messages_still(times: types.ModuleType) -> None:
    span = times.Span(times.Timestamp(1, 2), times.Duration(), [times.Timestamp()])
    assert span == times.Span(times.Timestamp(1, 2), times.Duration(0, 0), [times.Timestamp(0)])
    assert repr(span.begin) == "Timestamp(seconds=1, nanos=2)"
    assert not hasattr(span.begin, "__dict__")
