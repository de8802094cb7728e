"""Files and bodies, read strictly: YAML with positions, shapes by JSON Schema, one wording of what does not fit.

Owns the reading of what is shipped (`shipped`) and of what is given: text with places (`document`), its check
(`document`), by a schema too (`schemas`), the form of a complaint (`complaints`), and the one parser and bound of
each kind of value (`values`). Must not know what a document is about.
"""
