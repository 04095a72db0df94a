"""TLS of the clusters that a run starts: the site's certificates, or a pair made for this run alone.

Dask's own configuration says what is wanted: ``distributed.comm.require-encryption`` and ``distributed.comm.tls``.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import dask
from distributed import Security

CLIENT = ("tls_ca_file", "tls_client_cert", "tls_client_key")
"""What a client needs; tasks open clients by address, and Dask finds these in its configuration."""


@contextmanager
def secured(*, by_default: bool) -> Iterator[Security | None]:
    """The security that scheduler and workers are started with: None for plain TCP.

    ``by_default`` holds where the configuration does not say whether encryption is required. Clients that this
    process opens by address while the context lasts use the same certificates.
    """
    required = dask.config.get("distributed.comm.require-encryption")
    if not (by_default if required is None else required):
        yield None
        return
    if dask.config.get("distributed.comm.tls.ca-file"):
        yield Security(require_encryption=True)
        return
    security = Security.temporary()
    with dask.config.set({_key(field): getattr(security, field) for field in CLIENT}):
        yield security


def _key(field: str) -> str:
    """The configuration's name of a field: ``tls_client_cert`` is ``distributed.comm.tls.client.cert``."""
    name = field.removeprefix("tls_")
    return f"distributed.comm.tls.{'ca-file' if name == 'ca_file' else name.replace('_', '.')}"
