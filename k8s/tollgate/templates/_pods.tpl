{{/* What every pod of the chart has in common: the Pod Security standard "restricted", and no access to the API server. */}}
{{- define "tollgate.pod" -}}
automountServiceAccountToken: false
enableServiceLinks: false
{{- with .root.Values.image.pullSecrets }}
imagePullSecrets:
  {{- range . }}
  - name: {{ . | quote }}
  {{- end }}
{{- end }}
securityContext:
  runAsNonRoot: true
  runAsUser: {{ .uid | default 1000 }}
  runAsGroup: {{ .gid | default 1000 }}
  fsGroup: {{ .gid | default 1000 }}
  fsGroupChangePolicy: OnRootMismatch
  seccompProfile:
    type: RuntimeDefault
{{- end -}}

{{- define "tollgate.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities:
  drop: [ALL]
{{- end -}}

{{/* Where a pod runs. Argument: values with nodeSelector, tolerations, affinity and priorityClassName */}}
{{- define "tollgate.placement" -}}
{{- with .nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .affinity }}
affinity:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .priorityClassName }}
priorityClassName: {{ . | quote }}
{{- end }}
{{- end -}}

{{/*
Settings as environment variables: first the chart's, then values that replace them.
Argument: (dict "settings" (list of maps))
*/}}
{{- define "tollgate.env" -}}
{{- $all := dict -}}
{{- range .settings }}{{ range $name, $value := . }}{{ $_ := set $all $name $value }}{{ end }}{{ end -}}
{{- range $name, $value := $all }}
- name: {{ $name }}
  value: {{ include "tollgate.plain" $value | quote }}
{{- end }}
{{- end -}}

{{/* A number of milliseconds or points stays whole: Helm reads large numbers as floats. */}}
{{- define "tollgate.plain" -}}
{{- if kindIs "float64" . }}{{ if eq . (floor .) }}{{ int64 . }}{{ else }}{{ . }}{{ end }}{{ else }}{{ . }}{{ end -}}
{{- end -}}
