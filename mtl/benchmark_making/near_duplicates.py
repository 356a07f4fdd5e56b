"""Near duplicates: the pairs of texts that have most of their character n-grams in common."""

from collections.abc import Iterator, Sequence

import numpy as np
from scipy.sparse import csr_matrix

from mtl.base.errors import InputError
from mtl.base.progress import progress
from mtl.benchmark_making.similarity import BLOCK, unit_sets, units_in_common
from mtl.benchmark_making.text_units import ngrams

CHECKED = 2**16  # about so many pairs with common rare n-grams have their similarity computed at once
MOST_COMPARED = 5_000_000_000  # comparisons of a search, which compares each pair in both orders
MOST_NEAR = 5_000_000  # pairs that it finds
FEWER = "give fewer texts, or in a recipe a larger near:"  # what to do if there are more


def near_duplicates(texts: Sequence[str], share: float) -> Iterator[tuple[int, int, float]]:
    """All pairs of texts whose sets of n-grams have at least this Jaccard similarity, exactly: the numbers of the earlier and the later text, and the
    similarity, in the order of the later text. Raises InputError for more than MOST_COMPARED comparisons, and for more than MOST_NEAR pairs."""
    sets = unit_sets(ngrams, texts, "n-grams")
    sizes = np.diff(sets.indptr)
    pair_count = 0
    for earlier, later in _candidates(_prefixes(sets, share)):
        common = units_in_common(sets[earlier], sets[later])
        values = common / (sizes[earlier] + sizes[later] - common)
        is_near = values >= share
        pair_count += int(is_near.sum())
        if pair_count > MOST_NEAR:
            raise InputError(f"more than {MOST_NEAR:,} pairs of texts are nearly the same; {FEWER}")
        yield from zip(earlier[is_near].tolist(), later[is_near].tolist(), values[is_near].tolist(), strict=True)


def _prefixes(sets: csr_matrix, share: float) -> csr_matrix:
    """The prefix of each set, its rarest units: all but (share × size) − 1 of them. Similar sets have at least one unit of their prefixes in common,
    because too few units stand outside of a prefix (All-Pairs, Bayardo et al. 2007)."""
    sizes = np.diff(sets.indptr)
    frequency = np.bincount(sets.indices, minlength=sets.shape[1])
    ranks = np.argsort(np.argsort(frequency, kind="stable"))  # of each unit among all units, the rarest first
    prefixes = csr_matrix((sets.data, ranks[sets.indices], sets.indptr), shape=sets.shape, copy=True)
    prefixes.sort_indices()
    place_in_set = np.arange(prefixes.nnz) - np.repeat(prefixes.indptr[:-1], sizes)
    last_place = sizes - np.ceil(share * sizes - 1e-6)  # share × size may come out just above a whole number
    prefixes.data[place_in_set > np.repeat(last_place, sizes)] = 0
    prefixes.eliminate_zeros()
    return prefixes


def _candidates(prefixes: csr_matrix) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Pairs of texts with a common unit in their prefixes, in parts: the numbers of the earlier and, in order, the later texts, int64 (pairs,)."""
    compared = int(np.bincount(prefixes.indices, minlength=1)[prefixes.indices].sum())  # n × n for a unit in n prefixes
    if compared > MOST_COMPARED:
        many = f"so many texts have rare n-grams in common that {compared:,} comparisons would be needed"
        raise InputError(f"{many}; {FEWER}")
    transposed = prefixes.T.tocsr()
    step = max(1, BLOCK // max(1, prefixes.shape[0]))  # texts of a block
    for start in progress(range(0, prefixes.shape[0], step), "near duplicates", "blocks"):
        common = (prefixes[start : start + step] @ transposed).tocoo()
        later, earlier = common.row.astype(np.int64) + start, common.col.astype(np.int64)
        in_order = np.lexsort((earlier, later))
        in_order = in_order[earlier[in_order] < later[in_order]]  # each pair once, and no text with itself
        for part in np.array_split(in_order, len(in_order) // CHECKED + 1):
            yield earlier[part], later[part]
