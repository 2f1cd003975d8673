"""The decision: settings applied to results give a verdict."""
