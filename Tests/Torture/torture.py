"""What the parts of the torture tests share: the driver's process, and the library that makes its system calls fail."""

import errno
import mmap
import os
import random
import select
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time

TIMEOUT = float(os.environ.get("TORTURE_TIMEOUT", "300"))
HERE = os.path.dirname(os.path.abspath(__file__))
# What the library takes the variable ACTOR_REALM_LOG for.
LOG_MODES = ("off", "log", "ondemand")

# The modes and kinds of failing-calls.c.
COUNT_ONLY, FAIL_ONCE, FAIL_FROM_HERE_ON, SHORT_ONCE, DIE_BEFORE, DIE_WITHIN, DIE_AFTER = range(7)
OPEN, WRITE, FLUSH, TRUNCATE, MAP, LOCK, NAME, EXAMINE, THREAD = range(9)
KIND_NAMES = "open write flush truncate map lock name examine thread".split()
ALL_KINDS = (1 << 9) - 1


class Failure(Exception):
    """A promise that was broken."""


class Died(Exception):
    """The driver's process ended."""


def expect(condition, text):
    if not condition:
        raise Failure(text)


def log_mode():
    """How the drivers keep what they commit, where the environment says so to them as to this program."""
    return os.environ.get("ACTOR_REALM_LOG") or "ondemand"


class Driver:
    """One process of realm-torture."""

    binary = None
    library = None

    def __init__(self, control=None, wrapper=(), times=None, **extra):
        environment = dict(os.environ, SWIFT_BACKTRACE="enable=no")
        if control:
            environment["LD_PRELOAD"] = Driver.library
            environment["FAILING_CALLS_FOLDER"] = control.folder
            environment["FAILING_CALLS_CONTROL"] = control.path
        self.errors = tempfile.TemporaryFile()
        self.process = subprocess.Popen(
            [*wrapper, Driver.binary, *(("--times", times) if times else ())],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.errors,
            env=environment,
            bufsize=0,
            **extra,
        )
        self.buffer = b""

    def send(self, request):
        try:
            self.process.stdin.write(request.encode() + b"\n")
        except BrokenPipeError:
            raise Died(self.obituary())

    def line(self, timeout=TIMEOUT):
        deadline = time.monotonic() + timeout
        while b"\n" not in self.buffer:
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([self.process.stdout], [], [], left)[0]:
                self.process.kill()
                raise Failure(f"no reply within {timeout} s")
            data = os.read(self.process.stdout.fileno(), 1 << 20)
            if not data:
                raise Died(self.obituary())
            self.buffer += data
        line, self.buffer = self.buffer.split(b"\n", 1)
        return line.decode()

    def ask(self, request, timeout=TIMEOUT):
        """The reply, in one line."""
        self.send(request)
        return self.line(timeout)

    def need(self, request, timeout=TIMEOUT):
        """The words of a reply that must be ok."""
        reply = self.ask(request, timeout)
        expect(reply.split(" ")[0] == "ok", f"{request[:60]}: {reply[:300]}")
        return reply.split(" ")[1:]

    def close_file(self):
        """Closes the file, and waits for the moment that a thread which just ends may have it open still."""
        self.need("close")
        folder = f"/proc/{self.process.pid}/fd"
        deadline = time.monotonic() + 10
        while any(self.target(f"{folder}/{name}").endswith(".lock") for name in os.listdir(folder)):
            expect(time.monotonic() < deadline, "a closed file stays open")
            time.sleep(0.001)

    @staticmethod
    def target(link):
        try:
            return os.readlink(link)
        except FileNotFoundError:
            return ""

    def list(self, timeout=TIMEOUT):
        """The pairs and the version."""
        self.send("list")
        pairs = {}
        while True:
            line = self.line(timeout)
            if line.startswith("= "):
                _, key, value = line.split(" ")
                expect(key not in pairs, f"{key} is listed twice")
                pairs[key] = value
            else:
                words = line.split(" ")
                expect(words[0] == "ok", f"list: {line}")
                expect(int(words[2]) == len(pairs), f"list says {words[2]} pairs and shows {len(pairs)}")
                return pairs, int(words[1])

    def kill(self):
        self.process.kill()
        self.process.wait()
        self.dispose()

    def end(self):
        """Ends the input; the process must end well."""
        self.process.stdin.close()
        try:
            status = self.process.wait(TIMEOUT)
        except subprocess.TimeoutExpired:
            self.kill()
            raise Failure("the process does not end with its input")
        expect(status == 0, f"status {status}: {self.standard_error()}")
        self.dispose()

    def dispose(self):
        for stream in (self.process.stdin, self.process.stdout):
            if stream and not stream.closed:
                stream.close()
        self.errors.close()

    def standard_error(self):
        self.errors.seek(0)
        return self.errors.read().decode(errors="replace")[-2000:]

    def obituary(self):
        status = self.process.wait()
        return f"status {status}: {self.standard_error()}"

    def must_have_been_killed(self):
        """After a death that the test ordered: everything else is a trap."""
        status = self.process.wait(TIMEOUT)
        text = self.standard_error()
        self.dispose()
        expect(status == -signal.SIGKILL, f"the driver ended by itself, status {status}: {text}")


class Control:
    """The control block of failing-calls.c."""

    FORMAT = "qqiiIi"

    def __init__(self, folder):
        self.folder = folder
        self.path = tempfile.mktemp(prefix="realm-control-")
        with open(self.path, "wb") as file:
            file.write(bytes(4096))
        with open(self.path, "r+b") as file:
            self.memory = mmap.mmap(file.fileno(), 4096)
        self.disarm()

    def arm(self, at, mode, error=errno.EIO, kinds=ALL_KINDS):
        struct.pack_into(self.FORMAT, self.memory, 0, 0, at, error, mode, kinds, -1)

    def count_only(self, kinds=ALL_KINDS):
        self.arm(-1, COUNT_ONLY, kinds=kinds)

    def disarm(self):
        struct.pack_into(self.FORMAT, self.memory, 0, self.count if hasattr(self, "memory") else 0, -1, 0, 0, 0, self.last_kind)

    @property
    def count(self):
        return struct.unpack_from(self.FORMAT, self.memory)[0]

    @property
    def last_kind(self):
        return struct.unpack_from(self.FORMAT, self.memory)[5]

    @property
    def did_fail(self):
        return self.last_kind >= 0

    def close(self):
        self.memory.close()
        os.unlink(self.path)


class Folder:
    """A folder of its own, removed at the end."""

    def __init__(self, base=None):
        self.path = tempfile.mkdtemp(prefix="realm-torture-", dir=base)

    def file(self, name="t.realm"):
        return os.path.join(self.path, name)

    def empty(self):
        for name in os.listdir(self.path):
            os.unlink(os.path.join(self.path, name))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.path, ignore_errors=True)


def code(reply):
    """ok, none, or the code of an error."""
    words = reply.split(" ")
    return words[1] if words[0] == "err" else words[0]


def build_library(folder):
    path = os.path.join(folder, "failing-calls.so")
    compiler = shutil.which("clang") or shutil.which("gcc")
    subprocess.run(
        [compiler, "-O1", "-shared", "-fPIC", "-o", path, os.path.join(HERE, "failing-calls.c"), "-ldl", "-lpthread"],
        check=True,
    )
    return path
