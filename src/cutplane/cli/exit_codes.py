"""What the command's exit status means; `cutplane --help` lists the same."""

OK = 0
BAD_INPUT = 1
USAGE = 2
NOT_PROVEN = 3
INTERRUPTED = 130
TERMINATED = 143

EXPLAINED = (
    "Exit status: 0 all well; 1 bad input (one sentence on stderr says what); 2 wrong usage; "
    "3 training stopped before the tolerance was proven, and the model was saved all the same; "
    "130 interrupted by Ctrl-C, 143 by SIGTERM (a model in training is saved with the gap it had proven)."
)
