"""Draw images/idea.png, the picture of the README, by the first example of the gallery."""

import runpy
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
HERE = Path(__file__).parent
found = runpy.run_path(str(HERE.parent / "examples" / "gallery" / "plot_01_idea.py"))
found["figure"].savefig(HERE / "images" / "idea.png", dpi=110, facecolor="white")
