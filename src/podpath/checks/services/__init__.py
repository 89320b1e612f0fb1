"""Faults of services: endpoints, ports, listeners, IPVS, load balancers."""
