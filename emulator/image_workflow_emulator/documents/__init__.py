"""Files and bodies, read strictly.

Owns the reading of files within limits (`files`), of what is shipped (`shipped`) and of
text that others wrote (`yaml_reader`), its check (`document`) by a JSON Schema
(`schemas`), the form of a complaint (`complaints`), and the one parser and bound of
each kind of value (`values`). Must not know what a document is about.
"""
