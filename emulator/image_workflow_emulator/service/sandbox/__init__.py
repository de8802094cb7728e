"""A sandbox: its resources, pictures, clock and scenarios as one object, the checks of
admission, and how it is found.
"""
