"""The parts of vectors/schema.json that list names: known mistakes, flags of cases, and kinds of evidence of rows."""
from defects import DEFECTS
from flags import FLAGS
from objective_schema import replaced


def evidence(told):
    return {"description": "what the row is, and the settings that the mark is about (../evidence/README.md); empty where the file is no "
                           "row's",
            "enum": sorted(set(told))}


def text(old, told):
    """The whole file with these lists replaced; told: the `evidence` of each file of vectors, from evidence/sources_check.py."""
    defect = {"description": "a known mistake, by its name in DEFECTS.md", "enum": sorted(DEFECTS)}
    for name, definition in (("defect", defect), ("flag", {"enum": list(FLAGS)}), ("evidence", evidence(told))):
        old = replaced(old, name, definition)
    return old
