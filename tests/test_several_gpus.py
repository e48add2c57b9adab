"""Several GPUs in one search: how they are named here, and on a GPU what they find."""

import pytest
from support.several_gpus import SEARCHES, two_on_one

from kmatch.engine.cuda.gpu.driver import find_devices
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
