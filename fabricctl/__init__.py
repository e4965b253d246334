"""fabricctl: takes a GPU cluster from crates to a fabric you can train on.

The layers, top to bottom, are values, pure logic, adapters, workflows and cli; a module imports only
from layers above its own (``tests/test_layers.py``). README.md, "Architecture", draws the picture.
"""

__version__ = "0.1.0"
