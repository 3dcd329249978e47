"""How the site is built: make docs."""

import re
import sys
from pathlib import Path

import kerndict

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

project = "kerndict"
author = "The kerndict developers"
copyright = author
version = release = kerndict.__version__

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.githubpages",
    "numpydoc",
    "myst_parser",
    "sphinx_gallery.gen_gallery",
]
templates_path = ["_templates"]
exclude_patterns = ["_build"]
source_suffix = {".rst": "restructuredtext", ".md": "markdown"}
default_role = "literal"
suppress_warnings = [
    "toc.empty_glob",  # pages that may come
    "config.cache",  # the settings of the gallery hold functions
]

myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 4

autosummary_generate = True
autodoc_typehints = "none"
numpydoc_class_members_toctree = False
numpydoc_show_class_members = False
numpydoc_xref_param_type = False

sphinx_gallery_conf = {
    "examples_dirs": [str(HERE.parent / "examples" / "gallery")],
    "gallery_dirs": ["gallery"],
    "capture_repr": (),
    "remove_config_comments": True,
    "show_memory": False,
    "min_reported_time": 1,
    "write_computation_times": False,
    "abort_on_example_error": True,
    "within_subsection_order": "FileNameSortKey",
    "default_thumb_file": str(HERE / "images" / "idea.png"),
    "backreferences_dir": "generated",
    "doc_module": ("kerndict",),
}

html_theme = "pydata_sphinx_theme"
html_title = "kerndict"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_show_sourcelink = False
html_theme_options = {
    "logo": {"text": "kerndict"},
    "navbar_end": ["theme-switcher"],
    "navbar_persistent": ["search-button"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "show_toc_level": 2,
    "navigation_with_keys": False,
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
html_context = {"default_mode": "auto"}
html_sidebars = {"index": [], "start": []}

#: Files outside this folder that pages speak of, and where they are on the site.
OUTSIDE = {
    "../SECURITY.md": "security.md",
    "../CHANGELOG.md": "changelog.md",
    "../CONTRIBUTING.md": "contributing.md",
    "../README.md": "index.md",
}
#: Pages that `guides.md` lists by itself, behind those that it names.
LATER = "<other pages>"


def _link(app, docname, source):
    """Let links lead to pages of the site, and list pages that no table of contents names."""
    for path, page in OUTSIDE.items():
        source[0] = source[0].replace(f"]({path}", f"]({page}")
    if LATER in source[0]:
        source[0] = source[0].replace(LATER, "\n".join(_unlisted()))


def _include(app, relative_path, parent, content):
    """Let links in files of the folder above lead to pages of the site."""
    content[0] = content[0].replace("](docs/", "](")
    for path, page in OUTSIDE.items():
        content[0] = content[0].replace(f"]({path.removeprefix('../')}", f"]({page}")


def _plain(app, what, name, obj, options, lines):
    """Take references to pages of scikit-learn out of the docstrings of its methods."""
    if not (getattr(obj, "__module__", None) or "").startswith("kerndict"):
        text = re.sub(r":\w+:`~?([^`<]*?)(?: <[^`]*>)?`", r"\1", "\n".join(lines))
        lines[:] = text.split("\n")


def _unlisted():
    """Return the pages that no table of contents names, so that none is lost."""
    pages = {path.stem for path in HERE.glob("*.md")} - {"index"}
    tables = re.findall(
        r"^:::\{toctree\}\n(.*?)^:::$",
        "\n".join(path.read_text(encoding="utf-8") for path in HERE.glob("*.md")),
        re.MULTILINE | re.DOTALL,
    )
    named = {re.sub(r".*<|>", "", line) for table in tables for line in table.split("\n")}
    return sorted(pages - named)


def setup(app):
    """Connect the functions above."""
    app.connect("source-read", _link)
    app.connect("include-read", _include)
    app.connect("autodoc-process-docstring", _plain, priority=900)
