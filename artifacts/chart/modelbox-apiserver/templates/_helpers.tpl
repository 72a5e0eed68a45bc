{{- /*
SPDX-FileCopyrightText: The ModelBox Authors
SPDX-License-Identifier: Apache-2.0
*/ -}}

{{- /* The port on which the server listens. */ -}}
{{- define "modelbox-apiserver.port" -}}
{{ if .Values.hostNetwork.enabled }}{{ .Values.hostNetwork.port }}{{ else }}8443{{ end }}
{{- end }}

{{- /* The affinity of the values. On the network of the host, a further one keeps two servers from the same node. */ -}}
{{- define "modelbox-apiserver.affinity" -}}
{{- $affinity := deepCopy (default dict .Values.affinity) }}
{{- if .Values.hostNetwork.enabled }}
{{- $selector := dict "matchLabels" (dict "app.kubernetes.io/name" "modelbox-apiserver") }}
{{- $term := dict "topologyKey" "kubernetes.io/hostname" "labelSelector" $selector }}
{{- $antiAffinity := default dict $affinity.podAntiAffinity }}
{{- $terms := default list $antiAffinity.requiredDuringSchedulingIgnoredDuringExecution }}
{{- $_ := set $antiAffinity "requiredDuringSchedulingIgnoredDuringExecution" (append $terms $term) }}
{{- $_ := set $affinity "podAntiAffinity" $antiAffinity }}
{{- end }}
{{- with $affinity }}
{{- toYaml . }}
{{- end }}
{{- end }}

{{- /* The flags of the server. */ -}}
{{- define "modelbox-apiserver.args" -}}
- --secure-port={{ include "modelbox-apiserver.port" . }}
{{- if .Values.etcd.servers }}
- --etcd-servers={{ join "," .Values.etcd.servers }}
- --etcd-cafile=/etc/modelbox/etcd/ca.crt
- --etcd-certfile=/etc/modelbox/etcd/tls.crt
- --etcd-keyfile=/etc/modelbox/etcd/tls.key
- --shutdown-delay-duration=100s
- --disable-http2-serving=true
{{- else }}
- --data-dir=/var/lib/modelbox
{{- end }}
{{- if .Values.certManager.enabled }}
- --serving-certificate=files
- --tls-cert-file=/etc/modelbox/certificate/tls.crt
- --tls-private-key-file=/etc/modelbox/certificate/tls.key
{{- end }}
{{- if .Values.serviceIngress.enabled }}
- --controllers=*,serviceingress
{{- with .Values.serviceIngress.class }}
- --service-ingress-class={{ . }}
{{- end }}
{{- with .Values.serviceIngress.hostPattern }}
- --service-ingress-host-pattern={{ . }}
{{- end }}
{{- end }}
{{- if .Values.referencedSecrets.enabled }}
- --watch-referenced-secrets
{{- end }}
{{- if .Values.audit.enabled }}
- --audit-policy-file=/etc/modelbox/audit/audit-policy.yaml
- --audit-log-path=-
{{- end }}
{{- if ne .Release.Namespace "modelbox-system" }}
- --leader-elect-resource-namespace={{ .Release.Namespace }}
{{- if not .Values.certManager.enabled }}
- --serving-certificate-secret={{ .Release.Namespace }}/modelbox-apiserver-certificate
- --serving-certificate-hosts=modelbox-apiserver.{{ .Release.Namespace }}.svc
{{- end }}
{{- end }}
{{- range .Values.extraArgs }}
- {{ . | quote }}
{{- end }}
{{- end }}
