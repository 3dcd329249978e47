"""A right checksum over content that does not fit together: an error, not a crash at predict."""

from importlib.util import find_spec

import numpy as np
import pytest
from fuzz_models import parse, seal
from make_models import FOLDER

import kerndict
from kerndict import ModelFormatError
from kerndict.persistence.labels import pack_text


def forged(name, /, **arrays):
    def change(document, found):
        found.update(arrays)
        for key in [key for key, array in found.items() if array is None]:
            del found[key]

    return name, change


def stated(name, /, **entries):
    def change(document, found):
        document.update(entries)

    return name, change


def step(name, i=-1, /, **entries):
    def change(document, found):
        document["steps"][i].update(entries)

    return name, change


def parameter(name, i=-1, /, **parameters):
    def change(document, found):
        document["steps"][i]["parameters"].update(parameters)

    return name, change


def within(name, places, /, **entries):
    def change(document, found):
        node = document
        for place in [0, *places[1:]] if places else []:
            node = node["steps"][place] if isinstance(place, int) else node[place]
        node.update(entries)

    return name, change


def texts(name, key, strings, /):
    return forged(name, **pack_text(key, strings))


FORGERIES = [
    forged("linear-residual", **{"0.dictionaries": None}),
    forged("linear-residual", **{"0.dictionaries": np.zeros(53)}),
    forged("linear-residual", **{"0.dictionaries": np.zeros((54, 1))}),
    forged("linear-residual", **{"0.dictionaries": np.zeros(54, np.float32)}),
    forged("linear-residual", **{"0.dictionaries": np.full(54, np.nan)}),
    forged("linear-residual", **{"0.dictionaries": np.zeros(54, np.int64)}),
    forged("linear-residual", **{"0.grams": np.full(27, np.inf)}),
    forged("linear-residual", **{"0.n_features_in": np.array(7)}),
    forged("linear-residual", **{"0.n_features_in": np.array(2**62)}),
    forged("linear-residual", **{"0.n_features_in": np.array([6])}),
    forged("linear-residual", **{"0.n_features_in": np.array(6.0)}),
    forged("linear-residual", **{"0.n_atoms": np.array([3, 3, 2**62])}),
    forged("linear-residual", **{"0.n_atoms": np.array([3, 3, -3])}),
    forged("linear-residual", **{"0.n_atoms": np.array([3, 3])}),
    forged("linear-residual", **{"0.n_atoms": np.array([2, 4, 3])}),
    forged("linear-residual", **{"0.sparsity": np.array([0, 1, 1])}),
    forged("linear-residual", **{"0.coherence": np.zeros(3)}),
    forged("linear-residual", **{"0.reconstruction": np.array(0.0)}),
    forged("linear-residual", **{"0.feature_names": np.zeros(1, np.uint8)}),
    forged(
        "linear-residual",
        **{"0.feature_names": np.zeros(6, np.uint8), "0.feature_names.ends": np.arange(5) + 2},
    ),
    forged("linear-residual", **{"0.codes": np.zeros(3)}),
    forged("linear-residual", **{"1.scale": np.zeros(3)}),
    forged("linear-residual", extra=np.zeros(3)),
    forged("linear-residual", classes=None),
    forged("linear-residual", classes=np.array([0, 1])),
    forged("linear-residual", classes=np.array([0, 2, 1])),
    forged("linear-residual", classes=np.array([0, 0, 1])),
    forged("linear-residual", classes=np.array([0.0, 1, 2])),
    forged("linear-residual", classes=np.array([[0, 1, 2]])),
    forged("linear-residual", classes=np.array(1)),
    forged("linear-collaborative", **{"0.ridge": None}),
    forged("linear-collaborative", **{"0.ridge": np.array(-1.0)}),
    forged("linear-collaborative", **{"0.rule.inverse": np.zeros((9, 8))}),
    forged("linear-collaborative", **{"0.rule.span": np.zeros((9, 9))}),
    forged("linear-collaborative", **{"0.rule_weights": np.zeros(4)}),
    forged("linear-collaborative", **{"0.rule_offsets": np.zeros(2)}),
    forged("precomputed", **{"0.rule.span": None}),
    forged("precomputed", **{"0.training_diagonal": np.array(1.0)}),
    forged("precomputed", **{"0.fit_indices": np.arange(24) + 1}),
    forged("precomputed", **{"0.fit_indices": np.zeros(24, np.int64)}),
    forged("precomputed", **{"0.fit_indices": np.arange(24) * 2**40}),
    forged("precomputed", **{"0.fit_indices": np.arange(23)}),
    forged("precomputed", **{"0.n_features_in": np.array(23)}),
    forged("precomputed", **{"0.X_fit": np.zeros((24, 24))}),
    forged("kernel-residual", **{"0.X_fit": None}),
    forged("kernel-residual", **{"0.X_fit": np.zeros((24, 7))}),
    forged("kernel-residual", **{"0.kernel.shift": np.zeros(7)}),
    forged("kernel-residual", **{"0.kernel.sigma": np.array(0.0)}),
    forged("kernel-residual", **{"0.kernel.degree": np.array(0)}),
    forged("kernel-residual", **{"0.class_sizes": np.array([8, 8, 7])}),
    forged(
        "kernel-residual",
        **{"0.class_sizes": np.array([7, 9, 8]), "0.n_atoms": np.ones(3, np.int64)},
    ),
    forged("kernel-float32", **{"0.X_fit": np.zeros((24, 6))}),
    forged("strings", classes=np.full((3, 2), 0x110000, np.uint32)),
    forged("strings", classes=np.zeros((3, 0), np.uint32)),
    forged("strings", classes=np.zeros((0, 2**29), np.uint32)),
    forged("objects", **{"classes.ends": np.array([3, 2**62, 7])}),
    forged("objects", **{"classes.ends": np.array([-1, 3, 15])}),
    forged("objects", classes=np.full(15, 255, np.uint8)),
    forged("pipeline", **{"0.scale": None}),
    forged("pipeline", **{"0.scale": np.zeros(6)}),
    forged("pipeline", **{"1.mean": None}),
    forged("pipeline", **{"1.n_features_in": np.array(7), "1.mean": None, "1.scale": None}),
    forged("pipeline", **{"2.n_features_in": np.array(7)}),
    stated("linear-residual", versions=["kerndict"]),
    stated("linear-residual", versions="1"),
    stated("linear-residual", versions={"kerndict": {"a": 1}}),
    stated("linear-residual", steps=None),
    stated("linear-residual", steps=[]),
    stated("linear-residual", steps=[3]),
    stated("linear-residual", label_dtype="object"),
    stated("linear-residual", label_dtype="float64"),
    stated("linear-residual", label_dtype=["int64"]),
    step("linear-residual", **{"class": "KernelDictionaryClassifier"}),
    step("linear-residual", **{"class": "Pipeline"}),
    step("linear-residual", **{"class": "os.system"}),
    step("linear-residual", **{"class": ["DictionaryClassifier"]}),
    step("linear-residual", parameters=None),
    step("linear-residual", name=["a"]),
    step("kernel-residual", kernel="precomputed"),
    step("kernel-residual", kernel="unknown"),
    step("kernel-residual", kernel=["rbf"]),
    step("kernel-residual", kernel=None),
    step("pipeline", 0, **{"class": "KernelDictionaryClassifier"}),
    step("pipeline", 0, **{"class": "StandardScaler"}),
    step("pipeline", 0, name="normalizer"),
    step("pipeline", 0, name="a__b"),
    step("pipeline", 0, name="steps"),
    step("pipeline", 0, name=None),
    step("pipeline", 0, output="eval"),
    step("pipeline", 0, output=[]),
    parameter("linear-residual", unknown=1),
    parameter("linear-residual", n_jobs=10**9),
    parameter("linear-residual", n_jobs="all"),
    parameter("linear-residual", n_jobs=0),
    parameter("linear-residual", init={}),
    parameter("linear-residual", n_atoms=[[1]]),
    parameter("pipeline", 0, feature_range=[1, 0]),
    parameter("pipeline", 0, feature_range=[0, "1"]),
    parameter("pipeline", 0, feature_range=3),
    parameter("pipeline", 0, clip=1),
    parameter("pipeline", 1, with_mean="no"),
    parameter("pipeline", 2, norm="l3"),
    forged("steps", **{"0.center": None}),
    forged("steps", **{"0.scale": np.zeros(6)}),
    forged("steps", **{"1.n_quantiles": np.array(8)}),
    forged("steps", **{"1.quantiles": np.zeros((9, 5))}),
    forged("steps", **{"2.components": np.zeros((4, 5))}),
    forged("steps", **{"2.components": np.zeros((3, 6)), "2.components.layout": None}),
    forged("steps", **{"2.components.layout": np.array([1, 0, 0, 7])}),
    forged("steps", **{"2.components.layout": np.array([2, 0, 0, 4])}),
    forged("steps", **{"2.components.layout": np.array([1, 0, 0, -4])}),
    forged("steps", **{"2.components.layout": np.array([1.0, 0, 0, 4])}),
    forged("steps", **{"2.n_features_in": np.array(5)}),
    forged("steps", **{"3.scores": np.zeros(5)}),
    forged("steps", **{"3.scores": None}),
    forged("steps", **{"4.0.n_features_in": np.array(4)}),
    forged("steps", **{"4.1.dictionaries": np.zeros(3)}),
    parameter("steps", 0, quantile_range=[75.0, 25.0]),
    parameter("steps", 1, output_distribution="cauchy"),
    parameter("steps", 3, k=1.5),
    parameter("steps", 3, k=True),
    parameter("steps", 3, k=2),  # the classifier needs three
    parameter("steps", 3, score_func="os.system"),
    parameter("steps", 3, score_func=["f_classif"]),
    step("steps", 0, steps=[{"class": "PCA", "name": "a", "parameters": {}}]),
    step("steps", 0, **{"class": "drop"}),
    step("steps", 4, steps=[]),
    step("steps", 4, steps=None),
    step("steps", 4, steps=[{"class": "Normalizer", "name": "a", "parameters": {}}]),
    within("table", [0, 0, 0], **{"class": "KernelPCA"}),
    within("table", [0], steps=[]),
    within("table", [0, 0], name="texts"),
    within("table", [0, 0], name=["numbers"]),
    within("table", [0, 0], by="name"),
    within("table", [0, 0], by="one place"),
    within("table", [0, 0], by=["place"]),
    within("table", [0, 1], asked="passthrough"),
    within("table", [0, 1], **{"class": "passthrough"}),
    within("table", [0, 0, 0, 0], name="_scaler"),
    within("table", [0, 0, 0], steps=[]),
    within("table", [0, 0, 1], steps=[]),
    within("table", [0, 1, "parameters"], drop="last"),
    within("table", [0, 1, "parameters"], drop="first"),
    within("table", [0, 1, "parameters"], handle_unknown="pass"),
    within("table", [0, 1, "parameters"], dtype="object"),
    within("table", [0, 1, "parameters"], dtype="os"),
    within("table", [0, 1, "parameters"], min_frequency=None),
    within("table", [0, 1, "parameters"], categories="given?"),
    within("table", [0, 0, 0, "parameters"], missing_values={"float": "inf"}),
    within("table", [0, 0, 0, "parameters"], add_indicator=False),
    within("table", [0, "parameters"], transformer_weights={"texts": "a"}),
    within("table", [0, "parameters"], transformers=[]),
    forged("table", **{"0.columns": np.array([0, 1, 2, 4])}),
    forged("table", **{"0.columns": np.array([0, 1, 2, -1])}),
    forged("table", **{"0.columns": np.array([0, 1, 2])}),
    forged("table", **{"0.columns.ends": np.array([3])}),
    forged("table", **{"0.columns.ends": np.array([2, 4])}),
    forged("table", **{"0.columns.ends": np.array([5, 4])}),
    forged("table", **{"0.sparse_output": np.array(1)}),
    forged("table", **{"0.0.0.statistics": None}),
    forged("table", **{"0.0.0.statistics": np.frombuffer(b'"a""b"12345', np.uint8)}),
    forged("table", **{"0.0.0.statistics.sizes": np.array([2])}),
    forged("table", **{"0.0.0.statistics.sizes": np.array([2**62])}),
    forged("table", **{"0.0.0.0.features": np.array([3])}),
    forged("table", **{"0.0.0.0.features": np.array([1, 1])}),
    forged("table", **{"0.0.0.0.n_features": np.array(4)}),
    forged("table", **{"0.0.0.0.precomputed": np.array(False)}),
    forged("table", **{"0.0.1.0.mean": np.zeros(3)}),
    texts("table", "0.1.categories", ['"ash"', '"ash"', '"birch"', '"rare"']),
    texts("table", "0.1.categories", ['"ash"', "[1]", '"birch"', '"rare"']),
    texts("table", "0.1.categories", ['"ash"', "NaN", '"birch"', '"rare"']),
    texts("table", "0.1.categories", ['"ash"', "os.system", '"birch"', '"rare"']),
    texts("table", "0.1.categories", []),
    texts("table", "0.1.categories.dtypes", ["int64"]),
    texts("table", "0.1.categories.dtypes", ["O"]),
    texts("table", "0.1.categories.dtypes", ["object", "object"]),
    texts("table", "0.1.infrequent_indices", ["4"]),
    texts("table", "0.1.infrequent_indices", ["-1"]),
    texts("table", "0.1.infrequent_indices", ["1.0"]),
    texts("table", "0.0.0.fit_dtype.dtypes", ["<U9"]),
    texts("table", "0.0.0.fit_dtype.dtypes", ["void"]),
]


@pytest.mark.parametrize("forgery", FORGERIES, ids=range(len(FORGERIES)))
def test_inconsistent_content_under_a_right_checksum(tmp_path, forgery):
    path = tmp_path / "model.safetensors"
    name, change = forgery
    document, arrays = parse((FOLDER / f"{name}.safetensors").read_bytes())
    change(document, arrays)
    path.write_bytes(seal(document, arrays))
    with pytest.raises(ModelFormatError, match=r"model\.safetensors: ") as caught:
        kerndict.load(path)
    assert "checksum" not in str(caught.value)


@pytest.mark.skipif(find_spec("polars") is not None, reason="polars is installed")
def test_output_of_a_library_that_is_not_there(tmp_path):
    document, arrays = parse((FOLDER / "pipeline.safetensors").read_bytes())
    document["steps"][0]["output"] = "polars"
    (tmp_path / "model").write_bytes(seal(document, arrays))
    with pytest.raises(ModelFormatError, match=r"install polars, or save .* set_output"):
        kerndict.load(tmp_path / "model")
