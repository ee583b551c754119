"""Chromium without a window, driven by the DevTools protocol."""

import base64
import contextlib
import itertools
import json
import os
import shutil
import subprocess
import time

from websockets.sync.client import connect

PROGRAM = shutil.which("chromium") or shutil.which("chromium-browser")
LIMIT = 60


class Chromium:
    def __init__(self, folder, extension):
        self.extension = extension
        # The sandbox is for pages of strangers, and root cannot have it.
        self.process = subprocess.Popen(
            [PROGRAM, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--disable-sync",
             "--disable-background-networking", "--disable-component-update", "--remote-debugging-port=0", f"--user-data-dir={folder / 'profile'}",
             f"--load-extension={extension}", "about:blank"],
            stdout=subprocess.DEVNULL, stderr=open(folder / "chromium.log", "wb"), env={**os.environ, "HOME": str(folder)})
        port = folder / "profile/DevToolsActivePort"
        wait(lambda: port.exists() and len(port.read_text().split()) == 2)
        number, path = port.read_text().split()
        # Its answers come when they come: a ping of the library is no sign of life.
        self.connection = contextlib.ExitStack()
        self.socket = self.connection.enter_context(
            connect(f"ws://127.0.0.1:{number}{path}", max_size=None, ping_interval=None, compression=None))
        self.numbers = itertools.count(1)

    def call(self, method, session=None, **parameters):
        number = next(self.numbers)
        self.socket.send(json.dumps({"id": number, "method": method, "params": parameters, **({"sessionId": session} if session else {})}))
        end = time.monotonic() + LIMIT
        while True:
            message = json.loads(self.socket.recv(timeout=max(end - time.monotonic(), 0.01)))
            if message.get("id") == number:
                if "error" in message:
                    raise RuntimeError(f"{method}: {message['error']}")
                return message["result"]

    def context(self):
        """Pages with a storage of their own."""
        return Context(self, self.call("Target.createBrowserContext")["browserContextId"])

    def page(self, url, before="", **place):
        """A page that has loaded; before all of its scripts another one may run."""
        target = Target(self, self.call("Target.createTarget", url="about:blank", **place)["targetId"])
        target.call("Page.enable")
        if before:
            target.call("Page.addScriptToEvaluateOnNewDocument", source=before)
        target.go(url)
        return target

    def close(self):
        self.connection.close()
        self.process.terminate()
        self.process.wait(timeout=30)


class Context:
    def __init__(self, browser, number):
        self.browser, self.number = browser, number

    def page(self, url, before=""):
        return self.browser.page(url, before, browserContextId=self.number)

    def close(self):
        self.browser.call("Target.disposeBrowserContext", browserContextId=self.number)


class Target:
    def __init__(self, browser, number):
        self.browser, self.number = browser, number
        self.session = browser.call("Target.attachToTarget", targetId=number, flatten=True)["sessionId"]

    def call(self, method, **parameters):
        return self.browser.call(method, self.session, **parameters)

    def go(self, url):
        self.call("Page.navigate", url=url)
        wait(lambda: self.run(f"location.href.startsWith({json.dumps(url)}) && globalThis.isReady === true"))

    def run(self, expression):
        """The value of an expression, after its promise."""
        answer = self.call("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in answer:
            details = answer["exceptionDetails"]
            raise RuntimeError(details.get("exception", {}).get("description") or json.dumps(details))
        return answer["result"].get("value")

    def picture(self, width, height):
        """The page in a window of a size, as PNG."""
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        return base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"])

    def close(self):
        self.browser.call("Target.closeTarget", targetId=self.number)


def wait(condition, limit=LIMIT):
    """What the condition gives when it is something."""
    end = time.monotonic() + limit
    while time.monotonic() < end:
        try:
            if value := condition():
                return value
        except RuntimeError:
            # A page that is about to be another one.
            pass
        time.sleep(0.05)
    raise TimeoutError("it did not happen")
