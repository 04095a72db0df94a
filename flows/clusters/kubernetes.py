"""Workers through the Dask operator of a Kubernetes cluster, from the site's own DaskCluster manifest."""

from __future__ import annotations

import copy
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import dask
import yaml

from flows.clusters.cluster import Cluster
from flows.settings import Settings
from pipeline.errors import PlatformError, UsageError

MANIFEST = "kubernetes.custom-cluster-spec"
"""Where Dask's configuration names the manifest's file (``DASK_KUBERNETES__CUSTOM_CLUSTER_SPEC``)."""
PODS_S = 900
"""How long pods may take to come."""
NAME_LABEL = "dask.org/cluster-name"


@contextmanager
def kubernetes(settings: Settings) -> Iterator[Cluster]:
    """A DaskCluster of this run's own, made from the manifest and removed afterwards.

    Raises ``UsageError`` without dask-kubernetes or a manifest, ``PlatformError`` when the operator does not make it.
    """
    try:
        from dask_kubernetes.operator import KubeCluster
    except ImportError as error:
        raise UsageError("--cluster kubernetes needs dask-kubernetes. Install rescore[kubernetes].") from error
    spec = own_cluster(read_manifest(dask.config.get(MANIFEST, None)), uuid.uuid4().hex[:8], settings.workers)
    try:
        cluster = KubeCluster(custom_cluster_spec=spec, quiet=True, shutdown_on_close=True)
    except Exception as error:  # kr8s, httpx and the operator's client raise all sorts
        message = f"the Dask operator made no cluster ({type(error).__name__}: {error})."
        raise PlatformError(f"{message} See that it is installed and may be used from here.") from error
    with cluster:
        if settings.most_workers is not None:
            cluster.adapt(minimum=settings.workers, maximum=settings.most_workers)
        patience_s = settings.workers_timeout_s or PODS_S
        yield Cluster(str(cluster.scheduler_address), patience_s, "See what became of its pods, and run again.")


def read_manifest(path: str | None) -> Mapping[str, Any]:
    """The DaskCluster in a file. Raises ``UsageError`` where there is none."""
    if not path:
        raise UsageError(
            "--cluster kubernetes needs a DaskCluster manifest. Name its file in DASK_KUBERNETES__CUSTOM_CLUSTER_SPEC."
        )
    try:
        found = yaml.safe_load(Path(path).read_text(encoding="utf-8"))
    except (OSError, ValueError, yaml.YAMLError) as error:
        raise UsageError(f"{path}: cannot be read as a DaskCluster manifest ({error}).") from error
    if not isinstance(found, Mapping) or found.get("kind") != "DaskCluster":
        raise UsageError(f"{path}: is no DaskCluster manifest (`kind: DaskCluster` is missing).")
    return found


def own_cluster(manifest: Mapping[str, Any], suffix: str, workers: int | None) -> dict[str, Any]:
    """The manifest under a name of its own, so that two runs do not share a cluster, with so many workers if told."""
    spec = copy.deepcopy(dict(manifest))
    spec["metadata"]["name"] = f"{spec['metadata']['name']}-{suffix}"
    spec["spec"]["scheduler"]["service"]["selector"][NAME_LABEL] = spec["metadata"]["name"]
    if workers is not None:
        spec["spec"]["worker"]["replicas"] = workers
    return spec
