"""The HTML page in Chromium: keyboard, phone, dark, filter, pages, hostile text. Skipped where there is none."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from abs_gate.reports import ReportOptions
from abs_gate.reports.html import render

from .samples import SAMPLES

CHROMIUM, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")
WebDriverWait = pytest.importorskip("selenium.webdriver.support.ui", reason="selenium is not installed").WebDriverWait
webdriver = pytest.importorskip("selenium.webdriver", reason="selenium is not installed")
pytestmark = pytest.mark.skipif(
    not (CHROMIUM and DRIVER),
    reason="chromium and chromedriver are not on this machine: the page is not tried in a browser",
)

Open = Callable[..., Any]


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    options = webdriver.ChromeOptions()
    options.binary_location = CHROMIUM
    for flag in (
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--disable-quic",
        "--no-first-run",
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-sync",
        f"--user-data-dir={tmp_path_factory.mktemp('profile')}",
    ):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(DRIVER))
    yield driver
    driver.quit()


@pytest.fixture
def show(browser: Any, tmp_path: Path) -> Open:
    def opened(sample: str, *, width: int = 1200, height: int = 900, scheme: str = "light") -> Any:
        target = tmp_path / f"{sample}.html"
        target.write_text(render(SAMPLES[sample](), ReportOptions()), encoding="utf-8")
        browser.execute_cdp_cmd(
            "Emulation.setDeviceMetricsOverride",
            {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600},
        )
        browser.execute_cdp_cmd(
            "Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": scheme}]}
        )
        browser.get(target.as_uri())
        return browser

    return opened


def js(browser: Any, script: str, *arguments: object) -> Any:
    return browser.execute_script(f"return {script}", *arguments)


def visible_items(browser: Any) -> int:
    return int(js(browser, "document.querySelectorAll('.item:not([hidden])').length"))


@pytest.mark.parametrize("sample", SAMPLES)
def test_it_opens_without_a_complaint(show: Open, sample: str) -> None:
    browser = show(sample)
    assert browser.get_log("browser") == []
    assert browser.title.startswith("abs-gate: ")


@pytest.mark.parametrize("sample", ["failed", "hostile", "huge", "passed"])
@pytest.mark.parametrize("width", [320, 390, 768])
def test_it_never_scrolls_sideways(show: Open, sample: str, width: int) -> None:
    browser = show(sample, width=width)
    js(browser, "document.querySelectorAll('details').forEach(function (d) { d.open = true; })")
    assert js(browser, "document.documentElement.scrollWidth") <= width


def test_hostile_text_runs_nothing_and_is_shown(show: Open) -> None:
    browser = show("hostile")
    js(browser, "document.querySelectorAll('details').forEach(function (d) { d.open = true; })")
    assert browser.get_log("browser") == []
    assert js(browser, "document.querySelectorAll('img, iframe, script:not([type]) ~ script').length") == 0
    assert js(browser, "document.querySelectorAll('svg[onload], [onerror], [onclick]').length") == 0
    assert "<script>alert(1)</script>" in js(browser, "document.querySelector('.reasons').textContent")
    assert "<script>alert(1)</script>" in js(browser, "document.getElementById('case-rows').textContent")


def test_the_policy_stops_a_script_that_got_past_escaping(show: Open) -> None:
    browser = show("passed")
    js(
        browser,
        "(function () { var s = document.createElement('div'); s.innerHTML = '<img src=x onerror=\"window.owned=1\">';"
        " document.body.appendChild(s); var t = document.createElement('script'); t.textContent = 'window.owned=2';"
        " document.body.appendChild(t); })()",
    )
    assert js(browser, "window.owned === undefined")
    assert any("Content Security Policy" in entry["message"] for entry in browser.get_log("browser"))


def test_the_keyboard_reaches_everything_with_a_visible_focus(show: Open) -> None:
    browser = show("failed")
    keys = webdriver.Keys
    reached = []
    for _ in range(200):
        webdriver.ActionChains(browser).send_keys(keys.TAB).perform()
        tag, text, outline = js(
            browser,
            "(function () { var e = document.activeElement; return [e.tagName, e.textContent.trim().slice(0, 40),"
            " getComputedStyle(e).outlineWidth]; })()",
        )
        if tag == "BODY":
            break
        assert outline == "3px", (tag, text)
        reached.append(tag)
    assert reached[0] == "A"
    summaries = js(
        browser, "Array.from(document.querySelectorAll('main summary')).filter(s => s.checkVisibility()).length"
    )
    assert reached.count("SUMMARY") == summaries > 10
    assert {"INPUT", "SELECT"} <= set(reached)


def test_the_first_tab_offers_to_skip_and_enter_opens_a_session(show: Open) -> None:
    browser = show("failed")
    keys = webdriver.Keys
    webdriver.ActionChains(browser).send_keys(keys.TAB).perform()
    assert js(browser, "document.activeElement.textContent") == "Skip to the details"
    assert js(browser, "document.activeElement.getBoundingClientRect().left") >= 0
    webdriver.ActionChains(browser).send_keys(keys.ENTER).perform()
    assert js(browser, "document.activeElement.id") == "main"
    js(browser, "document.querySelector('#sessions .item > summary').focus()")
    webdriver.ActionChains(browser).send_keys(keys.ENTER).perform()
    assert js(browser, "document.querySelector('#sessions .item').open") is True


def test_the_filter_finds_text_and_outcomes(show: Open) -> None:
    browser = show("failed")
    everything = visible_items(browser)
    webdriver.ActionChains(browser).send_keys("/").perform()
    assert js(browser, "document.activeElement.id") == "filter-text"
    webdriver.ActionChains(browser).send_keys("LOYALTY").perform()
    assert 0 < visible_items(browser) < everything
    assert js(browser, "document.querySelectorAll('#case-rows > li').length") == 1
    assert "1 cases shown" in js(browser, "document.getElementById('filter-count').textContent")
    js(browser, "(function () { var t = document.getElementById('filter-text'); t.value = '';"
       " t.dispatchEvent(new Event('input')); })()")  # fmt: skip
    assert visible_items(browser) == everything
    js(browser, "(function () { var s = document.getElementById('filter-outcome'); s.value = 'unverified';"
       " s.dispatchEvent(new Event('change')); })()")  # fmt: skip
    outcomes = js(browser, "Array.from(document.querySelectorAll('.item:not([hidden])'), e => e.dataset.outcome)")
    assert set(outcomes) == {"unverified"}


def test_cases_come_in_pages_and_open_their_trials(show: Open) -> None:
    browser = show("huge")
    assert js(browser, "document.getElementById('page-where').textContent") == "1 to 50 of 1000 cases"
    assert js(browser, "document.getElementById('page-back').disabled") is True
    js(browser, "document.getElementById('page-next').click()")
    assert js(browser, "document.getElementById('page-where').textContent") == "51 to 100 of 1000 cases"
    assert js(browser, "document.querySelectorAll('#case-rows > li').length") == 50
    js(browser, "document.querySelector('#case-rows details').open = true")
    opened = "document.querySelector('#case-rows details').textContent"
    WebDriverWait(browser, 5).until(lambda b: "trial 1" in js(b, opened))
    assert "observed a text instead" in js(browser, opened)


def test_dark_and_light_have_enough_contrast(show: Open) -> None:
    script = """(function () {
      function channel(v) { v /= 255; return v <= .03928 ? v / 12.92 : Math.pow((v + .055) / 1.055, 2.4); }
      function parse(c) { return c.match(/[\\d.]+/g).map(Number); }
      function luminance(c) { return .2126 * channel(c[0]) + .7152 * channel(c[1]) + .0722 * channel(c[2]); }
      function behind(e) {
        for (; e; e = e.parentElement) {
          var c = parse(getComputedStyle(e).backgroundColor);
          if (c.length === 3 || c[3] === 1) return c;
        }
        return [255, 255, 255];
      }
      document.querySelectorAll('details').forEach(function (d) { d.open = true; });
      var bad = [];
      document.querySelectorAll('body *').forEach(function (e) {
        var own = Array.from(e.childNodes).some(function (n) { return n.nodeType === 3 && n.data.trim(); });
        if (!own || !e.checkVisibility() || e.tagName === 'SCRIPT' || e.disabled || e.ownerSVGElement) return;
        var a = luminance(parse(getComputedStyle(e).color)), b = luminance(behind(e));
        var ratio = (Math.max(a, b) + .05) / (Math.min(a, b) + .05);
        if (ratio < 4.5) bad.push(e.tagName + '.' + e.className + ' ' + ratio.toFixed(2));
      });
      return [getComputedStyle(document.body).backgroundColor, bad];
    })()"""
    light, poor_light = js(show("failed"), script)
    dark, poor_dark = js(show("failed", scheme="dark"), script)
    assert (poor_light, poor_dark) == ([], [])
    assert light != dark
    assert dark == "rgb(19, 22, 25)"


def test_it_reads_without_its_script(show: Open) -> None:
    browser = show("failed")
    browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
    try:
        browser.refresh()
        text = browser.find_element("tag name", "main").text
        assert "needs a script" in text
        assert "What did not pass" in text
        assert browser.find_element("id", "filter").is_displayed() is False
    finally:
        browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})


def test_print_shows_collapsed_parts_and_no_controls(show: Open) -> None:
    browser = show("failed")
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    try:
        js(browser, "window.dispatchEvent(new Event('beforeprint'))")
        assert js(browser, "document.querySelectorAll('main details:not([open])').length") == 0
        assert js(browser, "getComputedStyle(document.querySelector('.filter')).display") == "none"
    finally:
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})
