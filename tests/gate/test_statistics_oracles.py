"""Every published number of the statistics: reference values of scipy and statsmodels, and of exact recursion."""

from __future__ import annotations

import json
from collections import Counter
from fractions import Fraction
from math import sqrt
from pathlib import Path

import pytest

from abs_gate.gate.statistics import binomial, comparisons, intervals, multiple, repeated, stopping, thresholds
from abs_gate.gate.statistics.beta import inverse_regularised_beta, regularised_beta

DATA = Path(__file__).parent / "data"
ORACLES = {entry["id"]: entry for entry in json.loads((DATA / "statistics.json").read_text())["oracles"]}
AIRLINE = json.loads((DATA / "taubench-airline.json").read_text())["rewards"]
NINES = 1e-9


def near(expected, tolerance=NINES):
    return pytest.approx(expected, abs=tolerance, rel=0)


def clopper_pearson(k: int, n: int, alpha: float) -> tuple[float, float]:
    """Two-sided, from the two one-sided bounds that decide."""
    return intervals.lower_bound(k, n, alpha / 2), intervals.upper_bound(k, n, alpha / 2)


def fraction(value: float) -> Fraction:
    return Fraction(repr(value))


@pytest.mark.parametrize("name", [name for name in ORACLES if name.startswith("CI-")])
def test_intervals(name):
    given, expected = ORACLES[name]["input"], ORACLES[name]["expected"]
    k, n, alpha = given["k"], given["n"], given["alpha"]
    assert intervals.wilson(k, n, alpha) == near(tuple(expected["wilson"]))
    assert clopper_pearson(k, n, alpha) == near(tuple(expected["clopper_pearson"]))
    one_sided = expected["clopper_pearson_one_sided95"]
    assert intervals.lower_bound(k, n, 0.05) == near(one_sided["lower"])
    assert intervals.upper_bound(k, n, 0.05) == near(one_sided["upper"])
    both = intervals.wilson(k, n, 0.10)
    assert both == near((expected["wilson_one_sided95"]["lower"], expected["wilson_one_sided95"]["upper"]))
    jeffreys = [inverse_regularised_beta(q, k + 0.5, n - k + 0.5) for q in (alpha / 2, 1 - alpha / 2)]
    low = 0.0 if k == 0 and expected["jeffreys"][0] == 0 else jeffreys[0]
    assert [low, jeffreys[1]] == near(expected["jeffreys"])


@pytest.mark.parametrize(
    ("k", "n", "wilson", "exact"),
    [
        (10, 10, (0.7225, 1), (0.6915, 1)),
        (95, 100, (0.8882, 0.9785), (0.8872, 0.9836)),
        (0, 10, (0, 0.2775), (0, 0.3085)),
        (4, 5, (0.3755, 0.9638), (0.2836, 0.9949)),
        (19, 20, (0.7639, 0.9911), (0.7513, 0.9987)),
    ],
)
def test_intervals_as_published(k, n, wilson, exact):
    assert intervals.wilson(k, n) == near(wilson, 5e-5)
    assert clopper_pearson(k, n, 0.05) == near(exact, 5e-5)


def test_three_valued_decisions():
    for case in ORACLES["DEC-1"]["expected"]:
        k, n, p0 = case["k"], case["n"], fraction(case["p0"])
        assert intervals.lower_bound(k, n) == near(case["lower"])
        assert intervals.upper_bound(k, n) == near(case["upper"])
        proven = binomial.proves_at_least(k, n, p0, Fraction(1, 20))
        refuted = binomial.proves_below(k, n, p0, Fraction(1, 20))
        assert (proven, refuted) == {"PASS": (True, False), "FAIL": (False, True), "INCONCLUSIVE": (False, False)}[
            case["verdict"]
        ]
        assert (k >= thresholds.passes_needed(p0, n)) is case["point_pass"]


def test_trials_needed_to_prove_a_rate():
    for rate, by_failures in ORACLES["N-1"]["expected"].items():
        for failures, n in by_failures.items():
            p0 = Fraction(rate.removeprefix("p0="))
            assert intervals.trials_to_prove(p0, Fraction(1, 20), int(failures.removeprefix("c="))) == n
    with pytest.raises(ValueError, match="no number of trials"):
        intervals.trials_to_prove(Fraction(1), Fraction(1, 20))


def test_a_bound_that_meets_the_threshold_exactly_proves_it():
    # 0.5 ** 5 is 1/32: the bound is the threshold, which floats alone cannot tell.
    assert binomial.proves_at_least(5, 5, Fraction(1, 2), Fraction(1, 32))
    assert not binomial.proves_at_least(5, 5, Fraction(1, 2), Fraction(1, 32) - Fraction(1, 10**15))
    assert not binomial.proves_below(0, 5, Fraction(1, 2), Fraction(1, 32))


def test_operating_characteristic():
    for rule, by_rate in ORACLES["OC-1"]["expected"].items():
        need, n = (int(part) for part in rule.split("-of-"))
        for rate, expected in by_rate.items():
            assert binomial.at_least(need, n, float(rate)) == near(expected)


def curtailed(bounds: stopping.Bounds, n: int, p: float) -> tuple[float, float]:
    """Expected trials and chance to pass, by walking every state."""
    states, expected, passing = {(0, 0): 1.0}, 0.0, 0.0
    for run in range(n + 1):
        following: Counter = Counter()
        for (k, f), weight in states.items():
            if bounds.is_decided(k, f, n - run):
                expected += weight * run
                passing += weight * (bounds.standing(k, f) is True)
                continue
            following[k + 1, f] += weight * p
            following[k, f + 1] += weight * (1 - p)
        states = following
    return expected, passing


def test_curtailment_saves_calls_and_keeps_the_decision():
    for rule, by_rate in ORACLES["CURT-1"]["expected"].items():
        need, n = (int(part) for part in rule.split("-of-"))
        bounds = stopping.Bounds(passes=need, failures=n - need + 1)
        for rate, expected in by_rate.items():
            trials, passing = curtailed(bounds, n, float(rate))
            assert trials == near(expected["expected_trials"])
            assert passing == near(expected["p_pass"])


@pytest.mark.parametrize(
    ("sequence", "after", "passed"), [("FFF", 3, False), ("PFPFPF", 6, False), ("PPPPPPPFP", 9, True)]
)
def test_curtailment_of_single_sequences(sequence, after, passed):
    bounds = stopping.Bounds(passes=8, failures=3)
    for run in range(1, len(sequence) + 1):
        k = sequence[:run].count("P")
        assert bounds.is_decided(k, run - k, 10 - run) is (run == after)
    assert bounds.standing(sequence.count("P"), sequence.count("F")) is passed


def test_the_rate_after_a_stop_is_unbiased():
    p, need, n = 0.8, 8, 10
    bounds = stopping.Bounds(passes=need, failures=n - need + 1)
    biased = unbiased = 0.0
    states = {(0, 0): 1.0}
    while states:
        following: Counter = Counter()
        for (k, f), weight in states.items():
            for passed, chance in ((True, p), (False, 1 - p)):
                s, run = k + passed, k + f + 1
                if bounds.is_decided(s, run - s, n - run):
                    biased += weight * chance * s / run
                    estimate = stopping.unbiased_rate(s, run, stopped_by_pass=passed)
                    unbiased += weight * chance * float(estimate)
                else:
                    following[s, run - s] += weight * chance
        states = following
    assert unbiased == near(p)
    assert biased == near(0.7811, 5e-5)
    assert stopping.unbiased_rate(1, 1, stopped_by_pass=True) is None


def wald() -> stopping.SequentialTest:
    given = ORACLES["SPRT-1"]["input"]
    return stopping.SequentialTest(p0=given["p0"], p1=given["p1"], alpha=given["a"], beta=given["b"])


def test_sequential_test_constants_and_sequences():
    test, expected = wald(), ORACLES["SPRT-1"]["expected"]
    constants = expected["constants"]
    assert (test.pass_step, test.fail_step) == near((constants["llr_pass"], constants["llr_fail"]))
    assert (test.upper, test.lower) == near((constants["upper"], constants["lower"]))
    assert test.shortest_pass() == 12
    for case in expected["sequences"]:
        stopped = None
        for run in range(1, len(case["seq"]) + 1):
            k = case["seq"][:run].count("P")
            if test.standing(k, run - k) is not None:
                stopped = run
                break
        assert stopped == case["stopped_after"]
        run = stopped or len(case["seq"])
        k = case["seq"][:run].count("P")
        assert test.ratio(k, run - k) == near(case["llr"])
        assert test.standing(k, run - k) is {"P": True, "F": False, "C": None}[case["verdict"].split("(")[-1][0]]


def test_sequential_test_operating_characteristic():
    test = wald()
    for case in ORACLES["SPRT-1"]["expected"]["operating"]:
        p, states, expected, ends = case["p"], {0: 1.0}, 0.0, Counter()
        for run in range(case["nmax"] + 1):
            following: Counter = Counter()
            for k, weight in states.items():
                standing = test.standing(k, run - k)
                if standing is not None or run == case["nmax"]:
                    ends[standing] += weight
                    expected += weight * run
                    continue
                following[k + 1] += weight * p
                following[k] += weight * (1 - p)
            states = following
        assert (ends[True], ends[False]) == near((case["p_pass"], case["p_fail"]))
        assert expected == near(case["expected_trials"])


def test_fixed_size_with_the_same_guarantees():
    expected = ORACLES["SPRT-2"]["expected"]

    def need(n: int) -> int:
        return next(c for c in range(n + 2) if binomial.at_least(c, n, 0.7) <= 0.05)

    n = next(n for n in range(1, 100) if binomial.at_least(need(n), n, 0.9) >= 0.9)
    assert (n, need(n)) == (expected["n"], expected["need"])
    assert binomial.at_least(need(n), n, 0.7) == near(expected["false_pass_at_p0"])
    assert binomial.at_least(need(n), n, 0.9) == near(expected["power_at_p1"])


@pytest.mark.parametrize(
    ("k", "n", "low", "high"),
    [(10, 10, 0.5831, 1), (20, 20, 0.7393, 1), (18, 20, 0.5897, 0.9963), (95, 100, 0.8397, 0.9934)],
)
def test_confidence_sequence(k, n, low, high):
    assert intervals.confidence_sequence(k, n) == near((low, high), 5e-5)


def test_confidence_sequence_needs_a_longer_streak():
    for rate, streak in ORACLES["CS-2"]["expected"].items():
        assert intervals.confidence_sequence(streak, streak)[0] >= float(rate)
        assert intervals.confidence_sequence(streak - 1, streak - 1)[0] < float(rate)


@pytest.mark.parametrize("case", ORACLES["REG-1"]["expected"], ids=lambda case: f"{case['base']} to {case['head']}")
def test_regression(case):
    (base, base_n), (head, head_n) = ((int(x) for x in case[side].split("/")) for side in ("base", "head"))
    assert comparisons.fisher_less(head, head_n, base, base_n) == near(case["fisher_one_sided_p"])
    assert comparisons.boschloo_less(head, head_n, base, base_n) == near(case["boschloo_one_sided_p"], 1e-6)
    assert comparisons.newcombe(head, head_n, base, base_n) == near(tuple(case["newcombe95_formula"]))


@pytest.mark.parametrize(
    ("fixed", "broken", "exact", "mid", "one_sided"),
    [(2, 9, 0.0654, 0.0386, 0.0327), (0, 5, 0.0625, 0.03125, 0.03125), (0, 4, 0.125, 0.0625, 0.0625), (0, 0, 1, 1, 1)],
)
def test_paired_rows(fixed, broken, exact, mid, one_sided):
    assert comparisons.mcnemar(fixed, broken) == near(exact, 5e-5)
    assert comparisons.mcnemar_mid_p(fixed, broken) == near(mid, 5e-5)
    assert comparisons.mcnemar_less(fixed, broken) == near(one_sided, 5e-5)


def test_what_a_comparison_could_detect():
    assert comparisons.detectable_passes(10, 10, 10) == 6  # ten against ten cannot show a drop of 20 points
    assert comparisons.detectable_passes(1, 1, 1) is None
    assert comparisons.regression_p(6, 10, 10, 10) <= 0.05 < comparisons.regression_p(7, 10, 10, 10)


def test_many_sessions():
    given, expected = ORACLES["MULT-1"]["input"], ORACLES["MULT-1"]["expected"]
    assert multiple.holm(given["p"]) == near(expected["holm_adj"])
    assert multiple.benjamini_hochberg(given["p"]) == near(expected["bh_adj"])
    assert [p <= given["alpha"] for p in multiple.holm(given["p"])] == expected["holm_reject"]
    for name, chance in ORACLES["MULT-2"]["expected"].items():
        q, sessions = (part.split("=")[1] for part in name.split(","))
        assert binomial.at_least(int(sessions), int(sessions), float(q)) == near(chance)


def airline_rows() -> Counter:
    return Counter((sum(rewards), len(rewards)) for rewards in AIRLINE.values())


def test_clustered_rows():
    for case in ORACLES["CLU-2"]["expected"]:
        rows = Counter((row.count("1"), len(row)) for row in case["rows"])
        assert repeated.clustered_error(rows) == near(case["se_row_clustered"])
        verified = sum(n * count for (_, n), count in rows.items())
        assert sqrt(case["pooled"] * (1 - case["pooled"]) / verified) == near(case["se_naive"])


def test_clustered_rows_of_a_real_benchmark():
    rows = airline_rows()
    assert repeated.clustered_error(rows) == near(0.0522, 5e-5)
    assert repeated.intraclass_correlation(rows) == near(0.4046, 5e-5)
    assert repeated.effective_trials(rows) == near(90.3, 0.05)
    assert repeated.clustered_interval(rows) == near((0.315, 0.525), 5e-4)
    assert intervals.wilson(84, 200) == near((0.354, 0.489), 1e-3)


@pytest.mark.parametrize(
    ("k", "value", "error"), [(1, 0.42, 0.0522), (2, 0.2733, 0.0555), (3, 0.22, 0.0565), (4, 0.2, 0.0571)]
)
def test_pass_hat_k_of_a_real_benchmark(k, value, error):
    rows = airline_rows()
    assert float(repeated.mean_pass_hat_k(rows, k)) == near(value, 5e-5)
    assert repeated.pass_hat_k_error(rows, k) == near(error, 5e-5)
    if (oracle := ORACLES.get(f"TAU-pass^{k}")) is not None:
        assert float(repeated.mean_pass_hat_k(rows, k)) == near(oracle["expected"]["value"])
        assert repeated.pass_hat_k_error(rows, k) == near(oracle["expected"]["se"])


def test_pass_at_k_of_a_real_benchmark():
    values = [repeated.mean_pass_at_k(airline_rows(), k) for k in (1, 2, 3, 4)]
    assert values == [Fraction(42, 100), Fraction(17, 30), Fraction(66, 100), Fraction(72, 100)]


def test_single_row_estimates():
    assert repeated.pass_at_k(3, 5, 2) == Fraction(9, 10)
    assert repeated.pass_hat_k(3, 5, 2) == Fraction(3, 10)
    assert repeated.pass_hat_k(9, 10, 3) == Fraction(7, 10)
    assert repeated.pass_hat_k(18, 20, 4) == Fraction(12, 19)
    for k in (0, 6):
        with pytest.raises(ValueError, match="needs at least"):
            repeated.pass_hat_k(3, 5, k)
    assert repeated.mean_pass_hat_k({(1, 3): 1, (1, 1): 4}, 2) is None


@pytest.mark.parametrize(("rate", "n", "need"), [("0.28", 25, 7), ("0.14", 50, 7), ("0.07", 100, 7), ("0.56", 25, 14)])
def test_thresholds_are_exact(rate, n, need):
    assert thresholds.passes_needed(Fraction(rate), n) == need


def test_shown_percentages_are_floored():
    assert thresholds.floor_percent(Fraction(7996, 10000)) == "79.9 %"
    assert thresholds.floor_percent(Fraction(79999, 100000)) == "79.9 %"
    assert thresholds.floor_percent(Fraction(4, 5)) == "80 %"
    assert thresholds.floor_percent(Fraction(8001, 10000)) == "80.0 %"


def test_posteriors():
    for case in ORACLES["BAYES-1"]["expected"]:
        k, n, p0 = case["k"], case["n"], case["p0"]
        assert 1 - regularised_beta(p0, k + 0.5, n - k + 0.5) == near(case["jeffreys"])
        assert 1 - regularised_beta(p0, k + 1, n - k + 1) == near(case["uniform"])


def test_merging_adds_counts():
    case = ORACLES["MERGE-1"]["expected"]
    passed, n = (sum(column) for column in zip(*case["shards"], strict=True))
    assert passed / n == near(case["right"])


def wilson_lower(k: int, n: int) -> float:
    return intervals.wilson(k, n, 0.10)[0]


def smallest_pass(rule, n: int, p0: float) -> int | None:
    low, high = 0, n
    if rule(n, n) < p0:
        return None
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if rule(middle, n) >= p0 else (middle + 1, high)
    return low


@pytest.mark.parametrize(
    "case", ORACLES["COV-1"]["expected"], ids=lambda case: f"{case['rule'].split()[0]} {case['p0']}"
)
def test_false_passes_of_lower_bounds(case):
    rule = wilson_lower if case["rule"].startswith("wilson") else intervals.lower_bound
    p0, n = case["p0"], case["min_n_all_pass"]
    assert rule(n, n) >= p0 > rule(n - 1, n - 1)
    assert binomial.at_least(n, n, p0) == near(case["false_pass_prob_at_p0"])
    worst_n, worst_k = case["worst_at"]
    assert smallest_pass(rule, worst_n, p0) == worst_k
    assert binomial.at_least(worst_k, worst_n, p0) == near(case["worst_false_pass_n_le_300"])
    for size in range(n, 301, 7):
        need = smallest_pass(rule, size, p0)
        assert need is None or binomial.at_least(need, size, p0) <= case["worst_false_pass_n_le_300"] + NINES


@pytest.mark.parametrize("case", ORACLES["PEEK-1"]["expected"], ids=lambda case: str(case["p0"]))
def test_looking_after_every_trial_passes_too_often(case):
    p0 = case["p0"]
    for rule, name in (
        (intervals.lower_bound, "false_pass_if_peeking_every_trial_to_100"),
        (wilson_lower, "same_wilson"),
    ):
        states, false_pass = {0: 1.0}, 0.0
        for n in range(1, 101):
            need = smallest_pass(rule, n, p0)
            following: Counter = Counter()
            for k, weight in states.items():
                following[k + 1] += weight * p0
                following[k] += weight * (1 - p0)
            states = {k: weight for k, weight in following.items() if need is None or k < need}
            false_pass += sum(weight for k, weight in following.items() if need is not None and k >= need)
        assert false_pass == near(case[name])
