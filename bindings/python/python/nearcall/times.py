"""What generated classes of ``google.protobuf.Timestamp`` and ``Duration`` have besides their
members. Write against those classes instead."""

from __future__ import annotations

import datetime
import typing

from nearcall.errors import OutOfRange
from nearcall.raw import Record

__all__ = ["Duration", "Timestamp"]

_NANOS_PER_SECOND = 1_000_000_000
_NANOS_PER_MICROSECOND = 1_000
_MICROSECONDS_PER_SECOND = 1_000_000
_MICROSECOND = datetime.timedelta(microseconds=1)

_EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)
#: From 0001-01-01T00:00:00Z on, to 9999-12-31T23:59:59Z.
_TIMESTAMP_SECONDS = (-62_135_596_800, 253_402_300_799)
#: 10,000 years of 365.25 days, either way.
_DURATION_SECONDS = (-315_576_000_000, 315_576_000_000)


def _check(member: str, value: int, allowed: tuple[int, int]) -> None:
    least, most = allowed
    if not least <= value <= most:
        raise OutOfRange(f"google.protobuf.{member} is {value}, allowed is {least} to {most}")


class Timestamp(Record):
    """Seconds and nanoseconds since 1970-01-01T00:00:00Z, of the years 0001 to 9999. Nanoseconds
    are 0 to 999,999,999 and go forwards, also before 1970."""

    __slots__ = ()
    #: Of the generated class, as what makes one is.
    seconds: int
    nanos: int
    if typing.TYPE_CHECKING:

        def __init__(self, seconds: int = 0, nanos: int = 0) -> None: ...

    def to_datetime(self) -> datetime.datetime:
        """The time, in UTC. Nanoseconds below the microsecond are left out, so that it is up to
        999 of them earlier; ``nanos`` has them. ``OutOfRange`` if the members are none of a
        Timestamp."""
        _check("Timestamp.seconds", self.seconds, _TIMESTAMP_SECONDS)
        _check("Timestamp.nanos", self.nanos, (0, _NANOS_PER_SECOND - 1))
        microseconds = self.nanos // _NANOS_PER_MICROSECOND
        return _EPOCH + datetime.timedelta(seconds=self.seconds, microseconds=microseconds)

    @classmethod
    def from_datetime(cls, time: datetime.datetime) -> typing.Self:
        """Of a time with a time zone, whichever: ``TypeError`` without one, since nothing says where
        its hour is. ``OutOfRange`` if its year is not 0001 to 9999 in UTC."""
        if time.utcoffset() is None:
            advice = "datetime.now(timezone.utc) has, and astimezone() gives it the system's"
            raise TypeError(f"{time.isoformat()} has no time zone: {advice}")
        seconds, microseconds = divmod((time - _EPOCH) // _MICROSECOND, _MICROSECONDS_PER_SECOND)
        _check("Timestamp.seconds", seconds, _TIMESTAMP_SECONDS)
        return cls(seconds, microseconds * _NANOS_PER_MICROSECOND)


class Duration(Record):
    """Seconds and nanoseconds, both of one sign: up to 315,576,000,000 and 999,999,999 either way,
    some 10,000 years."""

    __slots__ = ()
    #: Of the generated class, as what makes one is.
    seconds: int
    nanos: int
    if typing.TYPE_CHECKING:

        def __init__(self, seconds: int = 0, nanos: int = 0) -> None: ...

    def to_timedelta(self) -> datetime.timedelta:
        """The length. Nanoseconds below the microsecond are left out, so that it is up to 999 of
        them nearer to zero; ``nanos`` has them. ``OutOfRange`` if the members are none of a
        Duration."""
        _check("Duration.seconds", self.seconds, _DURATION_SECONDS)
        most = _NANOS_PER_SECOND - 1
        least = 0 if self.seconds > 0 else -most
        _check("Duration.nanos", self.nanos, (least, 0 if self.seconds < 0 else most))
        microseconds = abs(self.nanos) // _NANOS_PER_MICROSECOND
        signed = -microseconds if self.nanos < 0 else microseconds
        return datetime.timedelta(seconds=self.seconds, microseconds=signed)

    @classmethod
    def from_timedelta(cls, length: datetime.timedelta) -> typing.Self:
        """Of a length. ``OutOfRange`` if it is over 315,576,000,000 seconds, either way."""
        count = length // _MICROSECOND
        seconds, microseconds = divmod(abs(count), _MICROSECONDS_PER_SECOND)
        sign = -1 if count < 0 else 1
        _check("Duration.seconds", sign * seconds, _DURATION_SECONDS)
        return cls(sign * seconds, sign * microseconds * _NANOS_PER_MICROSECOND)
