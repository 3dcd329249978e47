"""Damaged files: always a clear error or an equal model."""

import random
import tracemalloc

import pytest
from damage import BYTES
from fuzz_models import forge, judge, sealed
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from make_models import FOLDER, kept_rows, outputs

import kerndict

FILES = {}
for _path in sorted(FOLDER.glob("*.safetensors")):
    _X = kept_rows(_path)
    FILES[_path.stem] = _path.read_bytes(), (_X, outputs(kerndict.load(_path), _X))

names = st.sampled_from(sorted(FILES))
fuzz = settings(max_examples=300, suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.fixture(scope="module", autouse=True)
def traced():
    tracemalloc.start()
    yield
    tracemalloc.stop()


@fuzz
@given(names, st.lists(st.tuples(st.integers(0), st.integers(1, 255)), min_size=1, max_size=4))
def test_flipped_bits(tmp_path, name, changes):
    data, original = FILES[name]
    damaged = bytearray(data)
    for place, bits in changes:
        damaged[place % len(data)] ^= bits
    outcome = judge(bytes(damaged), original, tmp_path / "damaged", is_sealed=False)
    assert outcome in ("ModelFormatError", "equal")


@fuzz
@given(names, names, st.integers(0), st.integers(0), st.integers(0), st.integers(0, 400))
def test_cut_and_spliced_files(tmp_path, name, other, start, end, begin, size):
    (data, original), (source, _) = FILES[name], FILES[other]
    start, end = sorted((start % len(data), end % len(data)))
    begin %= len(source)
    damaged = data[:start] + source[begin : begin + size] + data[end:]
    outcome = judge(damaged, original, tmp_path / "damaged", is_sealed=False)
    assert outcome in ("ModelFormatError", "equal")


@fuzz
@given(names, names, st.sampled_from([*BYTES, forge]), st.integers(0, 2**32))
@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # a forged model may overflow
@pytest.mark.filterwarnings("ignore:X .* feature names:UserWarning")  # or have lost its names
def test_files_sealed_anew(tmp_path, name, other, way, seed):
    (data, original), (source, _) = FILES[name], FILES[other]
    damaged = sealed(way(data, source, random.Random(seed)))
    outcome = judge(damaged, original, tmp_path / "damaged", is_sealed=True)
    assert outcome in ("ModelFormatError", "equal", "another model", "cannot predict")
