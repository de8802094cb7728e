"""The sweep: a command is run as it is, and then again with one fault at each of its calls.

Theory of operation. `evidence` reads what a run leaves: which calls there were, and what they made. `cells` lists the
faults at each call, each of which is a scenario with one rule, and chooses which are tried, in which order and in which
test. `runs` runs the command again for a number of them, and judges how each ended; `sweep_report` says what is
accepted and what is to be fixed. `sweeping` is the command, and `in_pytest` what the plugin does in a run.

With pytest and the plugin, each test has a sandbox of its own, so one run tries a different cell in every test. The
plugin puts the scenario of a cell in force for the Teams of a sandbox: it goes before what the test itself plays. Any
other command is run by `exec`, with one cell in a run, as the first rule of its scenario. Uses `testing`, scenario
files and the JSON of the journal; nothing below knows it.
"""
