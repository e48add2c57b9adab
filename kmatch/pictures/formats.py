"""The formats of pictures."""

FORMATS = ("png", "svg", "pdf")
