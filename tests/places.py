from types import SimpleNamespace

import numpy as np
import pytest
import sklearn


def _strict():
    xp = pytest.importorskip("array_api_strict", reason="array-api-strict is not installed")
    return SimpleNamespace(xp=xp, like=xp.zeros(1))


def _torch(device):
    torch = pytest.importorskip("torch", reason="torch is not installed")
    if device == "cuda" and not torch.cuda.is_available():
        pytest.skip("there is no CUDA device")
    return SimpleNamespace(xp=torch, like=torch.zeros(1, device=device))


def _cupy():
    cupy = pytest.importorskip("cupy", reason="CuPy is not installed")
    return SimpleNamespace(xp=cupy, like=cupy.zeros(1))


PLACES = {
    "strict": _strict,
    "torch": lambda: _torch("cpu"),
    "cuda": lambda: _torch("cuda"),
    "cupy": _cupy,
}
ON_DEVICE = ("cuda", "cupy")


@pytest.fixture(
    params=[
        pytest.param(name, marks=[pytest.mark.cuda] if name in ON_DEVICE else []) for name in PLACES
    ]
)
def there(request):
    """Return a function that puts arrays of NumPy into a place, with scikit-learn's dispatch on."""
    from kerndict._arrays import beside

    place = PLACES[request.param]()

    def put(array):
        return beside(np.asarray(array), place.like)

    put.xp, put.like, put.name = place.xp, place.like, request.param
    with sklearn.config_context(array_api_dispatch=True):
        yield put
