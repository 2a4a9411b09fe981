"""Drives a headless Chromium by its DevTools protocol, over a pipe; needs no package.

    with Browser(width=1400) as page:
        page.open("http://127.0.0.1:8765/")
        page.until("document.title == 'foil view'")
        page.click("#hold"); page.press("j"); page.shot("page.png")
"""
import base64
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "python"))
import tap  # noqa: E402


def ok(what, fine, more=""):
    """Reports a check; `more` is printed if it fails."""
    if not tap.ok(fine, what):
        print(f"# {more}", flush=True)


def plan():
    print(f"1..{tap.count}", flush=True)


class Browser:
    def __init__(self, width=1400, height=1000):
        self.folder = tempfile.mkdtemp()
        there, self.out = os.pipe()
        self.back, here = os.pipe()
        fds = os.dup(there), os.dup(here)

        def set_descriptors():  # Chromium reads 3 and writes 4
            os.dup2(fds[0], 3)
            os.dup2(fds[1], 4)

        self.process = subprocess.Popen(
            ["chromium", "--headless=new", "--no-sandbox", "--disable-gpu",
             "--hide-scrollbars", "--remote-debugging-pipe",
             f"--window-size={width},{height}",
             f"--user-data-dir={self.folder}", "about:blank"],
            preexec_fn=set_descriptors, pass_fds=(3, 4), stderr=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, start_new_session=True)
        for fd in (there, here, *fds):
            os.close(fd)
        self.rest, self.number, self.session = b"", 0, None
        self.errors = []  # errors and warnings in the console
        target = self.send("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.send("Target.attachToTarget", targetId=target,
                                 flatten=True)["sessionId"]
        self.send("Page.enable")
        self.send("Runtime.enable")
        self.send("Log.enable")
        self.resize(width, height)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        os.killpg(self.process.pid, 9)
        self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)

    def receive(self):
        while b"\0" not in self.rest:
            part = os.read(self.back, 1 << 20)
            if not part:
                raise EOFError("Chromium has ended")
            self.rest += part
        text, self.rest = self.rest.split(b"\0", 1)
        return json.loads(text)

    def collect_errors(self, message):
        """Adds an error or warning of the page to `errors`."""
        method, params = message.get("method"), message.get("params", {})
        if method == "Runtime.exceptionThrown":
            detail = params["exceptionDetails"]
            self.errors.append(detail.get("exception", {}).get("description",
                                                             detail["text"]))
        elif method == "Runtime.consoleAPICalled" and params["type"] in ("error", "warning"):
            self.errors.append(str([a.get("value") for a in params["args"]]))
        elif method == "Log.entryAdded" and params["entry"]["level"] == "error":
            self.errors.append(params["entry"]["text"] + " " + params["entry"].get("url", ""))

    def send(self, method, **params):
        self.number += 1
        message = {"id": self.number, "method": method, "params": params}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.out, json.dumps(message).encode() + b"\0")
        while True:
            answer = self.receive()
            if answer.get("id") != self.number:
                self.collect_errors(answer)
            elif "error" in answer:
                raise RuntimeError(f"{method}: {answer['error']}")
            else:
                return answer["result"]

    def resize(self, width, height):
        """Resizes the page; a window would be 500 pixels wide at least."""
        self.send("Emulation.setDeviceMetricsOverride", width=width, height=height,
                  deviceScaleFactor=1, mobile=False)

    def open(self, url):
        self.send("Page.navigate", url=url)

    def value(self, script):
        """The value of an expression, or of its promise."""
        result = self.send("Runtime.evaluate", expression=script, awaitPromise=True,
                           returnByValue=True)
        if "exceptionDetails" in result:
            raise RuntimeError(result["exceptionDetails"]["exception"]["description"])
        return result["result"].get("value")

    def until(self, script, seconds=150):
        """Waits until an expression is true; False after a time-out."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            try:
                if self.value(script):
                    return True
            except RuntimeError:
                pass  # not yet
            time.sleep(.1)
        return False

    def text(self, selector):
        return self.value(f"document.querySelector({json.dumps(selector)})?.textContent")

    def click(self, selector, place=0):
        """Clicks with the mouse in the middle of an element."""
        box = self.value(
            f"(e => {{ e.scrollIntoView({{block: 'center'}});"
            "const b = e.getBoundingClientRect();"
            "return [b.x + b.width / 2, b.y + b.height / 2] })"
            f"(document.querySelectorAll({json.dumps(selector)})[{place}])")
        for kind in ("mouseMoved", "mousePressed", "mouseReleased"):
            self.send("Input.dispatchMouseEvent", type=kind, x=box[0], y=box[1],
                      button="left", clickCount=1)

    def press(self, key):
        for kind in ("keyDown", "keyUp"):
            self.send("Input.dispatchKeyEvent", type=kind, key=key,
                      text=key if len(key) == 1 and kind == "keyDown" else "")

    def shot(self, path):
        data = self.send("Page.captureScreenshot", captureBeyondViewport=True)["data"]
        with open(path, "wb") as file:
            file.write(base64.b64decode(data))
