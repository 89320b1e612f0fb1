"""What every walk writes down and chooses by: steps, paths, forks, frames, next hops."""
