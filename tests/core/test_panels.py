"""Matrices in panels of columns, and products with all their blocks."""

import numpy as np
import pytest
from conftest import TOLERANCE, close, toy
from scipy.linalg import block_diag

from kerndict import kernels
from kerndict.core.panels import NARROW, BlockDiagonal, BlockTriangle
from kerndict.kernels import Kernel

SHAPES = [(4, 3), (2, 5), (0, 2), (3, 0), (6, 4)]


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_block_diagonal_times_a_panel(dtype):
    rng = np.random.default_rng(0)
    blocks = [rng.standard_normal(shape) for shape in SHAPES]
    panel = rng.standard_normal((14, 7)).astype(dtype)
    product = BlockDiagonal(blocks, np.dtype(dtype))
    expected = block_diag(*blocks) @ panel
    assert product.times(panel).dtype == dtype
    close(product.times(panel), expected, TOLERANCE[dtype])
    close(product.times(panel[:, ::2]), expected[:, ::2], TOLERANCE[dtype])
    close(product.times(panel, 1, 4), expected[4:9], TOLERANCE[dtype])
    assert product.times(panel, 2, 2).shape == (0, 7)
    blocks[1] = rng.standard_normal((2, 5))
    product.replace(1, blocks[1])
    close(product.times(panel), block_diag(*blocks) @ panel, TOLERANCE[dtype])


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("width", [1, 2, 7, 8, 9, 15, 16, 17, 30, 32, NARROW, NARROW + 1])
def test_square_of_a_product(dtype, width):
    rng = np.random.default_rng(0)
    blocks = [rng.standard_normal(shape) for shape in SHAPES]
    panel = rng.standard_normal((14, width)).astype(dtype)
    product = BlockDiagonal(blocks, np.dtype(dtype))
    for first in range(6):
        M = product.times(panel, first).astype(np.float64)
        found = product.square(panel, first)
        assert found.dtype == np.float64
        close(found, M.T @ M, TOLERANCE[np.float64])


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_square_of_a_product_with_what_lies_above_the_diagonal(dtype):
    rng = np.random.default_rng(0)
    sizes = [width for _, width in SHAPES]
    K = rng.standard_normal((14, 14)).astype(dtype)
    K, starts = K + K.T, np.cumsum([0, *sizes])
    triangle = BlockTriangle(sizes, np.dtype(dtype))
    for i, start in enumerate(starts[:-1]):
        triangle.panel(i)[:] = K[start:, start : start + sizes[i]]
    blocks = [rng.standard_normal(shape) for shape in SHAPES]
    product = BlockDiagonal(blocks, np.dtype(dtype))
    for i, start in enumerate(starts[:-1]):
        M = block_diag(*blocks[:i]) @ K[:start, start : start + sizes[i]] if i else np.zeros((0, 3))
        close(product.square_before(triangle, i), M.T @ M, TOLERANCE[dtype])


@pytest.mark.parametrize("name", ["rbf", "poly", "linear"])
@pytest.mark.parametrize("strip", [1, 10, 1000])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_panels_are_the_kernel_matrix(monkeypatch, name, strip, dtype):
    monkeypatch.setattr(kernels, "_STRIP", strip)
    X = toy()[0].astype(dtype)
    kernel = Kernel(name, sigma=4.0, shift=X.mean(axis=0) if name == "rbf" else None)
    sizes = [1, 12, 7, 16]
    K, start = kernel.matrix(X, X), 0
    for size, panel in zip(sizes, kernel.panels(X, sizes), strict=True):
        assert panel.dtype == dtype
        close(panel, K[start:, start : start + size], TOLERANCE[dtype])
        start += size
