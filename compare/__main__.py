"""`python -m compare`: verdicts and speed of abs-gate and its peers, as Markdown on standard output."""

from __future__ import annotations

import argparse
import datetime
import os
import platform
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from bench import inputs
from compare.asking import Answer, ask
from compare.cases import Question, label_questions, micro_questions
from compare.commands import command_seconds
from compare.score import Score, is_right, score
from compare.tools import Tool, all_tools

MANY = 500
ROUNDS = 5


def main() -> None:
    """Ask every tool everything."""
    parser = argparse.ArgumentParser(prog="python -m compare")
    parser.add_argument("--peers", type=Path, required=True, help="Python of the environment with the PyPI peers")
    parser.add_argument("--node-modules", type=Path, required=True, help="node_modules folder with the npm peers")
    parser.add_argument("--wrong", action="store_true", help="also list what abs-gate and each peer got wrong")
    arguments = parser.parse_args()
    tools = all_tools(arguments.peers.absolute(), arguments.node_modules.absolute())
    present = [tool for tool in tools if tool.command]
    sets = {"micro cases": micro_questions(), "labelled real changes": label_questions()}
    print(
        f"{datetime.datetime.now(datetime.UTC).date()}, {os.cpu_count()} cores, Python {platform.python_version()}.\n"
    )
    for name, questions in sets.items():
        answers = {tool: ask(tool, questions) for tool in present}
        scores = {tool: score(questions, answers[tool]) for tool in present}
        print(f"### {len(questions)} {name}\n\n{verdict_table(scores)}\n")
        if arguments.wrong:
            list_wrong(questions, answers)
    print(f"### One list of {MANY} tools\n\n{speed_table([tool for tool in present if tool.takes_tool_lists])}")
    for tool in tools:
        if tool.absent:
            print(f"\nNot measured: {tool.name}: {tool.absent}.")


def verdict_table(scores: Mapping[Tool, Score]) -> str:
    """One row a tool; the ratio is the peer's median time over ours."""
    lines = [
        "| tool | right verdicts | blocks rightly | breaks let through | false alarms | no answer | not tried "
        "| median CPU ms | of abs-gate |",
        "|---|--:|--:|--:|--:|--:|--:|--:|--:|",
    ]
    ours = next(iter(scores.values()))
    for tool, found in scores.items():
        lines.append(
            f"| {tool.name} {tool.version} | {found.right} of {found.asked} | {found.blocks_right} | {found.silent} "
            f"| {found.false_alarms} | {found.no_answer} | {found.not_tried} | {found.milliseconds:.2f} "
            f"| {found.milliseconds / ours.milliseconds:.2f}x |"
        )
    return "\n".join(lines)


def speed_table(tools: Sequence[Tool]) -> str:
    """CPU time on a list of tools, 1 % changed: from the texts to the verdict, and of the whole command."""
    lines = [
        "| tool | texts to verdict, CPU ms | of abs-gate | whole command, CPU ms | of abs-gate | verdict |",
        "|---|--:|--:|--:|--:|---|",
    ]
    with tempfile.TemporaryDirectory() as directory:
        place = Path(directory)
        base, head = inputs.many_tools(place, tools=MANY, changed=MANY // 100)
        question = Question(
            id="many", side="tool", old=base.read_text(), new=head.read_text(), right=frozenset({"breaking"})
        )
        ours: tuple[float, float] | None = None
        for tool in tools:
            answers = ask(tool, [question] * ROUNDS)
            inside = min((answer.seconds for answer in answers if answer.seconds is not None), default=0.0)
            whole, code = command_seconds(tool, base, head, place / tool.name)
            ours = ours or (inside, whole)
            said = "right" if is_right(question, answers[0]) else answers[0].error or "wrong"
            lines.append(
                f"| {tool.name} {tool.version} | {inside * 1000:.0f} | {inside / ours[0]:.2f}x "
                f"| {whole * 1000:.0f} | {whole / ours[1]:.2f}x | {said} (exit code {code}) |"
            )
    return "\n".join(lines)


def list_wrong(questions: Sequence[Question], answers: Mapping[Tool, Sequence[Answer]]) -> None:
    """On standard error: every answer that is not right."""
    for tool, given in answers.items():
        for question, answer in zip(questions, given, strict=True):
            if not answer.not_tried and not is_right(question, answer):
                said = answer.error or "/".join(sorted(answer.verdicts))
                print(f"{tool.name}: {question.id}: {'/'.join(sorted(question.right))}, said {said}", file=sys.stderr)


if __name__ == "__main__":
    main()
