"""jsonsubschema: is one schema a subschema of the other, asked both ways."""

from answering import by_inclusion, serve
from jsonsubschema import isSubschema


def relation(old, new):
    return isSubschema(old, new), isSubschema(new, old)


serve(lambda side, old, new: by_inclusion(side, old, new, relation))
