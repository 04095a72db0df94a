"""Errors of drivers in words: what is wrong, how to mend it, and whether it may pass by itself."""

from __future__ import annotations

import errno
import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

NO_BUCKET = "NoSuchBucket"

_NO_KEYS = "Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, AWS_PROFILE, or fsspec's configuration"
_REFUSED = "Check AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, and what they may do in this bucket"
_FULL = "Free some (`rescore gc --delete` removes what no run reaches) or raise the limit, and run again"
_REGION = "Set AWS_DEFAULT_REGION to the bucket's region"
_CLOCK = "Set this machine's clock (NTP), and run again"
_ABSENT = "Start the server, or mend AWS_ENDPOINT_URL, and run again"
_CODES = {
    NO_BUCKET: ("there is no such bucket", "Create it, or mend the URL; AWS_ENDPOINT_URL says which server is asked"),
    **dict.fromkeys(
        ("AccessDenied", "AllAccessDisabled", "InvalidAccessKeyId", "SignatureDoesNotMatch", "Forbidden", "403"),
        ("these keys are refused", _REFUSED),
    ),
    **dict.fromkeys(
        ("ExpiredToken", "InvalidToken", "TokenRefreshRequired"), ("the session token is not accepted", _REFUSED)
    ),
    **dict.fromkeys(
        ("RequestTimeTooSkewed", "RequestExpired"), ("the clocks of server and client differ too much", _CLOCK)
    ),
    **dict.fromkeys(
        ("XMinioStorageFull", "InsufficientStorage", "InsufficientCapacity", "QuotaExceeded", "507"),
        ("no space is left there", _FULL),
    ),
    **dict.fromkeys(
        ("PermanentRedirect", "AuthorizationHeaderMalformed", "IllegalLocationConstraintException", "301"),
        ("the bucket is in another region", _REGION),
    ),
}
_DENIED = frozenset({"AccessDenied", "AllAccessDisabled", "Forbidden", "403"})
_PASSING_STATUS = frozenset({429, 500, 502, 503, 504})
_PASSING_CODES = frozenset({"SlowDown", "RequestTimeout", "InternalError", "ServiceUnavailable", "Throttling"})
_PASSING_TYPES = frozenset(
    {
        *("ConnectionClosedError", "ReadTimeoutError", "IncompleteRead", "ResponseParserError"),  # botocore
        *("ClientConnectionError", "ClientPayloadError", "TimeoutError", "ConnectionError"),  # aiohttp, Python
        *("FSTimeoutError", "TryAgainError"),
    }
)
"""By name: the libraries are imported where something is read from S3 only."""
_UNREACHED_TYPES = frozenset({"EndpointConnectionError", "ConnectTimeoutError", "ProxyConnectionError"})
_NO_KEYS_TYPES = frozenset({"NoCredentialsError", "PartialCredentialsError", "CredentialRetrievalError"})
_FULL_ERRORS = frozenset({errno.ENOSPC, errno.EDQUOT})
_READ_ONLY_ERRORS = frozenset({errno.EACCES, errno.EPERM, errno.EROFS})
_USERINFO = re.compile(r"(?<=://)[^\s/?#]*@")


class TryAgainError(OSError):
    """The place contradicts itself for the moment."""


def code_of(error: BaseException) -> str:
    """S3's code for an error (``NoSuchKey``, ``412``), ``""`` where it is none of S3's answers."""
    return str(next((answer.get("Error", {}).get("Code", "") for answer in _answers(error)), ""))


def is_unreached(error: BaseException) -> bool:
    """Whether nothing answered at all."""
    return any(_is(one, _UNREACHED_TYPES) for one in _chain(error))


def is_passing(error: BaseException) -> bool:
    """Whether trying again later may help: the server is busy, broken or away, or a connection was lost."""
    if code_of(error) in _CODES:
        return False
    for answer in _answers(error):
        status = answer.get("ResponseMetadata", {}).get("HTTPStatusCode")
        return status in _PASSING_STATUS or code_of(error) in _PASSING_CODES
    return is_unreached(error) or any(_is(one, _PASSING_TYPES) for one in _chain(error))


def is_read_only(error: BaseException) -> bool:
    """Whether the place may be read and not written."""
    return any(getattr(one, "errno", None) in _READ_ONLY_ERRORS for one in _chain(error))


def is_denied(error: BaseException) -> bool:
    """Whether the place answers, and does not let what was asked for be read."""
    code = code_of(error)
    return code in _DENIED if code else any(isinstance(one, PermissionError) for one in _chain(error))


def told(error: BaseException) -> str:
    """An error and how to mend it: a phrase and, where there is one, a sentence without its full stop."""
    what, mend = _known(error)
    return f"{what}. {mend}" if mend else what


def _known(error: BaseException) -> tuple[str, str]:
    code = code_of(error)
    if code in _CODES:
        what, mend = _CODES[code]
        return f"{what} ({code})", mend
    if is_unreached(error):
        return f"nothing answers at {_endpoint(error)}", _ABSENT
    if any(_is(one, _NO_KEYS_TYPES) for one in _chain(error)):
        return "there are no credentials", _NO_KEYS
    if getattr(error, "errno", None) in _FULL_ERRORS:
        return f"no space is left there ({type(error).__name__})", _FULL
    text = _USERINFO.sub("", str(error)).rstrip(".")
    mend = "Run again when the server is well" if is_passing(error) else ""
    if code == "InternalError":
        mend += "; its log may say more (SeaweedFS answers so when it is full)"
    return f"{type(error).__name__}: {text}" if text else type(error).__name__, mend


def _endpoint(error: BaseException) -> str:
    for one in _chain(error):
        url = getattr(one, "kwargs", {}).get("endpoint_url")
        if url:
            parts = urlsplit(str(url))
            return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}"
    return "the endpoint"


def _answers(error: BaseException) -> Iterator[dict[str, Any]]:
    """The answer of S3, as botocore keeps it: s3fs raises other errors because of it."""
    for one in _chain(error):
        answer = getattr(one, "response", None)
        if isinstance(answer, dict):
            yield answer


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    """An error and what it is because of, which botocore keeps among its arguments."""
    while error is not None:
        yield error
        inner = getattr(error, "kwargs", {}).get("error")
        error = inner if isinstance(inner, BaseException) else error.__cause__


def _is(error: BaseException, names: frozenset[str]) -> bool:
    return any(kind.__name__ in names for kind in type(error).__mro__)
