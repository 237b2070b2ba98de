"""Tables of texts that are not PTX, by what is wrong with them."""

from syntax.malformed.calls import CALLS
from syntax.malformed.declarations import DECLARATIONS
from syntax.malformed.directives import DIRECTIVES
from syntax.malformed.functions import FUNCTIONS
from syntax.malformed.gates import GATES
from syntax.malformed.lexical import LEXICAL
from syntax.malformed.names import NAMES
from syntax.malformed.numbers import NUMBERS
from syntax.malformed.operands import OPERANDS
from syntax.malformed.statements import STATEMENTS
from syntax.malformed.types import TYPES

ALL = (
    *LEXICAL,
    *NUMBERS,
    *DIRECTIVES,
    *DECLARATIONS,
    *FUNCTIONS,
    *STATEMENTS,
    *OPERANDS,
    *NAMES,
    *TYPES,
    *CALLS,
    *GATES,
)
