#!/usr/bin/env python3
"""Writes the logs of `Golden` byte by byte, as Docs/FileFormat.md says, and without any code of the library: so the page is
compared with the code, which `GoldenLogTests` has make the same records.

    golden-log.py FOLDER            writes the files
    golden-log.py --check FOLDER    compares the files that are there, byte for byte

What the records say is what the program in `GoldenRecords.swift` does.
"""
import struct
import sys
from pathlib import Path

MASK = (1 << 64) - 1
BLOCK = 4096

# MARK: XXH64, by its public specification

P1, P2, P3, P4, P5 = (
    0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9, 0x85EBCA77C2B2AE63, 0x27D4EB2F165667C5,
)


def rotate(value, bits):
    return (value << bits | value >> (64 - bits)) & MASK


def mix(lane, word):
    return rotate((lane + word * P2) & MASK, 31) * P1 & MASK


def xxh64(data, seed=0):
    place, count = 0, len(data)
    if count >= 32:
        lanes = [(seed + P1 + P2) & MASK, (seed + P2) & MASK, seed, (seed - P1) & MASK]
        while place + 32 <= count:
            for lane, word in enumerate(struct.unpack_from("<4Q", data, place)):
                lanes[lane] = mix(lanes[lane], word)
            place += 32
        value = sum(rotate(lane, bits) for lane, bits in zip(lanes, (1, 7, 12, 18))) & MASK
        for lane in lanes:
            value = ((value ^ mix(0, lane)) * P1 + P4) & MASK
    else:
        value = (seed + P5) & MASK
    value = (value + count) & MASK
    while place + 8 <= count:
        value ^= mix(0, struct.unpack_from("<Q", data, place)[0])
        value = (rotate(value, 27) * P1 + P4) & MASK
        place += 8
    if place + 4 <= count:
        value ^= struct.unpack_from("<I", data, place)[0] * P1 & MASK
        value = (rotate(value, 23) * P2 + P3) & MASK
        place += 4
    for byte in data[place:]:
        value ^= byte * P5 & MASK
        value = rotate(value, 11) * P1 & MASK
    value = (value ^ value >> 33) * P2 & MASK
    value = (value ^ value >> 29) * P3 & MASK
    return value ^ value >> 32


assert xxh64(b"") == 0xEF46DB3751D8E999 and xxh64(b"abc") == 0x44BC2CF5AD770999

# MARK: Numbers


def varint(value):
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes(out) + bytes([value])


def signed(value):
    return varint((value << 1 ^ value >> 63) & MASK)


def counted(data):
    return varint(len(data)) + data


def runs(*keys):
    """Runs of row keys, each given as its first key and its length."""
    out, end = varint(len(keys)), 0
    for first, length in keys:
        out += varint(first - end) + varint(length)
        end = first + length
    return out


def u16(value):
    return struct.pack("<H", value)


def u32(value):
    return struct.pack("<I", value)


def i64(value):
    return struct.pack("<q", value)


# MARK: Values in a record

NULL = b"\0"


def integer(value):
    return b"\1" + signed(value)


def number32(value):
    return b"\2" + struct.pack("<f", value)


def number64(value):
    return b"\3" + struct.pack("<d", value)


def data(value):
    return b"\4" + counted(value)


def fixed(value):
    return {12: b"\5", 16: b"\6"}[len(value)] + value


def whole(elements):
    return b"\7" + varint(len(elements)) + b"".join(counted(element) for element in elements)


def splices(*steps):
    out = b"\x08" + varint(len(steps))
    for index, removed, element in steps:
        out += varint(index) + varint(removed) + (b"\0" if element is None else b"\1" + counted(element))
    return out


# MARK: Values of any kind, and collections in a row


def any_int(value):
    return b"\1" + i64(value)


def any_link(table, key):
    return b"\x0b" + u32(table) + i64(key)


def any_list(*values):
    return b"\x0c" + u32(len(values)) + b"".join(u32(len(value)) + value for value in values)


def any_dictionary(*entries):
    out = b"\x0d" + u32(len(entries))
    for name, value in entries:
        out += u32(len(name)) + name + u32(len(value)) + value
    return out


def small_list(kind, elements, nulls=None):
    """Elements of fixed width, or of any length where the kind is that of strings (2), data (3) or values of any kind (9)."""
    out = b"\1" + bytes([kind]) + u16(len(elements)) + (nulls or b"")
    if kind & 0x3F in (2, 3, 9):
        end = 0
        for element in elements:
            end += len(element)
            out += u16(end)
    return out + b"".join(elements)


def entry(name, value):
    return u16(len(name)) + name + value


# MARK: Contents of records


def heading(time, identity, generation, metadata=b""):
    return signed(time) + identity + varint(generation) + counted(metadata)


def modified(*rows):
    """Rows by key, each with its physical columns and values."""
    out, last = varint(len(rows)), 0
    for key, values in rows:
        out += varint(key - last) + varint(len(values))
        for column, value in values:
            out += varint(column) + value
        last = key
    return out


def new_row(column_count, values):
    mask = bytearray(max(1, (column_count + 7) // 8))
    for column, _ in values:
        mask[column // 8] |= 1 << column % 8
    return bytes(mask) + b"".join(value for _, value in values)


def table(number, next_key, row_count, deleted=(), inserted=(), rows=()):
    return varint(number) + varint(next_key) + varint(row_count) + runs(*deleted) + runs(*inserted) + modified(*rows)


TIME = 1_700_000_000_000


def identity(number):
    return struct.pack("<QQ", 0x0102030405060708, number)


ITEM, TAG, PART, NOTE = 1, 2, 3, 4
ITEM_COLUMNS, STAMP = 19, 2


def every_change():
    """All that a record of rows can say; the stamp is that of the version that made the schema."""
    item = (
        (1, integer(1)),
        (2, data("né\0w".encode())),
        (3, NULL),
        (4, data(b"\x00\x01\xff")),
        (5, number64(-0.0)),
        (6, number32(1.5)),
        (7, number64(-1.25)),
        (8, fixed(bytes(range(1, 13)))),
        (9, fixed(bytes(range(16, 32)))),
        (10, fixed(bytes.fromhex("3040000000000000" "0000000000000019"))),
        (11, data(any_dictionary((b"a", any_list(any_int(1), b"\0", b"\5x")), (b"b", any_link(TAG, 1))))),
        (12, integer(5)),
        (13, data(small_list(0, [i64(1), i64(-2), i64(3)]))),
        (14, data(small_list(2, [b"", b"a", b"b"]))),
        (15, data(small_list(0x40 | 3, [entry(b"one", i64(1)), entry(b"two", b"")]))),
        (16, data(small_list(7, [i64(2), i64(0), i64(2)]))),
        (17, data(small_list(0x80 | 2, [b"", b"x"], nulls=b"\1"))),
        (18, integer(1)),
    )
    spliced = splices((2, 0, b"\1new"), (0, 1, None), (3, 1, b"\0"), (4, 2, None))
    items = table(
        ITEM, 8, 6, deleted=[(2, 1), (4, 1)], inserted=[(6, 2)],
        rows=[
            (0, item),
            (1, [(12, NULL), (17, spliced)]),
            (3, [(5, number64(0.0))]),
            (5, [(11, data(any_list(b"\0", any_int(9))))]),
        ],
    )
    tags = table(TAG, 4, 4, inserted=[(3, 1)])
    parts = table(PART, 2, 1, deleted=[(0, 1)], inserted=[(1, 1)])
    rows = new_row(
        ITEM_COLUMNS,
        [
            (0, integer(-7)),
            (11, data(any_link(TAG, 3))),
            (12, integer(7)),
            (13, whole([i64(number * number - 5) for number in range(130)])),
        ],
    )
    rows += new_row(ITEM_COLUMNS, [])
    rows += new_row(2, [(0, data(b"violet")), (1, integer(5))])
    rows += new_row(1, [(0, integer(7))])
    head = heading(TIME, identity(0), 1, b"every change")
    return head + varint(STAMP) + varint(3) + items + tags + parts + rows


def one_change(number, generation, stamp, flag, metadata=b""):
    """The flag of item 0."""
    head = heading(TIME + number, identity(number), generation, metadata)
    return head + varint(stamp) + varint(1) + table(ITEM, 8, 6, rows=[(0, [(1, integer(flag))])])


def stored_property(name, kind, column, flags=0, collection=0, rule=0, target=b"", origin=b""):
    lengths = u16(len(name)) + u16(len(target)) + u16(len(origin)) + u16(0)
    return bytes([kind, collection, flags, rule]) + struct.pack("<i", column) + lengths + name + target + origin


def stored_index(columns, flags=0):
    return bytes([flags, len(columns), 1, 0]) + u16(0) + b"".join(map(u32, columns))


def stored_class(name, columns, properties, indexes=()):
    out = bytes([0x80, len(indexes)]) + u16(len(name)) + u32(len(columns)) + u32(len(properties)) + b"\1\0" + u16(0)
    return out + name + b"".join(map(bytes, columns)) + b"".join(properties) + b"".join(indexes)


def another_schema(number, version):
    """A class that is new, one with another property, and two that stay as they are."""
    tag = stored_class(
        b"Tag", [(5, 0), (0, 0), (2, 0)],
        [
            stored_property(b"items", 8, -1, target=b"Item", origin=b"tags"),
            stored_property(b"text", 2, 0, flags=2),
            stored_property(b"size", 0, 1),
            stored_property(b"weight", 6, 2),
        ],
    )
    note = stored_class(
        b"Note", [(5, 1), (0, 0), (0, 1), (5, 0)],
        [
            stored_property(b"text", 2, 0, flags=1 | 4),
            stored_property(b"number", 0, 1, flags=4 | 8),
            stored_property(b"tag", 7, 2, flags=1, rule=1, target=b"Tag"),
            stored_property(b"tags", 7, 3, collection=1, rule=2, target=b"Tag"),
        ],
        [stored_index([0, 1])],
    )
    out = heading(TIME + number, identity(number), 2, b"another schema") + varint(STAMP)
    # Layout, next table number, schema version, stamp, first row key; then the classes.
    out += varint(4) + varint(5) + varint(2) + varint(version) + varint(0) + varint(4)
    out += varint(ITEM) + b"\0"
    out += varint(TAG) + b"\1" + counted(tag) + varint(4) + varint(4) + runs((0, 4))
    out += varint(PART) + b"\0"
    out += varint(NOTE) + b"\1" + counted(note) + varint(0) + varint(0) + runs()
    for text, size in ((b"red", 0), (b"green", 0), (b"blue", 0), (b"violet", 5)):
        out += new_row(3, [(0, data(text))] + ([(1, integer(size))] if size else []))
    return out


def one_note(number, stamp):
    head = heading(TIME + number, identity(number), 2)
    row = new_row(
        4, [(0, data(b"a note")), (1, integer(1)), (2, integer(3)), (3, data(small_list(7, [i64(0)])))]
    )
    return head + varint(stamp) + varint(1) + table(NOTE, 1, 1, inserted=[(0, 1)]) + row


# MARK: The log

FILE = struct.pack("<QQ", 0x46494C4546494C45, 0x0F1E2D3C4B5A6978)
LOG = struct.pack("<QQ", 0x1122334455667788, 0x99AABBCCDDEEFF00)
CHAIN = 0xC4A1C4A1C4A1C4A1
CHANGES, SCHEMA, PAGES, DURABLE = 1, 2, 3, 4


def frame(kind, position, version, durable, content, offset, previous):
    rest = struct.pack("<IBBBBQQQQ", len(content), 1, kind, 1, 0, position, version, durable, previous) + content
    checksum = xxh64(rest, xxh64(LOG + struct.pack("<Q", offset)))
    return struct.pack("<Q", checksum) + rest, checksum


class Log:
    def __init__(self, blocks, version, position):
        self.ring = bytearray(blocks * BLOCK)
        first = b"ARealmLg" + u32(1) + u32(BLOCK) + FILE + LOG
        first += struct.pack("<QQQQ", len(self.ring), version, position, CHAIN)
        first += bytes(BLOCK - 8 - len(first))
        self.first = first + struct.pack("<Q", xxh64(first))
        self.end, self.chain, self.durable, self.is_flushed = 0, CHAIN, 0, True

    def append(self, *records):
        step = BLOCK if self.is_flushed else 8
        for kind, position, version, content in records:
            offset = -(-self.end // step) * step
            step = 8
            framed, self.chain = frame(kind, position, version, self.durable, content, offset, self.chain)
            self.put(offset, framed)
            self.end = offset + len(framed)
        # What follows the last record in its block is zeros.
        self.put(self.end, bytes(-self.end % BLOCK))
        self.is_flushed = False
        return framed

    def put(self, offset, content):
        for index, byte in enumerate(content):
            self.ring[(offset + index) % len(self.ring)] = byte

    def flush(self):
        self.durable, self.is_flushed = self.end, True

    def file(self):
        return self.first + bytes(self.ring)


def files():
    log = Log(blocks=3, version=3, position=2)
    made = {"1-changes.record": log.append((CHANGES, 3, 4, every_change()))}
    log.flush()
    log.append((CHANGES, 4, 5, one_change(1, 1, STAMP, 0)), (SCHEMA, 5, 6, another_schema(2, 6)))
    log.flush()
    log.append((CHANGES, 6, 7, one_note(3, 6)))
    log.append((CHANGES, 7, 8, one_change(4, 2, 6, 1)))
    made["1.log"] = log.file()
    # The ring begins anew: its first block was given back.
    log.flush()
    log.append((CHANGES, 8, 9, one_change(5, 2, 6, 0, b"around the end of the ring")))
    made["1-reused.log"] = log.file()
    made["1-schema.record"] = frame(SCHEMA, 5, 6, 0, another_schema(2, 6), 4096, CHAIN)[0]
    # No release makes one with a heading.
    made["1-pages.record"] = frame(PAGES, 6, 7, 0, heading(-1, identity(9), 2), 8192, CHAIN)[0]
    made["1-durable.record"] = frame(DURABLE, 6, 7, 8100, b"", 8192, CHAIN)[0]
    return made


def main():
    folder = Path(sys.argv[-1])
    if sys.argv[1] == "--check":
        wrong = [name for name, content in files().items() if (folder / name).read_bytes() != content]
        if wrong:
            sys.exit(f"not what the page says: {', '.join(wrong)}")
        return
    for name, content in files().items():
        (folder / name).write_bytes(content)
        print(name, len(content))


if __name__ == "__main__":
    main()
