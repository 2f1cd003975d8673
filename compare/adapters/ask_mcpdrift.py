"""mcpdrift: any difference is drift and fails its check; it does not grade."""

import json

from answering import serve
from mcpdrift.canon import build_surface, diff_surfaces


def answer(side, old_text, new_text):
    old, new = (build_surface(None, json.loads(text)["tools"]) for text in (old_text, new_text))
    return ["breaking", "safety_breaking"] if diff_surfaces(old, new) else ["none"]


serve(answer)
