"""Rules over one tool set; imported only where contracts are linted."""
