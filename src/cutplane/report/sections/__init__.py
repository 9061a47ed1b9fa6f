"""The parts of a report, one module each: a function `section` that returns None where it has nothing to say."""
