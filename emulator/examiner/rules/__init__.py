"""The rules of conduct, one a file; `registry` lists them."""
