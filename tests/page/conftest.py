# SPDX-License-Identifier: MIT
"""A file server, a browser, and what the tests do with them."""

import functools
import http.server
import json
import os
import pathlib
import shutil
import subprocess
import threading
import time

import pytest
from selenium import webdriver
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By

PAGE = pathlib.Path(os.environ["GARNER_PAGE"])
GARNER = pathlib.Path(os.environ["GARNER_BUILD"]) / "garner"


class Quiet(http.server.SimpleHTTPRequestHandler):
    seen = []

    def log_message(self, *words):
        Quiet.seen.append(self.path)


@pytest.fixture(scope="session")
def address():
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=PAGE))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/play/index.html"
    server.shutdown()


@pytest.fixture(scope="session")
def driver():
    if not shutil.which("chromium") or not shutil.which("chromedriver"):
        pytest.skip("SKIP the page: chromium and chromium-driver (Debian) are missing")
    options = webdriver.ChromeOptions()
    for argument in ["--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu", "--window-size=1400,1100"]:
        options.add_argument(argument)
    options.binary_location = shutil.which("chromium")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    browser = webdriver.Chrome(options=options, service=Service(shutil.which("chromedriver")))
    browser.set_script_timeout(60)
    yield browser
    browser.quit()


class Page:
    """The page as a person meets it."""

    def __init__(self, driver, address):
        self.driver, self.address = driver, address
        self.allowed = None

    def open(self, state=""):
        self.driver.get("about:blank")
        self.driver.get(self.address + state)
        self.settle()
        return self

    def script(self, text, *arguments):
        return self.driver.execute_script(text, *arguments)

    def find(self, selector):
        return self.driver.find_element(By.CSS_SELECTOR, selector)

    def all(self, selector):
        return self.driver.find_elements(By.CSS_SELECTOR, selector)

    def wait(self, what, seconds=30):
        """Waits until a script answers something that is true."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            answer = self.script(f"return {what}")
            if answer:
                return answer
            time.sleep(0.03)
        raise AssertionError(f"the page never came to {what}: {self.error()}")

    def settle(self):
        self.wait("document.documentElement.dataset.ready && document.querySelector('#example-list button')")

    def type(self, name, text):
        """Types into a field, and waits for what comes of it."""
        self.script(
            "const field = document.querySelector(`[name=${arguments[0]}]`);"
            "delete document.documentElement.dataset.ready;"
            "if (field.type === 'checkbox') field.checked = Boolean(arguments[1]); else field.value = arguments[1];"
            "field.dispatchEvent(new Event('input', {bubbles: true}));", name, text)
        self.wait("document.documentElement.dataset.ready")

    def click(self, selector):
        self.script("document.querySelector(arguments[0]).click()", selector)

    def error(self):
        return self.script("const e = document.getElementById('error'); return e.hidden ? '' : e.textContent")

    def result(self):
        return self.script("return document.querySelector('#summary li').textContent").removeprefix("out = ")

    def code(self, language):
        self.click(f"#use [role=tab][value={language}]")
        time.sleep(0.3)
        return self.script("return document.getElementById('code').textContent")

    def drop(self, paths, target="body"):
        """Drops files, as if from a file manager."""
        chosen = self.find("#file")
        self.script(
            "arguments[0].insertAdjacentHTML('afterend', '<input id=dropped type=file multiple>')", chosen)
        self.find("#dropped").send_keys("\n".join(str(path) for path in paths))
        self.script(
            "const input = document.getElementById('dropped'), transfer = new DataTransfer();"
            "for (const file of input.files) transfer.items.add(file);"
            "input.remove();"
            "for (const type of ['dragover', 'drop'])"
            "  document.querySelector(arguments[0]).dispatchEvent(new DragEvent(type, {bubbles: true, cancelable: true, dataTransfer: transfer}));",
            target)
        time.sleep(0.2)

    def shot(self, name):
        folder = PAGE / "shots"
        folder.mkdir(exist_ok=True)
        self.driver.save_screenshot(str(folder / f"{name}.png"))

    def messages(self):
        found = [entry["message"] for entry in self.driver.get_log("browser")]
        return [message for message in found if not self.allowed or self.allowed not in message]


@pytest.fixture
def page(driver, address):
    made = Page(driver, address)
    made.messages()
    yield made
    assert made.messages() == [], "the console stays empty"


def command(*words):
    """What the command answers as JSON, or its message."""
    done = subprocess.run([GARNER, *words], capture_output=True, text=True, check=False)
    return json.loads(done.stdout) if done.returncode == 0 else done.stderr.removeprefix("garner: ").strip()
