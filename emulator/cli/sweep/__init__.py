"""The sweep: a command run once as it is, and then once for each fault at each of its calls.

Theory of operation. `calls` records the calls of a run, `cells` plans from it which faults are worth a run and
turns one of them into a rule, `runs` runs the command again for each (as a process `exec` with the private option `--cell`),
and `matrix` and `page` show the results. The emulator itself knows only the rule, `Sandboxes.inject`.
"""
