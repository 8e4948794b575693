"""Samples of one repository, or generated from one commit, are no independent evidence: they are clusters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import fsum
from typing import Literal

import numpy as np
from numpy.typing import NDArray

Unit = Literal["repository", "cluster", "sample"]

PLURALS: Mapping[Unit, str] = {"repository": "repositories", "cluster": "clusters", "sample": "samples"}
ENOUGH = 5  # repositories from which on they are the unit; on fewer units of any kind no verdict should rest


@dataclass(frozen=True, slots=True)
class Clusters:
    """The unit of the analysis, and the samples' places by cluster, clusters in the order of their names.

    With the unit ``sample`` there are no names: the clusters are the samples in their own order.
    """

    unit: Unit
    members: tuple[NDArray[np.intp], ...]

    @property
    def count(self) -> int:
        """The number of clusters."""
        return len(self.members)

    def sums(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """The sum of each cluster's values, exact before its one rounding, whatever the order of samples."""
        return np.array([fsum(values[rows].tolist()) for rows in self.members])

    def sizes(self) -> NDArray[np.float64]:
        """The number of samples of each cluster."""
        return np.array([len(rows) for rows in self.members], dtype=np.float64)


def choose_clusters(clusters: Sequence[str | None], repositories: Sequence[str]) -> Clusters:
    """The clusters of samples, given each one's ``cluster`` field (or None) and repository.

    The unit is the repository from five distinct ones on; else the cluster field within its repository, if
    any sample has it (those without it are one cluster per repository); else the sample.
    """
    if len(set(repositories)) >= ENOUGH:
        return Clusters("repository", group_places(repositories))
    if any(cluster is not None for cluster in clusters):
        pairs = zip(repositories, clusters, strict=True)
        return Clusters("cluster", group_places([f"{repo}\0{cluster or ''}" for repo, cluster in pairs]))
    return Clusters("sample", tuple(np.arange(len(repositories)).reshape(-1, 1)))


def group_places(labels: Sequence[str]) -> tuple[NDArray[np.intp], ...]:
    """The places of each distinct label, labels in order."""
    places: dict[str, list[int]] = {}
    for place, label in enumerate(labels):
        places.setdefault(label, []).append(place)
    return tuple(np.array(places[label], dtype=np.intp) for label in sorted(places))
