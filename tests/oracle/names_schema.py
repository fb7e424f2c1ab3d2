"""The parts of vectors/schema.json that list names: the known mistakes, and what the rows rest on."""
from defects import DEFECTS
from objective_schema import replaced


def evidence(told):
    return {"description": "what the row is, and the settings that the mark is about (../evidence/README.md); empty where the file is no row's",
            "enum": sorted(set(told))}


def text(old, told):
    """The whole file, with these lists as they are here; told: what evidence/sources_check.py tells of each file of vectors."""
    defect = {"description": "a known mistake, by its name in DEFECTS.md", "enum": sorted(DEFECTS)}
    return replaced(replaced(old, "defect", defect), "evidence", evidence(told))
