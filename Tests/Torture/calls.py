"""Each system call of opening, committing, growing and closing fails once, and from then on: an error, never a trap, a hang
or a loss; and everything works when the cause is gone."""

from torture import *
from kills import Workload

CASES = [
    ("EIO", errno.EIO, FAIL_ONCE),
    ("ENOSPC", errno.ENOSPC, FAIL_ONCE),
    ("EINTR", errno.EINTR, FAIL_ONCE),
    ("EMFILE", errno.EMFILE, FAIL_ONCE),
    ("ENOMEM", errno.ENOMEM, FAIL_ONCE),
    ("ENOLCK", errno.ENOLCK, FAIL_ONCE),
    ("EAGAIN", errno.EAGAIN, FAIL_ONCE),
    ("short write", 0, SHORT_ONCE),
    ("EIO from here on", errno.EIO, FAIL_FROM_HERE_ON),
    ("ENOSPC from here on", errno.ENOSPC, FAIL_FROM_HERE_ON),
]

CODES = {"io", "full", "busy", "limit", "locked", "perm"}


class Session:
    """A driver whose every reply is compared with what is known."""

    def __init__(self, driver, path, known):
        self.driver, self.path, self.known = driver, path, dict(known)
        self.errors = 0

    def ask(self, request, context):
        reply = self.driver.ask(request)
        if code(reply) not in ("ok", "none"):
            expect(code(reply) in CODES, f"{context}, {request[:40]}: {reply}")
            self.errors += 1
        return reply

    def put(self, key, value, context):
        reply = self.ask(f"put {key} {value}", context)
        if code(reply) == "ok":
            self.known[key] = value
        return code(reply) == "ok"

    def check(self, context):
        pairs, _ = self.driver.list()
        expect(pairs == self.known, f"{context}: {differences(pairs, self.known)}")


def differences(found, known):
    keys = [key for key in sorted(set(found) | set(known)) if found.get(key) != known.get(key)]
    return ", ".join(f"{key} is {str(found.get(key))[:20]} and not {str(known.get(key))[:20]}" for key in keys[:5])


def named(kinds):
    """Which calls may fail, where it is not each."""
    return "" if kinds == ALL_KINDS else " of " + ", ".join(name for kind, name in enumerate(KIND_NAMES) if kinds >> kind & 1)


def prepare(path, pairs):
    driver = Driver()
    driver.need(f"open {path}")
    driver.need("txn " + " ".join(f"w:{key}:{value}" for key, value in pairs.items()))
    driver.end()


def opening(error_name, number, mode, at, isNew, kinds=ALL_KINDS):
    """One call of opening or creating fails; then the file opens, with everything."""
    context = f"opening{' a new file' if isNew else ''}, {error_name} in call {at}{named(kinds)}"
    with Folder() as folder:
        control = Control(folder.path)
        path = folder.file()
        known = {} if isNew else {f"k{index}": str(index) * 50 for index in range(50)}
        if not isNew:
            prepare(path, known)
        driver = Driver(control=control)
        control.arm(at, mode, error=number, kinds=kinds)
        session = Session(driver, path, known)
        try:
            session.ask(f"open {path}", context)
            did_fail = control.did_fail
            control.disarm()
            reply = driver.ask(f"open {path}")
            expect(code(reply) in ("ok", "usage"), f"{context}, then again: {reply}")
            session.check(context)
            expect(session.put("new", "value", context), f"{context}: no write afterwards")
            driver.need("verify")
            driver.need("close")
            driver.need(f"open {path}")
            session.check(context + ", reopened")
            driver.end()
        except Died as death:
            raise Failure(f"{context}: {death}")
        except Failure as failure:
            if context in str(failure):
                raise
            raise Failure(f"{context}: {failure}")
        finally:
            control.close()
        # Who ends right behind a close may leave the log to the next opening.
        own = ("t.realm", "t.realm.lock") + (("t.realm.log",) if log_mode() != "off" else ())
        leftovers = [name for name in os.listdir(folder.path) if name not in own]
        expect(not leftovers, f"{context}: left {leftovers}")
        return did_fail, session.errors


def writing(error_name, number, mode, at, kinds=ALL_KINDS):
    """One call of twelve commits that grow the file, or of closing it, fails."""
    context = f"writing, {error_name} in call {at}{named(kinds)}"
    with Folder() as folder:
        control = Control(folder.path)
        path = folder.file()
        known = {f"k{index}": str(index) * 50 for index in range(50)}
        prepare(path, known)
        driver = Driver(control=control)
        session = Session(driver, path, known)
        try:
            driver.need(f"open {path}")
            control.arm(at, mode, error=number, kinds=kinds)
            has_stopped = False
            for round in range(12):
                key, value = f"n{round % 5}", f"{round}" * (30_000 if round % 3 == 2 else 20)
                failed_before = control.did_fail
                is_done = session.put(key, value, context)
                if is_done and has_stopped:
                    raise Failure(f"{context}: a write was acknowledged after a failed flush")
                flush_failed = control.did_fail and control.last_kind == FLUSH
                if not is_done and flush_failed and number == errno.EIO and not failed_before:
                    has_stopped = True
                # What failed is not there, now and later, and reading goes on.
                if mode != FAIL_FROM_HERE_ON:
                    session.check(context)
            did_fail = control.did_fail
            session.ask("close", context)
            did_fail = did_fail or control.did_fail
            control.disarm()
            driver.need(f"open {path}")
            session.check(context + ", reopened")
            expect(session.put("new", "value", context), f"{context}: no write after reopening")
            driver.need("verify")
            driver.kill()
            driver = Driver()
            driver.need(f"open {path}")
            session.driver = driver
            session.check(context + ", in another process")
            driver.need("verify")
            driver.end()
        except Died as death:
            raise Failure(f"{context}: {death}")
        except Failure as failure:
            if context in str(failure):
                raise
            raise Failure(f"{context}: {failure}")
        finally:
            control.close()
        return did_fail, session.errors


def each_call(part=1.0, seed=0):
    """Every case of every call; `part` of them, chosen by the seed, when less is asked for. Always: all calls of one kind."""
    rng = random.Random(seed)
    cases = failures = errors = 0
    broken = []
    bodies = [
        lambda *case, **kinds: opening(*case, True, **kinds),
        lambda *case, **kinds: opening(*case, False, **kinds),
        lambda *case, **kinds: writing(*case, **kinds),
    ]
    for body in bodies:
        for kind in range(len(KIND_NAMES)):
            for name, number, mode in CASES:
                if mode == FAIL_FROM_HERE_ON:
                    cases += 1
                    try:
                        did_fail, count = body(name, number, mode, 0, kinds=1 << kind)
                        failures += did_fail
                        errors += count
                    except Failure as failure:
                        broken.append(str(failure))
                        print("  broken:", failure, file=sys.stderr, flush=True)
        for name, number, mode in CASES:
            at = 0
            while True:
                if rng.random() < part or at == 0:
                    try:
                        did_fail, count = body(name, number, mode, at)
                    except Failure as failure:
                        broken.append(str(failure))
                        print("  broken:", failure, file=sys.stderr, flush=True)
                        did_fail, count = True, 0
                    cases += 1
                    errors += count
                    if not did_fail:
                        break
                    failures += 1
                at += 1
                expect(at < 2000, f"{name}: the calls do not end")
    expect(not broken, f"{len(broken)} of {cases} cases:\n" + "\n".join(broken[:200]))
    return f"{failures} failing calls in {cases} sessions, {errors} errors answered"
