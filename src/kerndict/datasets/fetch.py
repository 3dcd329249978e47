"""Fetchers of the paper's feature sets, in scikit-learn's manner."""

import hashlib
import os
from os import PathLike
from pathlib import Path
from typing import Any

from sklearn.utils import Bunch

from kerndict.datasets.readers import load_features

_ADDRESS = "https://dl-databases.s3-eu-west-1.amazonaws.com/"
_MD5 = {
    "yaleb.npz": "31b8bbc9293a5f41736fe7ec6d7135f4",
    "arface.npz": "0f0501fd435873b9d3228da47d772af2",
    "caltech101.npz": "aea20e099e086af5dc15703a8f064592",
}


def get_data_home(data_home: str | PathLike | None = None) -> Path:
    """Return the folder of fetched files, created if need be.

    Parameters
    ----------
    data_home : str or path-like, optional
        The folder; by default the environment variable ``KERNDICT_HOME``, or
        ``~/kerndict_data``.

    Returns
    -------
    data_home : Path
        It exists.
    """
    folder = data_home or os.environ.get("KERNDICT_HOME") or "~/kerndict_data"
    path = Path(folder).expanduser()
    path.mkdir(parents=True, exist_ok=True)
    return path


def fetch_yaleb(
    *,
    data_home: str | PathLike | None = None,
    download_if_missing: bool = True,
    return_X_y: bool = False,
) -> Any:
    """Fetch Extended Yale B: 38 faces, the 504 random-face features of the paper.

    Parameters
    ----------
    data_home : str or path-like, optional
        Where files are kept; see :func:`get_data_home`.
    download_if_missing : bool, default=True
        Raise an OSError rather than download.
    return_X_y : bool, default=False
        Return ``(data, target)`` rather than a Bunch.

    Returns
    -------
    features : Bunch
        As :func:`kerndict.datasets.load_features` returns it.
    """
    return _fetch("yaleb.npz", data_home, download_if_missing, return_X_y)


def fetch_ar(
    *,
    data_home: str | PathLike | None = None,
    download_if_missing: bool = True,
    return_X_y: bool = False,
) -> Any:
    """Fetch AR faces: 100 people, 540 random-face features.

    Parameters
    ----------
    data_home : path-like, optional
        As in :func:`fetch_yaleb`.
    download_if_missing : bool, default=True
        As in :func:`fetch_yaleb`.
    return_X_y : bool, default=False
        As in :func:`fetch_yaleb`.

    Returns
    -------
    features : Bunch, or (X, y)
        As :func:`kerndict.datasets.load_features` returns it.
    """
    return _fetch("arface.npz", data_home, download_if_missing, return_X_y)


def fetch_caltech101(
    *,
    data_home: str | PathLike | None = None,
    download_if_missing: bool = True,
    return_X_y: bool = False,
) -> Any:
    """Fetch Caltech101: 102 classes of objects, 3000 spatial-pyramid features.

    Parameters
    ----------
    data_home : path-like, optional
        As in :func:`fetch_yaleb`.
    download_if_missing : bool, default=True
        As in :func:`fetch_yaleb`.
    return_X_y : bool, default=False
        As in :func:`fetch_yaleb`.

    Returns
    -------
    features : Bunch, or (X, y)
        As :func:`kerndict.datasets.load_features` returns it.
    """
    return _fetch("caltech101.npz", data_home, download_if_missing, return_X_y)


def _fetch(
    name: str, data_home: str | PathLike | None, download_if_missing: bool, return_X_y: bool
) -> Bunch | tuple:
    path = get_data_home(data_home) / name
    if not _is_intact(path):
        if not download_if_missing:
            state = "is not the published file" if path.exists() else "is missing"
            raise OSError(f"{path} {state}: fetch it with download_if_missing=True.")
        _download(path)
    features = load_features(path)
    return (features.data, features.target) if return_X_y else features


def _is_intact(path: Path) -> bool:
    if not path.exists():
        return False
    with path.open("rb") as file:
        return hashlib.file_digest(file, "md5").hexdigest() == _MD5[path.name]


def _download(path: Path) -> None:
    """Download a file; nothing is left behind unless its checksum is right."""
    try:
        import pooch
    except ImportError as error:
        raise ImportError(
            "fetching needs pooch: install it with pip install 'kerndict[reproduce]'."
        ) from error

    pooch.get_logger().setLevel("WARNING")
    downloader = pooch.HTTPDownloader(progressbar=_progress(path.name), timeout=30)
    try:
        pooch.retrieve(
            _ADDRESS + path.name,
            known_hash=f"md5:{_MD5[path.name]}",
            fname=path.name,
            path=path.parent,
            downloader=downloader,
        )
    except Exception as error:  # requests, urllib3 and pooch each have their own
        raise OSError(
            f"{path.name} could not be fetched from {_ADDRESS}: {error}. Try again, or put the "
            f"published file (md5 {_MD5[path.name]}) at {path}; other files are read by "
            "load_features, or from the folder given to kerndict reproduce --data."
        ) from error


def _progress(name: str) -> Any:
    """Return a progress bar as pooch drives it, if there is a terminal to show it on."""
    try:
        from rich.console import Console
    except ImportError:
        return False
    console = Console(stderr=True)
    return _RichProgress(name, console) if console.is_terminal else False


class _RichProgress:
    def __init__(self, name: str, console: Any) -> None:
        from rich.progress import BarColumn, DownloadColumn, Progress, TimeRemainingColumn

        columns = ("{task.description}", BarColumn(), DownloadColumn(), TimeRemainingColumn())
        self._progress = Progress(*columns, console=console)
        self._task = self._progress.add_task(f"fetching {name}", total=None)
        self.total = 0

    def update(self, amount: int) -> None:
        self._progress.start()
        self._progress.update(self._task, advance=amount, total=self.total)

    def reset(self) -> None:
        self._progress.reset(self._task)

    def close(self) -> None:
        self._progress.stop()
