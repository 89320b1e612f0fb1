"""What nobody printed but the evidence implies: pods, devices and addresses."""
