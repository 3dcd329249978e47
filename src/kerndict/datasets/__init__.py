"""Feature files: readers, fetchers and the paper's splits."""

from kerndict.datasets.fetch import fetch_ar, fetch_caltech101, fetch_yaleb, get_data_home
from kerndict.datasets.readers import load_features
from kerndict.datasets.splits import split_half, split_mask, split_per_class

__all__ = [
    "fetch_ar",
    "fetch_caltech101",
    "fetch_yaleb",
    "get_data_home",
    "load_features",
    "split_half",
    "split_mask",
    "split_per_class",
]
