"""What searches for k mismatches share: windows, seeds, and sites of a PAM."""
