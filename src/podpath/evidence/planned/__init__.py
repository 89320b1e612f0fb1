"""Files that say what somebody is about to change."""
