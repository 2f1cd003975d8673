"""Evaluators: one observed step or a whole trace, and one evaluation, give a result with a reason."""
