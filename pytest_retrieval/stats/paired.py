"""Two arms on the same samples: everything that a report says of one measure's paired differences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import fsum
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pytest_retrieval.stats import bootstrap, power
from pytest_retrieval.stats.clusters import ENOUGH, Clusters, choose_clusters, group_places
from pytest_retrieval.stats.permutation import sign_flip
from pytest_retrieval.stats.rounding import half_away
from pytest_retrieval.stats.streams import Stream

REPOSITORY_FLOOR = 5  # samples from which on a repository is shown by itself
LEVEL = 0.05  # the largest p at which a test tells a difference from chance

Floats = NDArray[np.float64]


def compare(
    values_a: ArrayLike,
    values_b: ArrayLike,
    clusters: Sequence[str | None],
    repositories: Sequence[str],
    stream_name: tuple[str, ...],
) -> dict[str, Any]:
    """What paired values of one measure say of arm a minus arm b; numbers have six decimals.

    ``values_a[i]``, ``values_b[i]``, ``clusters[i]`` (its cluster field, or None) and ``repositories[i]``
    belong to one sample that both arms scored. ``stream_name`` (group, pair, measure) picks the random bits.
    The result does not depend on the order of samples; swapping the arms under one name mirrors it exactly.

    ==================  ====================================================================================
    ``n``, ``mean``     samples, and the mean difference
    ``low``, ``high``   95 % percentile bootstrap as if samples were independent
    ``degenerate``      True where these are equal: the interval says nothing of other samples; else absent
    ``cluster``         ``unit``, ``count`` and the interval over clusters, ``low`` and ``high``
                        (``degenerate`` where equal), or ``{"state": "NOT_RUN"}`` beside them for one cluster
    ``p``               two-sided randomisation test, signs flipped per cluster
    ``wins`` ...        ``wins``, ``losses``, ``ties``: exact comparison of floats
    ``mde``             the smallest detectable difference, per cluster; absent for one cluster or no spread
    ``repos``           ``n`` and ``mean`` of each repository with five samples or more; absent without one
    ==================  ====================================================================================

    Without samples the result is ``{"n": 0, "state": "NOT_RUN"}``. Raises ValueError for arguments of
    different lengths and for values that are not finite.
    """
    a, b = _columns(values_a, values_b, clusters, repositories)
    if not len(a):
        return {"n": 0, "state": "NOT_RUN"}
    differences = a - b
    groups = choose_clusters(clusters, repositories)
    means = bootstrap.resampled_means(differences, Stream(*stream_name, "samples"))
    return {
        "n": len(a),
        "mean": half_away(_mean(differences)),
        **_interval(bootstrap.ends(means)),
        "cluster": _cluster_interval(differences, groups, means, stream_name),
        "p": half_away(_p_value(differences, groups, stream_name)),
        **_counts(a, b),
        **_detectable(differences, groups),
        **_by_repository(differences, repositories),
    }


def over_units(
    values_a: ArrayLike,
    values_b: ArrayLike,
    clusters: Sequence[str | None],
    repositories: Sequence[str],
    stream_name: tuple[str, ...],
) -> dict[str, Any]:
    """The part of :func:`compare` that speaks of the unit alone, number for number, at less work.

    ``n``, ``mean``, ``cluster``, ``p``, ``wins``, ``losses`` and ``ties``. Raises ValueError without samples.
    """
    a, b = _columns(values_a, values_b, clusters, repositories)
    if not len(a):
        raise ValueError("no sample to compare")
    differences = a - b
    groups = choose_clusters(clusters, repositories)
    by_sample = groups.unit == "sample" and groups.count > 1
    means = bootstrap.resampled_means(differences, Stream(*stream_name, "samples")) if by_sample else a
    return {
        "n": len(a),
        "mean": half_away(_mean(differences)),
        "cluster": _cluster_interval(differences, groups, means, stream_name),
        "p": half_away(_p_value(differences, groups, stream_name)),
        **_counts(a, b),
    }


def leaves_out_zero(interval: Mapping[str, Any], units: int, p: float) -> bool:
    """Whether the ``low`` and ``high`` of an ``interval``, if it has them, leave out zero beyond chance.

    Those over fewer than five units never do: of two, the ends are their means, which have one sign in half
    of all cases. An interval without width comes of units that all say the same, and bounds nothing by
    itself: there the randomisation test's ``p`` over the same units decides.
    """
    if "low" not in interval or units < ENOUGH:
        return False
    low, high = interval["low"], interval["high"]
    return (low > 0 or high < 0) and (low < high or p <= LEVEL)


def _counts(a: Floats, b: Floats) -> dict[str, int]:
    return {
        "wins": int(np.count_nonzero(a > b)),
        "losses": int(np.count_nonzero(a < b)),
        "ties": int(np.count_nonzero(a == b)),
    }


def _cluster_interval(
    differences: Floats, groups: Clusters, means: Floats, stream_name: tuple[str, ...]
) -> dict[str, Any]:
    named = {"unit": groups.unit, "count": groups.count}
    if groups.count < 2:
        return {**named, "state": "NOT_RUN"}
    if groups.unit != "sample":  # else the resamples of samples are those of clusters
        stream = Stream(*stream_name, "clusters")
        means = bootstrap.resampled_cluster_means(groups.sums(differences), groups.sizes(), stream)
    return {**named, **_interval(bootstrap.ends(means, bootstrap.expanded_cut(groups.count)))}


def _interval(found: tuple[float, float]) -> dict[str, Any]:
    low, high = map(half_away, found)
    ends = {"low": low, "high": high}
    return {**ends, "degenerate": True} if low == high else ends


def _p_value(differences: Floats, groups: Clusters, stream_name: tuple[str, ...]) -> float:
    scale = fsum(np.abs(differences).tolist())
    return sign_flip(groups.sums(differences), scale, Stream(*stream_name, "signs"))


def _detectable(differences: Floats, groups: Clusters) -> dict[str, float]:
    if groups.count < 2:
        return {}
    error = power.clustered_error(groups.sums(differences), groups.sizes())
    found = half_away(power.smallest_detectable(error))
    return {"mde": found} if found else {}


def _by_repository(differences: Floats, repositories: Sequence[str]) -> dict[str, Any]:
    shown = {
        repositories[rows[0]]: {"n": len(rows), "mean": half_away(_mean(differences[rows]))}
        for rows in group_places(repositories)
        if len(rows) >= REPOSITORY_FLOOR
    }
    return {"repos": shown} if shown else {}


def _mean(values: Floats) -> float:
    return fsum(values.tolist()) / len(values)


def _columns(
    values_a: ArrayLike,
    values_b: ArrayLike,
    clusters: Sequence[str | None],
    repositories: Sequence[str],
) -> tuple[Floats, Floats]:
    if len(clusters) != len(repositories):
        raise ValueError(f"{len(clusters)} clusters for {len(repositories)} samples")
    return _column(values_a, len(repositories)), _column(values_b, len(repositories))


def _column(values: ArrayLike, length: int) -> Floats:
    column = np.asarray(values, dtype=np.float64)
    if column.shape != (length,):
        raise ValueError(f"{length} paired values are needed, not an array of shape {column.shape}")
    if not np.isfinite(column).all():
        raise ValueError("paired values must be finite; leave out samples that an arm did not score")
    return column
