"""Fetchers of the paper's feature sets, in scikit-learn's manner."""

import os
from os import PathLike
from pathlib import Path
from typing import Any

from sklearn.utils import Bunch

from kerndict.datasets.readers import load_features

_ADDRESS = "https://dl-databases.s3-eu-west-1.amazonaws.com/"
_CHECKSUMS = {
    "yaleb.npz": "md5:31b8bbc9293a5f41736fe7ec6d7135f4",
    "arface.npz": "md5:0f0501fd435873b9d3228da47d772af2",
    "caltech101.npz": "md5:aea20e099e086af5dc15703a8f064592",
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
    return _fetch("caltech101.npz", data_home, download_if_missing, return_X_y)


def _fetch(
    name: str, data_home: str | PathLike | None, download_if_missing: bool, return_X_y: bool
) -> Bunch | tuple:
    folder = get_data_home(data_home)
    if not download_if_missing and not (folder / name).exists():
        raise OSError(
            f"{folder / name} is missing: fetch it with download_if_missing=True, or put it there."
        )
    features = load_features(_download(name, folder))
    return (features.data, features.target) if return_X_y else features


def _download(name: str, folder: Path) -> Path:
    """Return the file, downloaded unless it is there with the right checksum."""
    try:
        import pooch
    except ImportError as error:
        raise ImportError(
            "fetching needs pooch: install it with pip install 'kerndict[reproduce]'."
        ) from error

    pooch.get_logger().setLevel("WARNING")
    try:
        path = pooch.retrieve(
            _ADDRESS + name,
            known_hash=_CHECKSUMS[name],
            fname=name,
            path=folder,
            downloader=pooch.HTTPDownloader(progressbar=_Progress(name), timeout=30),
        )
    except Exception as error:  # requests, urllib3 and pooch each have their own
        raise OSError(
            f"{name} could not be fetched from {_ADDRESS}: {error}. Try again, or put the file at "
            f"{folder / name}."
        ) from error
    return Path(path)


class _Progress:
    """A progress bar as pooch drives it, shown by rich on a terminal."""

    def __init__(self, name: str) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, DownloadColumn, Progress, TimeRemainingColumn

        columns = ("{task.description}", BarColumn(), DownloadColumn(), TimeRemainingColumn())
        console = Console(stderr=True)
        self._progress = Progress(*columns, console=console, disable=not console.is_terminal)
        self._task = self._progress.add_task(f"fetching {name}", total=None)
        self.total = 0

    def update(self, amount: int) -> None:
        self._progress.start()
        self._progress.update(self._task, advance=amount, total=self.total)

    def reset(self) -> None:
        self._progress.reset(self._task)

    def close(self) -> None:
        self._progress.stop()
