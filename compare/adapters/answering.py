"""Asks one tool question after question: JSON lines in, JSON lines out. Runs in the tool's own environment.

An answer is the verdicts that the tool's own words can mean, how long it took (CPU seconds, from the texts of
both lists to the verdict), or why there is none.
"""

import json
import sys
import time


class NotTried(Exception):
    """The tool does not claim to answer this kind of question."""


def serve(answer):
    """Call `answer(side, old_text, new_text)` for each question; it gives a list of verdicts or raises."""
    out = sys.stdout
    sys.stdout = sys.stderr
    for line in sys.stdin:
        question = json.loads(line)
        started = time.process_time()
        reply = {"id": question["id"]}
        try:
            reply["verdicts"] = answer(question["side"], question["old"], question["new"])
        except NotTried:
            reply["not_tried"] = True
        except (Exception, RecursionError, SystemExit) as error:
            reply["error"] = f"{type(error).__name__}: {error}"[:200]
        reply["seconds"] = time.process_time() - started
        print(json.dumps(reply), file=out, flush=True)


def tools_by_name(text):
    """The tools of a list, by name."""
    return {tool["name"]: tool for tool in json.loads(text)["tools"]}


WORST_FIRST = ("safety_breaking", "breaking", "review", "compatible", "none")


def by_inclusion(side, old_text, new_text, relation):
    """What a tool that only relates two schemas says of tools: the worst of their schemas.

    `relation(old, new)` gives (everything old is in new, everything new is in old). Tools are paired by name;
    one without its partner is not compared.
    """
    old, new = tools_by_name(old_text), tools_by_name(new_text)
    if old.keys() != new.keys():
        raise NotTried
    found = ["none"]
    for name, before in old.items():
        for key in ("inputSchema", "outputSchema"):
            if side != "tool" and key != f"{side}Schema":
                continue
            if key not in before or key not in new[name]:
                continue
            old_in_new, new_in_old = relation(before[key], new[name][key])
            kept = old_in_new if key == "inputSchema" else new_in_old
            found.append("breaking" if not kept else "none" if old_in_new and new_in_old else "compatible")
    return [min(found, key=WORST_FIRST.index)]
