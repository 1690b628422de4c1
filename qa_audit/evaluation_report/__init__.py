"""The report of an evaluation: one HTML file that needs nothing else, with every number linked to its pairs.

`render_report` takes plain values and the frames of `data_registry.evaluation`; it computes no statistics. What is
fixed before the page is opened (leaderboard, tables) is written by Jinja, what answers to the reader (pairs, drawings)
is drawn by the scripts of the page from one block of JSON.
"""

from qa_audit.evaluation_report.agreement import PageError
from qa_audit.evaluation_report.page import EvaluationPage, PairPicture, ShownPlanner
from qa_audit.evaluation_report.report import render_report
from qa_audit.evaluation_report.selection import choose_pairs

__all__ = ["EvaluationPage", "PageError", "PairPicture", "ShownPlanner", "choose_pairs", "render_report"]
