# SPDX-License-Identifier: GPL-2.0
"""What a kernel is named by, where its source comes from, and that builders do not meet."""

import subprocess
import sys
import time

import pytest

from lab import cache, kernel


@pytest.fixture
def tree(tmp_path):
    (tmp_path / "linux").mkdir()
    (tmp_path / "linux" / "Makefile").write_text("VERSION = 9\nPATCHLEVEL = 8\nSUBLEVEL = 7\n")
    return tmp_path / "linux"


@pytest.fixture
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("TCP_REORDER_CACHE", str(tmp_path / "cache"))


def test_the_key_tells_all_ingredients_apart(tmp_path):
    for name in ("a", "b"):
        (tmp_path / name).write_text(name)
    a, b = tmp_path / "a", tmp_path / "b"
    ingredients = [("1", [a], []), ("2", [a], []), ("1", [b], []), ("1", [a, b], []), ("1", [a], [b]), ("1", [b], [a])]
    ingredients += [("1", [a], [a, b]), ("1", [a], [b, a])]
    keys = [kernel.build_key(*each) for each in ingredients]
    assert len(set(keys)) == len(keys)
    assert keys == [kernel.build_key(*each) for each in ingredients]


def test_joined_parts_differ_from_separate_ones():
    assert cache.key("ab", "c") != cache.key("a", "bc") != cache.key("abc")


def test_settings_that_did_not_take_are_told():
    config = 'CONFIG_A=y\nCONFIG_B=m\n# CONFIG_C is not set\nCONFIG_E="x"\n'
    wanted = '# why\nCONFIG_A=y\nCONFIG_B=y\n# CONFIG_C is not set\n# CONFIG_D is not set\nCONFIG_E="x"\nCONFIG_F=y\n'
    assert kernel.not_honoured(wanted, config) == ["CONFIG_B=y", "CONFIG_F=y"]
    assert kernel.not_honoured("# CONFIG_A is not set\n", config) == ["# CONFIG_A is not set"]


def test_an_own_tree_stands_for_its_version(tree, own_cache, monkeypatch):
    monkeypatch.setenv("LINUX", str(tree))
    before = kernel.find_source("9.8")
    assert before.tree == tree
    (tree / "new.c").write_text("")
    assert kernel.find_source("9.8").identity != before.identity


def test_an_own_tarball_is_unpacked(tree, own_cache, monkeypatch):
    tarball = tree.with_name("linux.tar.gz")
    subprocess.run(["tar", "-czf", tarball, "-C", tree.parent, "linux"], check=True)
    monkeypatch.setenv("LINUX", str(tarball))
    source = kernel.find_source("9.8")
    assert (source.tree / "Makefile").read_text() == (tree / "Makefile").read_text()
    assert kernel.find_source("9.8") == source


@pytest.mark.parametrize("sign", [".config", "vmlinux"])
def test_an_own_tree_that_was_built_in_is_refused(tree, monkeypatch, sign):
    (tree / sign).touch()
    monkeypatch.setenv("LINUX", str(tree))
    with pytest.raises(cache.LabError, match="mrproper"):
        kernel.find_source("9.8")


def test_missing_own_source_is_one_sentence(monkeypatch):
    monkeypatch.setenv("LINUX", "/nowhere/linux.tar.xz")
    with pytest.raises(cache.LabError, match="does not exist"):
        kernel.find_source("9.8")


def test_a_version_no_suite_has_is_unavailable(own_cache, monkeypatch):
    monkeypatch.delenv("LINUX", raising=False)
    monkeypatch.setattr(kernel.apt, "find", lambda pattern: None)
    with pytest.raises(kernel.KernelUnavailable, match="LINUX="):
        kernel.find_source("9.8")
    with pytest.raises(kernel.KernelUnavailable, match="no kernel version"):
        kernel.find_source("newest")


def test_patches_go_onto_a_copy(tree, own_cache, tmp_path):
    patch = tmp_path / "one.patch"
    patch.write_text("--- a/Makefile\n+++ b/Makefile\n@@ -1,2 +1,2 @@\n-VERSION = 9\n+VERSION = 10\n PATCHLEVEL = 8\n")
    source = kernel.Source(tree, "some")
    patched = kernel._patched(source, [patch])
    assert "VERSION = 10" in (patched / "Makefile").read_text()
    assert "VERSION = 9" in (tree / "Makefile").read_text()


def test_a_second_builder_waits(tmp_path):
    program = (
        "import sys, time, pathlib\n"
        "from lab import cache\n"
        "with cache.locked(pathlib.Path(sys.argv[1]), 'building'):\n"
        "    print(time.monotonic()); time.sleep(0.5); print(time.monotonic())\n"
    )
    argv = [sys.executable, "-c", program, str(tmp_path / "lock")]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, "cwd": cache.CHECKOUT}
    first = subprocess.Popen(argv, **pipes)
    time.sleep(0.25)
    second = subprocess.Popen(argv, **pipes)
    spans, told = zip(*(process.communicate() for process in (first, second)), strict=True)
    (a, b), (c, d) = sorted([float(t) for t in span.split()] for span in spans)
    assert b <= c < d
    assert "another process is at it" in "".join(told)
