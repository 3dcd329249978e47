"""The real code path of the fetchers, against a server of our own."""

import hashlib
import io
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import pytest

from kerndict.datasets import fetch, fetch_ar, fetch_caltech101, fetch_yaleb, get_data_home

pytest.importorskip("pooch")


#: The checksums that the other tests replace by that of the file on the server.
PUBLISHED = dict(fetch._MD5)


def content():
    buffer = io.BytesIO()
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((5, 8)), np.arange(8) % 2
    np.savez(buffer, x_train=X[:, :6], y_train=y[:6], x_test=X[:, 6:], y_test=y[6:])
    return buffer.getvalue()


class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        self.server.requests += 1
        data = self.server.content
        self.send_response(self.server.status)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data[: len(data) // 2] if self.server.truncate else data)
        self.close_connection = True

    def log_message(self, *_):
        pass


@pytest.fixture
def server(monkeypatch, tmp_path):
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.content, server.truncate, server.status, server.requests = content(), False, 200, 0
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    monkeypatch.setattr(fetch, "_ADDRESS", f"http://127.0.0.1:{server.server_port}/")
    digest = hashlib.md5(server.content).hexdigest()
    monkeypatch.setattr(fetch, "_MD5", dict.fromkeys(fetch._MD5, digest))
    monkeypatch.setenv("KERNDICT_HOME", str(tmp_path / "home"))
    yield server
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.mark.parametrize(
    ("function", "name"),
    [(fetch_yaleb, "yaleb"), (fetch_ar, "arface"), (fetch_caltech101, "caltech101")],
)
def test_files_are_fetched_once_and_kept(function, name, server, tmp_path):
    features = function()
    assert features.data.shape == (8, 5)
    assert features.train.sum() == 6
    assert (tmp_path / "home" / f"{name}.npz").read_bytes() == server.content
    X, y = function(return_X_y=True)
    np.testing.assert_array_equal(X, features.data)
    np.testing.assert_array_equal(y, features.target)
    assert server.requests == 1


def test_a_folder_may_be_given(server, tmp_path):
    fetch_yaleb(data_home=tmp_path / "elsewhere")
    assert (tmp_path / "elsewhere" / "yaleb.npz").exists()


def test_a_truncated_download_leaves_nothing_behind(server, tmp_path):
    server.truncate = True
    with pytest.raises(OSError, match=r"yaleb\.npz could not be fetched.*Try again, or put"):
        fetch_yaleb()
    assert not list((tmp_path / "home").iterdir())
    server.truncate = False
    assert fetch_yaleb().data.shape == (8, 5)


def test_a_wrong_checksum_is_an_error_and_leaves_nothing_behind(server, tmp_path):
    server.content = server.content + b"tampered"
    with pytest.raises(OSError, match="hash"):
        fetch_yaleb()
    assert not list((tmp_path / "home").iterdir())


def test_a_damaged_cached_file_is_fetched_again(server, tmp_path):
    fetch_yaleb()
    (tmp_path / "home" / "yaleb.npz").write_bytes(b"damaged")
    assert fetch_yaleb().data.shape == (8, 5)
    assert server.requests == 2


def test_server_errors_and_no_network(server, monkeypatch):
    server.status = 404
    with pytest.raises(OSError, match="404"):
        fetch_yaleb()
    monkeypatch.setattr(fetch, "_ADDRESS", "http://127.0.0.1:9/")  # nobody listens there
    with pytest.raises(OSError, match="could not be fetched"):
        fetch_yaleb()


def test_nothing_is_downloaded_when_that_is_asked(server):
    with pytest.raises(OSError, match="is missing: fetch it with download_if_missing=True"):
        fetch_yaleb(download_if_missing=False)
    get_data_home().joinpath("yaleb.npz").write_bytes(b"mine")
    with pytest.raises(OSError, match="is not the published file"):
        fetch_yaleb(download_if_missing=False)
    assert get_data_home().joinpath("yaleb.npz").read_bytes() == b"mine"
    assert server.requests == 0


def test_a_cached_file_needs_neither_the_network_nor_pooch(server, monkeypatch):
    fetch_yaleb()
    monkeypatch.setitem(sys.modules, "pooch", None)
    assert fetch_yaleb().data.shape == (8, 5)
    with pytest.raises(ImportError, match=r"kerndict\[reproduce\]"):
        fetch_ar()
    assert server.requests == 1


def test_data_home(monkeypatch, tmp_path):
    monkeypatch.setenv("KERNDICT_HOME", str(tmp_path / "a"))
    assert get_data_home() == tmp_path / "a"
    assert get_data_home(tmp_path / "b").is_dir()
    monkeypatch.delenv("KERNDICT_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert get_data_home() == tmp_path / "kerndict_data"


@pytest.mark.parametrize("function", [fetch_yaleb, fetch_ar, fetch_caltech101])
def test_a_file_that_is_not_the_published_one_is_refused(function, server, monkeypatch, tmp_path):
    monkeypatch.setattr(fetch, "_MD5", PUBLISHED)
    with pytest.raises(OSError, match="hash"):
        function()
    assert not list((tmp_path / "home").iterdir())
