"""What should go wrong, as data: faults, matching, the file formats, and the playbook
with its live counters.
"""
