"""The workbench: a local web page over everything ptxkit does.

``ptxkit app`` serves it. The server listens on this machine alone unless told otherwise, loads
nothing from elsewhere, and gives what people paste to compilers and simulator only, in
processes of their own that have limits of time and memory.

>>> from ptxkit.app import sharing
>>> sharing.decode(sharing.encode({"text": ".version 8.0"}))
{'text': '.version 8.0'}
"""
