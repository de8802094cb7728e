"""The rules of conduct, in files by what they are about; `registry` lists them with their words."""
