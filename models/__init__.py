"""What infers: one Protocol a role (screener, editor, localizer, reviewer), several back ends behind each.

Heavy libraries are imported only in the leaf module that wraps them.
"""
