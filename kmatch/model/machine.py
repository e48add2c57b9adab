"""The Discrete and the Unified Memory Machine: the cost of a parallel loop in time units.

Nakano 2012, section II. The memory has w banks; address a is in bank a mod w and in address group
a // w. w threads form a warp. Warps with requests are dispatched in turn, one request a thread; a
warp that waits for its last requests sends no new ones. A warp's requests enter a pipeline: on the
DMM one to each bank at a time, on the UMM those to one address group at a time; requests for one
address count once. A request is complete after l time units.
"""

from typing import NamedTuple

import numpy as np

from kmatch.jit import kernel


class Machine(NamedTuple):
    """unified: whether this is a UMM; width: w, banks, and threads of a warp; latency: l."""

    unified: bool
    width: int
    latency: int


@kernel
def run_body(requests, machine, counts):
    """The time units of a parallel loop's body, from one barrier to the next.

    requests: int64[r, p], the r addresses that each of p threads accesses in turn, −1 for none;
    counts: int64[2], to which warps dispatched and pipeline stages are added.
    """
    rounds, threads = requests.shape
    warps = -(-threads // machine.width)
    following = np.zeros(warps, np.int64)
    complete = np.zeros(warps, np.int64)
    kept = np.empty(machine.width * machine.width, np.int64)
    in_bank = np.empty(machine.width, np.int64)
    free = 0  # time at which the pipeline takes the next warp
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
    """How many address groups a warp accesses."""
    groups = 0
    for address in addresses:
        if address >= 0 and not _holds(kept, 0, groups, address // width):
            kept[groups] = address // width
            groups += 1
    return groups


@kernel
def _most_to_a_bank(addresses, width, kept, in_bank):
    """The most addresses that a warp accesses in one bank."""
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
    """The time units in which p threads access n addresses, p at a time, a barrier after each turn.

    Section III: thread i accesses address p·t + i in turn t.
    """
    time = 0
    for first in range(0, len(addresses), threads):
        turn = addresses[first : first + threads]
        time += run_body(turn.reshape((1, len(turn))), machine, counts)
    return time


@kernel
def read_alone(addresses, machine, counts):
    """The time units in which one thread accesses n addresses."""
    return run_body(addresses.reshape((len(addresses), 1)), machine, counts)
