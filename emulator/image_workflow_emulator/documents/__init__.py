"""Files and bodies, read strictly: YAML with positions, shapes by JSON Schema, one wording of what does not fit.

Owns the reading of what is shipped (`shipped`) and of what is given: text with places (`yaml_reader`), its check
(`document`), by a schema too (`schemas`), the form of a complaint (`complaints`), and the one parser and bound of
each kind of value (`values`). Must not know what a document is about.
"""

from image_workflow_emulator.documents.shipped import (
    COMPILED_DOCUMENTS,
    compile_documents,
    shipped_document,
    shipped_path,
    shipped_schemas,
)

__all__ = ["COMPILED_DOCUMENTS", "compile_documents", "shipped_document", "shipped_path", "shipped_schemas"]
