"""What happened in a sandbox: a record of each request, in a bounded journal, and the
feed of changes.
"""
