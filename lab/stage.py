# SPDX-License-Identifier: GPL-2.0
"""Boots one guest, confined: runs as the first process of new mount, pid, net and ipc namespaces.

Standard input is a line with a JSON object: stage (an empty folder), binds ({name: host path}), writable (name of the
one writable bind), release (of the kernel), command (shell text), uid (who runs the guest), cpu, argv, environment.
The end of standard input ends the guest. Everything its process can reach on the host is read-only, except the writable
bind and memory of its own.
"""

import ctypes
import json
import os
import resource
import shutil
import subprocess
import sys
import threading
from pathlib import Path

MS_RDONLY, MS_NOSUID, MS_NODEV, MS_REMOUNT, MS_BIND, MS_MOVE = 1, 2, 4, 32, 4096, 8192
MOUNT_ATTR_RDONLY = 1
SYS_MOUNT_SETATTR = 442
AT_FDCWD, AT_RECURSIVE = -100, 0x8000
LAB = Path("/run/lab")

libc = ctypes.CDLL(None, use_errno=True)


class MountAttr(ctypes.Structure):
    """The kernel's struct mount_attr."""

    _fields_ = tuple((name, ctypes.c_uint64) for name in ("attr_set", "attr_clr", "propagation", "userns_fd"))


def check(result: int, what: str) -> None:
    """Raise OSError for a failed system call."""
    if result:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), what)


def mount(source: str | Path, target: str | Path, kind: str = "", flags: int = 0, options: str = "") -> None:
    """Mount as the system call of this name does."""
    words = (os.fsencode(word) or None for word in (source, target, kind))
    check(libc.mount(*words, ctypes.c_ulong(flags), options.encode() or None), str(target))


def make_everything_read_only() -> None:
    """Bar writing through every mount there is, also those hidden below others."""
    attr = MountAttr(attr_set=MOUNT_ATTR_RDONLY)
    check(
        libc.syscall(SYS_MOUNT_SETATTR, AT_FDCWD, b"/", AT_RECURSIVE, ctypes.byref(attr), ctypes.sizeof(attr)),
        "making the host read-only",
    )


def bind(source: str, target: Path, *, writable: bool) -> None:
    """Show a host file or folder at target."""
    if Path(source).is_dir():
        target.mkdir(parents=True)
    else:
        target.touch()
    mount(source, target, flags=MS_BIND)
    mount("none", target, flags=MS_BIND | MS_REMOUNT | MS_NOSUID | MS_NODEV | (0 if writable else MS_RDONLY))


def main() -> int:
    """Prepare what the guest sees, boot it, return its process's exit status."""
    plan = json.loads(sys.stdin.readline())
    stage = Path(plan["stage"])
    make_everything_read_only()
    mount("lab", stage, "tmpfs", MS_NOSUID | MS_NODEV, "mode=755")
    inside = stage / "lab"
    inside.mkdir()
    for name, source in plan["binds"].items():
        bind(source, inside / name, writable=name == plan["writable"])
    (inside / "command").write_text(plan["command"])
    mount(stage, "/run", flags=MS_MOVE)
    for target in ("/tmp", "/dev/shm"):
        mount("lab", target, "tmpfs", MS_NOSUID | MS_NODEV, "mode=1777")

    tree = LAB / "lib/modules" / plan["release"]
    tree.mkdir(parents=True)
    for name, shown in (("kernel/modules", "kernel"), ("modules", "extra")):
        if (LAB / name).is_dir():
            bind(str(LAB / name), tree / shown, writable=False)
    for index in LAB.glob("kernel/modules/modules.*"):
        shutil.copy(index, tree)
    subprocess.run(["depmod", "-b", LAB, plan["release"]], check=True)
    mount("none", "/run", flags=MS_BIND | MS_REMOUNT | MS_NOSUID | MS_NODEV | MS_RDONLY)

    os.chdir("/")
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    pinned = ["taskset", "-c", str(plan["cpu"])]
    drop = ["setpriv", f"--reuid={plan['uid']}", f"--regid={plan['uid']}", "--clear-groups", "--no-new-privs"]
    drop += ["--inh-caps=-all", "--bounding-set=-all"]
    fixed_addresses = ["setarch", "-R"]
    environment = ["env", "-i", *(f"{name}={value}" for name, value in plan["environment"].items())]
    with subprocess.Popen(
        [*pinned, *drop, *fixed_addresses, *environment, *plan["argv"]], stdin=subprocess.DEVNULL
    ) as guest:
        threading.Thread(target=lambda: sys.stdin.read() or guest.kill(), daemon=True).start()
    return guest.returncode


if __name__ == "__main__":
    sys.exit(main())
