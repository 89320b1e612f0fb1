"""Tests of nft."""
