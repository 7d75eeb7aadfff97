"""The suites of a build with changes: which of them reach which change, how long they take, and whether they notice one."""

import concurrent.futures
import json
import os
import re
import select
import shutil
import signal
import subprocess
import threading
import time

# The targets whose suites look at a layer, the nearest first.
NEAREST = {
    "CRealmShims": ["ActorRealmTests", "RealmStorageTests", "RealmModelTests", "RealmQueryTests"],
    "RealmStorage": ["RealmStorageTests", "RealmModelTests", "RealmQueryTests", "ActorRealmTests"],
    "RealmModel": ["RealmModelTests", "RealmQueryTests", "ActorRealmTests", "RealmStorageTests"],
    "RealmQuery": ["RealmQueryTests", "ActorRealmTests", "RealmModelTests", "RealmStorageTests"],
    "ActorRealm": ["ActorRealmTests", "RealmQueryTests", "RealmModelTests", "RealmStorageTests"],
}
COLOUR = re.compile("\x1b\\[[0-9;]*m")
WORDS = re.compile("[A-Z][a-z]+|[A-Z]+(?![a-z])")
REACH_BYTES = 65536
FAILED = re.compile(r'✘ (?:Test|Suite) "?(.*?)"? (?:recorded an issue(?:.*? at (\w+)[^ :]*\.swift:)?|failed after)')
ENDLESS = "does not end"
# A change may ask for memory without end; other programs live here as well. Address space alone is no memory.
MEMORY_BYTES = 6 << 30
# Slower suites come last, and a first pass does not wait for their ends.
SLOW_SECONDS = 20


class Suites:
    def __init__(self, folder, package, mutations, edited, workers):
        self.folder = folder
        self.package = package
        binaries = subprocess.run(
            ["swift", "build", "--package-path", package, "--show-bin-path"],
            text=True,
            stdout=subprocess.PIPE,
            check=True,
        ).stdout.strip()
        self.tests = os.path.join(binaries, "actor-realmPackageTests.xctest")
        self.keys = {json.dumps(key): number for key, number in mutations.items()}
        self.store = os.path.join(folder, "reach.json")
        self.edited = edited
        self.workers = workers
        self.reach = {}
        self.durations = {}
        self.slow = set()
        self.lock = threading.Lock()

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

    # MARK: Running

    def run(self, suites, number, limit, reach=None):
        """Runs suites until the first failure: nil when all pass, else what was noticed, the file and the line that say it."""
        temporary = os.path.join(self.folder, f"temporary-{os.getpid()}-{threading.get_ident()}")
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
        )
        try:
            found = outcome(process, time.monotonic() + limit)
            return found and (*found[:2], found[2].replace(self.folder, "").strip()[:400])
        finally:
            # Its children are in its session, too, and may have outlived it.
            try:
                os.killpg(process.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
            process.stdout.close()
            process.wait()
            shutil.rmtree(temporary, ignore_errors=True)

    def notices(self, suites, number):
        """What suites notice of a change twice, which, and what they print; a machine that is busy elsewhere fails a test once."""
        first = self.run(suites, number, self.limit(suites))
        if not first:
            return None
        told, file, _ = first
        near = [suite for suite in suites if suite.split(".")[1] == file] or suites
        limit = self.limit(near)
        if told == ENDLESS:
            # What they take without the change, with the processors as busy as they are now.
            began = time.monotonic()
            if self.run(near, 0, 4 * limit):
                return None
            limit = max(limit, 4 * (time.monotonic() - began) + 10)
        second = self.run(near, number, limit)
        return (second[0], near, second[2]) if second else None

    def limit(self, suites):
        return 3 * sum(self.durations[suite] for suite in suites) + 10

    # MARK: What reaches a change

    def measure(self, beginning="", only=None):
        """Runs each suite once without a change, and keeps what it reaches; what fails that way twice is left out."""
        known = self.read()
        names = self.names()
        for suite in sorted((only or set()).difference(names)):
            print(f"there is no suite {suite}", flush=True)
        asked = names if only is None else only.intersection(names)
        left = [suite for suite in sorted(asked) if suite not in known and suite.startswith(beginning)]
        with concurrent.futures.ThreadPoolExecutor(self.workers) as pool:
            for suite, entry in pool.map(lambda suite: (suite, self.measured(suite, SLOW_SECONDS)), left):
                known[suite] = entry
                seconds, count = entry["seconds"], len(entry["reached"])
                print(f"{seconds:6.1f} s  {count:5} reached  {suite}  {entry['failure'] or ''}", flush=True)
                self.write(known)
        for suite, entry in known.items():
            if entry["failure"] and entry["failure"] != ENDLESS:
                print(f"left out, fails without a change: {suite}: {entry['failure']}", flush=True)
                continue
            self.durations[suite] = entry["seconds"]
            self.reach[suite] = set(entry["reached"])
            if entry["failure"]:
                self.slow.add(suite)

    def measured(self, suite, limit):
        path = os.path.join(self.folder, f"reached-{os.getpid()}-{threading.get_ident()}")
        with open(path, "wb") as file:
            file.write(bytes(REACH_BYTES))
        began = time.monotonic()
        failure = self.run([suite], 0, limit, path)
        if failure and failure[0] != ENDLESS:
            began = time.monotonic()
            failure = self.run([suite], 0, limit, path)
        with open(path, "rb") as file:
            reached = [number for number, byte in enumerate(file.read()) if byte]
        return {"seconds": time.monotonic() - began, "reached": reached, "failure": failure and failure[0]}

    def finish(self, suites):
        """Waits for the ends of slow suites once, before they are asked of a change."""
        with self.lock:
            for suite in self.slow.intersection(suites):
                entry = self.measured(suite, 900)
                self.slow.remove(suite)
                self.durations[suite] = entry["seconds"]
                if entry["failure"]:
                    print(f"left out, fails without a change: {suite}: {entry['failure']}", flush=True)
                    del self.reach[suite]
        return [suite for suite in suites if suite in self.reach]

    def read(self):
        """What an earlier run measured, in the numbers of this one; nothing, when it can not know of all changes."""
        if not os.path.exists(self.store) or self.edited is None:
            return {}
        with open(self.store) as file:
            stored = json.load(file)
        former = {number: key for key, number in stored["keys"].items()}
        if not self.keys.keys() <= stored["keys"].keys():
            return {}
        known = {}
        for suite, entry in stored["suites"].items():
            if suite.split(".")[1] not in self.edited:
                numbers = [self.keys[former[number]] for number in entry["reached"] if former.get(number) in self.keys]
                known[suite] = dict(entry, reached=numbers)
        return known

    def write(self, known):
        with open(self.store + ".new", "w") as file:
            json.dump({"keys": self.keys, "suites": known}, file)
        os.replace(self.store + ".new", self.store)

    def reaching(self, mutation, first=()):
        """Those that reach a change: first the ones that are asked for, then the nearest and the shortest, at last the slow."""
        path = mutation["file"].split("/")
        order = NEAREST[path[1]]
        words = set(WORDS.findall("".join(path[2:])))

        def cost(suite):
            target, own = suite.split(".", 1)[0], set(WORDS.findall(suite.split(".", 1)[1])) - {"Tests"}
            shared = len(words & own) / len(own) if own else 0
            # A suite that comes to few places says more of each.
            width = len(self.reach[suite]) ** 0.5
            return (self.durations[suite] + 0.3) * (1 + order.index(target)) * width / (1 + 4 * shared)

        reaching = [suite for suite, numbers in self.reach.items() if mutation["number"] in numbers or suite in first]
        return sorted(reaching, key=lambda suite: (suite not in first, self.durations[suite] > 10, cost(suite)))

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


def outcome(process, end):
    report, rest = "", b""
    while True:
        left = end - time.monotonic()
        if left <= 0:
            return ENDLESS, None, ""
        if resident(process) > MEMORY_BYTES:
            return "takes memory without end", None, ""
        if not select.select([process.stdout], [], [], min(left, 0.5))[0]:
            continue
        data = os.read(process.stdout.fileno(), 65536)
        if not data:
            break
        *whole, rest = (rest + data).split(b"\n")
        for line in whole:
            text = COLOUR.sub("", line.decode(errors="replace"))
            if "Fatal error" in text or "error:" in text:
                report = text
            found = FAILED.search(text)
            if found:
                return found.group(1), found.group(2), text
    try:
        status = process.wait(timeout=max(1, end - time.monotonic()))
    except subprocess.TimeoutExpired:
        return ENDLESS, None, ""
    if status == 0:
        return None
    return f"status {status} {report}".strip()[:200], None, report


def resident(process):
    """The bytes of memory that a process has."""
    try:
        with open(f"/proc/{process.pid}/statm") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, IndexError):
        return 0
