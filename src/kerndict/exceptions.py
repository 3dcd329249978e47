"""What kerndict warns about, and the errors of its own."""


class SpanWarning(UserWarning):
    """A code may use as many atoms as the class has dimensions.

    Every signal of the class's span is then explained in full, and the residual no
    longer depends on the dictionary: learning and incoherence change nothing.
    """


class ModelFormatError(ValueError):
    """A file is not a model that this version can read, or a model cannot be written.

    The message says which, and what to do.
    """
