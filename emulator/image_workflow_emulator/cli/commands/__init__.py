"""The commands, a module for each: `command` in it runs when its name is typed."""
