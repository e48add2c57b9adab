"""`python -m kmatch`."""

from kmatch.cli.main import main

if __name__ == "__main__":
    main()
