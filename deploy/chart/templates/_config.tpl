{{- define "podpath.config" -}}
{{- if .Values.config }}
{{- .Values.config }}
{{- else }}
{{- if .Values.dryRun }}
dry_run = true
{{- end }}
state = "/run/podpath"

[health]
listen = "{{ if eq .Values.metrics "pod" }}pod{{ else }}127.0.0.1{{ end }}:9809"

[kubernetes]
{{- if .Values.condition }}
condition = true
{{- end }}
taint = true # from the start until every part is ready: new pods wait, those that run stay

[kubernetes.budget] # what all agents together may do: 10 nodes tainted at one time, 60 evictions and 1200 mendings an hour

[sysctl]
profiles = ["auto"]
root = "/host"
proc_sys = "/host/proc/sys"
{{- if eq .Values.mesh "linkerd" }}

[chain]
type = "linkerd-cni" # its own installer's entry is kept as it is
config_map = "linkerd-cni/linkerd-cni-config" # where it is not there, linkerd is not installed and there is nothing to keep
{{- else if eq .Values.mesh "istio" }}

[chain]
type = "istio-cni" # its own installer's entry is kept as it is
config_map = "istio-system/istio-cni-config" # where it is not there, istio is not installed and there is nothing to keep
{{- end }}

[order]
mode = "report"
{{- if eq .Values.mesh "linkerd" }}

[repair]
actions = ["label", "mend", "evict"]
label_selector = "linkerd.io/control-plane-ns"
{{- else if eq .Values.mesh "istio" }}

[repair]
actions = ["label", "mend", "evict"]
annotations = ["sidecar.istio.io/status"]
{{- else }}

[repair]
actions = ["label", "mend", "evict"]
{{- end }}

[reflect] # UDP port 15105 of the node: validators ask it to connect back, which proves inbound redirection
{{- if or .Values.snapshot .Values.drops }}

[snapshot] # TCP port 9810 of the node: the API server's pod proxy must reach it
certificate = "/run/podpath-tls/tls.crt"
key = "/run/podpath-tls/tls.key"
{{- end }}
{{- if .Values.drops }}

[drops]
metrics = true # heard all the time, and counted
watchers = 2 # who may watch at once
{{- end }}
{{- if eq .Values.metrics "tls" }}

[metrics]
{{- end }}
{{- end }}
{{- end -}}
