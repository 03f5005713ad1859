"""Words of sentences that are not about numbers."""

from priolane.report.sentences.values import Detail


def sentence_case(text: str) -> str:
    """A text with a capital letter at its beginning; a name such as pHost keeps its own."""
    return text if text[1:2].isupper() else text[:1].upper() + text[1:]


def statement(says: str) -> str:
    """The statement of a claim, at the beginning of a sentence that goes on."""
    return sentence_case(says.strip().rstrip("."))


def with_values(says: str, values: str, question: str, detail: Detail) -> str:
    """`Large flows lose at most 10 %: 1.17 [1.03, 1.30]; asked: above 0.9`, in a title `Large flows lose at most 10 %
    (1.17)`: a title has a verdict before its first colon."""
    if detail is Detail.BRIEF:
        return f"{statement(says)} ({values})"
    return f"{statement(says)}: {values}; asked: {question}"
