"""What columns are taken for, by their names and cells."""

import numpy as np
import pytest

from kerndict.tabular import Mixed, Role, decide, used_rows

N = 40
RNG = np.random.default_rng(0)


def role(cells, name="a", forced=None, decimal="."):
    """Return what one column of numbers or text is."""
    numbers = not any(isinstance(cell, str) for cell in cells)
    X = np.array(cells, float if numbers else object)[:, None]
    (column,) = decide([name], X, np.arange(len(X)), {name: forced} if forced else {}, decimal)
    return column


def test_numbers():
    found = role([*RNG.normal(size=N), np.nan])
    assert (found.role, found.gaps) == (Role.NUMBER, 1)
    assert role(RNG.integers(0, 9, N)).role is Role.NUMBER
    assert role([0.0, np.nan] * N).role is Role.NUMBER  # the gaps may tell something


def test_numbers_that_are_far_out_are_taken_by_their_ranks():
    values = np.linspace(-1.349, 1.349, 2001)  # the quarters are one deviation of a normal apart
    assert role([*values, 29.5]).role is Role.NUMBER
    assert role([*values, 30.5]).role is Role.SKEWED
    assert role([*values, 1e200]).role is Role.SKEWED
    assert role([0.0] * N + [1000.0]).role is Role.NUMBER  # most are equal: ranks tell less


@pytest.mark.parametrize(
    ("cells", "name", "words"),
    [
        ([3.0] * N, "a", "always 3"),
        ([np.nan] * N, "a", "empty"),
        ([""] * N, "a", "empty"),
        (["EU"] * N, "a", "always 'EU'"),
        (RNG.permutation(N) + 17.0, "a", "identifier: 40 different whole numbers"),
        (RNG.permutation(N) * 7.0, "plant_id", "identifier: 40 different whole numbers"),
        ([f"K{i}" for i in range(N)], "a", "identifier: 40 different values"),
        ([f"{i:05d}" for i in range(N)], "zip", "identifier: 40 different values"),
    ],
)
def test_what_is_left_out(cells, name, words):
    found = role(cells, name)
    assert (found.role, found.words) == (Role.OUT, words)


def test_whole_numbers_are_no_identifiers_by_being_different():
    assert role(RNG.permutation(N) * 7.0, "weight").role is Role.NUMBER
    assert role([0.0, 1.0, 2.0], "id").role is Role.NUMBER  # three rows tell nothing


def test_a_sample_of_rows_tells_row_numbers():
    drawn = np.array([3.0, 14.0, 15.0, 92.0, 65.0, 35.0, 89.0, 79.0, 32.0, 38.0, 46.0])
    (found,) = decide(["a"], drawn[:, None] + 1, drawn, {})
    assert found.role is Role.OUT


def test_text():
    cities = ["Paris", "Rome", "", "Nice"] * 10
    found = role(cities)
    assert (found.role, found.gaps) == (Role.CATEGORY, 10)
    assert found.words == "3 values: Paris, Rome, Nice"
    notes = [f"the {word} one is number {i}" for i, word in enumerate(["red", "blue"] * 20)]
    assert role(notes).role is Role.WORDS
    assert role([f"2024-01-{i % 28 + 1:02d}" for i in range(N)]).role is Role.DATE
    assert role(["31.12.2024", "1.2.2024", ""] * 5).role is Role.DATE
    assert role(["1", "2", "3+"] * 10).role is Role.CATEGORY


def test_text_that_is_numbers():
    found = role(["1,5", "2,25", ""] * 5, decimal=",")
    assert (found.role, found.words, found.gaps) == (Role.NUMBER, "1.5 to 2.25", 5)
    X = np.array([["1,5", "x"], ["", "y"], ["2,5", "x"]], object)
    columns = decide(["a", "b"], X, np.arange(3), {}, ",")
    assert [column.role for column in columns] == [Role.NUMBER, Role.CATEGORY]
    used = used_rows(X, ["a", "b"], columns, ",")
    np.testing.assert_array_equal(used[:, 0].astype(float), [1.5, np.nan, 2.5])
    assert used[:, 1].tolist() == ["x", "y", "x"]


def test_columns_that_are_left_out_are_no_features():
    X = np.array([[1.0, 2.0, 7.5], [1.0, np.nan, 8.5]])
    columns = decide(["a", "b", "c"], X, np.arange(2), {})
    used = used_rows(X, ["a", "b", "c"], columns, ".")
    np.testing.assert_array_equal(used, X[:, 1:])
    assert used_rows(X[:, 1:], ["b", "c"], columns[1:], ".") is not None


def test_numbers_with_a_few_other_cells_are_a_mistake_that_is_told():
    X = np.array([[str(i), "x", str(i)] for i in range(N)], object)
    X[7, 0], X[9, 2] = "red", "1e999"
    with pytest.raises(Mixed) as found:
        decide(["a", "b", "c"], X, np.arange(N), {"b": Role.CATEGORY})
    assert found.value.columns == {"a": "red", "c": "1e999"}


def test_every_choice_can_be_overruled():
    zips = [f"{i:05d}" for i in range(N)]
    assert role(zips, forced=Role.CATEGORY).role is Role.CATEGORY
    assert role(["short"] * N, forced=Role.WORDS).role is Role.WORDS
    assert role([3.0] * N, "id", forced=Role.NUMBER).role is Role.NUMBER
    with pytest.raises(ValueError, match="--number a: no cell of that column is a number"):
        role([np.nan] * N, forced=Role.NUMBER)
