"""Compile the shipped documents: `python -m emulator.documents`."""

from emulator.documents import compile_documents

for path in compile_documents():
    print(path)
