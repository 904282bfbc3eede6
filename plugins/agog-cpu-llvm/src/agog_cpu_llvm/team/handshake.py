"""Handshake: compiled code by which the threads of a team get their work, without Python's lock of the interpreter.

A board is an array of words: a line for the team, whose first word says whether a call has it, then a line for each
helper, its seat. A helper waits at its seat in compiled code, for a while awake, then asleep.
"""

from __future__ import annotations

import platform
from collections.abc import Mapping
from functools import cache

from agog_cpu_llvm import image, units

LINE = 16
"""Words of a line: two cache lines, since processors fetch them in pairs."""

LOCKS = 4, 5
"""Words of a seat for the locks on which the helper and its caller sleep."""

ACQUIRE, RELEASE = 6, 7
"""Words of a seat for the addresses of Python's functions of locks: compiled code refers to nothing outside of it."""

IDLE = 40_000
"""Pauses that a helper waits for more work before it sleeps: half a millisecond, the time between two calls of a step
of training. To wake it takes 50 microseconds."""

SPINS = 4000
"""Pauses that a caller waits for its helpers before it sleeps: one of them may want the caller's processor."""

# The states of a seat. A caller posts a function; the helper takes it, or the caller withdraws it after the last turn.
_STATES = {"FREE": 0, "POSTED": 1, "TAKEN": 2, "AWAITED": 3, "ASLEEP": 4}

_PAUSES = {"x86_64": "@llvm.x86.sse2.pause()", "aarch64": "@llvm.aarch64.isb(i32 15)"}

# Fields of a seat by their bytes: 0 state, 8 function, 16 its words, 24 its scratch memory, 32 and 40 the locks,
# 48 and 56 the functions of locks.
_TEXT = """target triple = "unknown-unknown-unknown"
target datalayout = ""

{declaration}

define void @serve(ptr %seat) {{
start:
  %function.at = getelementptr i8, ptr %seat, i64 8
  %words.at = getelementptr i8, ptr %seat, i64 16
  %scratch.at = getelementptr i8, ptr %seat, i64 24
  %go.at = getelementptr i8, ptr %seat, i64 32
  %done.at = getelementptr i8, ptr %seat, i64 40
  %acquire.at = getelementptr i8, ptr %seat, i64 48
  %release.at = getelementptr i8, ptr %seat, i64 56
  %go = load ptr, ptr %go.at
  %done = load ptr, ptr %done.at
  %acquire = load ptr, ptr %acquire.at
  %release = load ptr, ptr %release.at
  br label %wait
wait:
  %left = phi i64 [ {idle}, %start ], [ %less, %pause ], [ {idle}, %take ], [ {idle}, %work ], [ {idle}, %tell ],
                  [ {idle}, %rest ], [ {idle}, %sleep ]
  %state = load atomic i64, ptr %seat acquire, align 8
  %is.posted = icmp eq i64 %state, {POSTED}
  br i1 %is.posted, label %take, label %pause
pause:
  {pause}
  %less = sub i64 %left, 1
  %is.patient = icmp sgt i64 %less, 0
  br i1 %is.patient, label %wait, label %rest
take:
  %taking = cmpxchg ptr %seat, i64 {POSTED}, i64 {TAKEN} acq_rel monotonic
  %is.taken = extractvalue {{ i64, i1 }} %taking, 1
  br i1 %is.taken, label %work, label %wait
work:
  %function = load ptr, ptr %function.at
  %words = load ptr, ptr %words.at
  %scratch = load ptr, ptr %scratch.at
  call void %function(ptr %words, ptr %scratch)
  %before = atomicrmw xchg ptr %seat, i64 {FREE} acq_rel
  %is.awaited = icmp eq i64 %before, {AWAITED}
  br i1 %is.awaited, label %tell, label %wait
tell:
  call void %release(ptr %done)
  br label %wait
rest:
  %resting = cmpxchg ptr %seat, i64 {FREE}, i64 {ASLEEP} acq_rel monotonic
  %is.asleep = extractvalue {{ i64, i1 }} %resting, 1
  br i1 %is.asleep, label %sleep, label %wait
sleep:
  call i32 %acquire(ptr %go, i32 1)
  br label %wait
}}

define void @run(ptr %board, i64 %helpers, ptr %function, ptr %words, ptr %scratch, i64 %size) {{
start:
  store i64 0, ptr %words
  %has.helpers = icmp sgt i64 %helpers, 0
  br i1 %has.helpers, label %ask, label %alone
ask:
  %asking = cmpxchg ptr %board, i64 0, i64 1 acq_rel monotonic
  %is.ours = extractvalue {{ i64, i1 }} %asking, 1
  br i1 %is.ours, label %post, label %alone
alone:
  call void %function(ptr %words, ptr %scratch)
  ret void
post:
  %p = phi i64 [ 1, %ask ], [ %p.next, %posted ]
  %p.byte = mul i64 %p, {line}
  %p.seat = getelementptr i8, ptr %board, i64 %p.byte
  %p.function = getelementptr i8, ptr %p.seat, i64 8
  %p.words = getelementptr i8, ptr %p.seat, i64 16
  %p.scratch = getelementptr i8, ptr %p.seat, i64 24
  %p.go.at = getelementptr i8, ptr %p.seat, i64 32
  %p.offset = mul i64 %p, %size
  %p.memory = getelementptr i8, ptr %scratch, i64 %p.offset
  store ptr %function, ptr %p.function
  store ptr %words, ptr %p.words
  store ptr %p.memory, ptr %p.scratch
  %p.before = atomicrmw xchg ptr %p.seat, i64 {POSTED} acq_rel
  %p.is.asleep = icmp eq i64 %p.before, {ASLEEP}
  br i1 %p.is.asleep, label %wake, label %posted
wake:
  %p.go = load ptr, ptr %p.go.at
  %p.release.at = getelementptr i8, ptr %p.seat, i64 56
  %p.release = load ptr, ptr %p.release.at
  call void %p.release(ptr %p.go)
  br label %posted
posted:
  %p.next = add i64 %p, 1
  %p.more = icmp sle i64 %p.next, %helpers
  br i1 %p.more, label %post, label %work
work:
  call void %function(ptr %words, ptr %scratch)
  br label %gather
gather:
  %g = phi i64 [ 1, %work ], [ %g.next, %gathered ]
  %g.byte = mul i64 %g, {line}
  %g.seat = getelementptr i8, ptr %board, i64 %g.byte
  %withdrawing = cmpxchg ptr %g.seat, i64 {POSTED}, i64 {FREE} acq_rel acquire
  %is.withdrawn = extractvalue {{ i64, i1 }} %withdrawing, 1
  br i1 %is.withdrawn, label %gathered, label %look
look:
  %left = phi i64 [ {spins}, %gather ], [ %less, %pause ]
  %state = load atomic i64, ptr %g.seat acquire, align 8
  %is.taken = icmp eq i64 %state, {TAKEN}
  br i1 %is.taken, label %pause, label %gathered
pause:
  {pause}
  %less = sub i64 %left, 1
  %is.patient = icmp sgt i64 %less, 0
  br i1 %is.patient, label %look, label %await
await:
  %awaiting = cmpxchg ptr %g.seat, i64 {TAKEN}, i64 {AWAITED} acq_rel acquire
  %is.awaited = extractvalue {{ i64, i1 }} %awaiting, 1
  br i1 %is.awaited, label %sleep, label %gathered
sleep:
  %g.done.at = getelementptr i8, ptr %g.seat, i64 40
  %g.done = load ptr, ptr %g.done.at
  %g.acquire.at = getelementptr i8, ptr %g.seat, i64 48
  %g.acquire = load ptr, ptr %g.acquire.at
  call i32 %g.acquire(ptr %g.done, i32 1)
  br label %gathered
gathered:
  %g.next = add i64 %g, 1
  %g.more = icmp sle i64 %g.next, %helpers
  br i1 %g.more, label %gather, label %free
free:
  store atomic i64 0, ptr %board release, align 8
  ret void
}}
"""


def _text() -> str:
    call = _PAUSES.get(platform.machine().replace("AMD64", "x86_64").replace("arm64", "aarch64"))
    kinds = (call or "").replace("i32 15", "i32")
    return _TEXT.format(
        **_STATES,
        idle=IDLE,
        spins=SPINS,
        line=8 * LINE,
        pause=f"call void {call}" if call else "",
        declaration=f"declare void {kinds}" if call else "",
    )


@cache
def entries() -> Mapping[str, int]:
    """The addresses of the functions ``serve`` and ``run``."""
    text = _text()
    return units.loaded(text, lambda: (("serve", "run"), _assembled(text)))


def _assembled(text: str) -> bytes:
    from agog_cpu_llvm import machine  # here, because LLVM is needed only where nothing is on disk

    return machine.assemble(text, is_movable=image.IS_KNOWN)
