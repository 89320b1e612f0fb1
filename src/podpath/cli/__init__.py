"""Arguments, exit codes and progress: the only place that prints."""
