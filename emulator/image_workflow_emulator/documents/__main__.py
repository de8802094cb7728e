"""Compile the shipped documents: `python -m image_workflow_emulator.documents`."""

from image_workflow_emulator.documents.shipped import compile_documents

for path in compile_documents():
    print(path)
