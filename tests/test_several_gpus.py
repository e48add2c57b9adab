"""Several GPUs in one search: how they are named here, and on a GPU what they find."""

import time

import pytest
from support.several_gpus import SEARCHES, two_on_one

from kmatch.engine.cuda.driver import find_devices
from kmatch.engine.cuda.engine import GpuQueue
from kmatch.engine.devices import choose_engine
from kmatch.errors import DeviceError

FOUND, REASON = find_devices()


@pytest.mark.parametrize("device", ["cuda:", "cuda:0,", "cuda:,0", "cuda:all,0", "cuda:0;1"])
def test_names_that_are_none(device):
    with pytest.raises(DeviceError, match=r"unknown device .* use auto, .* or cuda:all"):
        choose_engine(device)


@pytest.mark.parametrize("device", ["cuda:0,0", "cuda:1,2,1"])
def test_a_gpu_twice(device):
    with pytest.raises(DeviceError, match="named twice"):
        choose_engine(device)


@pytest.mark.gpu
@pytest.mark.parametrize("name", SEARCHES)
def test_what_the_cpu_finds(name):
    if not FOUND:
        pytest.skip(f"no usable GPU: {REASON}")
    with two_on_one() as shared:
        for device in [shared, "cuda:all"]:
            assert SEARCHES[name](device) == SEARCHES[name]("cpu") != []


class Clock:
    """A GPU that takes `seconds` for each scan, one after the other."""

    def __init__(self, seconds):
        self.number, self.seconds, self.free, self.taken = 0, seconds, 0.0, 0

    def use(self):
        pass

    def scan(self, delay):
        time.sleep(delay)  # of the host
        self.taken += 1
        self.free = max(self.free, time.monotonic()) + self.seconds
        return Scan(self.free)


class Scan:
    def __init__(self, end):
        self.end = end

    def found(self):
        time.sleep(max(self.end - time.monotonic(), 0))


def shares(gpus, many, ahead=5):
    """How many of the scans each GPU takes, of which the host hands out some ahead."""
    queue, under_way = GpuQueue(gpus), []
    for number in range(many):
        # The host takes longer for some than for others.
        delay = 0.004 if number % 3 else 0.0
        under_way.append(queue.hand_out(lambda gpu, delay=delay: gpu.scan(delay), 1))
        if len(under_way) > ahead:
            under_way.pop(0).found()
    for scan in under_way:
        scan.found()
    queue.close()
    return [gpu.taken for gpu in gpus]


def test_equal_gpus_take_equal_work():
    for many in (2, 8, 16):
        assert shares([Clock(0.01), Clock(0.01)], many) == [many // 2] * 2


def test_a_slow_gpu_takes_less():
    fast, slow = shares([Clock(0.005), Clock(0.06)], 30)
    assert fast >= 2 * slow > 0
