"""The GPU's kernels in Numba's simulator, which takes minutes on one core.

conftest.py starts it before all other tests, and these, which wait for it, come last.
"""

import pytest
from support import simulator


@pytest.mark.parametrize("name", simulator.FILES)
def test_kernels_in_the_simulator(name):
    assert simulator.FILES == ["engine.py", "primers.py", "published.py"]
    status, said = simulator.wait(name)
    assert status == 0, said
    assert " passed" in said and " skipped" not in said
