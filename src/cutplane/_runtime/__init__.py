"""Threads, interrupts and deadlines: how work runs, whatever it is."""
