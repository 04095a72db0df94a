"""A command run by a process that is itself small, whose use is written as JSON to a file descriptor.

The system counts what a process had before it became another program as that program's memory: children of a large
process never seem smaller than it is. ``python -I -S launched.py DESCRIPTOR COMMAND…`` imports next to nothing.
"""

import os
import sys
import time


def main(descriptor: int, command: list[str]) -> None:
    """Status (None where the command does not start), seconds of CPU and by the clock, and KiB at most."""
    start = time.perf_counter()
    try:
        pid = os.posix_spawnp(command[0], command, os.environ, file_actions=[(os.POSIX_SPAWN_CLOSE, descriptor)])
    except OSError as error:
        os.write(descriptor, f'{{"status": null, "error": "{error.strerror}"}}'.encode())
        return
    _, status, used = os.wait4(pid, 0)
    wall_s = time.perf_counter() - start
    status, cpu_s = os.waitstatus_to_exitcode(status), used.ru_utime + used.ru_stime
    told = f'{{"status": {status}, "cpu_s": {cpu_s}, "wall_s": {wall_s}, "peak_kib": {used.ru_maxrss}}}'
    os.write(descriptor, told.encode())


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2:])
