"""`python -m tests.faults`: the long loops. Each ends with one line, or with what went wrong.

kill : a process that saves again and again is killed; what is under the name always loads.
signals : Ctrl-C and SIGTERM at random moments; one line, and a model that loads or none.
late : how late fits end that have a time limit, by the clock of the processor.
ctrl-c : Ctrl-C at random moments in process; KeyboardInterrupt or a certificate that holds, and the next fit as ever.
full : saving on a file system that is full, mounted for the purpose (needs unshare and tmpfs).
workers : workers of a cluster killed at random moments of fits; all end, and all models are proven.
"""

from __future__ import annotations

import argparse
import random

from tests.faults import full_disk, interrupts, killed_saves, lost_workers, random_signals, time_limits

LOOPS = {"kill": killed_saves.run, "signals": random_signals.run, "full": full_disk.run}
LOOPS |= {"late": time_limits.run, "ctrl-c": interrupts.run, "workers": lost_workers.run}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.faults", description=__doc__)
    parser.add_argument("loops", nargs="*", default=[], metavar="LOOP", help=f"of {', '.join(LOOPS)}; all by default")
    parser.add_argument("--rounds", type=int, default=50)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    for name in chosen.loops or LOOPS:
        print(f"{name}: {LOOPS[name](chosen.rounds, random.Random(chosen.seed))}", flush=True)


if __name__ == "__main__":
    main()
