"""The Discrete and the Unified Memory Machine: what a parallel loop costs in time units.

Nakano 2012, section II. w banks hold the memory, address a in bank a mod w and in address group
a // w; w threads are a warp. Warps that have requests are dispatched in turn, one request a thread;
a warp that waits for its last requests sends no new ones. Requests of a warp go through a pipeline:
on the DMM one to a bank at a time, on the UMM those to one address group at a time; several to one
address are one. A request is complete after l time units.
"""

from typing import NamedTuple

import numpy as np

from kmatch.jit import kernel


class Machine(NamedTuple):
    """unified: whether it is a UMM; width: w, its banks and the threads of a warp; latency: l."""

    unified: bool
    width: int
    latency: int


@kernel
def run_body(requests, machine, counts):
    """Time units in which threads run the body of a parallel loop, from a barrier to the next.

    requests: int64[r, p], the addresses that p threads access one after the other, −1 for none;
    counts: int64[2], receives the warps dispatched and the pipeline stages they took in addition.
    """
    rounds, threads = requests.shape
    warps = -(-threads // machine.width)
    following = np.zeros(warps, np.int64)
    complete = np.zeros(warps, np.int64)
    kept = np.empty(machine.width * machine.width, np.int64)
    in_bank = np.empty(machine.width, np.int64)
    free = 0  # when the pipeline takes the next warp
    sending = True
    while sending:
        sending = False
        for warp in range(warps):
            first = warp * machine.width
            last = min(first + machine.width, threads)
            stages = 0
            while stages == 0 and following[warp] < rounds:
                addresses = requests[following[warp], first:last]
                if machine.unified:
                    stages = _address_groups(addresses, machine.width, kept)
                else:
                    stages = _most_to_a_bank(addresses, machine.width, kept, in_bank)
                following[warp] += 1
            if stages:
                sending = True
                free = max(free, complete[warp]) + stages
                complete[warp] = free + machine.latency - 1
                counts[0] += 1
                counts[1] += stages
    return complete.max()


@kernel
def _address_groups(addresses, width, kept):
    """Address groups that a warp accesses."""
    groups = 0
    for address in addresses:
        if address >= 0 and not _holds(kept, 0, groups, address // width):
            kept[groups] = address // width
            groups += 1
    return groups


@kernel
def _most_to_a_bank(addresses, width, kept, in_bank):
    """Addresses in the bank of which a warp accesses most."""
    in_bank[:] = 0
    for address in addresses:
        if address >= 0:
            bank = address % width
            if not _holds(kept, bank * width, bank * width + in_bank[bank], address):
                kept[bank * width + in_bank[bank]] = address
                in_bank[bank] += 1
    return in_bank.max()


@kernel
def _holds(kept, first, last, value):
    at = last - 1  # the latest is the likeliest
    while at >= first and kept[at] != value:
        at -= 1
    return at >= first


@kernel
def sweep(addresses, threads, machine, counts):
    """Time units in which p threads access n addresses, int64[n], p at a time with a barrier each.

    Section III: thread i accesses address p·t + i in turn t.
    """
    time = 0
    for first in range(0, len(addresses), threads):
        turn = addresses[first : first + threads]
        time += run_body(turn.reshape((1, len(turn))), machine, counts)
    return time


@kernel
def read_alone(addresses, machine, counts):
    """Time units in which a single thread accesses n addresses, int64[n]."""
    return run_body(addresses.reshape((len(addresses), 1)), machine, counts)
