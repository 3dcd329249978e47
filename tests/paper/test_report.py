"""The report in a real browser."""

import subprocess
import sys

import pytest

pytest.importorskip("rich")
pytest.importorskip("matplotlib")


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    folder = tmp_path_factory.mktemp("report")
    command = [sys.executable, "-m", "kerndict", "reproduce", "--rounds", "1", "--quiet", "--out"]
    subprocess.run([*command, folder], check=True)
    return folder / "report.html"


def test_the_file_holds_everything(report):
    html = report.read_text()
    assert html.count("<table>") == 2  # one of the dataset, one of the settings
    assert html.count("<figure><svg ") == 4
    assert html.count('<div class="line" role="img"') == 8  # six tables, our default, the SVM
    assert html.count("<article") == 6
    for forbidden in ("http://", "https://", '<link rel="stylesheet"', 'src="/', "$headline"):
        assert forbidden not in html
    assert "prefers-color-scheme: dark" in html


@pytest.mark.parametrize(("width", "height"), [(390, 844), (1280, 900)], ids=["phone", "desktop"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_report_in_a_browser(report, browser, width, height, scheme):
    context = browser.new_context(viewport={"width": width, "height": height}, color_scheme=scheme)
    page = context.new_page()
    messages, requests = [], []
    page.on("console", lambda message: messages.append(message.text))
    page.on("pageerror", lambda error: messages.append(str(error)))
    page.on("request", lambda request: requests.append(request.url))
    page.goto(report.as_uri())
    assert messages == []
    assert [url for url in requests if not url.startswith("data:")] == [report.as_uri()]

    headline = page.locator("#headline")
    assert headline.bounding_box()["y"] < height  # on the first screen
    assert "Digits: not in the paper (best table" in headline.inner_text()
    assert page.locator(".chart").bounding_box()["y"] < height / 2
    for mark in page.locator(".chart i").all():
        chart, box = page.locator(".chart").bounding_box(), mark.bounding_box()
        assert chart["x"] - 8 <= box["x"] <= chart["x"] + chart["width"]
        assert chart["y"] <= box["y"] <= chart["y"] + chart["height"]
    for image in page.locator("figure svg").all():
        assert 300 < image.bounding_box()["width"] <= width
        # Words are drawn in the colour of the words around them, so that they can be read.
        words = image.locator("g[id^=text] use, g[id^=text] path").first
        assert words.evaluate("each => getComputedStyle(each).fill") == page.evaluate(
            "getComputedStyle(document.body).color"
        )
    cues = page.locator(".scroll.wide").count()
    assert cues == page.evaluate(
        "[...document.querySelectorAll('.scroll')]"
        ".filter((box) => box.scrollWidth > box.clientWidth).length"
    )
    assert cues == 2 or width > 400
    overflow = page.evaluate("document.documentElement.scrollWidth - window.innerWidth")
    assert overflow <= 0  # wide tables scroll by themselves
    background = page.evaluate("getComputedStyle(document.body).backgroundColor")
    brightness = sum(int(part) for part in background[4:-1].split(",")[:3])
    assert (brightness > 380) == (scheme == "light")
    context.close()


def test_tables_sort_by_a_click_on_their_heads(report, browser):
    page = browser.new_page()
    page.goto(report.as_uri())
    table = page.locator("#settings table")

    def column(index):
        return table.locator(f"tbody tr td:nth-child({index})").all_inner_texts()

    button = table.locator("th button", has_text="n_iter")
    index = 1 + table.locator("th").all_inner_texts().index("n_iter")
    assert column(index) != sorted(column(index))
    button.click()
    numbers = [float(text) for text in column(index) if text != "–"]
    assert numbers == sorted(numbers)
    assert len(set(numbers)) > 1
    button.click()
    numbers = [float(text) for text in column(index) if text != "–"]
    assert numbers == sorted(numbers, reverse=True)
    assert column(index)[-1] == "–"  # the peers have none, and come last either way
    head = table.locator("th").nth(index - 1)
    assert head.get_attribute("aria-sort") == "descending"
    page.close()
