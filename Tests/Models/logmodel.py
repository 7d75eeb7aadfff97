#!/usr/bin/env python3
"""Explicit-state model of a record log beside a copy-on-write page file.

  python3 logmodel.py            the safe protocol on every configuration, then every unsafe variant (each must fail)
  python3 logmodel.py safe       the safe protocol only
  python3 logmodel.py NAME       one unsafe variant, with its shortest trace
  python3 logmodel.py walk SECONDS [SEED [FORM]]   random deep walks of the safe protocol, in its forms by turns, or in one of them: wide, engine
  python3 logmodel.py list       names of the variants
  python3 logmodel.py other [NAME [SECONDS]]   other ways that are safe, too, and were weighed

Positions: a block has two places, so position 2k is the first of block k. A record goes directly behind the one before, or to the next
block where a flush has ended: whoever reads tries both, in this order. Writing the first place of a block leaves the second empty, and
writing either may tear the whole block. Records of one group name one version; they are numbered within it, and the last is flagged.

Disk: each location is (cache, possible values after a power cut, dirty). A write adds its value (and TORN for headers and log
blocks) to what is possible, a flush that succeeds leaves the cached value only, a flush that fails makes the location clean and
leaves everything possible (the kernel drops what it could not write and says so once, to the caller alone). A power cut picks a
possible value for each location by itself. Killing a process leaves the cache and the shared memory alone.

Stretches: a process that keeps the write lock acknowledges versions by their records alone (kinds late, lunfl, lgroup, lbatch). Each has its own
number. A maker, beside whatever block is open, makes the pages of the newest acknowledged one and publishes it; the numbers between have
no pages and are skipped. A record cannot name the version that its pages will have: when it is appended, nobody knows where the next
making begins, and one may be published beside a record that is on its way. Groups stay groups: several records, one number, one flush. The kind
lbatch is what the engine does: several records, each with a number of its own, one flush behind all of them, and then all are acknowledged.

Notes (kind note): behind a flush that no commit follows, and behind the header of a page commit, a frame says up to where the log is durable. It stands
where the next record goes, which takes its place, is not flushed, and is no record: who reads the log ends there. Its number is NOTE.

The engine (kind own): only the process that has begun the log appends, and a page commit announces nothing. Whoever else is to write ends the log, and
takes no page commit for made that the published image does not name. Where records were acknowledged behind the image it applies them beside readers, as an
opening does (kind over): its version is published in a slot, with a closed header, while the image before is still there, and then the log is ended.
"""
import sys, time, random
from collections import deque, namedtuple

TORN = 'TORN'
JUNK = 'JUNK'
NB = 3                  # blocks of the log's ring
SEG = 2                 # places of a block
HB = NB * SEG           # places of the ring
NOTE = -1               # the number of what is no record
V = frozenset()         # the unsafe variants in force

Img = namedtuple('Img', 'ver root rootval lsn chain hist pic')
Hdr = namedtuple('Hdr', 'hseq closed log img ext')
Frm = namedtuple('Frm', 'log lsn ver n last prev cid marker hist dur')
Shm = namedtuple('Shm', 'pub C cslot cand sure stop flog frealm pcint log dur tail acked ending bell own newest', defaults=(None,))   # own: whose log it is (kind own); newest: of a taker that has not ended the log yet (kind over)
St = namedtuple('St', 'pages hdr dir logs shm procs wlock klock must failed soft refused bud ncid nlog ro save tampered unsaid')   # unsaid: commits that no log tells of
Bud = namedtuple('Bud', 'commits ckpts kills cuts fails opens closes readers ro tamper plain')
# st: 0 not there, 1 alone in opening, closing or a life without a log, 2 open; M: who makes pages beside the writer; A: the position that a reader asks for
Proc = namedtuple('Proc', 'st W K R O M A S')   # S: what the beginning of a slice has seen (one variant)

CLOSED = Proc(0, None, None, None, None, None, None, None)
LATE = ('late', 'lunfl', 'lgroup', 'lbatch', 'lsync')      # commits whose pages are made later; the write lock is kept behind them
GROUPS = ('group', 'lgroup', 'lbatch')      # two commits, one flush
NO_COMMITS = ('take', 'over', 'back', 'note', 'own')     # kinds of other steps, and of forms
EMPTY = (None, frozenset([None]), False)


def wr(loc, v, tears=True):
    if loc[1] == {v}:
        return (v, loc[1], True)    # the same bytes: nothing to tear
    return (v, loc[1] | ({v, TORN} if tears else {v}), True)


def fl(loc):
    return (loc[0], frozenset([loc[0]]), False) if loc[2] else loc


def ff(loc):
    return (loc[0], loc[1], False)


def put(t, i, x):
    return t[:i] + (x,) + t[i + 1:]


def flush_realm(s, ok=True):
    f = fl if ok else ff
    return s._replace(pages=tuple(map(f, s.pages)), hdr=tuple(map(f, s.hdr)))


def flush_log(s, ok=True, blocks=None):
    f = fl if ok else ff
    out = []
    for i, h, b in s.logs:
        if i == s.shm.log if s.shm else True:
            b = tuple(f(x) if blocks is None or k in blocks else x for k, x in enumerate(b))
            h = f(h)
        out.append((i, h, b))
    return s._replace(logs=tuple(out))


def log_of(s, i):
    for l in s.logs:
        if l[0] == i:
            return l
    return None


def torn(loc):
    return loc if loc[1] == {None} else (loc[0], loc[1] | {TORN}, True)


def set_block(s, i, place, v, again=False):
    """Writes one place; as part of its block, which ends with it."""
    def change(b):
        new, other = wr(b[place], v), b[place ^ 1]
        if len(new[1]) > 1:
            other = torn(other)
        if place % 2 == 0 and not again:
            other = wr(other, None)
        return put(put(b, place, new), place ^ 1, other)
    return s._replace(logs=tuple((j, h, change(b)) if j == i else (j, h, b) for j, h, b in s.logs))


def next_place(x, n, lsn):
    """Where the next record goes: nothing is appended to a block that a flush has covered, unless a checkpoint covers it."""
    if lsn % 2 and 'append_to_flushed_block' not in V:
        if x.dur >= lsn and x.C.lsn < lsn or 'jump_over_void' in V and n == 1:
            return lsn + 1
    return lsn


def places_behind(lsn):
    return (lsn, lsn + 1) if lsn % 2 else (lsn,)


def initial(npages, bud):
    pic = ((1, None),) * 3 + (None,) * (npages - 3)
    rv = ('R', (), 1, 0, 2, 0)
    img = Img(1, 0, rv, 0, 0, (), pic)
    vals = [rv, ('C', 0), ('C', 0)] + [None] * (npages - 3)
    pages = tuple((v, frozenset([v]), False) for v in vals)
    h = Hdr(1, True, 0, img, ())
    hdr = ((h, frozenset([h]), False), EMPTY)
    return St(pages, hdr, EMPTY, (), None, (CLOSED, CLOSED), None, None, frozenset(), frozenset(), frozenset(), frozenset(),
              bud, 1, 1, None, None, False, frozenset())


def tree_pages(img):
    _, _, px, vx, py, vy = img.rootval
    return ((img.root, img.rootval), (px, ('C', vx)), (py, ('C', vy)))


def tree_ok(s, img):
    return all(s.pages[p][0] == v for p, v in tree_pages(img))


# ---- what opening would find -----------------------------------------------------------------------------------------------

def outcomes(s, cut):
    """Yields (error or None, history or None, header slot, frames) for everything that can be found."""
    val = (lambda loc: loc[1]) if cut else (lambda loc: (loc[0],))
    for h0 in val(s.hdr[0]):
        for h1 in val(s.hdr[1]):
            hs = [(h, i) for i, h in ((0, h0), (1, h1)) if isinstance(h, Hdr) and (cut or h.hseq not in s.refused)]
            hs.sort(key=lambda x: -x[0].hseq)
            fallback = None
            while hs and hs[0][0].ext:   # the form with one flush: believed when the pages that it wrote itself are there
                pg = dict(tree_pages(hs[0][0].img))
                if all(pg[p] in val(s.pages[p]) for p in hs[0][0].ext):
                    break
                hs.pop(0)
            if not hs:
                yield 'no header can be read', None, None, ()
                continue
            H, slot = hs[0]
            bad = [p for p, v in tree_pages(H.img) if any(x != v for x in val(s.pages[p])) and p not in H.ext]
            if bad:
                yield 'checkpoint %d is believed, its page %d need not be there' % (H.img.ver, bad[0]), None, slot, ()
                continue
            for d in val(s.dir):
                l = log_of(s, d) if d is not None else None
                for lh in (val(l[1]) if l else (None,)):
                    ident = d if l and lh is not None and lh[:2] == ('L', d) else None
                    if H.closed:
                        # A log of another name that is all zeros was being made; one with anything in it is newer, or foreign.
                        used = (lambda f: isinstance(f, Frm) and f.log == d) if 'torn_is_unused' in V else (lambda f: f is not None)
                        some = l and ident == d and ident != H.log and any(used(f) for b in l[2] for f in val(b))
                        if some and 'leftover_ignored' not in V:
                            yield 'the header says that log %s was closed, there is log %s with records' % (H.log, ident), None, slot, ()
                            if any(all(used(f) for f in val(b)) for b in l[2]):
                                continue
                        # One that begins at a later version is a newer file's. Commits may have been made beside an earlier one, without a log.
                        foreign = ident is not None and (lh[2] != H.img.ver if 'unused_at_its_version_only' in V else lh[2] > H.img.ver)
                        if ident is not None and ident != H.log and foreign and not {'leftover_ignored', 'unused_of_any_version'} & V:
                            yield 'log %s begins at v%d, the header stands at v%d' % (ident, lh[2], H.img.ver), None, slot, ()
                            continue
                        yield None, H.img.rootval[1], slot, ()
                        continue
                    elif ident != H.log:
                        if 'missing_is_clean' in V and d is None:
                            yield None, H.img.rootval[1], slot, ()
                            continue
                        yield 'the header names log %d, there is %s' % (H.log, ident), None, slot, ()
                        continue
                    yield from walk_log(s, H, slot, l, val, cut)


START = (0, True)        # behind a version that is whole


def frame_ok(f, i, lsn, ver, chain, at=START):
    """Whether a record follows one of a version, its number in it, and whether that was the last one."""
    if not isinstance(f, Frm):
        return False
    if 'weak_frames' in V:
        return f.ver >= ver
    n, last = at
    if 'groups_by_version_only' in V:
        fits = f.ver >= ver
    else:
        fits = f.ver > ver and f.n == 0 if last else f.ver == ver and f.n == n + 1
    return fits and f.log == i and f.lsn == lsn and f.prev == chain


def walk_log(s, H, slot, l, val, cut):
    i, _, blocks = l
    stack = [(H.img.lsn, H.img.ver, H.img.chain, H.img.rootval[1], (), START)]
    first = H.img.lsn // SEG * SEG
    while stack:
        lsn, ver, chain, hist, frames, at = stack.pop()
        refused = not cut and ('F', i, lsn) in s.refused
        ends = True      # whether it can be that nothing fits
        for place in () if refused else places_behind(lsn):
            if place - first >= HB:
                break
            loc = val(blocks[place % HB])
            for f in loc:
                if not frame_ok(f, i, place, ver, chain, at):
                    continue
                if f.marker:
                    yield 'the log says version %d is in the file, the header does not' % f.ver, None, slot, frames
                    continue
                if f.hist != hist + (f.cid,):
                    yield 'commit %d comes back on top of %s, it was made on top of %s' % (f.cid, hist, f.hist[:-1]), None, slot, frames
                    continue
                stack.append((place + 1, f.ver, f.cid, f.hist, frames + (f,), (f.n, f.last)))
            ends = any(not frame_ok(f, i, place, ver, chain, at) for f in loc)
            if not ends:
                break
        if ends:
            err = None
            for k, b in enumerate(blocks):
                for f in val(b):
                    if isinstance(f, Frm) and f.log == i and not refused:
                        if 'gap_is_damage' in V and f.lsn > lsn:
                            err = 'the log ends at %d, but there is a whole record at %d: taken for damage' % (lsn, f.lsn)
                        if f.dur > lsn:
                            err = 'the log ends at %d, but was durable up to %d' % (lsn, f.dur)
            yield err, hist if err is None else None, slot, frames


def bad_outcome(s, cut):
    for err, hist, slot, frames in outcomes(s, cut):
        if err is not None:
            if s.tampered:
                continue
            return ('power cut: ' if cut else 'next opening: ') + err
        lost = s.must - set(hist)
        if lost:
            return ('power cut: ' if cut else 'next opening: ') + 'acknowledged or seen commits %s are lost, found %s' % (sorted(lost), hist)
        if not cut and s.failed & set(hist) and not s.tampered:
            return 'next opening: failed commits %s come back' % sorted(s.failed & set(hist))
    return None


def violation(s, before=None):
    """What is wrong in a state; before: the state that it comes from, in which nothing was."""
    if DAMAGE:
        e = damage(s)
        if e:
            return e
    if s.shm is not None and any(p.st == 2 for p in s.procs):
        if not tree_ok(s, s.shm.pub):
            return 'the published version %d cannot be read' % s.shm.pub.ver
        if s.shm.pub.rootval[1] != s.shm.pub.hist:
            return 'the pages of version %d have commits %s, its records say %s' % (s.shm.pub.ver, s.shm.pub.rootval[1], s.shm.pub.hist)
        v = s.shm.newest
        if v and (not tree_ok(s, v) or v.rootval[1] != v.hist):
            return 'the version %d that a taker has published cannot be read' % v.ver
        if s.shm.ending == 'gone' and s.wlock is None and s.must - set(seen(s.shm).hist):
            return 'nobody looks for the log any more, and version %d lacks acknowledged commits' % seen(s.shm).ver
        for n, p in enumerate(s.procs):
            if p.M == NO_SPACE:
                return 'there is no space for the pages of acknowledged commits'
            if p.R is not None and not tree_ok(s, p.R):
                return 'pages of version %d are overwritten under the reader in %s' % (p.R.ver, 'AB'[n])
    if s.ro is not None and not tree_ok(s, s.ro[0]):
        return 'pages of checkpoint %d are overwritten under the read-only reader' % s.ro[0].ver
    if not any(p.st for p in s.procs):
        e = bad_outcome(s, False)
        if e:
            return e
    if before and all(getattr(s, k) is getattr(before, k) for k in DISK):
        return None
    return bad_outcome(s, True)


def starved(s, ch):
    """A reader that asked, and nothing happens any more unless somebody dies."""
    if s.shm is None or s.shm.stop or any('is killed' not in c[0] and 'power is cut' not in c[0] for c in ch):
        return None
    for n, p in enumerate(s.procs):
        if p.A is not None:
            return 'the reader in %s asked for what was acknowledged at %d and is left at version %d' % ('AB'[n], p.A, seen(s.shm).ver)
    return None


NO_SPACE = ('no space', None)
BROKEN = ('broken', None)       # a step of making pages has failed: this process makes none any more
DISK = ('pages', 'hdr', 'dir', 'logs', 'must', 'tampered')      # all that a power cut's outcome depends on
DAMAGE = False
LIMITS = set()


def damage(s):
    """What one damaged header slot or log block does to a file at rest: an error or nothing, never an older state."""
    one = lambda v: (v, frozenset([v]), False)
    if any(p.st for p in s.procs) or any(len(l[1]) > 1 for l in s.hdr + (s.dir,)):
        return None
    tries = [('header slot %d' % i, s._replace(hdr=put(s.hdr, i, one(TORN))), None) for i in (0, 1)]
    l = log_of(s, s.dir[0]) if s.dir[0] is not None else None
    if l:
        if any(len(b[1]) > 1 for b in l[2]):
            return None
        for k in range(HB):
            f = l[2][k][0]
            if isinstance(f, Frm):
                tries.append(('the record at %d' % f.lsn, s._replace(logs=((l[0], l[1], put(l[2], k, one(TORN))),)), f))
    for what, t, f in tries:
        for err, hist, slot, frames in outcomes(t, False):
            if err is None and s.must - set(hist):
                if f and all(g[0].dur <= f.lsn for g in l[2] if isinstance(g[0], Frm)):
                    LIMITS.add('the last record, which nothing behind it calls durable')
                    continue
                return 'damage to %s: opens without commits %s' % (what, sorted(s.must - set(hist)))
    return None


# ---- steps ---------------------------------------------------------------------------------------------------------------

def sp(s, n, **kw):
    return s._replace(procs=put(s.procs, n, s.procs[n]._replace(**kw)))


def sh(s, **kw):
    return s._replace(shm=s.shm._replace(**kw))


def spend(s, **kw):
    return s._replace(bud=s.bud._replace(**{k: getattr(s.bud, k) - v for k, v in kw.items()}))


def pins(s, base):
    out = {base.ver}
    if s.shm:
        if 'reuse_since_checkpoint' not in V:
            out.add(s.shm.C.ver)
        if s.shm.cand is not None and 'no_candidate_pin' not in V:
            out.add(s.shm.cand.ver)
    for p in s.procs:
        if p.R is not None:
            out.add(p.R.ver)
    if s.ro is not None:
        out.add(s.ro[1])
    return out


def make(s, base, cids, pinned, ver, dead_by):
    """Makes the pages of a version: returns (state, image) or None when space lacks."""
    pic = list(base.pic)
    free = []
    for p, x in enumerate(pic):
        if x is None or (x[1] is not None and x[1] <= dead_by and not any(x[0] <= v < x[1] for v in pinned)):
            free.append(p)
    # What was used before comes first: mistakes show at once.
    free.sort(key=lambda p: (pic[p] is None, p))
    if 'stretch_over_published' in V:
        free = [base.rootval[2], base.rootval[4]] + free
    _, hist, px, vx, py, vy = base.rootval
    cell = {0: [px, vx, False], 1: [py, vy, False]}
    for c in cids:
        cell[c % 2][1] = c
        cell[c % 2][2] = True
    hist = base.hist + tuple(cids)
    need = 1 + sum(1 for k in cell if cell[k][2])
    if len(free) < need:
        return None
    pages = s.pages
    for k in cell:
        if cell[k][2]:
            pic[cell[k][0]] = (pic[cell[k][0]][0], ver)
            cell[k][0] = free.pop(0)
            pic[cell[k][0]] = (ver, None)
            pages = put(pages, cell[k][0], wr(pages[cell[k][0]], ('C', cell[k][1]), False))
    root = free.pop(0)
    pic[base.root] = (pic[base.root][0], ver)
    pic[root] = (ver, None)
    rv = ('R', hist, cell[0][0], cell[0][1], cell[1][0], cell[1][1])
    pages = put(pages, root, wr(pages[root], rv, False))
    return s._replace(pages=pages), Img(ver, root, rv, base.lsn, base.chain, hist, tuple(pic))


def next_seq(s):
    return 1 + max(x[0].hseq for x in s.hdr if isinstance(x[0], Hdr))


def write_header(s, slot, h):
    return s._replace(hdr=put(s.hdr, slot, wr(s.hdr[slot], h)))


def seen(x):
    """The version that readers find."""
    return x.newest or x.pub


def note_seen(s, hist):
    h = list(hist)
    while h and h[-1] in s.soft:
        h.pop()
    return s._replace(must=s.must | set(h))


def die(s, n):
    p = s.procs[n]
    s = s._replace(procs=put(s.procs, n, CLOSED))
    if s.shm and s.shm.own == n:
        s = sh(s, own=None)
    if s.wlock == n:
        s = s._replace(wlock=None)
    if s.klock == n:
        s = s._replace(klock=None)
        if s.shm and s.shm.cand is not None and 'candidate_pin_dies' in V:
            s = sh(s, cand=None)
    return s


def steps(s, kinds):
    out = []
    add = lambda name, t: out.append((name, t))
    alive = [n for n, p in enumerate(s.procs) if p.st]
    alone = any(p.st == 1 for p in s.procs)
    b = s.bud
    # power cut
    if b.cuts and (alive or s.ro):
        (SAMPLE or cuts)(s, add)
    for n, p in enumerate(s.procs):
        who = 'AB'[n]
        if p.st == 0:
            if b.opens and not alone and (alive or n == 0):   # processes are alike: the first is A
                if alive:
                    add('%s opens (others have it open)' % who, sp(spend(s, opens=1), n, st=2))
                else:
                    add('%s begins to open' % who, sp(spend(s, opens=1), n, st=1, O=('o1', None)))
            continue
        if b.kills:
            add('%s is killed' % who, die(spend(s, kills=1), n))
        if p.st == 1:
            {'o': opening, 'q': plain}.get(p.O[0][0], closing)(s, n, p, who, add, kinds)
            continue
        if alone:
            continue
        writer(s, n, p, who, add, kinds)
        maker(s, n, p, who, add, kinds)
        checkpointer(s, n, p, who, add, kinds)
        if p.R is None and p.A is None and b.readers and s.shm:
            t, v = spend(s, readers=1), seen(s.shm)
            add('%s: a reader begins at version %d' % (who, v.ver), note_seen(sp(t, n, R=v), v.rootval[1]))
            if s.shm.acked > v.lsn:
                add('%s: a reader at version %d asks for what was acknowledged at %d' % (who, v.ver, s.shm.acked),
                    sp(t if s.wlock == n else sh(t, bell=True), n, A=s.shm.acked))
        if p.A is not None and seen(s.shm).lsn >= p.A:
            v = seen(s.shm)
            add('%s: the reader that asked begins at version %d' % (who, v.ver), note_seen(sp(s, n, R=v, A=None), v.rootval[1]))
        if p.R is not None:
            add('%s: the reader ends' % who, sp(s, n, R=None))
        if p.W is None and p.K is None and p.R is None and p.A is None and p.M in (None, BROKEN) and b.closes and len(alive) == 1:
            x = s.shm
            without = x.acked > x.pub.lsn and 'close_without_pages' not in V
            if without and s.wlock == n and not x.stop:
                continue     # makes the pages first
            if not (x.stop or without or x.flog is not None or x.frealm is not None or x.pcint is not None or x.cand is not None):
                add('%s begins to close' % who, sp(spend(s, closes=1), n, st=1, O=('c1', None)))
            else:
                add('%s closes without the last checkpoint' % who, sp(spend(s, closes=1), n, st=0, O=None))
    if not alive:
        if b.ro and s.ro is None:
            for err, hist, slot, frames in outcomes(s, False):
                if err is None:
                    H = s.hdr[slot][0]
                    reg = H.img.ver + len(frames) if 'read_only_pins_newest' in V else H.img.ver
                    add('a read-only process opens and replays privately', spend(s, ro=1)._replace(ro=(H.img, reg)))
        if b.tamper:
            if s.save is None:
                add('somebody copies the realm file', s._replace(save=(tuple(x[0] for x in s.pages), tuple(x[0] for x in s.hdr))))
            elif 'note' in kinds and any(len(l[1]) > 1 for log in s.logs for l in log[2]):
                add('the log comes to the disk by itself', flush_log(s))
            elif s.dir[0] is not None and len(s.dir[1]) == 1 and len(log_of(s, s.dir[0])[1][1]) == 1:   # it is on the disk
                one = lambda v: (v, frozenset([v]), False)
                t = spend(s, tamper=1)._replace(pages=tuple(map(one, s.save[0])), hdr=tuple(map(one, s.save[1])), tampered=True,
                                                     must=s.must - s.unsaid)
                add('somebody puts the old copy of the realm file beside the log', t)
            if s.dir[0] is not None:
                add('somebody deletes the log', spend(s, tamper=1)._replace(dir=EMPTY, tampered=True))
    return out


def cuts(s, add):
    opts = [[]]
    base = spend(s, cuts=1)
    # The header decides which pages matter; the others are junk from here on.
    seen = set()
    for h0 in s.hdr[0][1]:
        for h1 in s.hdr[1][1]:
            hs = sorted([h for h in (h0, h1) if isinstance(h, Hdr)], key=lambda h: -h.hseq)
            if not hs:
                continue
            used = dict(tree_pages(hs[0].img))
            one = lambda v: (v, frozenset([v]), False)
            pages = tuple(one(used[i]) if i in used else one(JUNK) for i in range(len(s.pages)))
            hdr = (one(h0), one(h1 if isinstance(h1, Hdr) else (None if h1 is None else TORN)))
            for d in s.dir[1]:
                l = log_of(s, d) if d is not None else None
                combos = [()]
                if l:
                    for lh in (l[1],) + tuple(l[2]):
                        combos = [c + (v,) for c in combos for v in lh[1]]
                for c in combos:
                    logs = ((d, one(c[0]), tuple(one(v) for v in c[1:])),) if l else ()
                    t = base._replace(pages=pages, hdr=hdr, dir=one(d), logs=logs, shm=None, procs=(CLOSED, CLOSED), wlock=None, klock=None,
                                      refused=frozenset(), ro=None, failed=frozenset())
                    if t not in seen:
                        seen.add(t)
                        add('the power is cut: headers %s, log %s' % (brief_h(t), brief_l(t)), t)


SAMPLE = None


def sampled_cut(rng):
    def cut(s, add):
        one = lambda v: (v, frozenset([v]), False)
        pick = lambda loc: one(rng.choice(sorted(loc[1], key=repr)))
        hdr = tuple(map(pick, s.hdr))
        hs = sorted([h[0] for h in hdr if isinstance(h[0], Hdr)], key=lambda h: -h.hseq)
        if not hs:
            return
        d = pick(s.dir)
        l = log_of(s, d[0]) if d[0] is not None else None
        logs = ((l[0], pick(l[1]), tuple(map(pick, l[2]))),) if l else ()
        t = spend(s, cuts=1)._replace(pages=tuple(map(pick, s.pages)), hdr=hdr, dir=d, logs=logs, shm=None, procs=(CLOSED, CLOSED), wlock=None,
                                      klock=None, refused=frozenset(), ro=None, failed=frozenset())
        add('the power is cut: headers %s, log %s' % (brief_h(t), brief_l(t)), t)
    return cut


def brief_h(s):
    f = lambda h: 'v%d%s' % (h.img.ver, ' closed' if h.closed else '') if isinstance(h, Hdr) else str(h)
    return '[%s | %s]' % (f(s.hdr[0][0]), f(s.hdr[1][0]))


def brief_l(s):
    f = lambda x: 'v%d@%d' % (x.ver, x.lsn) if isinstance(x, Frm) else ('-' if x is None else str(x))
    return ' '.join('L%d[%s]' % (i, ' '.join(f(b[0]) for b in bl)) for i, h, bl in s.logs if s.dir[0] == i) or 'none'


def writer(s, n, p, who, add, kinds):
    x, b = s.shm, s.bud
    w = p.W
    if w is None:
        held = s.wlock == n
        others = any(q.st for m, q in enumerate(s.procs) if m != n)
        if held and p.M is None and (x.acked <= x.pub.lsn or HANDS & V) and ('take' in kinds or others and b.commits):
            add('%s gives the write lock up' % who, sp(s._replace(wlock=None), n, S=None))
        if 'note' in kinds and not x.stop:
            # Who ends a log appends nothing to it.
            other = s.procs[s.wlock].W if s.wlock is not None and not held else None
            if s.wlock is None or held or other and (other[1] == 'take' or 'note_beside_writer' in V):
                last = acknowledged(s)
                if x.dur >= last.lsn or 'note_of_appended' in V:
                    note(s, n, who, last, last.lsn if 'note_of_appended' in V else x.dur, add)
        asks = p.A is not None and x.acked > x.pub.lsn and 'reader_waits_for_dead' not in V
        if (s.wlock is None or held) and (b.commits or 'sync' in kinds or {'take', 'over'} & set(kinds) or asks) and not x.stop:
            t = s._replace(wlock=n)
            if held:
                in_slice(t, n, who, kinds, add)
                return
            if 'over' in kinds and x.own != n and s.klock is None and x.acked > x.pub.lsn:
                if x.frealm is not None:
                    add('%s finds that a page flush did not end: writes all pages since the checkpoint, and both slots, once more' % who, rewrite(s, (), True))
                elif x.newest and 'taken_again' not in V:
                    add('%s finds that v%d is published, and the log is not ended' % (who, x.newest.ver), sp(t._replace(klock=n), n, W=('u17', 'over', x.newest, ())))
                else:
                    add('%s begins to take the log over' % who, sp(sh(t, ending=True)._replace(klock=n), n, W=('u0', 'over', x.pub, ())))
                return
            if 'take' in kinds and s.klock is None and (x.acked <= x.pub.lsn or 'take_unpublished' in V):
                if x.frealm is not None and 'take_after_flush' not in V:
                    add('%s finds that a page flush did not end: writes all pages since the checkpoint, and both slots, once more' % who, rewrite(s, (), True))
                    return
                add('%s begins to end the log' % who, sp(sh(t, ending='take_without_word' not in V)._replace(klock=n), n, W=('t0', 'take', x.pub, ())))
            if x.ending or 'over' in kinds and x.own != n and x.acked > x.pub.lsn:
                return
            if x.flog is not None:
                t = s
                if x.dur > x.pub.lsn and 'lower' in V:
                    t = sh(t, dur=x.pub.lsn)
                to = x.pub.lsn if 'rewrite_to_published' in V else max(x.pub.lsn, x.acked)
                for lsn in range(x.dur, to):
                    t = set_block(t, x.log, lsn % HB, log_of(t, x.log)[2][lsn % HB][0], True)
                add('%s finds that a log flush did not end: writes the records from %d to %d once more' % (who, x.dur, to), sh(t, flog=None))
                return
            if x.pcint is not None and 'page_commit_no_intent' not in V:
                if s.klock is None or s.klock == n:
                    add('%s takes the lock and finds a page commit begun' % who, sp(t._replace(klock=n), n, W=('adopt1', None, None, None)))
                return
            if (x.acked > x.pub.lsn or 'rolled_beyond_acknowledged' in V and records_between(s, x, True)) and \
                    (asks or not {'lazy_without_rolling_forward', 'handed_over_unpublished', 'taken_over_without_pages'} & V):
                frames = records_between(s, x, 'rolled_beyond_acknowledged' in V)
                r = make(t, x.pub, [f.cid for f in frames], pins(s, x.pub), frames[-1].ver, x.pub.ver)
                if r:
                    t, img = r
                    img = img._replace(lsn=frames[-1].lsn + 1, chain=frames[-1].cid)
                    add('%s takes the lock and makes the pages of v%d from the log' % (who, img.ver), sp(t, n, W=('roll', 'rec', img, ())))
                elif not in_doubt(x):
                    add('%s has no space for the pages of the records' % who, sp(s, n, M=NO_SPACE))
                return
            for kind in kinds:
                if kind in NO_COMMITS or kind != 'sync' and not b.commits or 'own' in kinds and x.own != n:
                    continue
                if kind in GROUPS and b.commits < 2:
                    continue
                if kind == 'sync':
                    if x.dur < x.pub.lsn:
                        add('%s begins to flush the log' % who, sp(t, n, W=('s1', 'sync', x.pub, ())))
                    continue
                for cids in choices(s, kind):
                    begin(t, n, who, kind, cids, add, x.pub if {'lazy_without_rolling_forward', 'handed_over_unpublished'} & V else None)
        return
    pc, kind, img, frames = w
    if kind == 'over':
        return take_over(s, n, p, who, add)
    go = lambda t, pc, **kw: sp(t, n, W=(pc, kw.get('kind', kind), kw.get('img', img), kw.get('frames', frames)))
    done = lambda t: sp(t if kind in LATE else t._replace(wlock=None), n, W=None)
    soft = kind in ('unfl', 'lunfl')
    after = lambda t: done(t) if t.procs[n].W[0] == 'end' else t
    if pc == 'roll':
        add('%s publishes v%d' % (who, img.ver), done(sh(s, pub=img)))
    elif pc == 'lack':
        add('%s notes v%d as acknowledged' % (who, img.ver), go(s, ('A', 'lack2') if soft else stores('AD', 'N') + ('lack2',)))
    elif isinstance(pc, tuple):
        t = store(s, pc[0], img)
        add('%s: %s of v%d' % (who, STORES[pc[0]], img.ver), after(go(t, pc[1:] if len(pc) > 2 else pc[1])))
    elif pc == 'lack2':
        t = s._replace(soft=s.soft | {img.hist[-1]}) if soft else s._replace(must=s.must | set(img.hist))
        if kind == 'late' and 'told_before_noted' in V and x.acked < img.lsn:
            add('%s acknowledges v%d' % (who, img.ver), go(t, 'lack'))
            return
        add('%s acknowledges v%d (commits %s)' % (who, img.ver, img.hist), done(t) if kind in LATE else go(t, 'lmake'))
    elif pc == 'lmake':
        r = make(s, x.pub, [c for c in img.hist[len(x.pub.hist):]], pins(s, x.pub), img.ver, x.pub.ver)
        if r:
            t, m = r
            add('%s makes the pages of v%d' % (who, img.ver), go(t, 'publish', img=m._replace(lsn=img.lsn, chain=img.chain), kind='made'))
        else:
            add('%s: no space for pages before a checkpoint' % who, done(s))
    elif pc in ('open', 'append'):
        if pc == 'open':
            if 'back' in kinds:
                t = s._replace(failed=s.failed | {f.cid for f in frames}, soft=s.soft - {f.cid for f in frames})
                add('%s: the block is taken back' % who, done(sh(t, acked=x.pub.lsn) if 'back_to_published' in V else t))
            if p.M == BROKEN:
                add('%s: writing has stopped, takes it back' % who, done(s))
                return
            if not secured(s, n, img):
                add('%s: no space for its pages, takes it back' % who, done(s))
                return
        if img.lsn > x.tail + HB:
            add('%s: no room in the log, takes it back' % who, done(s))
            return
        # a kill in the middle of the appends: frame by frame
        f, rest = frames[0], frames[1:]
        t = set_block(s, x.log, f.lsn % HB, f)
        if rest:
            t = go(t, 'append', frames=rest)
        elif kind == 'lunfl':
            t = go(t, 'lack')
        elif kind in LATE and 'acknowledged_word_first' in V:
            t = go(t, ('A', 'intent'))
        elif soft or 'publish_before_flush' in V:
            t = go(t, 'publish')
        else:
            t = go(t, 'intent')
        add('%s appends the record of v%d (commit %s) at %d' % (who, f.ver, f.cid, f.lsn), t)
    elif pc == 'intent':
        t = s if 'no_log_flush_intent' in V else sh(s, flog=n)
        add('%s notes that a log flush begins' % who, go(t, 'flush'))
    elif pc == 'flush':
        blocks = None
        if 'segment_files_flush_newest' in V:
            seg = (img.lsn - 1) // SEG
            blocks = [k % HB for k in range(seg * SEG, seg * SEG + SEG)]
        t = flush_log(s, True, blocks)
        nxt = 'ack' if {'publish_before_flush', 'ack_before_publish'} & V else 'publish'
        if kind == 'lazy' or kind in LATE:
            nxt = 'lack2' if 'told_before_noted' in V else 'lack'
        add('%s flushes the log' % who, go(t, nxt))
        if b.fails:
            add('%s: the flush of the log fails' % who, go(flush_log(spend(s, fails=1), False, blocks), 'wfail'))
    elif pc == 'wfail':
        base = acknowledged(s)
        t = sh(s, stop=True)._replace(failed=s.failed | set(img.hist[len(base.hist):]))
        if 'no_refusal' not in V:
            t = t._replace(refused=t.refused | {('F', x.log, x.pub.lsn if 'refusal_at_published' in V else base.lsn)})
        add('%s stops writing for all, its commits fail' % who, done(t))
    elif pc == 'publish':
        if 'torn_shared_memory' in V and x.pub.ver != img.ver:
            t = sh(s, pub=x.pub._replace(ver=img.ver, lsn=img.lsn, chain=img.chain, hist=img.hist, pic=img.pic, rootval=img.rootval))
            add('%s writes the version and not yet the root to shared memory' % who, t)
            return
        # What is soft says nothing of what is durable, and leaves the note of nobody.
        order = ('P',) if soft or 'publish_before_flush' in V else stores('PD', 'N')
        nxt = 'intent' if 'publish_before_flush' in V and not soft else 'end' if 'ack_before_publish' in V and not soft else 'ack'
        t = store(s, order[0], img)
        rest = order[1:] + (nxt,)
        add('%s publishes v%d (%s)' % (who, img.ver, STORES[order[0]]), after(go(t, rest if len(rest) > 1 else rest[0])))
    # a flush of the log for what was not flushed
    elif pc == 's1':
        t = s
        if img.lsn % 2 and 'sync_beside_void' not in V:
            t = set_block(s, x.log, img.lsn % HB, None)
        add('%s clears the rest of the last block' % who, go(t, 's2'))
    elif pc == 's2':
        add('%s notes that a log flush begins' % who, go(sh(s, flog=n), 's3'))
    elif pc == 's3':
        add('%s flushes the log' % who, go(flush_log(s), ('AD' if kind == 'lsync' else 'PD', 'N', 's4')))
        if b.fails:
            add('%s: the flush of the log fails' % who, go(flush_log(spend(s, fails=1), False), 'wfail'))
    elif pc == 's4':
        add('%s tells that v%d is durable' % (who, img.ver), done(s._replace(must=s.must | set(img.hist))))
    elif pc == 'ack':
        t = s
        if soft:
            t = t._replace(soft=t.soft | {img.hist[-1]})
        else:
            t = t._replace(must=t.must | set(c for c in img.hist if True))
            if 'publish_before_flush' in V:
                t = sh(t, flog=None, dur=img.lsn)
        add('%s acknowledges v%d (commits %s)' % (who, img.ver, img.hist), go(t, 'publish') if 'ack_before_publish' in V and not soft else done(t))
    # the end of the log for all processes; what follows is not modelled
    elif pc in ('t0', 't2b'):
        add('%s notes that a page flush begins' % who, go(sh(s, frealm=n), 't1' if pc == 't0' else 't3'))
    elif pc in ('t1b', 't3b'):
        add('%s removes the note' % who, go(sh(s, frealm=None), 't2' if pc == 't1b' else 't4'))
    elif pc == 't1':
        add('%s flushes the pages' % who, go(s if 'take_without_pages' in V else flush_realm(s), 't1b'))
        if b.fails:
            add('%s: the flush of the pages fails' % who, go(flush_realm(spend(s, fails=1), False), 'tfail'))
    elif pc == 't2':
        slot = x.cslot if 'take_over_checkpoint' in V else 1 - x.cslot
        add('%s writes header v%d closed' % (who, img.ver), go(write_header(s, slot, Hdr(next_seq(s), True, x.log, img, ())), 't2b'))
    elif pc == 't3':
        add('%s flushes the header' % who, go(flush_realm(s), 't3b'))
        if b.fails:
            add('%s: the flush of the header fails' % who, go(flush_realm(spend(s, fails=1), False), 'tfail'))
    elif pc == 'tfail':
        add('%s stops writing for all' % who, done(sh(s, stop=True)._replace(klock=None)))
    elif pc == 't4':
        add('%s tells all that there is no log' % who, go(sh(s, stop=True, frealm=None, pcint=None, cand=None), 't5'))
    elif pc == 't5':
        add('%s unlinks the log' % who, done(s._replace(dir=(None, s.dir[1] | {None}, True), klock=None)))
    # page commits
    elif pc == 'p1' and x.stop:
        add('%s: writing has stopped, its commit fails' % who, done(s))
    elif pc == 'p1':
        if 'two_header_writers' in V:
            add('%s begins to flush pages' % who, go(s, 'p2'))
        elif s.klock is None and x.cand is None and x.frealm is None:
            add('%s takes the checkpoint lock, begins to flush pages' % who, go(sh(s, frealm=n)._replace(klock=n), 'p2'))
        elif s.klock is None and x.frealm is not None and 'rewrite_beside_writer' not in V:
            add('%s finds that a page flush did not end: writes all pages since the checkpoint, and its own, once more' % who, rewrite(s, (img,)))
    elif pc == 'p2':
        if 'one_flush_page_commit' in V:
            add('%s leaves the pages for the one flush' % who, go(s, 'p3'))
            return
        # The note of the flush goes with its success: whoever finds it does nothing but stop, or write everything once more.
        add('%s flushes the realm file' % who, go(sh(flush_realm(s), frealm=None), 'p3'))
        if b.fails:
            add('%s: the flush of the realm file fails' % who, go(flush_realm(spend(s, fails=1), False), 'pfail'))
    elif pc == 'pfail':
        t = sh(s, stop=True, pcint=None)._replace(failed=s.failed | set(img.hist[len(x.pub.hist):]))
        h = s.hdr[1 - x.cslot][0]
        if isinstance(h, Hdr) and h.img.ver == img.ver:
            t = t._replace(refused=t.refused | {h.hseq})
        add('%s stops writing for all, its commit fails' % who, done(t._replace(klock=None)))
    elif pc == 'p3':
        ext = ()
        if 'one_flush_page_commit' in V:
            ext = tuple(pg for pg, _ in tree_pages(img) if img.pic[pg][0] == img.ver)
        t = s if 'page_commit_no_intent' in V or 'own' in kinds else sh(s, pcint=img)
        if 'marker_first' in V:
            f = Frm(x.log, x.pub.lsn, img.ver, 0, True, x.pub.chain, img.hist[-1], True, img.hist, x.dur)
            t = flush_log(set_block(t, x.log, x.pub.lsn % HB, f))
            add('%s appends and flushes "v%d is in the file"' % (who, img.ver), go(t, 'p3b'))
            return
        add('%s writes header v%d to slot %d' % (who, img.ver, 1 - x.cslot),
            go(write_header(t, 1 - x.cslot, Hdr(next_seq(s), False, x.log, img, ext)), 'p4'))
    elif pc == 'p3b':
        add('%s writes header v%d' % (who, img.ver), go(write_header(s, 1 - x.cslot, Hdr(next_seq(s), False, x.log, img, ())), 'p4'))
    elif pc == 'p4':
        early = 'note' in kinds and 'page_commit_noted_unpublished' in V
        add('%s flushes the realm file (header v%d)' % (who, img.ver), go(sh(flush_realm(s), frealm=None), 'p4b' if early else 'p5'))
        if b.fails:
            # It was noted before.
            add('%s: the flush of the header fails' % who, go(sh(flush_realm(spend(s, fails=1), False), frealm=n), 'pfail'))
    elif pc == 'p4b':
        # Nothing before its place is needed any more.
        t = sh(s, tail=img.lsn // SEG * SEG)
        note(t, n, who, img, img.lsn, add, lambda t: go(sh(t, tail=x.tail), 'p5'))
    elif pc == 'p5':
        t = sh(s, pub=img, C=img, cslot=1 - x.cslot, pcint=None, cand=None if 'two_header_writers' not in V else x.cand,
               frealm=None, dur=max(x.dur, img.lsn), tail=img.lsn // SEG * SEG)
        if s.klock == n and 'two_header_writers' not in V:
            t = t._replace(klock=None)
        late = 'note' in kinds and not {'page_commit_unnoted', 'page_commit_noted_unpublished'} & V
        add('%s publishes v%d' % (who, img.ver), go(t, 'p5b' if late else 'ack'))
    elif pc == 'p5b':
        # Behind the publishing, since whoever ends the log of a dead writer writes over a header that was not published, and its place
        # in the log is never reached then; before the commit is acknowledged.
        note(s, n, who, img, img.lsn, add, lambda t: go(t, 'ack'))
    # a page commit of a writer that died
    elif pc == 'adopt1':
        slot = 1 - x.cslot
        h = s.hdr[slot][0]
        if isinstance(h, Hdr) and h.img == x.pcint:
            add('%s adopts the page commit v%d: writes its header once more' % (who, h.img.ver), go(write_header(s, slot, h), 'adopt2', img=h.img))
        else:
            add('%s finds no header of the page commit' % who, done(sh(s, pcint=None)._replace(klock=None)))
    elif pc == 'adopt2':
        add('%s flushes the realm file (header v%d)' % (who, img.ver), go(flush_realm(s), 'adopt3'))
        if b.fails:
            add('%s: the flush of the header fails' % who, go(flush_realm(spend(s, fails=1), False), 'pfail'))
    elif pc == 'adopt3':
        t = sh(s, pub=img, C=img, cslot=1 - x.cslot, pcint=None, frealm=None, dur=max(x.dur, img.lsn), tail=img.lsn // SEG * SEG)
        add('%s publishes v%d' % (who, img.ver), done(t._replace(klock=None)))


def take_over(s, n, p, who, add):
    """Applies what a dead process has acknowledged behind the image, beside readers, and ends its log."""
    x, (pc, kind, img, _) = s.shm, p.W
    go = lambda t, pc, img=img: sp(t, n, W=(pc, kind, img, ()))
    end = lambda t: sp(t._replace(wlock=None, klock=None), n, W=None)
    header = lambda slot, closed: write_header(s, slot, Hdr(next_seq(s), closed, x.log, img, ()))

    def flushes(what, nxt, noted, name=None):
        add('%s flushes %s' % (who, what), go(s if name and name in V else flush_realm(s), nxt))
        if s.bud.fails:
            t = flush_realm(spend(s, fails=1), False)
            add('%s: the flush of %s fails' % (who, what), go(t, 'ufail'))

    noted = 'settled_unnoted' not in V
    if pc in ('u0', 'u4n', 'u6n', 'u9', 'u13'):
        add('%s notes that a page flush begins' % who, go(sh(s, frealm=n), {'u0': 'u1', 'u4n': 'u5', 'u6n': 'u7', 'u9': 'u10', 'u13': 'u14'}[pc]))
    elif pc in ('u2', 'u5n', 'u7n', 'u11', 'u15'):
        nxt = {'u2': 'u8' if 'taken_unsettled' in V else 'u4', 'u5n': 'u8' if 'settled_in_one_slot' in V else 'u6', 'u7n': 'u8', 'u11': 'u12',
               'u15': 'u17' if 'ended_before_published' in V else 'u16'}[pc]
        add('%s removes the note' % who, go(sh(s, frealm=None), nxt))
    elif pc == 'u1':
        flushes('the pages', 'u2', True)
    elif pc == 'u4':
        add('%s writes header v%d to the other slot' % (who, img.ver), go(header(1 - x.cslot, False), 'u4n' if noted else 'u5'))
    elif pc == 'u5':
        flushes('the header', 'u5n' if noted else 'u6', noted)
    elif pc == 'u6':
        add('%s writes it to the slot of the checkpoint, too' % who, go(header(x.cslot, False), 'u6n' if noted else 'u7'))
    elif pc == 'u7':
        flushes('the header', 'u7n' if noted else 'u8', noted)
    elif pc == 'ufail':
        add('%s stops writing for all' % who, end(sh(s, stop=True)))
    elif pc == 'u8':
        frames = records_between(s, x, 'taken_beyond_acknowledged' in V)
        r = make(s, x.pub, [f.cid for f in frames], {x.pub.ver} | {q.R.ver for q in s.procs if q.R} | ({s.ro[1]} if s.ro else set()), frames[-1].ver, x.pub.ver)
        if r is None:
            add('%s has no space for the pages of the records, stops writing for all' % who, end(sh(s, stop=True)))
            return
        t, new = r
        new = new._replace(lsn=frames[-1].lsn + 1, chain=frames[-1].cid)
        add('%s makes the pages of v%d from the log' % (who, new.ver), go(t, 'u9', new))
    elif pc == 'u10':
        flushes('the pages', 'u11', True, 'taken_unflushed')
    elif pc == 'u12':
        add('%s writes header v%d closed to the slot of the checkpoint' % (who, img.ver), go(header(x.cslot, True), 'u13'))
    elif pc == 'u14':
        flushes('the header', 'u15', True, 'taken_unflushed')
    elif pc == 'u16':
        add('%s publishes v%d' % (who, img.ver), go(sh(s, newest=img), 'u17'))
    elif pc == 'u17':
        t = sh(s, ending='gone', frealm=None, pcint=None, cand=None)
        if 'ended_before_published' not in V:
            t = sh(t, stop=True, pub=img, newest=None)
        add('%s tells all that there is no log' % who, go(t, 'u17b' if 'ended_before_published' in V else 'u18'))
    elif pc == 'u17b':
        add('%s publishes v%d' % (who, img.ver), go(sh(s, stop=True, pub=img), 'u18'))
    elif pc == 'u18':
        add('%s unlinks the log' % who, end(s._replace(dir=(None, s.dir[1] | {None}, True))))


def note(s, n, who, last, dur, add, then=None):
    """Says up to where the log is durable, where the next record goes, if there is room."""
    x = s.shm
    place = next_place(x, n, last.lsn)
    f = Frm(x.log, place, last.ver, NOTE, True, last.chain, None, False, last.hist, dur)
    log = log_of(s, x.log)
    if log and place < x.tail + HB and log[2][place % HB][0] != f:
        s = set_block(s, x.log, place % HB, f)
    elif not then:
        return
    then = then or (lambda t: t)
    add('%s notes at %d that the log is durable up to %d' % (who, place, dur), then(s))


STORES = {'PD': 'one store of the version and the durable position', 'P': 'the store of the version', 'D': 'the store of the durable position',
          'N': 'the removal of the note', 'AD': 'one store of the acknowledged and durable position', 'A': 'the store of the acknowledged position'}


def stores(both, note):
    """The order of the stores behind a flush of the log."""
    first = both[0]
    if 'durable_before_published' in V or 'lower' in V:
        return ('D', first, note)
    if 'published_before_durable' in V:
        return (first, 'D', note)
    if 'note_first' in V:
        return (note, both)
    return (both, note)


def store(s, what, img):
    x = s.shm
    if what == 'N':
        return sh(s, flog=None)
    if 'P' in what:
        s = sh(s, pub=img, acked=img.lsn if 'published_lowers_acknowledged' in V else max(x.acked, img.lsn))
    if 'A' in what:
        s = sh(s, acked=img.lsn)
    return sh(s, dur=img.lsn) if 'D' in what else s


def records_between(s, x, beyond=False):
    """The records from the published to the acknowledged position; beyond: all that are whole."""
    blocks, out = log_of(s, x.log)[2], ()
    lsn, ver, chain, at = x.pub.lsn, x.pub.ver, x.pub.chain, START
    while lsn < x.acked or beyond:
        for place in places_behind(lsn):
            f = blocks[place % HB][0]
            if frame_ok(f, x.log, place, ver, chain, at):
                break
        else:
            assert beyond
            break
        out += (f,)
        lsn, ver, chain, at = place + 1, f.ver, f.cid, (f.n, f.last)
    return out


def acknowledged(s):
    """The newest acknowledged version; its pages are those of the published one as long as it has none."""
    x = s.shm
    if x.acked <= x.pub.lsn:
        return x.pub
    f = records_between(s, x)[-1]
    return x.pub._replace(ver=f.ver, lsn=x.acked, chain=f.cid, hist=f.hist)


def secured(s, n, img):
    """Whether there is space for a record's pages, however they are made: with all that was acknowledged before, or behind it as a version
    of their own, while somebody holds what is published now."""
    x, m = s.shm, s.procs[n].M
    base = m[1] if m and m[0] == 'made' else x.pub
    hold, last = pins(s, x.pub) | {base.ver}, acknowledged(s)
    before, own = last.hist[len(base.hist):], img.hist[len(last.hist):]
    if 'no_reservation' in V:
        return True
    if 'reservation_of_one_version' in V:
        return make(s, base, before + own, hold, img.ver, base.ver) is not None
    if before:
        r = make(s, base, before, hold, last.ver, base.ver)
        if r is None:
            return False
        s, base = r
    return make(s, base, own, hold | {base.ver}, img.ver, base.ver) is not None


def in_doubt(x):
    """A candidate that has not been looked at twice may hold what was secured when nobody held it. Whoever makes pages waits: it is dropped soon."""
    return x.cand is not None and not x.sure and 'fails_beside_unsure' not in V


HANDS = {'handed_over_unpublished', 'handed_over_and_rolled'}


def choices(s, kind):
    if kind in GROUPS:
        return [(s.ncid, s.ncid + 1)]
    return [(s.ncid,), (s.ncid + 1,)] if s.bud.commits < 3 else [(s.ncid,)]


def in_slice(s, n, who, kinds, add):
    """What the holder of the write lock begins between two commits."""
    x, m = s.shm, s.procs[n].M
    whole = x.acked <= x.pub.lsn and m is None
    for kind in kinds:
        if kind == 'sync':
            img = acknowledged(s)
            if x.dur < img.lsn:
                add('%s begins to flush the log' % who, sp(s, n, W=('s1', 'lsync', img, ())))
        elif kind not in NO_COMMITS and s.bud.commits >= (2 if kind in GROUPS else 1):
            if kind in LATE or whole or kind == 'page' and 'page_commit_on_published' in V:
                for cids in choices(s, kind):
                    begin(s, n, who, kind, cids, add)


def maker(s, n, p, who, add, kinds):
    """Makes the pages of what was acknowledged, beside an open block: by the holder of the write lock, in whichever thread."""
    x, b = s.shm, s.bud
    if p.M and p.M[0] == 'made':
        img = p.M[1]
        if 'position_at_publishing' in V:
            a = acknowledged(s)
            img = img._replace(ver=a.ver, lsn=a.lsn, chain=a.chain, hist=a.hist)
        t = store(s, 'PD' if 'published_is_durable' in V else 'P', img)
        if 'bell_cleared_last' in V:
            t = sh(t, bell=False)
        add('%s publishes v%d' % (who, img.ver), sp(t, n, M=None))
        return
    if s.wlock != n or p.M in (NO_SPACE, BROKEN) or p.W is not None and p.W[1] not in LATE:
        return
    beyond = 'made_beyond_acknowledged' in V
    if x.acked <= x.pub.lsn and not (beyond and records_between(s, x, True)):
        return
    others = any(q.st for m, q in enumerate(s.procs) if m != n)
    asked = p.A is not None or x.bell
    # Somebody asks, a checkpoint is wanted, the lock is, the next commit needs pages, or the file is to be closed.
    if not (asked or b.ckpts or b.closes or b.commits and (others or any(k not in LATE for k in kinds))):
        return
    goal = acknowledged(s)
    if beyond:
        f = records_between(s, x, True)[-1]
        goal = goal._replace(ver=f.ver, lsn=f.lsn + 1, chain=f.cid, hist=f.hist)
    cids = goal.hist[len(x.pub.hist):]
    if p.M:      # a step failed, and what it did counts as done
        cids = goal.hist[len(p.M[1].hist):]
    if p.W and p.W[0] == 'open' and 'pages_beside_block_not_frozen' in V:
        cids += tuple(f.cid for f in p.W[3])
    hold = (p.S or pins(s, x.pub)) | {x.pub.ver}
    r = make(s, x.pub, cids, hold, goal.ver, x.pub.ver)
    if r is None:
        if not in_doubt(x):
            add('%s has no space for the pages of v%d' % (who, goal.ver), sp(s, n, M=NO_SPACE))
        return
    t, img = r
    img = img._replace(lsn=goal.lsn, chain=goal.chain, hist=goal.hist)
    if 'bell_cleared_last' not in V:
        t = sh(t, bell=False)      # before the acknowledged position is read
    add('%s makes the pages of v%d' % (who, img.ver), sp(t, n, M=('made', img)))
    if b.fails and p.M is None:
        t = spend(s, fails=1)
        add('%s: a step of making the pages of v%d fails' % (who, img.ver),
            sp(t, n, M=('half', img)) if 'failed_making_goes_on' in V else sp(sh(t, stop=True), n, M=BROKEN))


def begin(s, n, who, kind, cids, add, base=None):
    x = s.shm
    base = base or (acknowledged(s) if kind in LATE else x.pub)
    lsn, chain = next_place(x, n, base.lsn), base.chain
    ver = base.ver
    if 'continue_without_applying' in V and kind != 'page':
        l = log_of(s, x.log)[2]
        while lsn < x.tail + HB and frame_ok(l[lsn % HB][0], x.log, lsn, ver, chain):
            f = l[lsn % HB][0]
            lsn, ver, chain = lsn + 1, f.ver, f.cid
    new = ver + 1
    if kind != 'page' and lsn + len(cids) > x.tail + HB:
        return
    if kind == 'lazy' and make(s, base, cids, pins(s, base), new, base.ver) is None:
        return
    if kind == 'lazy' or kind in LATE:
        if 'pins_of_slice_begin' in V and s.procs[n].S is None:
            s = sp(s, n, S=frozenset(pins(s, base)))
        t, img = s, base._replace(ver=new, hist=base.hist + tuple(cids))
    else:
        r = make(s, base, cids, pins(s, base), new, base.ver)
        if r is None:
            return
        t, img = r
    t = spend(t, commits=len(cids))._replace(ncid=max(t.ncid, max(cids) + 1))
    if kind == 'page':
        # Nothing that stood there fits behind it.
        img = img._replace(lsn=(lsn + 2) // 2 * 2, chain=('P', cids[0]))
        add('%s begins a page commit of v%d (commit %s)' % (who, new, cids[0]), sp(t, n, W=('p1', kind, img, ())))
        return
    frames, hist = [], base.hist
    for k, c in enumerate(cids):
        hist += (c,)
        place = (new + k, 0, True) if kind == 'lbatch' else (new, k, k == len(cids) - 1)
        frames.append(Frm(x.log, lsn, *place, chain, c, False, hist, max(x.dur, x.C.lsn)))
        lsn, chain = lsn + 1, c
    img = img._replace(ver=frames[-1].ver, lsn=lsn, chain=chain)
    if kind in ('unfl', 'lunfl'):
        t = t._replace(soft=t.soft | set(cids))
    if 'header_per_commit' in V:
        t = write_header(t, 1 - x.cslot, Hdr(next_seq(s), False, x.log, img, ()))
    add('%s begins %s v%d (commits %s)' % (who, {'rec': 'a record commit', 'group': 'a group of two',
        'unfl': 'an unflushed commit', 'lazy': 'a commit without pages', 'late': 'a block without pages', 'lunfl': 'an unflushed block without pages',
        'lgroup': 'a group of two without pages', 'lbatch': 'two versions without pages and one flush'}[kind], new, cids), sp(t, n, W=('open' if kind in LATE else 'append', kind, img, tuple(frames))))


def rewrite(s, more, taking=False):
    """Whoever ends a log writes over the candidate's header, and needs both slots as they are."""
    x = s.shm
    if taking and 'rewritten_without_slots' not in V:
        s = s._replace(hdr=tuple(wr(h, h[0]) for h in s.hdr))
    for img in {x.pub} | ({x.cand} if x.cand and not taking else set()) | set(more):
        for pg, v in tree_pages(img):
            if img.pic[pg][0] > x.C.ver:
                s = s._replace(pages=put(s.pages, pg, wr(s.pages[pg], s.pages[pg][0], False)))
    return sh(s, frealm=None)


def checkpointer(s, n, p, who, add, kinds):
    x, b = s.shm, s.bud
    if p.K is None:
        if s.klock is not None or x.stop or x.ending:
            return
        if 'own' in kinds and x.own != n:   # its checkpoints are its own, and nobody finishes them: who ends its log writes over both slots
            return
        if x.pcint is not None and 'page_commit_no_intent' not in V and 'two_header_writers' not in V:
            return
        if x.frealm is not None:   # its owner is dead, since the lock is free
            # The holder of the write lock does it where no pages are in work.
            idle = s.wlock == n and (p.M in (None, BROKEN) or 'rewrite_beside_making' in V) and (p.W is None or p.W[1] in LATE)
            if s.wlock is None or idle or 'rewrite_beside_writer' in V:
                add('%s finds that a page flush did not end: writes all pages since the checkpoint once more' % who, rewrite(s, ()))
            return
        if x.cand is not None and not x.sure and 'unsure_candidate' not in V:
            add('%s drops the checkpoint v%d that a dead process had not looked at twice' % (who, x.cand.ver), sh(s, cand=None))
            return
        if x.cand is not None and 'candidate_pin_dies' not in V:
            add('%s goes on with the checkpoint v%d of a dead process' % (who, x.cand.ver), sp(s._replace(klock=n), n, K=('k3', x.cand)))
        elif b.ckpts and x.pub.ver > x.C.ver:
            t = spend(s, ckpts=1)._replace(klock=n)
            if 'candidate_without_pages' in V and x.acked > x.pub.lsn:
                add('%s chooses checkpoint v%d' % (who, acknowledged(s).ver), sp(t, n, K=('k3', acknowledged(s))))
            add('%s chooses checkpoint v%d' % (who, x.pub.ver), sp(t, n, K=('k1', x.pub)))
        return
    pc, img = p.K
    go = lambda t, pc: sp(t, n, K=(pc, img))
    if pc == 'k1':
        add('%s announces checkpoint v%d' % (who, img.ver), go(sh(s, cand=img, sure='no_recheck' in V), 'k2' if 'no_recheck' not in V else 'k3'))
    elif pc == 'k2':
        if x.pub.ver == img.ver:
            add('%s: v%d is still the newest' % (who, img.ver), go(sh(s, sure=True), 'k3'))
        else:
            add('%s: v%d is not the newest any more, gives up' % (who, img.ver), sp(sh(s, cand=None)._replace(klock=None), n, K=None))
    elif pc == 'k3':
        t = s if 'no_page_flush_intent' in V else sh(s, frealm=n)
        if 'header_before_pages' in V:
            add('%s writes header v%d' % (who, img.ver), go(write_header(t, 1 - x.cslot, Hdr(next_seq(s), False, x.log, img, ())), 'k5'))
            return
        add('%s notes that a page flush begins' % who, go(t, 'k3b'))
    elif pc == 'k3b':
        add('%s flushes the pages' % who, go(flush_realm(s), 'k3c'))
        if b.fails:
            add('%s: the flush of the pages fails' % who, go(flush_realm(spend(s, fails=1), False), 'kfail'))
    elif pc in ('k3c', 'k5b'):
        add('%s removes the note' % who, go(sh(s, frealm=None), 'k4' if pc == 'k3c' else 'k6'))
    elif pc == 'k4':
        t = write_header(s, 1 - x.cslot, Hdr(next_seq(s), False, x.log, img, ()))
        if 'recycle_early' in V:
            t = sh(t, tail=img.lsn // SEG * SEG)
        add('%s writes header v%d to slot %d' % (who, img.ver, 1 - x.cslot), go(t, 'k5' if 'no_page_flush_intent' in V else 'k4b'))
    elif pc == 'k4b':
        add('%s notes that a page flush begins' % who, go(sh(s, frealm=n), 'k5'))
    elif pc == 'k5':
        add('%s flushes the header v%d' % (who, img.ver), go(flush_realm(s), 'k5b'))
        if b.fails:
            add('%s: the flush of the header fails' % who, go(flush_realm(spend(s, fails=1), False), 'kfail'))
    elif pc in ('k6', 'k6b'):
        # The slot stands in the word that publishes; what holds the pages is the process's own, where only one appends.
        slot_first = 'slot_last' not in V
        if (pc == 'k6') == slot_first:
            add('%s says that the checkpoint is in slot %d' % (who, 1 - x.cslot), go(sh(s, cslot=1 - x.cslot), 'k6b' if slot_first else 'k7'))
        else:
            add('%s: checkpoint v%d is durable' % (who, img.ver), go(sh(s, C=img, cand=None, sure=False), 'k7' if slot_first else 'k6b'))
    elif pc == 'k7':
        tail = (x.acked if 'recycle_to_acknowledged' in V else x.C.lsn) // SEG * SEG
        add('%s recycles the log before %d' % (who, tail), sp(sh(s, tail=tail)._replace(klock=None), n, K=None))
    elif pc == 'kfail':
        add('%s stops writing for all' % who, sp(sh(s, stop=True)._replace(klock=None), n, K=None))


def closing(s, n, p, who, add, kinds):
    pc, _ = p.O
    x = s.shm
    go = lambda t, pc: sp(t, n, O=(pc, None))
    gone = lambda t: die(t, n)._replace(shm=None)
    early = 'close_unlinks_first' in V
    if pc == 'c1':
        add('%s flushes the pages' % who, go(flush_realm(s), 'c4' if early else 'c2'))
        if s.bud.fails:
            add('%s: the flush of the pages fails, closes without checkpoint' % who, gone(flush_realm(spend(s, fails=1), False)))
    elif pc == 'c2':
        add('%s writes header v%d closed' % (who, x.pub.ver), go(write_header(s, 1 - x.cslot, Hdr(next_seq(s), True, x.log, x.pub, ())), 'c3'))
    elif pc == 'c3':
        add('%s flushes the header' % who, gone(flush_realm(s)) if early else go(flush_realm(s), 'c4'))
        if s.bud.fails:
            add('%s: the flush of the header fails' % who, gone(flush_realm(spend(s, fails=1), False)))
    elif pc == 'c4':
        add('%s unlinks the log' % who, go(s._replace(dir=(None, s.dir[1] | {None}, True)), 'c2' if early else 'c5'))
    elif pc == 'c5':
        add('%s flushes the directory; closed' % who, drop_logs(gone(s._replace(dir=fl(s.dir)))))


def drop_logs(s):
    keep = {d for d in s.dir[1]} | ({s.shm.log} if s.shm else set())
    return s._replace(logs=tuple(l for l in s.logs if l[0] in keep))


def opening(s, n, p, who, add, kinds):
    pc, d = p.O
    go = lambda t, pc, d=d: sp(t, n, O=(pc, d))
    fails = s.bud.fails
    bad = lambda t: die(t, n)
    if pc == 'o1':
        for err, hist, slot, frames in outcomes(s, False):
            if err is not None:
                add('%s: %s' % (who, err), die(s, n))
                continue
            H = s.hdr[slot][0]
            nxt = 'o2'
            if 'no_settling' in V:
                nxt = 'o3'
            add('%s reads header v%d%s and %d records' % (who, H.img.ver, ' closed' if H.closed else '', len(frames)), go(s, nxt, (slot, frames, None)))
        return
    slot, frames, img = d
    if pc == 'o2':
        add('%s writes the header that it believes once more' % who, go(write_header(s, slot, s.hdr[slot][0]), 'o2b'))
    elif pc == 'o2b':
        o, H = s.hdr[1 - slot][0], s.hdr[slot][0]
        again = isinstance(o, Hdr) and o.hseq in s.refused and 'refused_header_stays' not in V
        # A header that names a log which is about to go may be on the disk, though its flush failed.
        unnamed = H.closed and s.dir[0] not in (None, H.log) and 'unnamed_behind_one_slot' not in V
        add('%s flushes the realm file' % who, go(flush_realm(s), 'o2c' if again else 'o2e' if unnamed else 'o3'))
        # A header that never named a log says nothing of one: an earlier release, or an opening without the setting, need not look.
        if s.bud.plain and H.closed and H.log == 0 and not frames and not again:
            add('%s flushes the realm file, and looks for no log' % who, go(spend(flush_realm(s), plain=1), 'q1', (slot, H.img, None)))
        if fails:
            add('%s: the flush fails, does not open' % who, bad(flush_realm(spend(s, fails=1), False)))
    elif pc == 'o2c':
        add('%s writes it over the refused header, too' % who, go(write_header(s, 1 - slot, s.hdr[slot][0]._replace(hseq=next_seq(s))), 'o2d'))
    elif pc == 'o2d':
        add('%s flushes the realm file' % who, go(flush_realm(s), 'o3', (1 - slot, frames, img)))
        if fails:
            add('%s: the flush fails, does not open' % who, bad(flush_realm(spend(s, fails=1), False)))
    elif pc == 'o2e':
        add('%s writes it to the other slot, too' % who, go(write_header(s, 1 - slot, s.hdr[slot][0]), 'o2f'))
    elif pc == 'o2f':
        add('%s flushes the realm file' % who, go(flush_realm(s), 'o3'))
        if fails:
            add('%s: the flush fails, does not open' % who, bad(flush_realm(spend(s, fails=1), False)))
    elif pc == 'o3':
        H = s.hdr[slot][0]
        if H.closed and not frames:
            if s.dir[0] is not None or len(s.dir[1]) > 1:
                add('%s: nothing to replay, removes what is left of the log' % who, go(s, 'o7', (slot, (), H.img)))
            else:
                add('%s: nothing to replay' % who, go(s, 'o12' if 'header_names_log_first' in V else 'o9', (slot, (), H.img)))
            return
        if not frames:
            img = H.img
            t = s
        else:
            pinned = {H.img.ver} | ({s.ro[1]} if s.ro else set())
            if 'replay_over_checkpoint' in V:
                pinned = set() if not s.ro else {s.ro[1]}
            cids = [f.cid for f in frames]
            base = H.img
            if 'replay_over_checkpoint' in V:   # replays one by one, each on top of the one before, and reuses what they give up
                t = s
                for f in frames:
                    r = make(t, base, [f.cid], {base.ver}, f.ver, base.ver)
                    if r is None:
                        return
                    t, base = r
                img = base
            else:
                r = make(s, base, cids, pinned, frames[-1].ver, base.ver)
                if r is None:
                    add('%s: no space to replay, does not open' % who, die(s, n))
                    return
                t, img = r
            img = img._replace(lsn=frames[-1].lsn + 1, chain=frames[-1].cid)
        if 'recovery_keeps_log' in V and frames:
            x = Shm(img, H.img, slot, None, False, False, None, None, None, H.log, img.lsn, H.img.lsn // SEG * SEG, img.lsn, False, False,
                    n if 'own' in kinds else None)
            add('%s replays to v%d and goes on in the same log' % (who, img.ver),
                sp(t._replace(shm=x), n, st=2, O=None))
            return
        add('%s replays to v%d, pages in the cache' % (who, img.ver), go(t, 'o7x' if 'recovery_unlinks_first' in V else 'o4', (slot, (), img)))
    elif pc == 'o7x':
        add('%s unlinks the log and flushes the directory' % who, go(s._replace(dir=EMPTY), 'o4'))
    elif pc == 'o4':
        add('%s flushes the pages' % who, go(flush_realm(s), 'o5'))
        if fails:
            add('%s: the flush of the pages fails, does not open' % who, bad(flush_realm(spend(s, fails=1), False)))
    elif pc == 'o5':
        h = Hdr(next_seq(s), True, s.hdr[slot][0].log, img, ())
        add('%s writes header v%d closed' % (who, img.ver), go(write_header(s, 1 - slot, h), 'o6', (1 - slot, (), img)))
    elif pc == 'o6':
        add('%s flushes the header' % who, go(flush_realm(s), 'o7'))
        if fails:
            add('%s: the flush of the header fails, does not open' % who, bad(flush_realm(spend(s, fails=1), False)))
    elif pc == 'o7':
        add('%s unlinks the old log' % who, go(s._replace(dir=(None, s.dir[1] | {None}, True)), 'o8'))
    elif pc == 'o8':
        add('%s flushes the directory' % who, go(drop_logs(s._replace(dir=fl(s.dir))), 'o12' if 'header_names_log_first' in V else 'o9'))
    elif pc == 'o9':
        if s.bud.plain and s.hdr[slot][0].closed:
            add('%s has it open without a log' % who, go(spend(s, plain=1), 'q1', (slot, img, None)))
        i = s.nlog
        l = (i, wr(EMPTY, ('L', i, img.ver)), (EMPTY,) * HB)
        t = s._replace(nlog=i + 1, dir=(i, s.dir[1] | {i}, True), logs=s.logs + (l,))
        add('%s creates log %d' % (who, i), go(t, 'o10'))
    elif pc == 'o10':
        t = s._replace(logs=tuple((i, fl(h), tuple(map(fl, bl))) for i, h, bl in s.logs))
        add('%s flushes the new log' % who, go(t, 'o11'))
    elif pc == 'o11':
        t = s._replace(dir=fl(s.dir))
        nxt = 'o12'
        if 'header_names_log_first' in V or 'create_lazy_header' in V:
            nxt = 'o14'
        add('%s flushes the directory' % who, go(drop_logs(t), nxt))
    elif pc == 'o12':
        i = s.dir[0] if 'header_names_log_first' not in V else s.nlog
        img = img._replace(lsn=0, chain=0)
        h = Hdr(next_seq(s), False, i, img, ())
        add('%s writes header v%d with log %d' % (who, img.ver, i), go(write_header(s, 1 - slot, h), 'o13', (1 - slot, (), img)))
    elif pc == 'o13':
        add('%s flushes the header' % who, go(flush_realm(s), 'o9' if 'header_names_log_first' in V else 'o14'))
        if fails:
            t = flush_realm(spend(s, fails=1), False)
            add('%s: the flush of the header fails, does not open' % who, bad(t))
            o = s.hdr[1 - slot][0]
            if s.bud.plain and isinstance(o, Hdr) and o.closed:
                add('%s: the flush of the header fails; who has joined goes on without a log' % who,
                    go(spend(t, plain=1), 'q1', (1 - slot, o.img, None)))
    elif pc == 'o14':
        img = img._replace(lsn=0, chain=0) if 'create_lazy_header' not in V else img._replace(lsn=0, chain=0)
        if 'create_lazy_header' in V:
            s = s   # records are chained to the closed header's version
        x = Shm(img, img, slot, None, False, False, None, None, None, s.dir[0], 0, 0, 0, False, False, n if 'own' in kinds else None)
        t = s._replace(shm=x, refused=frozenset())
        add('%s has it open at v%d' % (who, img.ver), sp(t, n, st=2, O=None))


def plain(s, n, p, who, add, kinds):
    """A life without a log, beside whatever stands at its name: page commits, and a mark at the close."""
    pc, (slot, img, cids) = p.O
    go = lambda t, pc, slot=slot, img=img, cids=cids: sp(t, n, O=(pc, (slot, img, cids)))
    H = s.hdr[slot][0]
    if pc == 'q1':
        if s.bud.commits:
            r = make(s, img, (s.ncid,), pins(s, img), img.ver + 1, img.ver)
            if r:
                t, new = r
                add('%s makes the pages of v%d (commit %d), without a log' % (who, new.ver, s.ncid),
                    go(spend(t, commits=1)._replace(ncid=s.ncid + 1), 'q2', img=new, cids=(s.ncid,)))
        add('%s writes its mark to the other slot and closes, without a log' % who, die(write_header(s, 1 - slot, H), n))
        add('%s closes, without a log' % who, die(s, n))
    elif pc in ('q2', 'q4'):
        add('%s flushes the realm file' % who, go(flush_realm(s), 'q3' if pc == 'q2' else 'q5'))
        if s.bud.fails:
            add('%s: the flush of the realm file fails, writing stops' % who, die(flush_realm(spend(s, fails=1), False), n))
    elif pc == 'q3':
        add('%s writes header v%d closed to slot %d' % (who, img.ver, 1 - slot),
            go(write_header(s, 1 - slot, Hdr(H.hseq + 1, True, H.log, img, ())), 'q4', slot=1 - slot))
    elif pc == 'q5':
        add('%s acknowledges v%d (commits %s)' % (who, img.ver, img.hist),
            go(s._replace(must=s.must | set(img.hist), unsaid=s.unsaid | set(cids)), 'q1', cids=None))


# ---- searching -----------------------------------------------------------------------------------------------------------

def norm(s):
    """What the lock file held goes with the last process."""
    if not any(p.st for p in s.procs) and s.shm is not None:
        s = s._replace(shm=None, wlock=None, klock=None)
    return s


def trace_to(parent, s):
    trace = []
    while parent[s]:
        trace.append(parent[s][1])
        s = parent[s][0]
    return trace[::-1]


def explore(cfg, limit=10**9, seconds=10**9):
    bud, kinds, npages = cfg
    first = initial(npages, bud)
    parent = {first: None}
    queue = deque([first])
    trans = 0
    start = time.time()
    while queue:
        s = queue.popleft()
        ch = steps(s, kinds)
        e = starved(s, ch)
        if e:
            return len(parent), trans, e, trace_to(parent, s), time.time() - start, True
        for name, t in ch:
            trans += 1
            t = norm(t)
            if t in parent:
                continue
            parent[t] = (s, name)
            e = violation(t, s)
            if e:
                return len(parent), trans, e, trace_to(parent, t), time.time() - start, True
            queue.append(t)
        if len(parent) > limit or (trans & 255) < 40 and time.time() - start > seconds:
            return len(parent), trans, None, None, time.time() - start, False
    return len(parent), trans, None, None, time.time() - start, True


def walk(forms, seconds, seed):
    """Walks at random, each time in a form of the protocol that is chosen at random; forms: configurations by their names."""
    global SAMPLE
    rng = random.Random(seed)
    SAMPLE = sampled_cut(rng)
    end = time.time() + seconds
    walks, total, deepest = dict.fromkeys(forms, 0), 0, 0
    while time.time() < end:
        form = rng.choice(sorted(forms))
        bud, kinds, npages = forms[form]
        s = initial(rng.choice(npages), bud)
        trace = ['%d pages, the form %s' % (len(s.pages), form)]
        walks[form] += 1
        while True:
            ch = steps(s, kinds)
            e = starved(s, ch)
            if e:
                return walks, total, deepest, e, trace
            if not ch:
                break
            # cuts and kills have many forms: choose the kind first
            rare = [c for c in ch if 'power is cut' in c[0] or 'is killed' in c[0] or 'fails' in c[0]]
            common = [c for c in ch if c not in rare]
            name, t = rng.choice(rare) if rare and (not common or rng.random() < 0.06) else rng.choice(common)
            trace.append(name)
            before, s = s, norm(t)
            total += 1
            e = violation(s, before)
            if e:
                return walks, total, deepest, e, trace
        deepest = max(deepest, len(trace))
    return walks, total, deepest, None, None


def B(commits=0, ckpts=0, kills=0, cuts=0, fails=0, opens=1, closes=0, readers=0, ro=0, tamper=0, plain=0):
    return Bud(commits, ckpts, kills, cuts, fails, opens, closes, readers, ro, tamper, plain)



ALL = ('rec', 'group', 'unfl', 'page')
# What is walked at random.
FORMS = {
    'wide': (B(commits=14, ckpts=6, kills=3, cuts=2, fails=1, opens=9, closes=2, readers=3, ro=1, plain=2),
             ALL + ('lazy', 'sync', 'late', 'lunfl', 'lgroup', 'lbatch', 'back', 'note'), (7, 9, 11)),
    'engine': (B(commits=14, ckpts=6, kills=3, cuts=2, fails=1, opens=9, closes=2, readers=3, ro=1, plain=2),
               ('rec', 'page', 'late', 'lbatch', 'back', 'note', 'take', 'over', 'own'), (7, 9, 11)),
}
# name: (budgets, kinds of commits, pages of the file)
CONFIGS = {
    'checkpoints beside a writer and a reader, a kill': (B(commits=3, ckpts=2, kills=1, opens=2, readers=1), ('rec',), 8),
    'groups and pages, a kill': (B(commits=3, ckpts=1, kills=1, opens=2), ('group', 'page'), 9),
    'unflushed and flushed, a kill, a failed flush': (B(commits=2, ckpts=1, kills=1, fails=1, opens=3), ('rec', 'unfl'), 9),
    'pages and records, a kill, a failed flush': (B(commits=2, ckpts=1, kills=1, fails=1, opens=2), ('rec', 'page'), 9),
    'two page commits, two kills': (B(commits=2, ckpts=0, kills=2, opens=3), ('rec', 'page'), 9),
    'recovery: a kill, a power cut, a second one in recovery': (B(commits=2, ckpts=1, kills=1, cuts=2, opens=4), ('rec',), 8),
    'recovery of groups, two power cuts': (B(commits=4, ckpts=0, kills=1, cuts=2, opens=4), ('group',), 9),
    'recovery with failed flushes': (B(commits=2, ckpts=1, kills=2, fails=1, cuts=1, opens=3), ('rec',), 8),
    'all kinds, a power cut, a life after it': (B(commits=2, ckpts=1, cuts=1, opens=3), ALL, 9),
    'closing and opening, a kill, a power cut': (B(commits=2, ckpts=0, kills=1, cuts=1, closes=2, opens=3), ('rec',), 8),
    'the log goes round': (B(commits=6, ckpts=3, cuts=1, opens=2), ('rec',), 7),
    'the log goes round, groups and kills': (B(commits=6, ckpts=2, kills=1, opens=2), ('rec', 'group'), 8),
    'damage at rest, after closing, kills and power cuts': (B(commits=2, ckpts=1, kills=1, cuts=1, opens=3, closes=1), ('rec',), 8),
    'damage at rest after the log went round': (B(commits=6, ckpts=3, kills=1, opens=2, closes=1), ('rec',), 7),
    'versions made late, kills': (B(commits=3, ckpts=1, kills=2, opens=3), ('lazy', 'rec'), 9),
    'versions made late, a power cut': (B(commits=3, ckpts=1, kills=1, cuts=1, opens=3), ('lazy',), 9),
    'a reader that replays privately': (B(commits=4, ckpts=2, kills=1, opens=2, ro=1), ('rec',), 9),
    'copies put back, logs deleted': (B(commits=3, ckpts=1, kills=1, opens=2, closes=1, tamper=1), ('rec',), 8),
    'flushed and not in one block, kills': (B(commits=3, kills=2, opens=3), ('unfl', 'rec'), 9),
    'groups over records of dead processes': (B(commits=4, kills=2, opens=3), ('rec', 'group'), 9),
    'flushes of the log by themselves, a kill': (B(commits=3, ckpts=1, kills=1, opens=2), ('unfl', 'rec', 'sync'), 9),
    'flushes of the log by themselves, a kill, one fails': (B(commits=2, kills=1, fails=1, opens=2), ('unfl', 'rec', 'sync'), 9),
    'a reader between the stores of a commit, a kill': (B(commits=3, kills=1, opens=2, readers=1), ('rec', 'group', 'unfl'), 9),
    'the log ended by another process': (B(commits=2, ckpts=1, kills=2, opens=3), ('rec', 'page', 'take'), 9),
    'the log ended by another process, a flush fails': (B(commits=2, ckpts=1, kills=1, fails=1, opens=3), ('rec', 'take'), 9),
    'the log ended by another process, a life after it': (B(commits=2, kills=2, cuts=1, opens=4), ('rec', 'take'), 9),
    'copies put back after the log went round': (B(commits=5, ckpts=2, kills=1, opens=2, tamper=1), ('rec', 'unfl'), 7),
    'lives without a log, kills': (B(commits=2, kills=2, opens=4, plain=2), ('rec',), 8),
    'lives without a log, a kill, a power cut': (B(commits=2, kills=1, cuts=1, opens=4, plain=1), ('rec',), 8),
    'a log whose naming fails, lives without one': (B(commits=1, kills=1, fails=1, cuts=1, opens=3, plain=2), ('rec',), 8),
    'a log whose naming fails, another flush fails': (B(commits=1, kills=1, fails=2, cuts=1, opens=3, plain=1), ('rec',), 8),
    'copies put back beside lives without a log': (B(commits=3, kills=2, opens=3, closes=1, tamper=1, plain=1), ('rec',), 8),
    'what was flushed is noted, a kill, a power cut': (B(commits=2, ckpts=1, kills=1, cuts=1, opens=3), ('rec', 'note'), 8),
    'what was flushed is noted, all kinds, a kill': (B(commits=2, kills=1, opens=3), ALL + ('sync', 'note'), 9),
    'what was flushed is noted, a kill, a flush fails': (B(commits=2, kills=1, fails=1, opens=2), ('rec', 'unfl', 'note'), 9),
    'what was flushed is noted, the log goes round': (B(commits=5, ckpts=2, kills=1, opens=2), ('rec', 'note'), 7),
    'what was flushed is noted, the log ended by another process': (B(commits=2, kills=1, opens=3), ('rec', 'take', 'note'), 9),
    'page commits that are noted, the log ended by another process': (B(commits=2, kills=1, opens=3), ('rec', 'page', 'take', 'note', 'own'), 9),
    'page commits, the log ended by another process, a flush fails': (B(commits=2, kills=1, fails=1, opens=3), ('rec', 'page', 'take', 'note', 'own'), 9),
    'damage at rest behind what was noted': (B(commits=2, ckpts=1, kills=1, opens=3, closes=1), ('rec', 'note'), 8),
    'copies put back behind page commits': (B(commits=2, ckpts=0, kills=1, opens=2, tamper=1), ('rec', 'page', 'note'), 8),
    'stretches without pages, kills': (B(commits=2, kills=2, opens=3), ('late', 'lgroup', 'rec', 'back'), 9),
    'stretches without pages, a power cut': (B(commits=3, ckpts=1, cuts=1, opens=2), ('late', 'lgroup'), 9),
    'stretches without pages, readers of another process': (B(commits=3, kills=1, opens=2, readers=2), ('late',), 9),
    'stretches without pages, readers and little space': (B(commits=4, ckpts=1, readers=2), ('late', 'lgroup'), 6),
    'stretches without pages, checkpoints and little space': (B(commits=4, ckpts=2), ('late',), 8),
    'stretches without pages, a checkpoint, a kill': (B(commits=3, ckpts=1, kills=1, opens=2), ('late',), 8),
    'stretches without pages, flushed and not, a kill, a step fails': (B(commits=3, kills=1, fails=1, opens=2), ('late', 'lunfl'), 9),
    'stretches without pages, flushes of the log by themselves': (B(commits=3, kills=1, opens=2), ('late', 'lunfl', 'sync'), 9),
    'stretches without pages and page commits, a kill': (B(commits=2, ckpts=1, kills=1, opens=2), ('late', 'page'), 9),
    'stretches without pages, checkpoints, a step fails, a kill': (B(commits=2, ckpts=2, kills=1, fails=1, opens=2), ('late',), 9),
    'stretches without pages, the log ended by another process': (B(commits=2, ckpts=1, kills=2, opens=3), ('late', 'take'), 9),
    'stretches without pages, closing and opening': (B(commits=3, kills=1, closes=2, opens=3), ('late',), 8),
    'stretches without pages, the log goes round': (B(commits=6, ckpts=3, opens=1), ('late',), 7),
    'batches without pages, kills': (B(commits=3, kills=2, opens=3), ('late', 'lbatch', 'back'), 9),
    'batches without pages, a power cut': (B(commits=3, cuts=1, opens=2), ('late', 'lbatch'), 9),
    'batches without pages, a flush fails, a kill': (B(commits=3, kills=1, fails=1, opens=2), ('late', 'lbatch'), 9),
    'batches without pages, a reader and a checkpoint': (B(commits=3, ckpts=1, readers=1), ('late', 'lbatch'), 9),
    'batches without pages taken over, kills': (B(commits=2, kills=2, opens=3), ('lbatch', 'over', 'own'), 9),
    'stretches taken over, kills': (B(commits=1, kills=3, opens=4), ('late', 'over', 'own'), 9),
    'stretches taken over, a reader and kills': (B(commits=2, kills=2, opens=3, readers=1), ('late', 'over', 'own'), 9),
    'stretches taken over, a checkpoint, kills': (B(commits=2, ckpts=1, kills=2, opens=3), ('late', 'over', 'own'), 9),
    'stretches taken over, kills, a flush fails': (B(commits=2, kills=2, fails=1, opens=3), ('late', 'over', 'own'), 9),
    'stretches taken over, kills, a power cut, a life after it': (B(commits=2, kills=1, cuts=1, opens=3), ('late', 'over', 'own'), 9),
    'stretches and page commits taken over, kills': (B(commits=2, kills=2, fails=1, opens=3), ('late', 'page', 'over', 'take', 'own'), 9),
}
# name: (budgets, kinds, pages, what is done wrong)
UNSAFE = {
    'publish_before_flush': (B(commits=1, readers=1), ('rec',), 8, 'a version becomes visible before its record is flushed'),
    'ack_before_publish': (B(commits=2, kills=1, opens=2), ('rec',), 8, 'a commit is acknowledged before it is published'),
    'continue_without_applying': (B(commits=2, kills=1, opens=2), ('rec',), 8, 'the next writer goes on behind the last whole record, published or not'),
    'weak_frames': (B(commits=4, kills=1, opens=2), ('rec', 'group'), 9, 'records are told by version and checksum only: no chain, position, log'),
    'gap_is_damage': (B(commits=2), ('group',), 9, 'a whole record behind a torn one is damage'),
    'reuse_since_checkpoint': (B(commits=4), ('rec',), 7, 'pages given up since the checkpoint are used again'),
    'no_candidate_pin': (B(commits=4, ckpts=1), ('rec',), 8, 'the checkpoint in progress does not hold its pages'),
    'candidate_pin_dies': (B(commits=4, ckpts=1, kills=1, opens=2), ('rec',), 8, 'what holds the checkpoint in progress dies with its process'),
    'no_recheck': (B(commits=6, ckpts=1), ('rec',), 8, 'a checkpoint is chosen and announced without a second look at the newest version'),
    'unsure_candidate': (B(commits=3, ckpts=1, kills=1, opens=2), ('rec',), 8, 'a checkpoint that was announced and not confirmed is finished by another process'),
    'rewrite_beside_writer': (B(commits=2, ckpts=1, kills=1, fails=1, opens=2), ('rec', 'page'), 9, 'pages are rewritten after a dead flush while a transaction is open'),
    'header_before_pages': (B(commits=1, ckpts=1), ('rec',), 8, 'a checkpoint writes its header before its pages are flushed'),
    'header_per_commit': (B(commits=1), ('rec',), 8, 'each commit writes a header, unflushed'),
    'recycle_early': (B(commits=6, ckpts=1), ('rec',), 11, 'a segment is used again before the header is flushed'),
    'one_flush_page_commit': (B(commits=2), ('rec', 'page'), 9, 'a page commit with one flush follows record commits'),
    'marker_first': (B(commits=1), ('page',), 9, 'the log says "in the file" before the header is durable'),
    'page_commit_no_intent': (B(commits=2, kills=1, opens=2), ('rec', 'page'), 9, 'the next writer does not look for a page commit of a dead one'),
    'two_header_writers': (B(commits=2, ckpts=1), ('rec', 'page'), 9, 'page commits and checkpoints write headers without a common lock'),
    'no_log_flush_intent': (B(commits=4, kills=1, fails=1, opens=2), ('rec', 'unfl'), 9, 'a failed flush of the log is noted only after it has failed'),
    'no_page_flush_intent': (B(commits=1, ckpts=2, kills=1, fails=1, opens=2), ('rec',), 9, 'a failed flush of the pages is noted only after it has failed'),
    'segment_files_flush_newest': (B(commits=3), ('unfl', 'rec'), 9, 'only the newest segment is flushed'),
    'no_refusal': (B(commits=1, fails=1, opens=1, kills=1), ('rec',), 9, 'nobody remembers where the log of a failed flush ends'),
    'refused_header_stays': (B(commits=3, fails=1, kills=1, opens=2), ('rec', 'page'), 9, 'opening leaves the header of a failed page commit where it is'),
    'no_settling': (B(commits=4, ckpts=1, kills=1, cuts=1, opens=3), ('rec',), 8, 'opening believes a header of the cache without flushing it'),
    'replay_over_checkpoint': (B(commits=3, kills=1, opens=2), ('rec',), 8, 'replay uses pages again that the checkpoint needs'),
    'recovery_unlinks_first': (B(commits=1, kills=1, opens=2), ('rec',), 8, 'the old log goes before the checkpoint of the recovery is durable'),
    'recovery_keeps_log': (B(commits=2, kills=2, fails=1, opens=3), ('rec', 'unfl'), 9, 'recovery goes on in the log that it found, without a checkpoint'),
    'close_unlinks_first': (B(commits=1, closes=1), ('rec',), 8, 'closing unlinks the log before the closed header is durable'),
    'missing_is_clean': (B(commits=1, kills=1, tamper=1), ('rec',), 8, 'a missing log is taken for a clean close'),
    'header_names_log_first': (B(commits=1), ('rec',), 8, 'the header names a log whose name is not durable'),
    'create_lazy_header': (B(commits=1), ('rec',), 8, 'records are acknowledged before the header names their log'),
    'leftover_ignored': (B(commits=1, kills=1, tamper=1), ('rec',), 8, 'a log beside a closed header is thrown away'),
    'unused_at_its_version_only': (B(commits=1, kills=1, opens=3, plain=1), ('rec',), 8, 'a log without a record that begins before the header is another file\'s'),
    'unused_of_any_version': (B(commits=1, kills=2, opens=3, closes=1, tamper=1), ('rec',), 8, 'a log without a record is removed, whichever version it begins at'),
    'unnamed_behind_one_slot': (B(commits=1, kills=1, fails=2, cuts=1, opens=3, plain=1), ('rec',), 8, 'a log that no header names goes when one slot is known to be on the disk'),
    'torn_is_unused': (B(commits=5, ckpts=1, kills=1, tamper=1), ('rec', 'unfl'), 7, 'a log without a whole record counts as being made'),
    'read_only_pins_newest': (B(commits=4, ckpts=2, kills=1, opens=2, ro=1), ('rec',), 9, 'a private replay holds the version it replayed to and not its checkpoint'),
    'lazy_without_rolling_forward': (B(commits=2, kills=1, opens=2), ('lazy',), 9, 'acknowledged versions without pages are not made from the log by the next writer'),
    'durable_before_published': (B(commits=3, kills=1, opens=2), ('rec', 'group'), 9, 'the durable position is stored before the version, and the next writer believes it'),
    'published_before_durable': (B(commits=2, kills=1, opens=2, readers=1), ('rec',), 8, 'the durable position is stored behind the version: the next writer goes on in a flushed block'),
    'lower': (B(commits=3, kills=1, opens=2), ('unfl', 'rec'), 9, 'durable position, version, note in this order, and the next writer lowers the first to the second'),
    'append_to_flushed_block': (B(commits=2), ('rec',), 8, 'a record goes directly behind the one before, whatever was flushed'),
    'jump_over_void': (B(commits=3, kills=1, opens=2), ('unfl', 'rec'), 9, 'who takes over goes on at the next block, whatever stands behind the published version'),
    'sync_beside_void': (B(commits=3, kills=1, opens=2), ('unfl', 'rec', 'sync'), 9, 'a flush of the log leaves a void record behind the published version'),
    'take_after_flush': (B(commits=2, ckpts=1, kills=1, fails=1, opens=2), ('rec', 'take'), 9, 'the log is ended though a flush of the pages may have failed'),
    'take_without_pages': (B(commits=1, opens=1), ('rec', 'take'), 9, 'the log is ended before the pages are flushed'),
    'take_without_word': (B(commits=1, kills=1, opens=2), ('rec', 'take'), 9, 'nothing says that the log is being ended, and somebody goes on in it'),
    'slot_last': (B(commits=4, ckpts=1, kills=1, cuts=1, opens=2), ('rec', 'take'), 8, 'the slot of a checkpoint is told behind the use of pages that the one before needs'),
    'take_over_checkpoint': (B(commits=2, ckpts=1, opens=1), ('rec', 'take'), 9, 'the closed header goes to the slot of the checkpoint'),
    'late: lazy_without_rolling_forward': (B(commits=2, kills=1, opens=2), ('late',), 9, 'the next writer does not make the pages of a dead one\'s stretch'),
    'handed_over_unpublished': (B(commits=2, opens=2), ('late',), 9, 'the lock is given up before the pages are made, and only a dead one\'s records are looked for'),
    'reader_waits_for_dead': (B(commits=1, kills=1, opens=2, readers=1), ('late',), 9, 'pages of a dead writer\'s stretch are made by the next writer only, and none comes'),
    'bell_cleared_last': (B(commits=2, opens=2, readers=2), ('late',), 9, 'a reader\'s wish is forgotten behind the pages: it came after they were begun'),
    'pages_beside_block_not_frozen': (B(commits=2, ckpts=1), ('late',), 9, 'pages that are made beside an open block have its changes'),
    'position_at_publishing': (B(commits=2, ckpts=1), ('late',), 9, 'pages are published with the position that is acknowledged by then'),
    'made_beyond_acknowledged': (B(commits=1, ckpts=1, readers=1), ('late',), 9, 'pages are made of every whole record, acknowledged or not'),
    'rolled_beyond_acknowledged': (B(commits=2, kills=1, opens=2, readers=1), ('late',), 9, 'the next writer takes over whole records that were not acknowledged'),
    'acknowledged_word_first': (B(commits=1, opens=2, readers=1), ('late',), 9, 'the acknowledged position is stored before the flush'),
    'told_before_noted': (B(commits=2, kills=1, opens=2), ('late',), 9, 'a commit is acknowledged before its position is stored'),
    'published_lowers_acknowledged': (B(commits=3, ckpts=1, kills=1, opens=2), ('late',), 9, 'publishing stores the acknowledged position, too: one that is older by then'),
    'published_is_durable': (B(commits=3, ckpts=1), ('late',), 9, 'the durable position is the published image\'s, though records behind it were flushed'),
    'late: durable_before_published': (B(commits=3, kills=1, opens=2), ('late', 'lgroup'), 9, 'the durable position is stored before the acknowledged one'),
    'late: published_before_durable': (B(commits=2, kills=1, opens=2, readers=1), ('late',), 9, 'the durable position is stored behind the acknowledged one'),
    'back_to_published': (B(commits=3), ('late', 'back'), 9, 'a block that is taken back takes what was acknowledged before it back, too'),
    'no_reservation': (B(commits=4, ckpts=1, readers=1), ('late',), 7, 'space for pages is looked for when they are made, behind the acknowledgement'),
    'reservation_of_one_version': (B(commits=2, ckpts=1, readers=1), ('late',), 6, 'space is secured for the stretch as one version, and a reader has it made as two'),
    'fails_beside_unsure': (B(commits=3, ckpts=2), ('late',), 8, 'the making of pages does not wait for the second look at a candidate that holds secured space'),
    'stretch_over_published': (B(commits=2, ckpts=1), ('late',), 9, 'pages that the stretch gives up are used for it'),
    'pins_of_slice_begin': (B(commits=5, ckpts=2, readers=1), ('late',), 9, 'what holds pages is looked at when the lock is taken, and not at each making'),
    'late: reuse_since_checkpoint': (B(commits=4, opens=2, readers=2), ('late',), 8, 'pages given up since the checkpoint are used for a stretch'),
    'late: no_candidate_pin': (B(commits=4, ckpts=2, opens=2), ('late',), 8, 'the checkpoint in progress does not hold its pages against a stretch'),
    'late: no_recheck': (B(commits=6, ckpts=2), ('late',), 11, 'a checkpoint is announced without a second look while a stretch is published'),
    'candidate_without_pages': (B(commits=2, ckpts=2), ('late',), 9, 'a checkpoint takes a version without pages'),
    'recycle_to_acknowledged': (B(commits=6, ckpts=1), ('late',), 9, 'the log is used again up to the acknowledged position'),
    'failed_making_goes_on': (B(commits=2, ckpts=1, fails=1), ('late',), 9, 'a step of making pages fails, and the next making goes on behind it'),
    'refusal_at_published': (B(commits=2, fails=1, kills=1), ('late',), 9, 'behind a flush that failed the log ends at the published position'),
    'rewrite_to_published': (B(commits=4, fails=1, kills=1, opens=2), ('late', 'lunfl'), 9, 'behind a dead flush the records up to the published position are written once more'),
    'rewrite_beside_making': (B(commits=2, ckpts=2, kills=1, fails=1, opens=2), ('late',), 9, 'pages are rewritten after a dead flush while others are being made'),
    'page_commit_on_published': (B(commits=2), ('late', 'page'), 9, 'a page commit begins on the published version, and not on the acknowledged one'),
    'take_unpublished': (B(commits=1, kills=1, opens=2), ('late', 'take'), 9, 'the log of a dead writer is ended before its stretch has pages'),
    'taken_again': (B(commits=3, kills=2, opens=3, readers=1), ('rec', 'lgroup', 'over', 'own'), 9, 'a taker dies behind the publishing of its version, and the next one applies the records again'),
    'taken_unflushed': (B(commits=1, kills=1, opens=2), ('late', 'over', 'own'), 9, 'a taker flushes neither its pages nor its header, and removes the log'),
    'taken_unsettled': (B(commits=3, ckpts=1, kills=2, opens=3), ('late', 'over', 'own'), 9, 'a taker uses pages again while the slots have other versions than the published one'),
    'settled_in_one_slot': (B(commits=3, ckpts=1, kills=2, opens=3), ('late', 'over', 'own'), 9, 'a taker settles the published version in one slot only'),
    'settled_unnoted': (B(commits=1, kills=2, fails=1, opens=3), ('late', 'over', 'own'), 9, 'a taker settles the slots without a note of its flushes: one fails, it dies, and the next one writes over the slot that is whole'),
    'rewritten_without_slots': (B(commits=1, kills=2, fails=1, opens=3), ('late', 'over', 'own'), 9, 'behind a dead flush a taker writes the pages once more and not the slots, and then over the one that is whole'),
    'ended_before_published': (B(commits=1, kills=2, opens=3), ('late', 'over', 'own'), 9, 'a taker ends the log before it publishes its version'),
    'close_without_pages': (B(commits=1, closes=1), ('late',), 9, 'the file is closed at the published version'),
    'note_of_appended': (B(commits=2), ('unfl', 'rec', 'note'), 9, 'what was appended and not flushed is noted as durable'),
    'note_beside_writer': (B(commits=2, opens=2), ('rec', 'note'), 9, 'a note is written while another process appends'),
    'page_commit_unnoted': (B(commits=2, kills=1, opens=2, tamper=1), ('rec', 'page', 'note'), 8, 'nothing in the log says that there was a page commit'),
    'page_commit_noted_unpublished': (B(commits=2, kills=1, opens=2), ('rec', 'page', 'take', 'note', 'own'), 9, 'a page commit is noted in the log before it is published'),
    'torn_shared_memory': (B(commits=1), ('rec',), 8, 'version and root are stored one behind the other'),
}


# What is as safe as what the model does, as far as these configurations go.
OTHER = {
    'note_first': 'the note is removed before version and durable position are stored',
    'handed_over_and_rolled': 'the lock is given up before the pages are made, and whoever takes it makes them',
    'taken_over_without_pages': 'who takes the lock applies the records of a stretch and goes on with it; pages are made later',
    'taken_beyond_acknowledged': 'who takes a log over applies whole records that were not acknowledged: its version is flushed before it is published',
    'groups_by_version_only': 'the chain alone says what follows a record; its number and flag are not looked at',
}
OTHER_CONFIGS = ('flushed and not in one block', 'groups over records', 'flushes of the log by themselves, a kill', 'a reader between', 'versions made late, a power',
                 'unflushed and flushed, a kill', 'stretches without pages, readers of', 'stretches without pages, kills', 'stretches taken over, a reader')


def run_unsafe(name):
    global V
    V = frozenset([name.split(': ')[-1]])      # 'late: NAME' is NAME in stretches without pages
    *cfg, what = UNSAFE[name]
    n, tr, e, trace, sec, whole = explore(tuple(cfg), seconds=600)
    V = frozenset()
    return n, tr, e, trace, sec, what


def main(args):
    if args == ['list']:
        for k, v in UNSAFE.items():
            print('%-36s %s' % (k, v[3]))
        return 0
    if args and args[0] == 'walk':
        seed = int(args[2]) if len(args) > 2 else int(time.time())
        forms = {name: FORMS[name] for name in args[3:] or FORMS}
        w, n, deep, e, trace = walk(forms, float(args[1]), seed)
        told = ', '.join('%d in the form %s' % (w[form], form) for form in sorted(w))
        print('seed %d: %d walks (%s), %d steps, longest %d: %s' % (seed, sum(w.values()), told, n, deep, e or 'no violation'))
        if e:
            print('\n'.join(trace))
        return 1 if e else 0
    status = 0
    global DAMAGE, V
    if args and args[0] == 'other':
        for name in args[1:2] or OTHER:
            print('%s: %s' % (name, OTHER[name]))
            V = frozenset([name])
            for title, cfg in CONFIGS.items():
                if not title.startswith(OTHER_CONFIGS):
                    continue
                n, tr, e, trace, sec, whole = explore(cfg, seconds=float(args[2]) if len(args) > 2 else 10**9)
                print('    %-60s %9d states %6.0f s: %s%s' % (title, n, sec, 'VIOLATION ' + e if e else 'holds', '' if whole else ' (not all explored)'), flush=True)
                for t in trace or []:
                    print('        ' + t)
            V = frozenset()
        return 0
    if not args or args[0] == 'safe':
        for name, cfg in CONFIGS.items():
            if len(args) > 1 and args[1] not in name:
                continue
            DAMAGE = name.startswith('damage')
            LIMITS.clear()
            n, tr, e, trace, sec, whole = explore(cfg, seconds=float(args[2]) if len(args) > 2 else 10**9)
            print('%-60s %9d states %9d transitions %6.0f s: %s%s' % (name, n, tr, sec, 'VIOLATION ' + e if e else 'holds', '' if whole else ' (not all explored)'),
                  flush=True)
            if LIMITS:
                print('    known limit: damage to ' + ', '.join(LIMITS))
            if e:
                status = 1
                print('\n'.join('    ' + t for t in trace))
        DAMAGE = False
    names = [] if args and args[0] == 'safe' else args or list(UNSAFE)
    for name in names:
        n, tr, e, trace, sec, what = run_unsafe(name)
        if not e:
            status = 1
        print('%s: %s (%d states, %.1f s)' % (name, what, n, sec))
        print('    => %s' % (e or 'NO VIOLATION FOUND'))
        for t in trace or []:
            print('    ' + t)
        sys.stdout.flush()
    return status


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
