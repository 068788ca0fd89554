# SPDX-License-Identifier: GPL-2.0
"""The closing line of a test run, plain, so that a script can read it."""

import pytest


def pytest_unconfigure(config: pytest.Config) -> None:
    """Print «N passed, N failed, N skipped» as the very last line."""
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    if reporter is None or hasattr(config, "workerinput"):
        return
    count = {name: len(reporter.stats.get(name, [])) for name in ("passed", "failed", "error", "skipped")}
    print(f"{count['passed']} passed, {count['failed'] + count['error']} failed, {count['skipped']} skipped")
