"""Damaged files: an error that says so, or no effect; never a trap, a hang, or an older state taken for the newest."""

from torture import *
from kills import Workload

PAGE = 4096
REFUSALS = {"corrupt", "badfile", "limit", "io"}


def make(path, seed, commits=40):
    """A closed file of many small and some large commits, and what is in it."""
    workload = Workload(random.Random(seed))
    driver = Driver()
    driver.need(f"open {path}")
    for _ in range(commits):
        workload.step(driver)
    driver.need("close")
    driver.end()
    return workload.known, workload.version


def examine(driver, path, known, version, context):
    """What a damaged file does: `refused`, `verify` when only the verification finds it, or `intact`.

    The process goes on after it, and must do the same with the next file.
    """
    try:
        reply = driver.ask(f"open {path}")
        if code(reply) != "ok":
            expect(code(reply) in REFUSALS, f"{context}: {reply}")
            return "refused"
        found = int(reply.split(" ")[1])
        expect(found >= version, f"{context}: version {found} is passed off as the newest, which is {version}")
        pairs, _ = driver.list()
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
        driver.need("close")
        return result
    except Died as death:
        raise Failure(f"{context}: {death}")


def edits(rng, data):
    """A damaged copy, and what was done to it."""
    data = bytearray(data)
    pages = len(data) // PAGE
    kind = rng.randrange(9)
    page, other = rng.randrange(pages), rng.randrange(pages)
    at = page * PAGE
    if kind == 0:
        place = rng.randrange(len(data))
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


def random_edits(count, seed):
    rng = random.Random(seed)
    with Folder() as folder:
        original, path = folder.file("original.realm"), folder.file("damaged.realm")
        outcomes = {}
        known = data = driver = None
        for number in range(count):
            if number % 200 == 0:
                if driver:
                    driver.end()
                driver = Driver()
                for name in (original, original + ".lock"):
                    if os.path.exists(name):
                        os.unlink(name)
                known, version = make(original, rng.random())
                data = open(original, "rb").read()
            damaged, what = edits(rng, data)
            for name in (path, path + ".lock"):
                if os.path.exists(name):
                    os.unlink(name)
            if rng.random() < 0.5:
                shutil.copy(original + ".lock", path + ".lock")
            elif not damaged:
                # An empty file without a lock file is a new realm.
                continue
            with open(path, "wb") as file:
                file.write(damaged)
            outcome = examine(driver, path, known, version, f"edit {number}, seed {seed}, {what}")
            outcomes[outcome] = outcomes.get(outcome, 0) + 1
        driver.end()
        return f"{count} edits: {outcomes}"


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
