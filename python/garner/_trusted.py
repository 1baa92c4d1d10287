# SPDX-License-Identifier: MIT
"""Folders and files that nobody but this user and root can have a hand in: what lies there is loaded and run."""

import errno
import os
import stat
from pathlib import Path

_MOST_LINKS = 40  # as many as Linux follows


def _steps(path):
    """Every folder and link that a path leads through, from / on, and what lies behind each link."""
    here, waiting, links = Path("/"), list(reversed(path.parts[1:])), 0
    yield here
    while waiting:
        part = waiting.pop()
        if part == "..":
            here = here.parent
            continue
        here /= part
        yield here
        if here.is_symlink():
            links += 1
            if links > _MOST_LINKS:
                raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), str(path))
            target = Path(os.readlink(here))
            waiting += reversed(target.parts[1:] if target.is_absolute() else target.parts)
            here = Path("/") if target.is_absolute() else here.parent


def _belongs(about):
    return about.st_uid in (0, os.geteuid())


def _others_can_write(about):
    return not stat.S_ISLNK(about.st_mode) and bool(about.st_mode & 0o022)  # a link's own mode says nothing


def _check_folder(path, about, is_last):
    """Others may write to a folder on the way if it is sticky, as /tmp is: what lies there they cannot exchange."""
    is_sticky = bool(about.st_mode & stat.S_ISVTX) and not is_last
    if _belongs(about) and (is_sticky or not _others_can_write(about)):
        return
    allowed = "only your own and root's, which no others can write to" + ("" if is_last else " unless it is sticky")
    raise PermissionError(
        f"garner.openvino: {path} belongs to user {about.st_uid} with mode {stat.S_IMODE(about.st_mode):o}, so that others could put "
        f"a program into the cache; allowed are {allowed}: let XDG_CACHE_HOME name such a folder, or take the others' rights away"
    )


def _check_path(path):
    """That every existing part of a path is trusted; answers whether all of them exist."""
    end = Path(os.path.realpath(path))
    for step in _steps(path):
        try:
            about = step.lstat()
        except FileNotFoundError:
            return False
        _check_folder(step, about, is_last=step == end)
    return True


def trusted_folder(path: Path) -> Path:
    """The folder itself, behind any links; what is missing of it is made, for this user alone. PermissionError if others have a hand in it."""
    is_there, folder = _check_path(path), Path(os.path.realpath(path))
    if not is_there:
        for part in (*reversed(folder.parents), folder):
            part.mkdir(mode=0o700, exist_ok=True)
        _check_path(folder)
    return folder


def is_trusted_file(path: Path) -> bool:
    """Whether there is a file, no link, that nobody else could have written."""
    try:
        about = path.lstat()
    except FileNotFoundError:
        return False
    return stat.S_ISREG(about.st_mode) and _belongs(about) and not _others_can_write(about)
