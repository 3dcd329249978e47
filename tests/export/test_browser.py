"""Exported models in a real browser, and the example page that classifies a drawn digit."""

import base64
import shutil
import subprocess
import sys
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import numpy as np
import onnxruntime
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Normalizer

from kerndict import KernelDictionaryClassifier
from kerndict.export import to_onnx

EXAMPLE = Path(__file__).parents[2] / "examples" / "browser"
RUNTIME = EXAMPLE / "node_modules" / "onnxruntime-web"
#: Runs a model on rows, given as bytes of float64, and returns labels and scores.
RUN = """async ([model, bytes, columns]) => {
  const ort = await import("/node_modules/onnxruntime-web/dist/ort.wasm.min.mjs");
  ort.env.wasm.numThreads = 1;
  const session = await ort.InferenceSession.create(model);
  const raw = Uint8Array.from(atob(bytes), (letter) => letter.charCodeAt(0));
  const rows = new Float64Array(raw.buffer);
  const X = new ort.Tensor("float64", rows, [rows.length / columns, columns]);
  const found = await session.run({ X });
  return [[...found.label.data].map(String), [...found.scores.data]];
}"""


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """Return a folder and the address at which it is served, with the example in it."""
    if not RUNTIME.is_dir():
        pytest.skip("onnxruntime-web is not installed: npm install --prefix examples/browser")
    folder = tmp_path_factory.mktemp("site")
    for name in ("index.html", "digits.js", "digits.py"):
        shutil.copy(EXAMPLE / name, folder)
    (folder / "favicon.ico").touch()  # browsers ask for it
    (folder / "node_modules").symlink_to(EXAMPLE / "node_modules")
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=folder)) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield folder, f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.fixture
def page(browser, site):
    page = browser.new_page(viewport={"width": 900, "height": 700})
    page.messages = []
    page.on("console", lambda message: page.messages.append(message.text))
    page.on("pageerror", lambda error: page.messages.append(str(error)))
    yield page
    page.close()


def circle(x, y, width, height):
    angles = np.linspace(0, 2 * np.pi, 25)
    return [(x + width * np.sin(a), y - height * np.cos(a)) for a in angles]


@pytest.mark.parametrize(
    ("digit", "strokes"),
    [
        (0, [circle(140, 140, 60, 95)]),
        (1, [[(140, 40), (140, 240)]]),
        (7, [[(80, 50), (200, 50), (120, 240)]]),
    ],
)
def test_a_drawn_digit_is_classified(page, site, digit, strokes):
    folder, address = site
    if not (folder / "digits.onnx").exists():
        subprocess.run([sys.executable, folder / "digits.py"], check=True)
    page.goto(address)
    page.get_by_text("Draw a digit.").wait_for()
    box = page.locator("#field").bounding_box()
    for stroke in strokes:
        for step, (x, y) in enumerate(stroke):
            page.mouse.move(box["x"] + x, box["y"] + y, steps=1 if step == 0 else 5)
            if step == 0:
                page.mouse.down()
        page.mouse.up()
    page.wait_for_function("window.last !== undefined")
    last = page.evaluate("window.last")
    assert last["label"] == digit
    assert page.locator("#answer").inner_text().startswith(f"{digit}, with ")
    # The page and onnxruntime in this process agree about the numbers that the drawing became.
    rows = np.array([last["X"]], np.float32)
    assert 80 < rows.sum() < 500  # the digits of scikit-learn have 312 on average
    session = onnxruntime.InferenceSession(folder / "digits.onnx")
    (expected,) = session.run(["probabilities"], {"X": rows})
    np.testing.assert_allclose([last["probabilities"]], expected, atol=1e-3)
    page.locator("#clear").click()
    assert page.locator("#answer").inner_text() == "Draw a digit."
    assert page.messages == []


@pytest.mark.parametrize("name", ["yaleb", "coil20", "usps"])
def test_feature_files(name, page, site, data_folder):
    folder, address = site
    data = np.load(data_folder / f"{name}.npz")
    rows, labels = data["X"].astype(np.float64), data["y"]
    train, test = slice(0, None, 5), slice(1, 1000, 20)
    options = {"n_landmarks": 200} if name == "usps" else {"n_atoms": 6}
    model = make_pipeline(Normalizer(), KernelDictionaryClassifier(random_state=0, **options))
    model.fit(rows[train], np.char.add("class ", labels.astype(str))[train])
    (folder / f"{name}.onnx").write_bytes(to_onnx(model).SerializeToString())
    page.goto(f"{address}/digits.js")  # any address of this origin
    sent = base64.b64encode(rows[test].tobytes()).decode()
    found, scores = page.evaluate(RUN, [f"/{name}.onnx", sent, rows.shape[1]])
    assert found == model.predict(rows[test]).tolist()
    expected = model[-1].model_.scores(model[:-1].transform(rows[test]))
    scores = np.reshape(scores, expected.shape)
    assert (np.abs(scores - expected) <= 1e-6 * np.abs(expected).max(axis=1, keepdims=True)).all()
    assert page.messages == []
