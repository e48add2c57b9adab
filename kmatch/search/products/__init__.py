"""Sites of primers that face each other, joined to products."""
