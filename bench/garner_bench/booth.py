# SPDX-License-Identifier: MIT
"""A process that stands still while it is not asked for anything. Threads of a pool spin for a while after their work; in
one process, or in one that goes on, they would take the CPUs from whoever is measured next."""

import ctypes
import os
import signal
import traceback
from multiprocessing import Pipe

PR_SET_PDEATHSIG = 1


class Gone(Exception):
    """The process ended."""


def _serve(pipe, make):
    """In the new process: answers what it is asked, by methods of the object that `make` makes."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)  # or it would stand still for ever
    server = make()
    while True:
        method, arguments = pipe.recv()
        pipe.send(getattr(server, method)(*arguments))


class Booth:
    """Forks: what this process has in memory the new one has too, and shares until it writes there."""

    def __init__(self, make):
        self.gone = False
        self._pipe, theirs = Pipe()
        self._pid = os.fork()
        if self._pid == 0:
            try:
                self._pipe.close()
                _serve(theirs, make)
            except BaseException:
                traceback.print_exc()
            finally:
                os._exit(1)  # nothing of the parent's is to be tidied up here
        theirs.close()

    def tell(self, method, *arguments):
        try:
            os.kill(self._pid, signal.SIGCONT)
            self._pipe.send((method, arguments))
        except OSError as error:
            raise self._gone() from error

    def hear(self):
        """The answer to what was told last."""
        try:
            answer = self._pipe.recv()
        except (EOFError, OSError) as error:
            raise self._gone() from error
        os.kill(self._pid, signal.SIGSTOP)
        return answer

    def ask(self, method, *arguments):
        self.tell(method, *arguments)
        return self.hear()

    def _gone(self):
        """Waits for the process, which has ended or is about to, and says how."""
        status = self.close()
        return Gone(f"its process ended with status {status}")

    def close(self):
        """How it ended, if it did before."""
        self.gone = True
        os.kill(self._pid, signal.SIGKILL)
        self._pipe.close()
        return os.waitstatus_to_exitcode(os.waitpid(self._pid, 0)[1])
