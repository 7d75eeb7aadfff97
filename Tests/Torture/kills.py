"""kill -9 at random moments and inside system calls: what was acknowledged is there, everything else whole or not at all."""

import random
import threading
import time

from torture import *


class Workload:
    """Random changes, and the states that the file may be in."""

    def __init__(self, rng):
        self.rng = rng
        self.known = {}
        self.pending = None
        self.version = 0
        self.acknowledged = 0

    def value(self):
        length = self.rng.choice([1, 5, 30, 200]) if self.rng.random() < 0.98 else self.rng.choice([5000, 40000])
        return "".join(self.rng.choices("abcdefghijklmnop", k=min(length, 8))) * (length // 8 + 1)

    def key(self):
        return f"k{self.rng.randrange(300)}"

    def one(self, state):
        """One change: the operation of a txn, applied to the state."""
        kind, key = self.rng.random(), self.key()
        if kind < 0.6:
            state[key] = self.value()
            return f"w:{key}:{state[key]}"
        if kind < 0.8:
            state.pop(key, None)
            return f"d:{key}"
        value = self.value()
        state[key] = f"{state[key]},{value}" if state.get(key) else value
        if len(state[key]) > 100_000:
            state[key] = value
            return f"w:{key}:{value}"
        return f"a:{key}:{value}"

    def step(self, driver):
        """One acknowledged change, or a death on the way."""
        after = dict(self.known)
        kind = self.rng.random()
        if kind < 0.7:
            count = 1 if kind < 0.5 else self.rng.randrange(2, 30)
            request = "txn " + " ".join(self.one(after) for _ in range(count))
            self.pending = after
            version = int(driver.need(request)[0])
        elif kind < 0.85:
            key, value = self.key(), self.value()
            after[key] = value
            self.pending = after
            version = int(driver.need(f"put {key} {value}")[0])
        else:
            driver.need("begin")
            for _ in range(self.rng.randrange(1, 10)):
                key, value = self.key(), self.value()
                after[key] = value
                driver.need(f"put {key} {value}")
            if self.rng.random() < 0.2:
                driver.need("abort")
                return
            self.pending = after
            version = int(driver.need("commit")[0])
        expect(version > self.version, f"version {version} came after {self.version}")
        self.known, self.pending, self.version = after, None, version
        self.acknowledged += 1

    def check(self, driver, context):
        """The state is the acknowledged one, or the one that was on the way."""
        pairs, version = driver.list()
        expect(version >= self.version, f"{context}: version {version}, but {self.version} was acknowledged")
        if pairs != self.known:
            if self.pending is None or pairs != self.pending:
                wrong = [key for key in set(pairs) | set(self.known) if pairs.get(key) != self.known.get(key)]
                raise Failure(f"{context}: neither the acknowledged state nor the one on the way: {wrong[:5]}")
            self.known = pairs
        self.pending, self.version = None, version


def reopen(workload, path, context, **arguments):
    driver = Driver(**arguments)
    try:
        driver.need(f"open {path}")
        workload.check(driver, context)
        return driver
    except Died as death:
        raise Failure(f"{context}: {death}")


def random_moments(count, seed, base=None):
    """Kills at random moments, opening included."""
    rng = random.Random(seed)
    with Folder(base) as folder:
        path, workload = folder.file(), Workload(rng)
        verified = 0
        for number in range(count):
            context = f"kill {number}, seed {seed}"
            if number % 50 == 49:
                folder.empty()
                workload = Workload(rng)
            driver = Driver()
            delay = rng.uniform(0, 0.04 if number % 3 else 0.012)
            timer = threading.Timer(delay, driver.process.kill)
            timer.start()
            try:
                driver.need(f"open {path}")
                workload.check(driver, context)
                while True:
                    workload.step(driver)
            except Died:
                pass
            timer.join()
            driver.must_have_been_killed()
            if number % 10 == 9:
                driver = reopen(workload, path, context)
                driver.need("verify")
                verified += 1
                if number % 20 == 19:
                    workload.step(driver)
                    driver.end()
                else:
                    driver.kill()
        return f"{count} kills at random moments, {verified} verifications"


def inside_calls(count, seed, base=None):
    """Deaths before, within and after system calls on the file, opening and closing included."""
    rng = random.Random(seed)
    with Folder(base) as folder:
        control = Control(folder.path)
        path, workload = folder.file(), Workload(rng)
        deaths = [0] * 9
        number = 0
        while number < count:
            context = f"death {number}, seed {seed}"
            if number % 40 == 39:
                folder.empty()
                workload = Workload(rng)
            mode = rng.choice([DIE_BEFORE, DIE_WITHIN, DIE_AFTER])
            in_opening = rng.random() < 0.4
            driver = Driver(control=control)
            try:
                if in_opening:
                    control.arm(rng.randrange(2100) if rng.random() < 0.05 else rng.randrange(40), mode)
                driver.need(f"open {path}")
                workload.check(driver, context)
                if not in_opening:
                    kinds = rng.choice([1 << WRITE | 1 << FLUSH | 1 << TRUNCATE, ALL_KINDS])
                    control.arm(rng.randrange(30), mode, kinds=kinds)
                for _ in range(40):
                    workload.step(driver)
                driver.need("close")
            except Died:
                driver.must_have_been_killed()
                deaths[control.last_kind] += 1
                number += 1
            else:
                driver.end()
            control.disarm()
            if number % 5 == 0:
                driver = reopen(workload, path, context)
                driver.need("verify")
                driver.end() if rng.random() < 0.5 else driver.kill()
        control.close()
        told = ", ".join(f"{n} in {KIND_NAMES[k]}" for k, n in enumerate(deaths) if n)
        return f"{count} deaths inside system calls: {told}"
