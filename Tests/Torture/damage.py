"""Damaged files: an error that says so, or no effect; never a trap, a hang, or an older state taken for the newest."""

from torture import *
from kills import Workload

PAGE = 4096
REFUSALS = {"corrupt", "badfile", "limit", "io"}
# A process that keeps a log is killed instead of closing its file: its log is damaged, too.
KEEPS_LOG = log_mode() != "off"
SUFFIXES = ("", ".log", ".lock")


class Original:
    """A file of many small and some large commits, closed, or killed beside its log, and what is in it."""

    def __init__(self, path, seed, commits=40):
        self.path = path
        workload = Workload(random.Random(seed))
        driver = Driver()
        driver.need(f"open {path}")
        # What was there before the last commit.
        self.before = {}
        for _ in range(commits):
            before, version = workload.known, workload.version
            workload.step(driver)
            if workload.version != version:
                self.before = before
        self.known, self.version = workload.known, workload.version
        if KEEPS_LOG:
            self.wait_for_note()
            driver.kill()
        else:
            driver.need("close")
            driver.end()
        self.data = {suffix: self.read(suffix) for suffix in SUFFIXES}

    def wait_for_note(self):
        """Waits until the log says how far it is durable: until then damage to its last record looks like the torn end of a flush.

        Some milliseconds behind the last commit it does; where that commit is a checkpoint, it need not.
        """
        deadline = time.monotonic() + 3
        while time.monotonic() < deadline:
            log = self.read(".log")
            # Format and kind of a frame.
            if log is None or any(log[at + 12] == 1 and log[at + 13] in (3, 4) for at in range(PAGE, len(log), PAGE)):
                return
            time.sleep(0.01)

    def read(self, suffix):
        """What a file holds; None where there is none."""
        try:
            with open(self.path + suffix, "rb") as file:
                return file.read()
        except FileNotFoundError:
            return None


def remove(path):
    for suffix in SUFFIXES:
        if os.path.exists(path + suffix):
            os.unlink(path + suffix)


def examine(driver, path, original, context, may_lack_last=False):
    """What a damaged file does: `refused`, `verify` when only the verification finds it, `intact`, or `shorter`.

    The last one is for a log that has lost its last record with all that calls it durable. The process goes on after it, and must do the
    same with the next file.
    """
    known = original.known
    try:
        reply = driver.ask(f"open {path}")
        if code(reply) != "ok":
            expect(code(reply) in REFUSALS, f"{context}: {reply}")
            return "refused"
        found = int(reply.split(" ")[1])
        pairs, _ = driver.list()
        if may_lack_last and found < original.version and pairs == original.before:
            driver.close_file()
            return "shorter"
        expect(
            found >= original.version,
            f"{context}: version {found} is passed off as the newest, which is {original.version}",
        )
        expect(pairs == known, f"{context}: wrong data is believed")
        for key in list(known)[:3]:
            expect(driver.ask(f"get {key}") == f"ok {known[key]}", f"{context}: wrong value")
        reply = driver.ask("verify")
        expect(code(reply) in ("ok", "corrupt"), f"{context}: {reply}")
        result = "intact" if code(reply) == "ok" else "verify"
        # A file that is taken for whole must bear a change.
        if result == "intact":
            driver.need("put after damage")
            driver.need("verify")
        # The next file has the same name.
        driver.close_file()
        return result
    except Died as death:
        raise Failure(f"{context}: {death}")


def edits(rng, data, used=None):
    """A damaged copy, and what was done to it; most of that to one of the used pages, where they are given."""
    data = bytearray(data)
    pages = len(data) // PAGE
    kind = rng.randrange(9)
    page, other = rng.randrange(pages), rng.randrange(pages)
    if used and rng.random() < 0.8:
        page = rng.choice(used)
    at = page * PAGE
    if kind == 0:
        place = at + rng.randrange(PAGE) if used else rng.randrange(len(data))
        data[place] ^= 1 << rng.randrange(8)
        return data, f"bit in byte {place}"
    if kind == 1:
        length = rng.choice([rng.randrange(len(data)), rng.randrange(pages) * PAGE, len(data) - 1])
        return data[:length], f"cut to {length} bytes"
    if kind == 2:
        data[at : at + PAGE], data[other * PAGE : (other + 1) * PAGE] = (
            data[other * PAGE : (other + 1) * PAGE],
            data[at : at + PAGE],
        )
        return data, f"pages {page} and {other} swapped"
    if kind == 3:
        data[at : at + PAGE] = bytes(PAGE)
        return data, f"page {page} zeroed"
    if kind == 4:
        data[at : at + PAGE] = data[other * PAGE : (other + 1) * PAGE]
        return data, f"page {page} is a copy of {other}"
    if kind == 5:
        data[at : at + PAGE] = rng.randbytes(PAGE)
        return data, f"page {page} random"
    if kind == 6:
        place = at + rng.choice([0, 4, 8, 16, 18, 20, 24, 32, 40, 48, 56, 64, 72, 80, 88, 104, 112, 116, 120, 128, 136, 144])
        width = rng.choice([1, 2, 4, 8])
        value = rng.choice([0, 1, 0xFF, 0x7FFFFFFF, 0xFFFFFFFF, (1 << 64) - 1, rng.getrandbits(64)])
        data[place : place + width] = (value & ((1 << (8 * width)) - 1)).to_bytes(width, "little")
        return data, f"number at {place} set to {value:#x}"
    if kind == 7:
        start = at + rng.randrange(8) * 512
        data[start : start + 512] = bytes(512)
        return data, f"sector at {start} zeroed"
    data += rng.randbytes(rng.randrange(1, 3 * PAGE))
    return data, "bytes behind the end"


def damage_log(rng, data):
    """A damaged log, or none, and what was done to it."""
    if rng.random() < 0.05:
        return None, "log gone"
    used = [page for page in range(len(data) // PAGE) if any(data[page * PAGE : (page + 1) * PAGE])]
    damaged, what = edits(rng, data, used)
    return damaged, f"log: {what}"


def claim(path):
    """Has a lock file say that it belongs to the file beside it: an empty file beside another one's lock file is a new realm."""
    status = os.stat(path)
    with open(path + ".lock", "r+b") as file:
        # Device and inode of the realm file (Docs/FileFormat.md, the lock file).
        file.seek(64)
        file.write(status.st_dev.to_bytes(8, "little") + status.st_ino.to_bytes(8, "little"))


def random_edits(count, seed):
    """Damage to closed files; where a log is kept, to files of killed processes, and to their logs."""
    rng = random.Random(seed)
    with Folder() as folder:
        path = folder.file("damaged.realm")
        outcomes, logs = {}, 0
        original = driver = None
        for number in range(count):
            if number % 200 == 0:
                if driver:
                    driver.end()
                driver = Driver()
                remove(folder.file("original.realm"))
                original = Original(folder.file("original.realm"), rng.random())
            data = dict(original.data)
            # A short life may have made none.
            edits_log = data[".log"] is not None and rng.random() < 0.5
            if edits_log:
                data[".log"], what = damage_log(rng, data[".log"])
                logs += 1
            else:
                data[""], what = edits(rng, data[""])
            has_lock = rng.random() < 0.5
            if not has_lock:
                data[".lock"] = None
                if not data[""]:
                    # An empty file without a lock file is a new realm.
                    continue
            remove(path)
            for suffix in SUFFIXES:
                if data[suffix] is not None:
                    with open(path + suffix, "wb") as file:
                        file.write(data[suffix])
            if has_lock and not data[""]:
                claim(path)
            # Two blocks at once may be the last record and what says that it is durable; the lock file says so, too.
            may_lack_last = edits_log and not has_lock and " swapped" in what
            context = f"edit {number}, seed {seed}, {what}, {'with' if has_lock else 'without'} a lock file"
            outcome = examine(driver, path, original, context, may_lack_last)
            outcomes[outcome] = outcomes.get(outcome, 0) + 1
        driver.end()
        told = f", {logs} of them to a log" if KEEPS_LOG else ""
        return f"{count} edits{told}: {outcomes}"


def open_when_free(driver, path):
    """Opens a file in place of one that was closed: a thread that just ends may have the old one open for a moment."""
    deadline = time.monotonic() + 10
    while True:
        reply = driver.ask(f"open {path}", 60)
        if code(reply) != "locked" or time.monotonic() > deadline:
            return expect(code(reply) == "ok", f"open {path}: {reply}")
        time.sleep(0.01)


def while_open(seed):
    """Lock files deleted and replaced, the file deleted, replaced, cut and damaged while it is open."""
    told = []
    with Folder() as folder:
        path = folder.file()
        first, second = Driver(), Driver()
        first.need(f"open {path}")
        first.need("put a 1")
        os.unlink(path + ".lock")
        reply = second.ask(f"open {path}", 60)
        expect(code(reply) == "locked", f"a deleted lock file: {reply}")
        first.need("put a 2")
        with open(path + ".lock", "wb") as file:
            file.write(os.urandom(100_000))
        expect(code(second.ask(f"open {path}", 60)) == "locked", "a replaced lock file")
        first.need("put a 3")
        first.end()
        # What is no lock file is left as it is, until somebody moves it.
        expect(code(second.ask(f"open {path}", 60)) == "locked", "a file that is no lock file")
        os.unlink(path + ".lock")
        second.need(f"open {path}")
        expect(second.ask("get a") == "ok 3", "what was written beside a deleted lock file is lost")
        second.end()
        told.append("lock file deleted and replaced")
    with Folder() as folder:
        path = folder.file()
        first, second = Driver(), Driver()
        first.need(f"open {path}")
        first.need("put a 1")
        os.link(path, folder.file("other.realm"))
        reply = second.ask(f"open {folder.file('other.realm')}", 60)
        expect(code(reply) == "locked", f"a second name: {reply}")
        first.end()
        second.need(f"open {folder.file('other.realm')}")
        expect(second.ask("get a") == "ok 1", "a second name")
        second.end()
        told.append("two names")
    for how in ("deleted", "replaced", "moved"):
        with Folder() as folder:
            path = folder.file()
            first, second = Driver(), Driver()
            first.need(f"open {path}")
            first.need("put a 1")
            if how == "deleted":
                os.unlink(path)
            elif how == "replaced":
                shutil.copy(path, path + ".copy")
                os.rename(path + ".copy", path)
            else:
                os.rename(path, folder.file("old.realm"))
                shutil.copy(folder.file("old.realm"), path)
            reply = second.ask(f"open {path}", 60)
            expect(code(reply) == "locked", f"{how}: a second process opens: {reply}")
            reply = first.ask("put a 2")
            if how == "moved":
                expect(code(reply) == "ok", f"moved: {reply}")
            else:
                expect(code(reply) == "io", f"{how}: a write is acknowledged: {reply}")
            expect(first.ask("get a") == ("ok 2" if how == "moved" else "ok 1"), f"{how}: a read")
            first.need("close")
            open_when_free(first, path)
            expect(first.ask("get a") == ("none" if how == "deleted" else "ok 1"), f"{how}: reopened")
            first.need("put a 3")
            first.end()
            second.end()
            told.append("file " + how)
    with Folder() as folder:
        path = folder.file()
        driver = Driver()
        driver.need(f"open {path}")
        driver.need("txn " + " ".join(f"w:k{n}:{'v' * 500}" for n in range(400)))
        os.truncate(path, os.path.getsize(path) // 2)
        reply = driver.ask("put a 2")
        expect(code(reply) == "corrupt", f"cut while open: {reply}")
        driver.kill()
        driver = Driver()
        expect(code(driver.ask(f"open {path}")) in REFUSALS, "a file that was cut opens")
        driver.end()
        told.append("file cut, found by a write")
    with Folder() as folder:
        path = folder.file()
        driver = Driver()
        driver.need(f"open {path}")
        driver.need("txn " + " ".join(f"w:k{n}:{'v' * 500}" for n in range(400)))
        driver.need("verify")
        with open(path, "r+b") as file:
            file.seek(-200 * PAGE if os.path.getsize(path) > 200 * PAGE else 6 * PAGE, os.SEEK_END if os.path.getsize(path) > 200 * PAGE else 0)
            file.seek(0)
            data = file.read()
            place = data.rfind(b"v" * 100)
            file.seek(place)
            file.write(b"w")
        reply = driver.ask("verify")
        expect(code(reply) == "corrupt", f"damage while open, after a first verification: {reply}")
        driver.end()
        told.append("damage while open found by verify")
    return ", ".join(told)
