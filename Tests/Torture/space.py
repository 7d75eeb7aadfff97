"""A disk that fills and is emptied: errors while it is full, everything acknowledged there, and work goes on afterwards."""

from torture import *
from calls import Session


class SmallDisk:
    """A small file system of its own; needs the right to mount."""

    def __init__(self, kind="tmpfs", megabytes=4):
        self.image = None
        self.path = tempfile.mkdtemp(prefix="realm-disk-")
        if kind == "tmpfs":
            command = ["mount", "-t", "tmpfs", "-o", f"size={megabytes}m", "tmpfs", self.path]
        else:
            self.image = tempfile.mktemp(prefix="realm-image-")
            with open(self.image, "wb") as file:
                file.truncate(megabytes << 20)
            subprocess.run(["mkfs.ext4", "-q", "-F", self.image], check=True, capture_output=True)
            command = ["mount", "-o", "loop", self.image, self.path]
        done = subprocess.run(command, capture_output=True)
        self.is_there = done.returncode == 0

    def close(self):
        if self.is_there:
            subprocess.run(["umount", self.path], check=True)
        os.rmdir(self.path)
        if self.image:
            os.unlink(self.image)


def full(rounds, seed, kind="tmpfs"):
    """Rounds of filling the disk, by ourselves or by somebody else, and of emptying it."""
    rng = random.Random(seed)
    disk = SmallDisk(kind, 4 if kind == "tmpfs" else 12)
    if not disk.is_there:
        disk.close()
        return f"not run: {kind} cannot be mounted here"
    try:
        path, ballast = os.path.join(disk.path, "t.realm"), os.path.join(disk.path, "ballast")
        driver = Driver()
        driver.need(f"open {path}")
        session = Session(driver, path, {})
        refused = done = 0
        for round in range(rounds):
            context = f"round {round}, seed {seed}"
            if rng.random() < 0.5:
                # Somebody else takes what is left, but for a little.
                left = os.statvfs(disk.path)
                free = left.f_bavail * left.f_bsize - rng.randrange(0, 300_000)
                try:
                    with open(ballast, "wb") as file:
                        file.write(bytes(max(0, free)))
                except OSError:
                    pass
            failures = 0
            for number in range(200):
                key = f"k{rng.randrange(60)}"
                if session.put(key, f"{round}.{number}." + "x" * rng.randrange(60_000), context):
                    done += 1
                else:
                    failures += 1
                    refused += 1
                    session.check(context)
                    if failures == 3:
                        break
            session.check(context)
            if rng.random() < 0.5:
                # It opens on the full disk, too, and says what it knows.
                if rng.random() < 0.5:
                    driver.need("close")
                else:
                    driver.kill()
                    session.driver = driver = Driver()
                driver.need(f"open {path}")
                session.check(context + ", reopened on the full disk")
            if os.path.exists(ballast):
                os.unlink(ballast)
            while len(session.known) > 10:
                key = rng.choice(sorted(session.known))
                reply = session.ask(f"del {key}", context)
                if code(reply) != "ok":
                    # Nothing at all is free: room has to be made elsewhere.
                    break
                del session.known[key]
            if session.errors and not session.put("after", str(round), context):
                expect(os.path.getsize(path) > 2 << 20, f"{context}: still full after the ballast went")
            driver.need("verify")
        driver.end()
        return f"{rounds} rounds on a small {kind}: {done} commits, {refused} refused"
    finally:
        disk.close()
