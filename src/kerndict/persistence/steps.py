"""The kinds of steps that a file can hold: add a class here, and models with it can be saved.

Everything of a file that is not in this list is refused, whether by `save` or by `load`.
"""

from collections.abc import Callable, Mapping
from typing import Any

from kerndict._state import Field
from kerndict.persistence import settled
from kerndict.persistence.declared import Step
from kerndict.persistence.parameters import (
    CATEGORIES,
    DTYPE,
    FLAG,
    NUMBER,
    PLAIN,
    RANGE,
    SCALAR,
    Parameter,
    choice,
    count_or,
    function,
)
from kerndict.persistence.values import Values


def _scores() -> Mapping[str, Callable]:
    from sklearn import feature_selection

    names = ("f_classif", "chi2", "mutual_info_classif", "f_regression", "mutual_info_regression")
    return {name: getattr(feature_selection, name) for name in names}


def _is_width(value: Any) -> bool:
    return type(value) is int and 1 <= value <= MOST_HASHES


def _is_span(value: Any) -> bool:
    whole = isinstance(value, tuple) and len(value) == 2 and all(type(end) is int for end in value)
    return whole and 1 <= value[0] <= value[1] <= MOST_TOGETHER


#: Places that words are counted in, and letters or words that are taken together, at most.
MOST_HASHES, MOST_TOGETHER = 2**24, 10
_FEATURES = Field("n_features_in_", "count", sizes="m")
_ANY_FEATURES = Field("n_features_in_", "count", optional=True, sizes="m")
_SCALE = Field("scale_", "divisor", "m", optional=True)
_RARE = {"min_frequency": PLAIN, "max_categories": PLAIN}
_SVD = {
    "n_oversamples": PLAIN,
    "power_iteration_normalizer": PLAIN,
    "random_state": PLAIN,
    "tol": PLAIN,
    "n_components": PLAIN,
}
_VARIANCES = (
    Field("explained_variance_", "scaler", "k"),
    Field("explained_variance_ratio_", "any", "k"),
    Field("singular_values_", "scaler", "k"),
)
_DTYPES = (Values("_fit_dtype", "dtype"), Values("_fill_dtype", "dtype", optional=True))
_PREPROCESSING = "sklearn.preprocessing."

_LIST = (
    Step(
        _PREPROCESSING + "Normalizer",
        {"norm": choice("l1", "l2", "max"), "copy": FLAG},
        (_ANY_FEATURES,),  # it knows its rows without having seen any
    ),
    Step(
        _PREPROCESSING + "StandardScaler",
        {"copy": FLAG, "with_mean": FLAG, "with_std": FLAG},
        (_FEATURES, Field("mean_", "scaler", "m", optional=True), _SCALE),
        needs={"with_mean": "mean_", "with_std": "scale_"},
    ),
    Step(
        _PREPROCESSING + "MinMaxScaler",
        {"feature_range": RANGE, "copy": FLAG, "clip": FLAG},
        (_FEATURES, Field("min_", "scaler", "m"), Field("scale_", "divisor", "m")),
    ),
    Step(
        _PREPROCESSING + "MaxAbsScaler",
        {"copy": FLAG, "clip": choice(True, False, without=False)},
        (_FEATURES, Field("max_abs_", "gapped", "m"), Field("scale_", "spread", "m")),
    ),
    Step(
        _PREPROCESSING + "RobustScaler",
        {
            "copy": FLAG,
            "with_centering": FLAG,
            "with_scaling": FLAG,
            "quantile_range": RANGE,
            "unit_variance": FLAG,
        },
        (
            _FEATURES,
            Field("center_", "gapped", "m", optional=True),
            Field("scale_", "spread", "m", optional=True),
        ),
        needs={"with_centering": "center_", "with_scaling": "scale_"},
    ),
    Step(
        _PREPROCESSING + "PowerTransformer",
        {"copy": FLAG, "method": choice("yeo-johnson", "box-cox"), "standardize": FLAG},
        (_FEATURES, Field("lambdas_", "gapped", "m")),
        parts=("_scaler",),
        needs={"standardize": "_scaler"},
    ),
    Step(
        _PREPROCESSING + "QuantileTransformer",
        {
            "copy": FLAG,
            "n_quantiles": PLAIN,
            "output_distribution": choice("uniform", "normal"),
            "ignore_implicit_zeros": FLAG,
            "subsample": PLAIN,
            "random_state": PLAIN,
        },
        (
            _FEATURES,
            Field("n_quantiles_", "count", sizes="q"),
            Field("references_", "scaler", "q"),
            Field("quantiles_", "gapped", "q m"),
        ),
    ),
    Step(
        _PREPROCESSING + "OneHotEncoder",
        {
            **_RARE,
            "categories": CATEGORIES,
            "drop": choice(None, "first", "if_binary"),
            "sparse_output": FLAG,
            "dtype": DTYPE,
            "handle_unknown": choice("error", "ignore", "infrequent_if_exist", "warn"),
            "feature_name_combiner": choice("concat"),
        },
        (
            _FEATURES,
            Values("categories_", "arrays"),
            Values("_infrequent_indices", "arrays", optional=True),
        ),
        gives=lambda step: sum(step._n_features_outs),
        settle=settled.one_hot,
    ),
    Step(
        _PREPROCESSING + "OrdinalEncoder",
        {
            **_RARE,
            "categories": CATEGORIES,
            "dtype": DTYPE,
            "handle_unknown": choice("error", "use_encoded_value"),
            "unknown_value": SCALAR,
            "encoded_missing_value": SCALAR,
        },
        (
            _FEATURES,
            Values("categories_", "arrays"),
            Values("_infrequent_indices", "arrays", optional=True),
        ),
        settle=settled.ordinal,
    ),
    Step(
        _PREPROCESSING + "FunctionTransformer",  # that does nothing: it passes columns through
        {
            "func": choice(None),
            "inverse_func": choice(None),
            "validate": FLAG,
            "accept_sparse": FLAG,
            "check_inverse": FLAG,
            "feature_names_out": choice(None, "one-to-one"),
        },
        (_ANY_FEATURES,),
    ),
    Step(
        "sklearn.impute.SimpleImputer",
        {
            "add_indicator": FLAG,
            "copy": FLAG,
            "fill_value": SCALAR,
            "keep_empty_features": FLAG,
            "missing_values": SCALAR,
            "strategy": choice("mean", "median", "most_frequent", "constant"),
        },
        (_FEATURES, Values("statistics_"), *_DTYPES),
        parts=("indicator_",),
        needs={"add_indicator": "indicator_"},
        gives=settled.imputed_width,
        settle=settled.imputer,
    ),
    Step(
        "sklearn.impute.MissingIndicator",
        {
            "error_on_new": FLAG,
            "features": choice("missing-only", "all"),
            "missing_values": SCALAR,
            "sparse": choice("auto", True, False),
        },
        (
            _ANY_FEATURES,
            Field("_n_features", "count"),
            Field("features_", "index", "k"),
            Field("_precomputed", "flag"),
        ),
        gives="k",
        settle=settled.indicator,
    ),
    Step(
        "sklearn.decomposition.PCA",
        {**_SVD, "copy": FLAG, "whiten": FLAG, "svd_solver": PLAIN, "iterated_power": PLAIN},
        (
            _FEATURES,
            Field("n_components_", "count", sizes="k"),
            Field("components_", "scaler", "k m"),
            Field("mean_", "scaler", "m"),
            *_VARIANCES,
            Field("noise_variance_", "any"),
            Field("n_samples_", "count"),
        ),
        gives="k",
    ),
    Step(
        "sklearn.decomposition.TruncatedSVD",
        {**_SVD, "algorithm": PLAIN, "n_iter": PLAIN},
        (_FEATURES, Field("components_", "scaler", "k m"), *_VARIANCES),
        gives="k",
    ),
    Step(
        "sklearn.feature_selection.SelectKBest",
        {"score_func": function(_scores), "k": count_or("all")},
        (
            _FEATURES,
            Field("scores_", "any", "m"),
            Field("pvalues_", "any", "m", optional=True),
        ),
        gives=lambda step: int(step.get_support().sum()),
    ),
    Step(
        "sklearn.feature_selection.VarianceThreshold",
        {"threshold": NUMBER},
        (_FEATURES, Field("variances_", "gapped", "m")),
        gives=lambda step: int(step.get_support().sum()),
    ),
    Step(
        "sklearn.feature_extraction.text.TfidfTransformer",
        {
            "norm": choice("l1", "l2", None),
            "smooth_idf": FLAG,
            "sublinear_tf": FLAG,
            "use_idf": FLAG,
        },
        (_FEATURES, Field("idf_", "scaler", "m", optional=True)),
        needs={"use_idf": "idf_"},
        settle=settled.tfidf,
    ),
    Step(
        "sklearn.feature_extraction.text.HashingVectorizer",  # it learns no words
        {
            "n_features": Parameter(_is_width),
            "alternate_sign": FLAG,
            "analyzer": choice("word", "char", "char_wb"),
            "binary": FLAG,
            "lowercase": FLAG,
            "ngram_range": Parameter(_is_span),
            "norm": choice("l1", "l2", None),
            "strip_accents": choice("ascii", "unicode", None),
        },
        gives=lambda step: step.n_features,
    ),
    Step(
        "kerndict.tabular.DateEncoder",
        {},
        (_FEATURES, Values("formats_"), Values("has_time_")),
        gives=lambda step: int((3 + step.has_time_).sum()),
        settle=settled.dates,
    ),
)
#: By the name of the class in files.
STEPS = {step.name: step for step in _LIST}
