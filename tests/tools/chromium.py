"""A headless Chromium that a test drives through its debugging pipe (Chrome DevTools Protocol).

	with Chromium() as browser:
		page = browser.open("file:///...", width=1280)
		page.value("document.title")
"""
import json
import os
import shutil
import subprocess
import tempfile
import time


def find():
	"""Returns the path of a Chromium, or None."""
	names = ("chromium", "chromium-browser", "google-chrome")
	return next((path for path in map(shutil.which, names) if path), None)


class Chromium:
	def __init__(self, *arguments):
		self.profile = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
		to_browser, self.to_browser = os.pipe()
		self.from_browser, from_browser = os.pipe()
		# the browser reads commands from descriptor 3 and writes answers to 4
		command = ["sh", "-c", f'exec "$@" 3<&{to_browser} 4>&{from_browser}', "sh", find(), "--headless", "--no-sandbox",
			"--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--disable-extensions", "--hide-scrollbars",
			f"--user-data-dir={self.profile.name}", "--remote-debugging-pipe", *arguments]
		self.process = subprocess.Popen(command, pass_fds=(to_browser, from_browser), stderr=subprocess.DEVNULL)
		os.close(to_browser)
		os.close(from_browser)
		self.number, self.unread, self.events = 0, b"", []

	def __enter__(self):
		return self

	def __exit__(self, *_):
		self.process.kill()
		self.process.wait()
		os.close(self.to_browser)
		os.close(self.from_browser)
		self.profile.cleanup()

	def message(self):
		"""Returns the next answer or event; a zero byte ends each message."""
		while b"\0" not in self.unread:
			read = os.read(self.from_browser, 1 << 20)
			if not read:
				raise RuntimeError("the browser has ended")
			self.unread += read
		text, self.unread = self.unread.split(b"\0", 1)
		return json.loads(text)

	def call(self, method, session=None, **parameters):
		self.number += 1
		command = {"id": self.number, "method": method, "params": parameters, **({"sessionId": session} if session else {})}
		data = json.dumps(command).encode() + b"\0"
		while data:
			data = data[os.write(self.to_browser, data):]
		while True:
			message = self.message()
			if message.get("id") != self.number:
				self.events.append(message)
			elif "error" in message:
				raise RuntimeError(f"{method}: {message['error']}")
			else:
				return message["result"]

	def open(self, address, **how):
		return Page(self, address, **how)


class Page:
	"""Opens one tab. before: a script that runs before the page's own scripts."""

	def __init__(self, browser, address, width=1280, height=900, dark=False, scripts=True, before=None):
		self.browser = browser
		self.target = browser.call("Target.createTarget", url="about:blank")["targetId"]
		self.session = browser.call("Target.attachToTarget", targetId=self.target, flatten=True)["sessionId"]
		for domain in "Page", "Runtime", "Log", "Network":
			self.call(domain + ".enable")
		self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 600)
		self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])
		if not scripts:
			self.call("Emulation.setScriptExecutionDisabled", value=True)
		if before:
			self.call("Page.addScriptToEvaluateOnNewDocument", source=before)
		browser.events.clear()
		self.call("Page.navigate", url=address)
		self.wait_for("document.readyState === 'complete'")

	def call(self, method, **parameters):
		return self.browser.call(method, self.session, **parameters)

	def value(self, expression):
		"""Returns the value of a JavaScript expression as JSON; promises are awaited."""
		answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
		if "exceptionDetails" in answer:
			raise RuntimeError(f"{expression}: {answer['exceptionDetails']['exception'].get('description')}")
		return answer["result"].get("value")

	def wait_for(self, expression, seconds=60):
		end = time.monotonic() + seconds
		while not self.value(f"!!({expression})"):
			if time.monotonic() > end:
				raise RuntimeError(f"waited {seconds} s for {expression}")
			time.sleep(0.01)

	def key(self, key):
		for kind in "keyDown", "keyUp":
			self.call("Input.dispatchKeyEvent", type=kind, key=key, code=key, **({"text": "\r"} if key == "Enter" and kind == "keyDown" else {}))

	def mouse(self, kind, x, y):
		self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, **({} if kind == "mouseMoved" else {"button": "left", "clickCount": 1}))

	def drag(self, start, end):
		self.mouse("mouseMoved", *start)
		self.mouse("mousePressed", *start)
		self.call("Input.dispatchMouseEvent", type="mouseMoved", x=end[0], y=end[1], button="left", buttons=1)
		self.mouse("mouseReleased", *end)

	def screenshot(self, path, whole=False):
		import base64
		with open(path, "wb") as file:
			file.write(base64.b64decode(self.call("Page.captureScreenshot", captureBeyondViewport=whole)["data"]))

	def problems(self):
		"""Returns errors that the browser reported: exceptions, the console, the log (including blocked requests)."""
		kinds = {"Runtime.exceptionThrown": lambda p: p["exceptionDetails"]["exception"].get("description"),
			"Runtime.consoleAPICalled": lambda p: str(p["args"]), "Log.entryAdded": lambda p: p["entry"]["text"]}
		return [kinds[e["method"]](e["params"]) for e in self.browser.events if e.get("method") in kinds]

	def requests(self):
		"""Returns addresses requested since the page was opened, with the page's own address first."""
		self.value("1")
		return [e["params"]["request"]["url"] for e in self.browser.events if e.get("method") == "Network.requestWillBeSent"]

	def close(self):
		self.browser.call("Target.closeTarget", targetId=self.target)
