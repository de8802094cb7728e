"""The sweep: a command is run as it is, and then again with one fault at each of its
calls.

Theory of operation. `runner` runs the command, in `processes` that a `supervisor` ends.
`evidence` reads what a run leaves: `journals` have its calls and work. `candidates`
lists the `cells` that a clean run shows: each is one of the `faults` at one call, and a
scenario with one rule. `planning` chooses which are tried, in which order and in which
test, and `waiting` which of them the next run tries. `judging` says how each of these
`runs` ended, where `comparison` finds what was made twice or not at all. `swept` is a
sweep so far. Its `gate` says what is accepted, its `causes` what is to be fixed, by the
`habits` that a client lacks. `sweep_report` and `shards` are for what comes out, and
`sweeping` is the command.

With pytest and the plugin, each test has a sandbox of its own, so one run tries a
different cell in every test. `in_pytest` puts the scenario of a cell in force for the
Teams of a sandbox: it goes before what the test itself plays. Any other command is run
by `exec`, with one cell in a run, as the first rule of its scenario. Uses `testing`,
scenario files and the JSON of the journal; nothing below knows it.
"""
