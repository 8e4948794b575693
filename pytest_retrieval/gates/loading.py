"""What judges reports beside the gates: the policies, and the baseline found, read and checked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from pytest_retrieval.errors import ReportError, UsageError

if TYPE_CHECKING:
    from pytest_retrieval.gates.baseline import Baseline
    from pytest_retrieval.gates.rules import Rule

Undecided = Literal["warn", "fail"]
POLICIES = {"undecided": ("warn", "fail"), "baseline-missing": ("fail", "pass")}


@dataclass(frozen=True, slots=True)
class Comparing:
    """How gates are judged: the baseline as it was named, relative to ``base`` or by name under ``root``.

    ``overlap`` is the share of samples that must be common with it, None for all of the run's. ``refuses``
    says that a baseline that is not comparable is a mistake of usage, as long as nothing was measured yet.
    """

    text: str | None = None
    root: Path = Path()
    base: Path = Path()
    overlap: float | None = None
    missing_passes: bool = False
    undecided: Undecided = "warn"
    refuses: bool = False

    @property
    def default_report(self) -> Path:
        """Where the report of a run goes that names no other place."""
        return self.root / ".retrieval" / "report.json"

    @property
    def path(self) -> Path | None:
        """The baseline's file."""
        from pytest_retrieval.report.baselines import baseline_path

        return None if self.text is None else baseline_path(self.text, self.root, self.base)

    def load(
        self, rules: Sequence[Rule], own: Path | None = None, own_digest: str | None = None
    ) -> Baseline | None:
        """The baseline for ``rules``; None where none of them needs it, or where it may be and is missing.

        ``own`` is where the report that is judged is or goes, ``own_digest`` its SHA-256 where that is known:
        it is no baseline of itself. Raises UsageError, one line.
        """
        from pytest_retrieval.gates.baseline import check_arms, load_baseline
        from pytest_retrieval.report.distinct import same_file
        from pytest_retrieval.report.judged import read_judged

        path, needing = self.path, [rule for rule in rules if rule.gate.needs_baseline]
        if path is None or self.text is None:
            if needing:
                gate = needing[0].gate
                raise UsageError(f"gate '{gate}': it needs a report to compare with: give --baseline")
            return None
        if own is not None and same_file(path, own):
            raise self._itself(path)
        if not path.exists():
            self._check_missing(path)
            return None
        if not needing:
            return None
        try:
            judged = read_judged(path)
            if judged.sha256 == own_digest:
                raise self._itself(path)
            self._check_accepted(path, judged.sha256)
            baseline = load_baseline(judged, self.text, rules, overlap=self.overlap)
        except ReportError as error:
            raise UsageError(f"baseline {self.text}: {error}") from error
        if not self.missing_passes:
            check_arms(baseline, rules)
        return baseline

    def _itself(self, path: Path) -> UsageError:
        from pytest_retrieval.report.baselines import is_name

        said = f"baseline {self.text}: it is this report itself"
        if is_name(self.text or ""):
            return UsageError(f"{said}, as it was accepted; give the report of another run")
        return UsageError(
            f"{said}; accept one under a name first:"
            f" pytest-retrieval baseline accept {path} --as main --reason '...'"
        )

    def _check_missing(self, path: Path) -> None:
        from pytest_retrieval.report.baselines import is_name, known_names

        if self.missing_passes:
            return
        named = known_names(self.root, self.text or "") if is_name(self.text or "") else ""
        raise UsageError(
            f"baseline {self.text}: there is no {path}{named}; --retrieval-baseline-missing=pass lets a run"
            " without one pass"
        )

    def _check_accepted(self, path: Path, digest: str) -> None:
        from pytest_retrieval.report.baselines import check_accepted, is_name

        if is_name(self.text or ""):
            check_accepted(path, digest)


def policy(option: str, text: str | None) -> str:
    """What a user wants of an option in ``POLICIES``, by default the first; raises UsageError."""
    known = POLICIES[option]
    if text is not None and text not in known:
        raise UsageError(f"--retrieval-{option}: {text!r} is neither {' nor '.join(known)}")
    return text or known[0]


def read_overlap(text: str) -> float:
    """The share that a user typed; raises UsageError unless it is above 0 and at most 1."""
    try:
        share = float(text)
    except ValueError:
        share = 0.0
    if not 0 < share <= 1:
        raise UsageError(f"--retrieval-baseline-overlap: {text!r} is no share such as 0.9")
    return share
