"""Whole processes: those that cannot see each other's ids, read-only folders, little memory, jumping clocks, and files of mode
0600 whatever the mask."""

import resource

from torture import *
import histories


def namespaces(overwrites):
    """Every process has the same id in a namespace of its own: no living reader is cleared, and no dead one kept."""
    wrapper = ("unshare", "--pid", "--fork", "--kill-child=KILL")
    if subprocess.run([*wrapper, "true"], capture_output=True).returncode != 0:
        return "not run: no pid namespaces here"
    return "process 1 in each of its namespaces: " + histories.dead_readers(5, overwrites, wrapper=wrapper)


def masks():
    with Folder() as folder:
        before = os.umask(0)
        try:
            driver = Driver()
        finally:
            os.umask(before)
        driver.need(f"open {folder.file()}")
        driver.need("put a 1")
        for name in os.listdir(folder.path):
            mode = os.stat(folder.file(name)).st_mode & 0o777
            expect(mode == 0o600, f"{name} has mode {mode:o}")
        driver.end()


def little_memory():
    """Little address space: it works, or it says what is missing."""
    outcomes = []
    for megabytes in (16_384, 4_096, 2_048, 1_024, 512, 256):
        with Folder() as folder:
            limit = megabytes << 20
            driver = Driver(preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)))
            try:
                reply = driver.ask(f"open {folder.file()}")
                expect(code(reply) in ("ok", "limit"), f"{megabytes} MB: {reply}")
                if code(reply) == "ok":
                    driver.need("put a 1")
                    driver.need(f"put b {'x' * 5_000_000}")
                    driver.need("verify")
                outcomes.append(f"{megabytes} MB {code(reply)}")
                driver.end()
            except Died as death:
                # Below this the language's own runtime does not start.
                expect(megabytes <= 512, f"{megabytes} MB: {death}")
                outcomes.append(f"{megabytes} MB too little for a process")
                break
    return outcomes


def many_opens():
    """Opened and closed again and again: nothing is left behind."""
    with Folder() as folder:
        driver = Driver()
        for number in range(300):
            driver.need(f"open {folder.file()}")
            if number % 10 == 0:
                driver.need(f"put k{number} 1")
            driver.need("close")
            if number == 50:
                before = open_files(driver)
        after = open_files(driver)
        expect(after <= before + 2, f"{before} open files became {after}")
        driver.end()


def open_files(driver):
    return len(os.listdir(f"/proc/{driver.process.pid}/fd"))


def everything():
    masks()
    many_opens()
    return f"modes, 300 openings, little memory: {', '.join(little_memory())}"
