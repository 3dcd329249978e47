"""Sparse coding for everyone: OMP with signals as rows."""

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import csr_array
from sklearn.utils import check_array

from kerndict._validation import check_count
from kerndict.pursuit import omp_codes

#: Signals coded at a time, so that their correlations stay in caches; no power of two, which
#: would send the correlations of a signal to the same places there.
CHUNK = 1000


def batch_omp(correlations: ArrayLike, gram: ArrayLike, n_nonzero_coefs: int) -> csr_array:
    """Code signals by orthogonal matching pursuit, from correlations alone.

    Each signal ``y`` is approximated by ``D x`` with at most `n_nonzero_coefs` nonzeros
    in ``x``: the atom with the largest absolute correlation to the residual is added,
    and all coefficients are fitted anew by least squares, until enough atoms are in or
    nothing but rounding is left to explain.

    Parameters
    ----------
    correlations : array-like of shape (n_signals, n_atoms)
        ``D'y`` of every signal, one per row.
    gram : array-like of shape (n_atoms, n_atoms)
        ``D'D``.  Atoms need not have unit norm; as everywhere, longer atoms are then
        favoured in the selection.
    n_nonzero_coefs : int
        Atoms per code, at most.  More than the atoms, or than their rank, does not bind.

    Returns
    -------
    codes : csr_array of shape (n_signals, n_atoms)
        In float32 when both inputs are, in float64 otherwise.

    See Also
    --------
    sparse_code : The same from signals and a dictionary.

    Examples
    --------
    >>> import numpy as np
    >>> from kerndict import batch_omp
    >>> gram = np.array([[1.0, 0.6, 0.0], [0.6, 1.0, 0.0], [0.0, 0.0, 1.0]])
    >>> batch_omp([[2.0, 1.2, 0.5]], gram, 2).toarray()
    array([[2. , 0. , 0.5]])
    """
    s = check_count("n_nonzero_coefs", n_nonzero_coefs, 1)
    B, G = _as_floats(correlations, "correlations"), _as_floats(gram, "gram")
    if G.shape[0] != G.shape[1]:
        raise ValueError(f"gram has shape {G.shape}: give the square matrix D'D.")
    if B.shape[1] != len(G):
        raise ValueError(
            f"correlations has {B.shape[1]} columns, gram {len(G)}: give one column per atom."
        )
    if np.abs(G - G.T).max() > 1e-5 * np.abs(G).max():
        raise ValueError("gram is not symmetric: give D'D.")
    if B.dtype != G.dtype:
        B, G = B.astype(np.float64), G.astype(np.float64)
    return _to_csr([omp_codes(B, G, s)], n_atoms=len(G))


def sparse_code(X: ArrayLike, dictionary: ArrayLike, n_nonzero_coefs: int) -> csr_array:
    """Code signals over a dictionary by orthogonal matching pursuit.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Signals, one per row.
    dictionary : array-like of shape (n_features, n_atoms)
        The atoms, one per column.
    n_nonzero_coefs : int
        Atoms per code, at most.

    Returns
    -------
    codes : csr_array of shape (n_samples, n_atoms)
        ``codes @ dictionary.T`` approximates `X`.

    See Also
    --------
    batch_omp : The same from correlations and a Gram matrix.

    Examples
    --------
    >>> import numpy as np
    >>> from kerndict import sparse_code
    >>> dictionary = np.array([[1.0, 0.0, 0.6], [0.0, 1.0, 0.8]])
    >>> sparse_code([[3.0, 4.0]], dictionary, 1).toarray()
    array([[0., 0., 5.]])
    """
    s = check_count("n_nonzero_coefs", n_nonzero_coefs, 1)
    X, D = _as_floats(X, "X", finite=False), _as_floats(dictionary, "dictionary")
    if X.shape[1] != D.shape[0]:
        raise ValueError(
            f"X has {X.shape[1]} features, dictionary {D.shape[0]} rows: give a dictionary of "
            "shape (n_features, n_atoms)."
        )
    if X.dtype != D.dtype:
        X, D = X.astype(np.float64), D.astype(np.float64)
    wide = D.astype(np.float64, copy=False)
    G = (wide.T @ wide).astype(D.dtype, copy=False)
    chunks = [X[t : t + CHUNK] for t in range(0, max(1, len(X)), CHUNK)]
    return _to_csr([omp_codes(_correlate(chunk, D), G, s) for chunk in chunks], n_atoms=len(G))


def _correlate(X: np.ndarray, D: np.ndarray) -> np.ndarray:
    """Return ``X @ D``, or say what is not finite: every x that is not has no finite sum."""
    with np.errstate(all="ignore"):
        B = (D.T @ X.T).T  # the faster way round for few atoms
        if not np.isfinite(B.sum()):
            _as_floats(X, "X")
            _as_floats(B, "X @ dictionary")
    return B


def _as_floats(array: ArrayLike, name: str, finite: bool = True) -> np.ndarray:
    return check_array(
        array,
        dtype=[np.float64, np.float32],
        input_name=name,
        ensure_min_samples=0,
        ensure_all_finite=finite,
    )


def _to_csr(chunks: list, n_atoms: int) -> csr_array:
    counts, supports, values = map(np.concatenate, zip(*chunks, strict=True))
    starts = np.zeros(len(counts) + 1, np.int64)
    np.cumsum(counts, out=starts[1:])
    if starts[-1] < values.size:
        filled = np.arange(values.shape[1]) < counts[:, None]
        values, supports = values[filled], supports[filled]
    parts = values.reshape(-1), supports.reshape(-1), starts
    codes = csr_array(parts, shape=(len(counts), n_atoms))
    codes.has_sorted_indices = True
    return codes
