{{- /*
SPDX-FileCopyrightText: The ModelBox Authors
SPDX-License-Identifier: Apache-2.0
*/ -}}

{{- /* The flags of the server. */ -}}
{{- define "modelbox-apiserver.args" -}}
- --secure-port=8443
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
