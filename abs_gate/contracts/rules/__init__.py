"""Contract rules, one module for each area of the boundary."""
