# SPDX-License-Identifier: GPL-2.0
"""The kernels that tests boot, built when the first test asks for one."""

import pytest

from lab import kernel


@pytest.fixture(scope="session", params=["6.12", "7.2"])
def any_kernel(request):
    return _built(request.param)


@pytest.fixture(scope="session")
def long_term_kernel():
    return _built("6.12")


def _built(version):
    try:
        return kernel.build(version)
    except kernel.KernelUnavailable as reason:
        pytest.skip(str(reason))
