"""The only mutable state: sandboxes and what happens in them. Synchronous; time is
passed in; nothing here waits.
"""
