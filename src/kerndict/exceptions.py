"""What kerndict warns about."""


class SpanWarning(UserWarning):
    """A code may use as many atoms as the class has dimensions.

    Every signal of the class's span is then explained in full, and the residual no
    longer depends on the dictionary: learning and incoherence change nothing.
    """
