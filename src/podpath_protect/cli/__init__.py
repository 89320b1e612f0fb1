"""The commands of `podpath protect`: arguments, exit codes and what is printed."""
