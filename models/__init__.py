"""What infers: a Protocol per role (screener, editor, localizer, reviewer, planner) and several back ends behind each.

This package owns every back end, the rule-based ones included, and the imports of heavy libraries, each inside the
module that needs it. It does not import `qa_audit`: a reviewer receives measurements as a record.
"""
