"""A copy of a commit whose sources have many changes of meaning, each behind a switch, in one build."""

import collections
import functools
import itertools
import json
import os
import random
import re
import shutil
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
TARGETS = ["RealmStorage", "RealmModel", "RealmQuery", "ActorRealm"]
SWITCH = """
// Which change of meaning is switched on, and which are reached; see Tests/Mutations.
#include <stdbool.h>
extern int crealm_mutation_number;
extern unsigned char *crealm_mutation_reach;
static inline bool crealm_mutation_is(int number) {
    if (crealm_mutation_reach) crealm_mutation_reach[number] = 1;
    return crealm_mutation_number == number;
}
"""
# Stands for the switch in a change by hand that says itself where it belongs.
SWITCHED = "SWITCH"
READER = """
#include "CRealmShims.h"
#include <stdlib.h>
#include <sys/mman.h>
int crealm_mutation_number = 0;
unsigned char *crealm_mutation_reach = NULL;
__attribute__((constructor)) static void read_switch(void) {
    const char *text = getenv("CREALM_MUTATION");
    crealm_mutation_number = text ? atoi(text) : 0;
    const char *path = getenv("CREALM_MUTATION_REACH");
    if (!path) return;
    // A file, so that what children and processes that end by a signal reach is known as well.
    int file = open(path, O_RDWR | O_CLOEXEC);
    void *bytes = mmap(NULL, 65536, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (bytes != MAP_FAILED) crealm_mutation_reach = bytes;
    close(file);
}
"""


def name(mutation):
    """What names a place when the lines around it move."""
    return (mutation["file"], mutation["kind"], mutation["before"], mutation["after"], mutation["occurrence"])


class Copy:
    """The commit as it is in `pristine`, and with the changes in `mutated`."""

    def __init__(self, folder, commit, moves=False):
        self.folder = folder
        self.pristine = os.path.join(folder, "pristine")
        self.mutated = os.path.join(folder, "mutated")
        self.commit = git("rev-parse", commit).strip()
        note = os.path.join(folder, "commit")
        held = None
        if os.path.exists(note):
            with open(note) as file:
                held = file.read()
        # Suites whose text is another one since the folder was made.
        self.edited = set()
        if held == self.commit:
            return
        if held and not moves:
            sys.exit(f"{folder} holds {held}; remove it, or name that commit")
        self.edited = edited(held, self.commit) if held else set()
        shutil.rmtree(self.pristine, ignore_errors=True)
        os.makedirs(self.pristine)
        archive = subprocess.Popen(["git", "-C", ROOT, "archive", self.commit], stdout=subprocess.PIPE)
        subprocess.run(["tar", "-x", "-C", self.pristine], stdin=archive.stdout, check=True)
        with open(note, "w") as file:
            file.write(self.commit)

    def places(self, tool, files=None):
        """What can be changed; in some files only, when they are named."""
        looked_at = self.pristine
        if files is not None:
            looked_at = os.path.join(self.folder, "looked-at")
            shutil.rmtree(looked_at, ignore_errors=True)
            for target in TARGETS:
                os.makedirs(os.path.join(looked_at, "Sources", target))
            for path in files:
                source = os.path.join(self.pristine, path)
                if not os.path.exists(source):
                    continue
                with open(source, "rb") as file:
                    put(os.path.join(looked_at, path), file.read(), 0o644)
        listing = subprocess.run([tool, looked_at], text=True, stdout=subprocess.PIPE, check=True)
        return [json.loads(line) for line in listing.stdout.splitlines()]

    def write(self, mutations):
        """Writes the files that differ from what stands there, so that the others are not built again."""
        per_file = collections.defaultdict(list)
        for mutation in mutations:
            for place in changed_places(mutation):
                per_file[place["file"]].append(place)
        for folder, _, names in os.walk(self.pristine):
            for file_name in names:
                source = os.path.join(folder, file_name)
                path = os.path.relpath(source, self.pristine)
                with open(source, "rb") as file:
                    data = file.read()
                if path in per_file:
                    data = changed(data, per_file[path])
                elif path.endswith("CRealmShims.h"):
                    end = data.rindex(b"#endif")
                    data = data[:end] + SWITCH.encode() + b"\n" + data[end:]
                elif path == "Package.swift":
                    data = manifest(data.decode()).encode()
                put(os.path.join(self.mutated, path), data, os.stat(source).st_mode)
        put(os.path.join(self.mutated, "Sources/CRealmShims/Mutation.c"), READER.encode(), 0o644)

    def build(self, mutations):
        """The changes that the compiler takes, with a build that has them all."""
        store = os.path.join(self.folder, "refused.json")
        left_out = set()
        if os.path.exists(store):
            with open(store) as file:
                left_out = set(map(tuple, json.load(file)))
        for attempt in range(60):
            kept = [mutation for mutation in mutations if name(mutation) not in left_out]
            self.write(kept)
            print(f"building {len(kept)} changes, {len(left_out)} left out by the compiler", flush=True)
            # What is no Swift hides the rest of its file from the others.
            refused = self.refused(self.parse(kept))
            if refused:
                self.leave_out(refused, kept, left_out)
                continue
            for what in (["--target", "ActorRealm"], ["--build-tests"]):
                result = subprocess.run(
                    ["swift", "build", *what, "--package-path", self.mutated]
                    + ["-Xswiftc", "-continue-building-after-errors"],
                    text=True,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.STDOUT,
                )
                if result.returncode != 0:
                    break
            else:
                return kept
            refused = self.refused(result.stdout)
            if not refused:
                print("\n".join(line for line in result.stdout.splitlines() if "error" in line)[-3000:])
                sys.exit("the copy does not build")
            self.leave_out(refused, kept, left_out)
        sys.exit("the copy does not build")

    def leave_out(self, refused, kept, left_out):
        left_out |= {name(mutation) for mutation in kept if mutation["number"] in refused}
        with open(os.path.join(self.folder, "refused.json"), "w") as file:
            json.dump(sorted(left_out), file)

    def parse(self, mutations):
        return parsed(os.path.join(self.mutated, path) for path in sorted({mutation["file"] for mutation in mutations}))

    def refused(self, output):
        """The changes that the compiler's errors point to."""
        numbers = set()
        for path, line in re.findall(r"^(\S+\.swift):(\d+):\d+: error:", output, re.M):
            with open(os.path.join(self.mutated, path)) as file:
                lines = file.read().split("\n")
            # A change, or the expression around it, may have several lines: the nearest switch is the one.
            distances = [
                (abs(index + 1 - int(line)), int(number))
                for index, text in enumerate(lines)
                for number in re.findall(r"crealm_mutation_is\((\d+)\)", text)
            ]
            nearest = min(distances, default=(0, 0))[0]
            numbers.update(number for distance, number in distances if distance == nearest)
        return numbers


def parsed(paths):
    """What the compiler says of the syntax of files."""
    command = ["swiftc", "-frontend", "-parse", *paths]
    return subprocess.run(command, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT).stdout


@functools.cache
def edited(former, commit):
    """The suites in files of tests that differ between two commits; all of them, as None, when what they share differs."""
    if not git("cat-file", "-t", former, check=False):
        # It was made on another branch, which came here as other commits.
        return None
    suites = set()
    for path in git("diff", "--name-only", former, commit, "--", "Sources", "Tests", ":!Tests/Mutations").splitlines():
        text = "".join(git("show", f"{version}:{path}", check=False) for version in (former, commit))
        declared = re.findall(r"\b(?:struct|class|actor|extension) (\w+Tests)\b", text)
        if path.startswith("Sources/") or path.endswith(".swift") and not declared:
            return None
        suites.update(declared)
    return suites


def git(*arguments, check=True):
    command = ["git", "-C", ROOT, *arguments]
    return subprocess.run(command, text=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=check).stdout


def chosen(places, seed, count, given):
    """As many places of each target, none inside another, and those that are given; the same seed chooses the same ones."""
    generator = random.Random(seed)
    per_target = []
    for target in TARGETS:
        own = [place for place in places if place["file"].split("/")[1] == target]
        generator.shuffle(own)
        taken = collections.defaultdict(list)
        for place in [place for change in given for place in changed_places(change)]:
            taken[place["file"]].append((place["start"], place["end"]))
        result = []
        for place in own:
            if len(result) == count // len(TARGETS):
                break
            if any(place["start"] < end and start < place["end"] for start, end in taken[place["file"]]):
                continue
            taken[place["file"]].append((place["start"], place["end"]))
            result.append(place)
        per_target.append(result)
    # The targets in turn, so that a run that is interrupted has looked at all of them.
    in_turn = [place for places in itertools.zip_longest(*per_target) for place in places if place]
    return numbered(given + in_turn)


def numbered(mutations):
    return [dict(mutation, number=index + 1) for index, mutation in enumerate(mutations)]


def changed_places(mutation):
    """All places of one change: most have one, some made by hand mean something only together with others."""
    return [mutation] + [dict(place, number=mutation.get("number")) for place in mutation.get("also", [])]


def changed(data, mutations):
    for mutation in sorted(mutations, key=lambda mutation: -mutation["start"]):
        before = data[mutation["start"] : mutation["end"]].decode()
        switch = f"crealm_mutation_is({mutation['number']})"
        if SWITCHED in mutation["after"]:
            text = mutation["after"].replace(SWITCHED, switch)
        elif "statement" in (mutation.get("kind"), mutation.get("form")):
            text = f"if {switch} {{ {mutation['after']} }} else {{ {before} }}"
        else:
            text = f"({switch} ? {mutation['after']} : {mutation['before']})"
        data = data[: mutation["start"]] + text.encode() + data[mutation["end"] :]
    if b"import CRealmShims" in data or b'#include "CRealmShims.h"' in data:
        return data
    access = b"public " if b"@inlinable" in data else b""
    return access + b"import CRealmShims\n" + data


def manifest(text):
    for target in ("RealmModel", "RealmQuery"):
        text = re.sub(r'(\.target\(\s+name: "%s",\s+dependencies: \[)' % target, r'\1"CRealmShims", ', text)
    return text


def put(path, data, mode):
    if os.path.exists(path):
        with open(path, "rb") as file:
            if file.read() == data:
                return
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        file.write(data)
    os.chmod(path, mode)
