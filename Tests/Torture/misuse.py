"""Odd requests, odd paths and odd sizes: an error of the right kind each time, and the driver lives on."""

from torture import *


def requests(driver, path):
    """Requests in every wrong place."""
    for request in ("get a", "put a b", "del a", "list", "verify", "begin", "commit", "abort", "snap", "unsnap", "close"):
        expect(code(driver.ask(request)) == "usage", f"{request} without a file")
    expect(code(driver.ask("txn r:a")) == "usage" and code(driver.ask('query value == "1"')) == "usage", "without a file")
    for request in ("open", "open a b", "put a", "put a b c", "get", "get a b", "del", "list a", "verify a", "begin a"):
        expect(code(driver.ask(request)) == "usage", request)
    for request in ("nonsense", "PUT a b", "put\ta\tb", "pu\u0301t a b"):
        expect(code(driver.ask(request)) == "unknown", request)
    expect(code(driver.ask("")) == "usage" and code(driver.ask("   ")) == "usage", "an empty request")
    version = int(driver.need(f"open {path}")[0])
    expect(code(driver.ask(f"open {path}")) == "usage", "opened twice")
    for request in ("commit", "abort", "unsnap"):
        expect(code(driver.ask(request)) == "usage", request)
    for request in ("txn x", "txn w:a", "txn w:a:b:c", "txn r", "txn r:a:b", "txn +:a:b", "txn +:a:99999999999999999999", "txn :"):
        expect(code(driver.ask(request)) == "usage", request)
    expect(driver.ask("get a") == "none" and driver.need("del a"), "nothing is there")
    expect(driver.ask("txn r:a r:b").split(" ")[2:] == ["~", "~"], "reads only")
    before = int(driver.need("txn r:a")[0])
    expect(before > version, "a deletion of nothing is a transaction")
    words = driver.need("txn w:n:x a:l:1 a:l:2 r:l +:c:5 +:c:-7 r:c d:n r:n")
    expect(words[1:] == [".", ".", ".", "1,2", ".", ".", "-2", ".", "~"], f"txn: {words}")
    expect(int(words[0]) == before + 1, "one transaction is one version")
    driver.need(f"txn w:max:{2**63 - 1}")
    driver.need("txn +:max:1")
    # Beginning, snapping and their order.
    driver.need("begin")
    expect(code(driver.ask("begin")) == "usage", "two transactions")
    expect(code(driver.ask("txn w:a:1")) == "usage", "a transaction in a transaction")
    expect(driver.ask("put a 1") == "ok -" and driver.ask("get a") == "ok 1", "inside a transaction")
    snapped = int(driver.need("snap")[0])
    expect(driver.ask("get a") == "none", "a snapshot shows an open transaction")
    expect(driver.ask("txn r:a").split(" ")[2] == "1", "a transaction reads the snapshot")
    expect(code(driver.ask("snap")) == "usage", "two snapshots")
    committed = int(driver.need("commit")[0])
    expect(committed == snapped + 1, f"the snapshot {snapped} and the commit {committed}")
    expect(driver.ask("get a") == "none" and driver.list()[1] == snapped, "a snapshot moved")
    expect(driver.ask('query key == "a"') == "ok 1", "a query reads the newest version")
    driver.need("unsnap")
    expect(driver.ask("get a") == "ok 1", "after the snapshot")
    driver.need("begin")
    driver.need("del a")
    driver.need("abort")
    expect(driver.ask("get a") == "ok 1", "after abort")
    driver.need("snap")
    driver.need("begin")
    driver.need("close")
    expect(code(driver.ask("get a")) == "usage", "after close")
    driver.need(f"open {path}")
    expect(driver.ask("get a") == "ok 1", "reopened")


def queries(driver):
    driver.need("txn w:p:1 w:q:2 w:r:3")
    for text, count in [
        ("value == '2'", 1), ('key IN {"p","q"}', 2), ("key BEGINSWITH 'r' OR value == '2'", 2), ("FALSEPREDICATE", 0),
    ]:
        expect(driver.ask(f"query {text}") == f"ok {count}", text)
    bad = [
        "", "value", "value ==", "foo == 1", "value.foo == 1", "value == 1", "key ==[zz] '1'", "@count > 1", "((((", "value == %@",
        "value == $x", "NOT", "value LIKE", "SUBQUERY(value, $x, $x == 1).@count > 0", "value BETWEEN {1}",
        "(" * 5000 + "value == '1'" + ")" * 5000, "NOT " * 20_000 + "value == '1'", "value == '" + "x" * 200_000 + "'",
        "key IN {" + ",".join(f"'{n}'" for n in range(20_000)) + "}", "\x00", "value == '\\u{110000}'", "value == \"",
        " OR ".join(["value == '1'"] * 8000),
    ]
    for text in bad:
        reply = driver.ask(f"query {text}")
        expect(code(reply) in ("query", "ok"), f"query {text[:60]}: {reply}")
        expect(code(reply) == "query" or len(text) > 1000 or text == "\x00", f"query {text[:60]} is believed")
    reply = driver.ask("query value LIKE '" + "*a" * 2000 + "*b'", 10)
    expect(code(reply) in ("ok", "query"), reply)


def values(driver):
    """Long and strange keys and values."""
    strange = ["é", "e\u0301", "\u0301", "a\u200d", "👩‍👩‍👧", "\u00a0", "'", '"', "%@", "\\", "=", "~", "none", ".", "\x00", "\x7f", "\ufeff"]
    for index, text in enumerate(strange):
        driver.need(f"put {text} {index}")
    for index, text in enumerate(strange):
        expect(driver.ask(f"get {text}") == f"ok {index}", f"the key {text!r}")
        driver.need(f"txn w:s:{text}")
        expect(driver.ask("get s") == f"ok {text}", f"the value {text!r}")
    for length in (0, 1, 63, 64, 4000, 4096, 5000, 70_000, 1 << 20, 20 << 20):
        text = ("0123456789abcdef" * (length // 16 + 1))[:length]
        if length:
            driver.need(f"put long {text}", 60)
            expect(driver.ask("get long", 60) == f"ok {text}", f"a value of {length} bytes")
        if 0 < length <= 1 << 20:
            reply = driver.ask(f"put {text} x", 60)
            expect(code(reply) in ("ok", "limit", "usage"), f"a key of {length} bytes: {reply[:200]}")
            if code(reply) == "ok":
                expect(driver.ask(f"get {text}", 60) == "ok x", f"a key of {length} bytes")
                expect(driver.ask(f"get {text[:-1]}y", 60) == "none", f"a key of {length} bytes")
    driver.need("txn w:l: a:l:x a:l:y")
    expect(driver.ask("get l") == "ok x,y", "appending to an empty value")
    driver.need("txn " + " ".join(f"w:m{n}:{n}" for n in range(50_000)), 60)
    pairs, _ = driver.list(60)
    expect(len([key for key in pairs if key[0] == "m" and key[1:].isdigit()]) == 50_000, "50,000 pairs in a transaction")
    driver.need("verify", 60)


def paths(driver, folder):
    """Paths that name no realm."""
    def refused(path, *codes):
        reply = driver.ask(f"open {path}")
        expect(code(reply) in codes, f"open {path[-60:]}: {reply}")

    here = folder.path
    refused("/nonexistent/x.realm", "io")
    refused(here, "badfile")
    refused(here + "/", "badfile")
    refused("/dev/null", "badfile")
    refused("/dev/zero", "badfile")
    refused("/proc/self/mem", "badfile", "io")
    refused("/etc/passwd/x", "io")
    refused(here + "/" + "x" * 300, "io")
    refused("/" + "x/" * 3000, "io")
    os.mkfifo(here + "/fifo")
    refused(here + "/fifo", "badfile")
    os.symlink(here + "/fine.realm", here + "/link")
    refused(here + "/link", "badfile")
    os.symlink(here + "/loop", here + "/loop")
    refused(here + "/loop", "badfile")
    for name, content in [
        ("text", b"hello\n"), ("long-text", b"hello\n" * 10_000), ("zeros", bytes(100_000)), ("random", os.urandom(50_000)),
        ("sqlite", b"SQLite format 3\0" + bytes(8192)),
    ]:
        with open(f"{here}/{name}", "wb") as file:
            file.write(content)
        refused(f"{here}/{name}", "badfile")
        with open(f"{here}/{name}", "rb") as file:
            expect(file.read() == content, f"{name} was changed")
    # A format of the future, with its checksum right.
    driver.need(f"open {here}/newer")
    driver.need("put a 1")
    driver.close_file()
    with open(f"{here}/newer", "r+b") as file:
        for page in range(4):
            file.seek(page * 4096)
            content = bytearray(file.read(4096))
            content[40:44] = (999).to_bytes(4, "little")
            content[4088:] = xxh64(bytes(content[:4088])).to_bytes(8, "little")
            file.seek(page * 4096)
            file.write(content)
    refused(f"{here}/newer", "badfile")
    # Odd lock files.
    os.mkdir(here + "/a.lock")
    refused(here + "/a", "io", "locked", "badfile")
    os.symlink("/etc/passwd", here + "/b.lock")
    refused(here + "/b", "io", "locked", "badfile")
    os.mkfifo(here + "/c.lock")
    refused(here + "/c", "io", "locked", "badfile")
    # What is no lock file is left as it is, and in the way until somebody moves it.
    for content in (b"something else", bytes(1000) + b"x", bytes(1000)):
        with open(here + "/d.lock", "wb") as file:
            file.write(content)
        refused(here + "/d", "locked")
        with open(here + "/d.lock", "rb") as file:
            expect(file.read() == content, "a file at the name of the lock file was written")
        expect(not os.path.exists(here + "/d"), "a realm was made beside a file at the name of its lock file")
    # Nothing but zeros, in a length that a lock file has, is what a crash may leave of one.
    with open(here + "/d.lock", "wb") as file:
        file.write(bytes(4096))
    driver.need(f"open {here}/d")
    driver.need("put a 1")
    driver.close_file()
    # An empty file is a new realm.
    open(here + "/empty", "wb").close()
    driver.need(f"open {here}/empty")
    driver.need("put a 1")
    driver.close_file()
    with open(here + "/empty", "wb"):
        pass
    refused(here + "/empty", "corrupt")
    expect(os.stat(here + "/d").st_mode & 0o777 == 0o600, "the mode of a new file")
    # Folders and files that may not be written; root may write everything, so the file system must say no.
    if os.geteuid() == 0 and subprocess.run(["chattr", "+i", here + "/d"], capture_output=True).returncode == 0:
        try:
            refused(here + "/d", "perm")
        finally:
            subprocess.run(["chattr", "-i", here + "/d"], check=True)
    elif os.geteuid() != 0:
        os.chmod(here + "/d", 0o400)
        refused(here + "/d", "perm")
    driver.need(f"open {here}/fine.realm")
    driver.need("put a 1")
    driver.close_file()


def xxh64(data):
    p1, p2, p3, p4, p5 = (
        11400714785074694791, 14029467366897019727, 1609587929392839161, 9650029242287828579, 2870177450012600261,
    )
    mask = (1 << 64) - 1
    rotate = lambda x, r: ((x << r) | (x >> (64 - r))) & mask
    mix = lambda acc, lane: rotate((acc + lane * p2) & mask, 31) * p1 & mask
    lane = lambda at: int.from_bytes(data[at : at + 8], "little")
    at = 0
    if len(data) >= 32:
        v = [(p1 + p2) & mask, p2, 0, -p1 & mask]
        while at + 32 <= len(data):
            v = [mix(v[k], lane(at + 8 * k)) for k in range(4)]
            at += 32
        h = (rotate(v[0], 1) + rotate(v[1], 7) + rotate(v[2], 12) + rotate(v[3], 18)) & mask
        for x in v:
            h = ((h ^ mix(0, x)) * p1 + p4) & mask
    else:
        h = p5
    h = (h + len(data)) & mask
    while at + 8 <= len(data):
        h = (rotate(h ^ mix(0, lane(at)), 27) * p1 + p4) & mask
        at += 8
    if at + 4 <= len(data):
        h = (rotate(h ^ (int.from_bytes(data[at : at + 4], "little") * p1 & mask), 23) * p2 + p3) & mask
        at += 4
    while at < len(data):
        h = rotate(h ^ (data[at] * p5 & mask), 11) * p1 & mask
        at += 1
    h = ((h ^ (h >> 33)) * p2) & mask
    h = ((h ^ (h >> 29)) * p3) & mask
    return h ^ (h >> 32)


def everything():
    with Folder() as folder:
        driver = Driver()
        try:
            requests(driver, folder.file())
            queries(driver)
            values(driver)
            driver.need("close")
            paths(driver, folder)
            driver.end()
        except Died as death:
            raise Failure(f"the driver died: {death}")
    return "requests, queries, values and paths"
