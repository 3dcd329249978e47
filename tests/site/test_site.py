"""The built documentation: links, images, and pages in a real browser.

``make docs`` builds it and runs these tests.
"""

import os
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

AXE = Path(__file__).parent / "node_modules" / "axe-core" / "axe.min.js"
PAGES = ["index.html", "start.html", "gallery/plot_01_idea.html", "gallery/plot_09_strangers.html"]
FAULTS = {"error", "warning", "assert"}
SIZES = {"phone": (390, 844), "desktop": (1280, 900)}


@pytest.fixture(scope="module")
def site():
    """Return the folder of the built pages."""
    folder = os.environ.get("KERNDICT_SITE")
    if not folder:
        pytest.skip("set KERNDICT_SITE to the folder of the built pages, or run make docs")
    return Path(folder).resolve()


class Page(HTMLParser):
    """What a page leads to, the places in it, and its images."""

    def __init__(self):
        super().__init__()
        self.links, self.places, self.images = [], set(), []

    def handle_starttag(self, tag, attrs):
        found = dict(attrs)
        self.places |= {found[name] for name in ("id", "name") if found.get(name)}
        for name in ("href", "src"):
            if found.get(name) and tag != "base":
                self.links.append(found[name])
        if tag == "img":
            self.images.append(found)


@cache
def parsed(path):
    page = Page()
    page.feed(path.read_text(encoding="utf-8"))
    return page


def pages(site):
    return sorted(path for path in site.rglob("*.html") if "_static" not in path.parts)


def has_place(path, name):
    return not name or name in parsed(path).places


def broken(site, path):
    """Return the links of a page that lead nowhere on the site."""
    found = []
    for link in parsed(path).links:
        parts = urlsplit(link)
        if parts.scheme or parts.netloc:
            continue
        target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
        if target.is_dir():
            target = target / "index.html"
        if (
            not target.is_file()
            or site not in target.parents
            or (target.suffix == ".html" and not has_place(target, unquote(parts.fragment)))
        ):
            found.append(link)
    return found


def test_no_link_is_broken(site):
    found = {str(path.relative_to(site)): broken(site, path) for path in pages(site)}
    assert len(found) > 40
    assert {path: links for path, links in found.items() if links} == {}


def test_a_broken_link_is_told(tmp_path):
    links = ["here.html", "#place", "here.html#no", "gone.png", "../out.html", "mailto:a@b.c"]
    text = "".join(f'<a href="{link}" id="place">x</a>' for link in links)
    (tmp_path / "here.html").write_text(text)
    parsed.cache_clear()
    found = broken(tmp_path.resolve(), tmp_path.resolve() / "here.html")
    assert found == ["here.html#no", "gone.png", "../out.html"]


def has_words(image):
    """Thumbnails have theirs beside them, and an empty text says so."""
    words = image.get("alt")
    return bool(words and words.strip()) or (words == "" and "thumb" in image["src"])


def test_every_image_has_words(site):
    without = {
        str(path.relative_to(site)): [image["src"] for image in parsed(path).images]
        for path in pages(site)
        if any(not has_words(image) for image in parsed(path).images)
    }
    assert without == {}


def test_nothing_is_loaded_from_elsewhere(site):
    """What a page needs comes with it; only links to click lead away."""
    for path in pages(site):
        text = path.read_text(encoding="utf-8")
        for start in ('src="http', 'rel="stylesheet" href="http', "src='http", "@import"):
            assert start not in text, f"{path.relative_to(site)}: {start}"


def test_the_gallery_has_thumbnails(site):
    images = [image["src"] for image in parsed(site / "gallery" / "index.html").images]
    thumbs = [source for source in images if "thumb" in source]
    assert len(thumbs) >= 10
    contents = {(site / "gallery" / source).resolve().read_bytes() for source in thumbs}
    assert len(contents) == len(thumbs)  # each its own


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("name", PAGES)
def test_pages_in_a_browser(site, browser, name, size):
    width, height = SIZES[size]
    page = browser.new_page(viewport={"width": width, "height": height}, color_scheme="light")
    messages = []
    page.on("console", lambda said: said.type in FAULTS and messages.append(said.text))
    page.on("pageerror", lambda error: messages.append(str(error)))
    page.on("requestfailed", lambda request: messages.append(f"failed: {request.url}"))
    page.goto((site / name).as_uri())
    images = page.locator("article img")
    for image in images.all():
        image.scroll_into_view_if_needed()
        image.evaluate("image => image.decode()")
        assert image.evaluate("image => image.naturalWidth > 0")
        assert image.bounding_box()["width"] <= width
    if name != "start.html":
        assert images.count() >= 1
    overflow = page.evaluate("document.documentElement.scrollWidth - window.innerWidth")
    assert overflow <= 0
    assert messages == []
    page.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", PAGES)
def test_contrast_and_names(site, browser, name, scheme):
    """What axe finds at fault: contrast, alt texts, names of buttons and links, headings."""
    if not AXE.is_file():
        pytest.skip("axe-core is not installed: npm install --prefix tests/site")
    page = browser.new_page(viewport={"width": 1280, "height": 900}, color_scheme=scheme)
    page.goto((site / name).as_uri())
    page.evaluate(AXE.read_text(encoding="utf-8"))
    tags = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"]
    options = {"runOnly": {"type": "tag", "values": tags}}
    found = page.evaluate("options => axe.run(document, options)", options)
    faults = [
        (fault["id"], node["html"][:120], node["failureSummary"][:200])
        for fault in found["violations"]
        for node in fault["nodes"]
    ]
    assert len(found["passes"]) > 10
    assert faults == []
    page.close()
