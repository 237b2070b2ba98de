"""The rules of ``check``: one file a subject."""
