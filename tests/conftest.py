"""What all tests share."""

from __future__ import annotations

import os

from hypothesis import settings

# Threads that wait give their processor to the other tests that run at the same time. Read once, by the first import.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")

# How long an example takes says nothing on a busy machine.
settings.register_profile("cutplane", deadline=None)
settings.load_profile("cutplane")
