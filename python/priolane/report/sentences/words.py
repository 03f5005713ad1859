"""Words of sentences that are not about numbers."""


def sentence_case(text: str) -> str:
    """A text with a capital letter at its beginning."""
    return text[:1].upper() + text[1:]


def statement(says: str) -> str:
    """The statement of a claim, at the beginning of a sentence that goes on."""
    return sentence_case(says.strip().rstrip("."))
