"""Several processes on one file: the histories of their transactions are serializable in the order of the versions and of real
time, whoever is killed meanwhile; nobody waits long for the dead; and the dead pin nothing."""

import hashlib
import itertools
import threading

from torture import *


def digest(text):
    return hashlib.blake2b(text.encode(), digest_size=16)


def brief(result):
    """What is kept of an answer: minutes of answers with whole lists would not fit into the memory."""
    return result if len(result) <= 64 else (len(result), digest(result).digest(), result[-40:])


class List:
    """A list of the replay, and what reading it answers."""

    def __init__(self):
        self.elements, self.length, self.hash, self.tail = [], -1, digest(""), ""

    def append(self, element):
        text = element if not self.elements else "," + element
        self.elements.append(element)
        self.length += len(element) + 1
        self.hash.update(text.encode())
        self.tail = (self.tail + text)[-64:]

    @property
    def answer(self):
        return self.tail if self.length <= 64 else (self.length, self.hash.copy().digest(), self.tail[-40:])


class Event:
    """One transaction of a client: its operations, and what it answered, if it did."""

    __slots__ = ("operations", "began", "ended", "version", "results", "client")

    def __init__(self, operations, client):
        self.operations, self.client = operations, client
        self.began = time.monotonic()
        self.ended = self.version = self.results = None

    @property
    def writes(self):
        return any(not operation.startswith("r:") for operation in self.operations)


class Client(threading.Thread):
    """A process that appends to lists and reads them, until it is told to stop; when it is killed another takes its place."""

    def __init__(self, name, path, seed, lists, ends, pace=0.0, begins=0.1):
        super().__init__(daemon=True)
        self.id, self.path, self.lists, self.ends, self.pace, self.begins = name, path, lists, ends, pace, begins
        self.rng = random.Random(seed)
        self.began = time.monotonic()
        self.events, self.waits, self.deaths = [], [], 0
        self.failure = None
        self.driver = None
        self.numbers = itertools.count()

    def operations(self):
        result = []
        # Other lists after a while: those before them would only make answers longer.
        first = self.lists * int((time.monotonic() - self.began) / 20)
        for _ in range(self.rng.randrange(1, 5)):
            name = f"l{first + self.rng.randrange(self.lists)}"
            if self.rng.random() < 0.5:
                result.append(f"r:{name}")
            else:
                result.append(f"a:{name}:{self.id}.{next(self.numbers)}")
        return result

    def run(self):
        try:
            while time.monotonic() < self.ends:
                self.driver = Driver()
                try:
                    self.driver.need(f"open {self.path}")
                    while time.monotonic() < self.ends:
                        self.step()
                    try:
                        self.driver.end()
                    except Failure:
                        # Killed while it was ending.
                        if self.driver.process.returncode != -signal.SIGKILL:
                            raise
                        self.deaths += 1
                except Died:
                    self.driver.must_have_been_killed()
                    self.deaths += 1
        except Exception as failure:
            self.failure = failure

    def step(self):
        if self.rng.random() < self.begins:
            # Holds the write lock for a while.
            self.driver.need("begin")
            if self.pace:
                time.sleep(self.rng.uniform(0, 0.005))
            self.driver.need("abort")
        event = Event(self.operations(), self.id)
        self.events.append(event)
        words = self.driver.need("txn " + " ".join(event.operations))
        event.ended = time.monotonic()
        event.version, event.results = int(words[0]), [brief(word) for word in words[1:]]
        self.waits.append((event.ended, event.ended - event.began))
        if self.pace:
            time.sleep(self.rng.uniform(0, self.pace))


def check(events, final, first_version):
    """Replays the transactions in the order of their versions; every result must be what the replay gives."""
    position = {}
    for name, text in final.items():
        for index, element in enumerate(text.split(",")):
            expect(element not in position, f"{element} was appended twice")
            position[element] = (name, index)
    elements = lambda event: [o.split(":", 2)[1:] for o in event.operations if o.startswith("a:")]
    done = [event for event in events if event.version is not None]
    lost = [event for event in events if event.version is None]
    writes = {}
    for event in done:
        if not event.writes:
            continue
        expect(event.version not in writes, f"two transactions answered version {event.version}")
        writes[event.version] = event
        for name, element in elements(event):
            expect(position.get(element, ("",))[0] == name, f"{element} was acknowledged in version {event.version} and is lost")
    # What was on the way when its process was killed is there whole or not at all, in a version that nobody answered.
    present = []
    for event in lost:
        found = [element in position for _, element in elements(event)]
        expect(all(found) or not any(found), f"half of a transaction is there: {event.operations}")
        if found and found[0]:
            present.append(event)
    place(present, elements, writes, {name: text.split(",") for name, text in final.items()}, first_version)
    resurrected = len(present)
    state = {}
    reads = sorted((event for event in done if not event.writes), key=lambda event: event.version)
    next_read = 0

    def replay(event, changes):
        results = []
        for operation in event.operations:
            kind, name, *value = operation.split(":", 2)
            if kind == "r":
                results.append(state[name].answer if name in state else "~")
            else:
                if changes:
                    state.setdefault(name, List()).append(value[0])
                results.append(".")
        expect(
            event.results is None or results == event.results,
            f"version {event.version} of {event.client}: {event.operations} answered {event.results}, not {results}",
        )

    for version in sorted(writes) + [float("inf")]:
        while next_read < len(reads) and reads[next_read].version < version:
            replay(reads[next_read], False)
            next_read += 1
        if version in writes:
            replay(writes[version], True)
    expect({name: ",".join(list_.elements) for name, list_ in state.items()} == final, "the final lists are not what the replay gives")
    # Real time: who begins after another's answer sees it.
    newest = 0
    moments = sorted(
        [(event.ended, 1, event) for event in done] + [(event.began, 0, event) for event in done], key=lambda m: m[:2]
    )
    floor = {}
    for _, is_end, event in moments:
        if is_end:
            expect(
                event.version >= floor[id(event)] + (1 if event.writes else 0),
                f"{event.client} answered version {event.version}, but {floor[id(event)]} was acknowledged before it began",
            )
            newest = max(newest, event.version)
        else:
            floor[id(event)] = newest
    return len(done), len(lost), resurrected


def place(present, elements, writes, order, first_version):
    """Finds versions for the transactions that are there and were not answered: each its own, in the order of the lists.

    That is scheduling jobs of length one with releases and deadlines that respect who comes before whom: the one with the next deadline
    takes the lowest version. Taking them one after the other without looking at the others would find none where there are some.
    """
    version_of = {element: version for version, event in writes.items() for _, element in elements(event)}
    event_of = {element: event for event in present for _, element in elements(event)}
    greatest = max(writes, default=first_version) + len(present) + 1
    low = {id(event): first_version for event in present}
    high = {id(event): greatest for event in present}
    for _ in range(len(present) + 1):
        changed = False
        for names in order.values():
            bound, owner = first_version, None
            for element in names:
                if element in version_of:
                    bound, owner = max(bound, version_of[element]), None
                elif element in event_of and event_of[element] is not owner:
                    owner = event_of[element]
                    changed |= bound > low[id(owner)]
                    low[id(owner)] = bound = max(low[id(owner)], bound)
                    # Whoever follows has a later version.
                    bound += 1
            bound, owner = greatest + 1, None
            for element in reversed(names):
                if element in version_of:
                    bound, owner = min(bound, version_of[element]), None
                elif element in event_of and event_of[element] is not owner:
                    owner = event_of[element]
                    changed |= bound < high[id(owner)]
                    high[id(owner)] = bound = min(high[id(owner)], bound)
                    bound -= 1
        if not changed:
            break
    left = list(present)
    version = first_version
    while left:
        ready = [event for event in left if low[id(event)] < version]
        if not ready:
            version = min(low[id(event)] for event in left) + 1
            continue
        if version in writes:
            version += 1
            continue
        event = min(ready, key=lambda event: high[id(event)])
        expect(
            version < high[id(event)],
            f"no version is left for a transaction that is there: {event.operations}, between {low[id(event)]} and {high[id(event)]};"
            f" of those the others answered {sorted(v for v in writes if low[id(event)] <= v <= high[id(event)])};"
            f" others that were not answered: {[(e.operations, low[id(e)], high[id(e)]) for e in present if e is not event]}",
        )
        event.version = version
        writes[version] = event
        left.remove(event)
        version += 1


def several_processes(count, seconds, seed, kills_per_second=0.0, base=None, limit=None):
    """`count` processes for some seconds; `limit` is the longest wait that is allowed."""
    rng = random.Random(seed)
    with Folder(base) as folder:
        path = folder.file()
        driver = Driver()
        first = int(driver.need(f"open {path}")[0])
        driver.end()
        ends = time.monotonic() + seconds
        clients = [Client(f"c{n}", path, rng.random(), 6, ends) for n in range(count)]
        for client in clients:
            client.start()
        kills = []
        while time.monotonic() < ends:
            time.sleep(0.02 if not kills_per_second else min(0.5, rng.expovariate(kills_per_second)))
            if kills_per_second:
                victim = rng.choice(clients)
                if victim.driver and victim.is_alive():
                    try:
                        os.kill(victim.driver.process.pid, signal.SIGKILL)
                        kills.append(time.monotonic())
                    except ProcessLookupError:
                        pass
        for client in clients:
            client.join(600)
            expect(not client.is_alive(), f"{client.id} hangs, seed {seed}")
            if client.failure:
                raise Failure(f"seed {seed}, {client.id}: {client.failure}")
        driver = Driver()
        driver.need(f"open {path}")
        final, _ = driver.list()
        driver.need("verify")
        driver.end()
        events = [event for client in clients for event in client.events]
        done, lost, resurrected = check(events, final, first)
        waits = sorted(wait for client in clients for _, wait in client.waits)
        shares = [len(client.waits) for client in clients]
        longest = waits[-1] * 1000
        text = (
            f"{count} processes, {done} transactions checked, {sum(c.deaths for c in clients)} killed with {lost} on the way"
            f" ({resurrected} of them there); waits: median {waits[len(waits) // 2] * 1000:.1f} ms,"
            f" 99.9 % {waits[int(len(waits) * 0.999)] * 1000:.1f} ms, longest {longest:.0f} ms;"
            f" the least and the most of one: {min(shares)} and {max(shares)}"
        )
        expect(limit is None or longest < limit, f"{text}: longer than {limit} ms")
        return text


class Reader(threading.Thread):
    """A process that holds one snapshot after another, until it is killed; then another takes its place."""

    def __init__(self, path, seed, ends):
        super().__init__(daemon=True)
        self.path, self.ends, self.rng = path, ends, random.Random(seed)
        self.driver = self.failure = None
        self.deaths = self.snapshots = 0

    def run(self):
        try:
            while time.monotonic() < self.ends:
                self.driver = Driver()
                try:
                    self.driver.need(f"open {self.path}")
                    while time.monotonic() < self.ends:
                        self.driver.need("snap")
                        before = self.driver.list()
                        time.sleep(self.rng.uniform(0, 0.2))
                        expect(self.driver.list() == before, "a snapshot changed")
                        self.snapshots += 1
                        self.driver.need("unsnap")
                    try:
                        self.driver.end()
                    except Failure:
                        # Killed while it was ending.
                        if self.driver.process.returncode != -signal.SIGKILL:
                            raise
                        self.deaths += 1
                except Died:
                    self.driver.must_have_been_killed()
                    self.deaths += 1
        except Exception as failure:
            self.failure = failure


def killed_readers(count, seconds, seed, limit=None):
    """`count` processes write the same keys again and again while readers with snapshots are killed at random.

    Nobody waits for the dead, and what they pinned is free again: the file does not grow from the first third of the
    time to the last. A write takes from where the process has read its request to where it knows the reply, by its own
    clock; what this program sees is told beside that. `limit` is the longest that is allowed, in milliseconds.
    """
    rng = random.Random(seed)
    with Folder() as folder:
        path = folder.file()
        driver = Driver()
        driver.need(f"open {path}")
        driver.need("txn " + " ".join(f"w:k{n}:{'v' * 200}" for n in range(100)))
        driver.end()
        began = time.monotonic()
        ends = began + seconds
        waits, seen, failures, sizes = [[] for _ in range(count)], [0] * count, [], []

        def write(number):
            own = random.Random(seed + number)
            try:
                times = folder.file(f"times-{number}")
                writer = Driver(times=times)
                writer.need(f"open {path}")
                while time.monotonic() < ends:
                    start = time.monotonic()
                    writer.need(f"put k{own.randrange(100)} {number}.{'w' * own.randrange(200)}")
                    seen[number] = max(seen[number], time.monotonic() - start)
                writer.end()
                with open(times) as file:
                    # The first request opened the file.
                    waits[number] = [int(line) / 1000 for line in file][1:]
            except Exception as failure:
                failures.append(failure)

        writers = [threading.Thread(target=write, args=(number,), daemon=True) for number in range(count)]
        readers = [Reader(path, rng.random(), ends) for _ in range(3)]
        for thread in writers + readers:
            thread.start()
        while time.monotonic() < ends:
            time.sleep(rng.uniform(0.05, 0.3))
            sizes.append((time.monotonic() - began, os.path.getsize(path)))
            victim = rng.choice(readers)
            if victim.driver and victim.is_alive():
                try:
                    os.kill(victim.driver.process.pid, signal.SIGKILL)
                except ProcessLookupError:
                    pass
        for thread in writers + readers:
            thread.join(600)
            expect(not thread.is_alive(), f"a process hangs, seed {seed}")
        failures += [reader.failure for reader in readers if reader.failure]
        if failures:
            raise Failure(f"seed {seed}: {failures[0]}")
        early = max(size for moment, size in sizes if moment <= max(seconds / 3, sizes[0][0]))
        late = max(size for moment, size in sizes if moment >= min(seconds * 2 / 3, sizes[-1][0]))
        driver = Driver()
        driver.need(f"open {path}")
        driver.need("verify")
        driver.end()
        every = sorted(wait for own in waits for wait in own)
        text = (
            f"{count} processes, {len(every)} writes, {sum(r.deaths for r in readers)} readers killed,"
            f" {sum(r.snapshots for r in readers)} snapshots held; waits: median {every[len(every) // 2]:.1f} ms,"
            f" 99.9 % {every[int(len(every) * 0.999)]:.1f} ms, longest {every[-1]:.0f} ms"
            f" (seen from outside {max(seen) * 1000:.0f} ms);"
            f" the least and the most of one: {min(map(len, waits))} and {max(map(len, waits))};"
            f" the file: {early} bytes at most in the first third, {late} in the last"
        )
        expect(late <= 2 * early, f"{text}: the dead pin pages")
        expect(limit is None or every[-1] < limit, f"{text}: longer than {limit} ms")
        return text


def dead_readers(rounds, overwrites, base=None, wrapper=()):
    """A reader that holds a snapshot is killed: its pages come back. A living one keeps what it reads."""
    with Folder(base) as folder:
        path = folder.file()
        writer = Driver(wrapper=wrapper)
        writer.need(f"open {path}")
        value = "v" * 2000
        writer.need("txn " + " ".join(f"w:k{n}:{value}" for n in range(100)))
        living = Driver(wrapper=wrapper)
        living.need(f"open {path}")
        living.need("snap")
        before = living.list()
        sizes = []
        for round in range(rounds):
            dead = Driver(wrapper=wrapper)
            dead.need(f"open {path}")
            dead.need("snap")
            for number in range(overwrites // rounds // 2):
                writer.need(f"put k7 {round}.{number}.{value}")
            dead.kill()
            for number in range(overwrites // rounds // 2):
                writer.need(f"put k7 {round}.{number}.{value}")
            sizes.append(os.path.getsize(path))
        expect(living.list() == before, "a snapshot of a living process changed")
        # The living snapshot keeps a second copy; the file grows by half of itself at once.
        expect(sizes[-1] <= 5 * 100 * 2100 + (1 << 20), f"the file grew to {sizes[-1]} bytes beside dead readers: {sizes}")
        writer.need("verify")
        living.end()
        writer.end()
        return f"{overwrites} overwrites beside {rounds} dead readers: {sizes[0]} bytes, then {sizes[-1]}"


def dead_writers(count, base=None):
    """A process dies with the write lock: the others go on at once, without its changes."""
    with Folder(base) as folder:
        path = folder.file()
        other = Driver()
        other.need(f"open {path}")
        waits = []
        for number in range(count):
            dying = Driver()
            dying.need(f"open {path}")
            dying.need("begin")
            dying.need("put dead 1")
            other.send(f"put k {number}")
            time.sleep(0.002)
            began = time.monotonic()
            dying.process.kill()
            expect(other.line().startswith("ok"), "the write after a death failed")
            waits.append((time.monotonic() - began) * 1000)
            dying.kill()
            expect(other.ask("get dead") == "none", "the change of a dead writer is there")
        other.end()
        waits.sort()
        # A few milliseconds; a busy machine is no reason to fail, a lock that is only given up after some time is.
        expect(waits[len(waits) // 2] < 5_000, f"others wait {waits[len(waits) // 2]:.0f} ms for a dead writer")
        return f"{count} writers died with the lock: others went on after {waits[len(waits) // 2]:.1f} ms, at most {waits[-1]:.0f}"
