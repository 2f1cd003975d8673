"""Runs one trial of one case: the conversation loop, matching, evaluations."""
