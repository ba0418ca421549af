"""The merge of three versions of one file."""

from commonhold.merging.verdict import Proven, Reason, Sides, Spot, Unproven


def merge(base: bytes, ours: bytes, theirs: bytes, path: str, sides: Sides | None = None) -> Proven | Unproven:
    """Merge what both sides made of `base`. Total: any bytes give an answer, never an exception.

    `path` says the language. What is there on one side only is given as empty bytes. The answer is the same with the
    sides exchanged, but for the conflict markers.
    """
    if ours in (base, theirs):
        return Proven(theirs)
    if theirs == base:
        return Proven(ours)
    named = sides or Sides()
    marked = b"<<<<<<< %b\n%b=======\n%b>>>>>>> %b\n" % (named.ours.encode(), ours, theirs, named.theirs.encode())
    return Unproven((Spot(Reason.BOTH_CHANGED, "both sides changed the file"),), marked)
