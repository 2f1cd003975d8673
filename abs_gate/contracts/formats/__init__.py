"""The shapes tool contracts are written in, told apart by what they contain."""
