"""The one grading loop's heart: every arm's row becomes the same numbers by the same functions."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence

from pytest_retrieval.measures import contextbench, ranking, spans
from pytest_retrieval.measures.chosen import Chosen
from pytest_retrieval.measures.names import recall_cuts
from pytest_retrieval.measures.selective import selective_success
from pytest_retrieval.model import ArmRow, Gold, Sample, Searched, distinct


def grade(
    sample: Sample,
    row: ArmRow,
    limit: int,
    lines: Mapping[str, int] | None = None,
    chosen: Sequence[Chosen] = (),
) -> dict[str, float]:
    """All measures of one arm's row, by their names in the report; not rounded.

    ``lines`` gives the number of lines of each ranked file that exists; only gold that is lines asks for it.
    ``chosen`` are measures that the run was asked for beside its own. A sample without gold has only
    ``abstained`` and ``selective_success``. A row with an error answers nothing: zeros throughout, no
    abstention, and none of ContextBench's measures. Raises ArmError where a measure of the user's own fails.
    """
    ranked: Sequence[str] = () if row.error is not None else row.ranked
    abstained = row.abstained and row.error is None
    graded = _graded_ranking(sample, ranked, limit) if sample.gold else {}
    graded["abstained"] = float(abstained)
    graded["selective_success"] = selective_success(ranked, sample.gold, limit, abstained)
    if sample.gold_kind == "spans" and row.error is None:
        graded |= _graded_context(sample, row.ranked[:limit], lines or {})
    if sample.searched is not None:
        graded |= _graded_search(sample.searched, row)
    if sample.gold:
        graded |= {measure.name: _graded_chosen(measure, sample, row, limit) for measure in chosen}
    return graded


def _graded_chosen(measure: Chosen, sample: Sample, row: ArmRow, limit: int) -> float:
    """One further measure; of a code search nDCG is that of its lines, as under ``ndcg@10``."""
    if row.error is not None:
        return 0.0
    if sample.searched is not None:
        lines = measure.of_lines(search_ranks(sample.searched, row), limit)
        if lines is not None:
            return lines
    return measure.grade(row.ranked, sample.gold, limit)


def _graded_ranking(sample: Sample, ranked: Sequence[str], limit: int) -> dict[str, float]:
    gold = sample.gold
    graded = {
        **{f"recall@{cut}": ranking.recall(ranked, gold, cut) for cut in recall_cuts(limit)},
        "mrr@k": ranking.reciprocal_rank(ranked, gold, limit),
        "precision@k": ranking.precision(ranked, gold, limit),
        "f1@k": ranking.f1(ranked, gold, limit),
        "hit@k": ranking.hit(ranked, gold, limit),
        "hard_negative_hits@k": ranking.hard_negative_hits(ranked, sample.negatives, limit),
    }
    if sample.gold_kind == "patch":
        graded["full@k"] = ranking.full(ranked, gold, limit)
    return graded


def _graded_search(searched: Searched, row: ArmRow) -> dict[str, float]:
    """What a search's lines are worth; of an arm that knows no lines, its files. An error finds nothing.

    What they cost stands beside it, of an arm that tells; an error costs nothing that could be compared.
    """
    if row.error is not None or row.slots is None:
        return spans.graded([0] * len(searched.golds), {})
    golds = _golds_of(searched, row)
    wide = {count: spans.chunk_ranks(slots, golds) for count, slots in row.slots.items() if count > 0}
    graded = spans.graded(spans.chunk_ranks(row.slots[0], golds), wide)
    return graded | spans.priced(row.slots) if row.priced else graded


def search_ranks(searched: Searched, row: ArmRow) -> Sequence[int]:
    """The ranks of the answers of a search among its slots."""
    if row.slots is None:
        return [0] * len(searched.golds)
    return spans.chunk_ranks(row.slots[0], _golds_of(searched, row))


def _golds_of(searched: Searched, row: ArmRow) -> Sequence[Gold]:
    """The answers as the arm is judged: of one that knows no lines, their files."""
    if not row.file_only:
        return searched.golds
    return tuple(Gold(path) for path in distinct(gold.path for gold in searched.golds))


def _graded_context(sample: Sample, ranked: Sequence[str], lines: Mapping[str, int]) -> dict[str, float]:
    return {
        "cb_file_coverage": contextbench.file_coverage(ranked, sample.gold),
        "cb_file_precision": contextbench.file_precision(ranked, sample.gold),
        "cb_line_coverage": contextbench.line_coverage(ranked, sample.gold_spans, lines),
        "cb_line_precision": contextbench.line_precision(ranked, sample.gold_spans, lines),
    }


def ceiling(sample: Sample, present: Container[str], limit: int) -> dict[str, float]:
    """Recall at each cut and ``hit@k`` of a perfect ranker; empty for a sample without gold.

    Gold that is not ``present`` in the snapshot cannot be ranked, and gold that is a given file is taken
    out of every ranking; both stay in the denominator.
    """
    if not sample.gold:
        return {}
    best = [path for path in sample.gold if path in present and path not in sample.given]
    return {
        **{f"recall@{cut}": ranking.recall(best, sample.gold, cut) for cut in recall_cuts(limit)},
        "hit@k": ranking.hit(best, sample.gold, limit),
    }
