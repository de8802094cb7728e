"""The service's rules as data and pure functions: time is passed in, nothing is
fetched, nothing waits.
"""
