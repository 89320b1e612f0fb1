"""Tests of the layouts of other tools' bundles."""
