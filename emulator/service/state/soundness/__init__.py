"""What must hold of a sandbox as a whole, checked when one is loaded from a state file: one file for each kind of thing.

The reader of state files has checked that every value has its type. Here every reference must lead somewhere, states
must agree with what was decided at admission and with the events to come, and numbers must lie within their bounds: so
that nothing that happens later in the sandbox can fail. What follows from the rest (indexes, reservations, places in
budgets, who holds which picture) is rebuilt, not read. `steps` has the order; `rows` what several kinds have in common.
"""
