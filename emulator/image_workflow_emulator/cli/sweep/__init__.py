"""The sweep: a command run once as it is, and then again with one fault each time.

Theory of operation. `calls` records the calls of a run and `worlds` what it made; `cells` lists the faults at each call and
turns one of them into a rule; `classes` chooses which are run, and in which order; `runs` runs the command again for each (as
a process `exec` with the private option `--cell`) and judges it, and `pictures` keeps what was drawn; `gate` says what is
accepted; `matrix`, `page` and `junit` show the results. The emulator itself knows only the rule, `Sandboxes.inject`.
"""
