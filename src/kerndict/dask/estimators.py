"""The two classifiers on Dask collections."""

from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import numpy as np
from distributed import Client
from numpy.typing import ArrayLike, NDArray

from kerndict.classifiers import DictionaryClassifier, KernelDictionaryClassifier
from kerndict.dask.base import OnCluster


class DaskDictionaryClassifier(OnCluster, DictionaryClassifier):
    """Linear dictionary learning on Dask collections.

    The parameters and fitted attributes are those of
    :class:`~kerndict.DictionaryClassifier`, which says what they are; here are those that
    differ.

    Parameters
    ----------
    client : distributed.Client or None, default=None
        Of the cluster that learns; None takes the current one.  It is not kept where the
        classifier is pickled.
    n_landmarks : int or None, default=None
        Samples that all others are described by.  None draws 500 to 4000, as the number of samples
        and features asks for.  Without landmarks nothing is learned here, however few samples
        there are.
    n_jobs, verbose
        Without effect in `fit`: the cluster settles how much runs at once, and its dashboard
        tells how far it is.

    See Also
    --------
    kerndict.DictionaryClassifier : The same for rows in memory, and what `to_local` returns.

    Examples
    --------
    >>> import dask.array as da
    >>> from distributed import Client
    >>> from kerndict.dask import DaskDictionaryClassifier
    >>> client = Client("tcp://scheduler:8786")  # doctest: +SKIP
    >>> rng = da.random.default_rng(0)
    >>> X = rng.standard_normal((10_000_000, 20), chunks=(100_000, 20))
    >>> y = (X[:, 0] * X[:, 1] > 0).astype(int)
    >>> model = DaskDictionaryClassifier().fit(X, y)  # doctest: +SKIP
    >>> labels = model.predict(X)  # lazy  # doctest: +SKIP
    >>> local = model.to_local()  # doctest: +SKIP
    """

    local_class: ClassVar[Any] = DictionaryClassifier

    def __init__(
        self,
        n_atoms: int | float | None = None,
        n_nonzero_coefs: int | None = None,
        *,
        incoherence: float = 0.0,
        incoherence_scale: str = "relative",
        atom_update: str = "exact",
        coef_update: str = "aksvd",
        decision: str = "collaborative",
        n_iter: int = 5,
        init: str | Sequence[ArrayLike] = "pivoted",
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        ridge: float | str = "auto",
        n_landmarks: int | str | None = None,
        class_weight: dict | str | None = None,
        within_class_whitening: float | None = None,
        square_root: bool | None = None,
        client: Client | None = None,
    ) -> None:
        super().__init__(
            n_atoms,
            n_nonzero_coefs,
            incoherence=incoherence,
            incoherence_scale=incoherence_scale,
            atom_update=atom_update,
            coef_update=coef_update,
            decision=decision,
            n_iter=n_iter,
            init=init,
            random_state=random_state,
            n_jobs=n_jobs,
            verbose=verbose,
            ridge=ridge,
            n_landmarks=n_landmarks,
            class_weight=class_weight,
            within_class_whitening=within_class_whitening,
            square_root=square_root,
        )
        self.client = client


class DaskKernelDictionaryClassifier(OnCluster, KernelDictionaryClassifier):
    """Kernel dictionary learning on Dask collections.

    The parameters and fitted attributes are those of
    :class:`~kerndict.KernelDictionaryClassifier`, which says what they are; here are those that
    differ.

    Parameters
    ----------
    client : distributed.Client or None, default=None
        Of the cluster that learns; None takes the current one.  It is not kept where the
        classifier is pickled.
    n_landmarks : int or None, default=None
        Samples that all others are described by.  None draws 500 to 4000, as the number of samples
        and features asks for.  Without landmarks nothing is learned here, however few samples
        there are.
    n_jobs, verbose
        Without effect in `fit`: the cluster settles how much runs at once, and its dashboard
        tells how far it is.

    See Also
    --------
    kerndict.KernelDictionaryClassifier : The same for rows in memory, and what `to_local` returns.

    Examples
    --------
    >>> import dask.array as da
    >>> from distributed import Client
    >>> from kerndict.dask import DaskKernelDictionaryClassifier
    >>> client = Client("tcp://scheduler:8786")  # doctest: +SKIP
    >>> rng = da.random.default_rng(0)
    >>> X = rng.standard_normal((10_000_000, 20), chunks=(100_000, 20))
    >>> y = (X[:, 0] * X[:, 1] > 0).astype(int)
    >>> model = DaskKernelDictionaryClassifier().fit(X, y)  # doctest: +SKIP
    >>> labels = model.predict(X)  # lazy  # doctest: +SKIP
    >>> local = model.to_local()  # doctest: +SKIP
    """

    local_class: ClassVar[Any] = KernelDictionaryClassifier

    def __init__(
        self,
        n_atoms: int | float | None = None,
        n_nonzero_coefs: int | None = None,
        *,
        incoherence: float = 0.0,
        incoherence_scale: str = "relative",
        atom_update: str = "exact",
        coef_update: str = "aksvd",
        decision: str = "collaborative",
        n_iter: int = 5,
        init: str | Sequence[ArrayLike] = "pivoted",
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        ridge: float | str = "auto",
        n_landmarks: int | str | None = None,
        class_weight: dict | str | None = None,
        within_class_whitening: float | None = None,
        square_root: bool | None = None,
        kernel: str | Callable[[NDArray, NDArray], ArrayLike] = "rbf",
        sigma: float | None = None,
        degree: int = 2,
        coef0: float = 1.0,
        client: Client | None = None,
    ) -> None:
        super().__init__(
            n_atoms,
            n_nonzero_coefs,
            incoherence=incoherence,
            incoherence_scale=incoherence_scale,
            atom_update=atom_update,
            coef_update=coef_update,
            decision=decision,
            n_iter=n_iter,
            init=init,
            random_state=random_state,
            n_jobs=n_jobs,
            verbose=verbose,
            ridge=ridge,
            n_landmarks=n_landmarks,
            class_weight=class_weight,
            within_class_whitening=within_class_whitening,
            square_root=square_root,
            kernel=kernel,
            sigma=sigma,
            degree=degree,
            coef0=coef0,
        )
        self.client = client
