"""Where file contents come from: the work tree, or a git commit."""
