"""The suites of a build with changes: which of them reach which change, how long they take, and whether they notice one."""

import collections
import json
import os
import re
import resource
import select
import shutil
import signal
import subprocess
import time

# The targets whose suites look at a layer, the nearest first.
NEAREST = {
    "RealmStorage": ["RealmStorageTests", "RealmModelTests", "RealmQueryTests", "ActorRealmTests"],
    "RealmModel": ["RealmModelTests", "RealmQueryTests", "ActorRealmTests", "RealmStorageTests"],
    "RealmQuery": ["RealmQueryTests", "ActorRealmTests", "RealmModelTests", "RealmStorageTests"],
    "ActorRealm": ["ActorRealmTests", "RealmQueryTests", "RealmModelTests", "RealmStorageTests"],
}
COLOUR = re.compile("\x1b\\[[0-9;]*m")
REACH_BYTES = 65536
FAILED = re.compile(r'✘ (?:Test|Suite) "?(.*?)"? (?:recorded an issue|failed after)')
# A change may ask for memory without end; other programs live here as well.
MEMORY_BYTES = 8 << 30


class Suites:
    def __init__(self, folder, package):
        self.folder = folder
        self.package = package
        binaries = subprocess.run(
            ["swift", "build", "--package-path", package, "--show-bin-path"],
            text=True,
            stdout=subprocess.PIPE,
            check=True,
        ).stdout.strip()
        self.tests = os.path.join(binaries, "actor-realmPackageTests.xctest")
        self.reach = {}
        self.durations = {}

    def names(self):
        """Each suite, and each test outside of one, as `Target.Suite`."""
        listing = subprocess.run(
            [self.tests, "--testing-library", "swift-testing", "--list-tests"],
            text=True,
            stdout=subprocess.PIPE,
            check=True,
            env=dict(os.environ, SWIFT_BACKTRACE="enable=no"),
        )
        return sorted({line.split("/")[0].strip() for line in listing.stdout.splitlines() if "." in line})

    def run(self, suites, number, limit, reach=None):
        """Runs suites until the first failure: nil when all pass, else what was noticed."""
        temporary = os.path.join(self.folder, "temporary")
        shutil.rmtree(temporary, ignore_errors=True)
        os.makedirs(temporary)
        environment = dict(os.environ, CREALM_MUTATION=str(number), SWIFT_BACKTRACE="enable=no", TMPDIR=temporary)
        if reach:
            environment["CREALM_MUTATION_REACH"] = reach
        filters = [part for suite in suites for part in ("--filter", "^" + re.escape(suite) + r"(/|$)")]
        process = subprocess.Popen(
            [self.tests, "--testing-library", "swift-testing", *filters],
            cwd=self.package,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_DATA, (MEMORY_BYTES, MEMORY_BYTES)),
        )
        try:
            return outcome(process, time.monotonic() + limit)
        finally:
            # Its children are in its session, too, and may have outlived it.
            try:
                os.killpg(process.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
            process.stdout.close()
            process.wait()

    def measure(self, limit=300):
        """Runs each suite once without a change, and keeps what it reaches; what fails that way is left out."""
        store = os.path.join(self.folder, "reach.json")
        known = {}
        if os.path.exists(store):
            with open(store) as file:
                known = json.load(file)
        path = os.path.join(self.folder, "reached")
        for suite in self.names():
            if suite not in known:
                with open(path, "wb") as file:
                    file.write(bytes(REACH_BYTES))
                began = time.monotonic()
                failure = self.run([suite], 0, limit, path) and self.run([suite], 0, limit, path)
                seconds = time.monotonic() - began
                with open(path, "rb") as file:
                    reached = [number for number, byte in enumerate(file.read()) if byte]
                known[suite] = {"seconds": seconds, "reached": reached, "failure": failure}
                print(f"{seconds:6.1f} s  {len(reached):5} reached  {suite}  {failure or ''}", flush=True)
                with open(store, "w") as file:
                    json.dump(known, file)
        for suite, entry in known.items():
            if entry["failure"]:
                print(f"left out, fails without a change: {suite}: {entry['failure']}", flush=True)
                continue
            self.durations[suite] = entry["seconds"]
            self.reach[suite] = set(entry["reached"])

    def reaching(self, mutation):
        """Those that reach a change, the nearest and the shortest first."""
        order = NEAREST[mutation["file"].split("/")[1]]
        return sorted(
            (suite for suite, numbers in self.reach.items() if mutation["number"] in numbers),
            key=lambda suite: (self.durations[suite] > 10, order.index(suite.split(".")[0]), self.durations[suite]),
        )

    def batches(self, suites, seconds):
        """Suites together, so that starting a process for each does not cost more than they do."""
        batch, total = [], 0
        for suite in suites:
            if batch and total + self.durations[suite] > seconds:
                yield batch
                batch, total = [], 0
            batch.append(suite)
            total += self.durations[suite]
        if batch:
            yield batch

    def limit(self, suites):
        return 3 * sum(self.durations[suite] for suite in suites) + 30


def outcome(process, end):
    lines, rest = collections.deque(maxlen=20), b""
    while True:
        left = end - time.monotonic()
        if left <= 0 or not select.select([process.stdout], [], [], left)[0]:
            return "does not end"
        data = os.read(process.stdout.fileno(), 65536)
        if not data:
            break
        *whole, rest = (rest + data).split(b"\n")
        for line in whole:
            text = COLOUR.sub("", line.decode(errors="replace"))
            lines.append(text)
            found = FAILED.search(text)
            if found:
                return found.group(1)
    try:
        status = process.wait(timeout=max(1, end - time.monotonic()))
    except subprocess.TimeoutExpired:
        return "does not end"
    if status == 0:
        return None
    report = next((line for line in lines if "Fatal error" in line or "error:" in line), "")
    return f"status {status} {report}".strip()[:200]
