"""A module whose import raises what is not even an Exception, as PyO3 does when Rust code panics."""


class PanicException(BaseException):
    """As PyO3 defines it."""


raise PanicException("called `Option::unwrap()` on a `None` value")
