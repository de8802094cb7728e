"""The rules of conduct, in files by what they are about.

`examiner/conduct.py` lists them.
"""
