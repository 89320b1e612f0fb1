"""A real Kubernetes of several nodes on one Linux machine, for tests and for trying things out.

Etcd, kube-apiserver, kube-controller-manager and kube-scheduler run in one set of namespaces, and
containerd, kubelet and kube-proxy of each node in another: network, mounts, processes, host name.
Nothing is imitated. `up` starts it, `down` ends the first process of each set, and the kernel takes
the rest down with it.
"""
