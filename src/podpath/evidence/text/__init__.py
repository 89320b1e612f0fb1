"""Lines, words and single values of console output: what every reader of text uses."""
