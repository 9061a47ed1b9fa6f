"""What all tests share."""

from __future__ import annotations

import os

from hypothesis import settings

# Threads that wait give their processor to the other tests that run at the same time. Read once, by the first import.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")

# How long an example takes says nothing on a busy machine. Every run draws others, so that few are enough of each;
# --hypothesis-profile=thorough draws many at once.
settings.register_profile("cutplane", deadline=None, max_examples=60)
settings.register_profile("thorough", deadline=None, max_examples=1000)
settings.load_profile("cutplane")
