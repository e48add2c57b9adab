"""What tests share: cases, ways to run kmatch, and how hits are compared with the oracle."""
