{{- define "tollgate.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 40 | trimSuffix "-" -}}
{{- else if contains "tollgate" .Release.Name -}}
{{- .Release.Name | trunc 40 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-tollgate" .Release.Name | trunc 40 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{/* Labels that a selector can rely on: they never change. Argument: (dict "root" $ "component" name) */}}
{{- define "tollgate.selector" -}}
app.kubernetes.io/name: tollgate
app.kubernetes.io/instance: {{ .root.Release.Name | quote }}
app.kubernetes.io/component: {{ .component }}
{{- end -}}

{{- define "tollgate.labels" -}}
{{ include "tollgate.selector" . }}
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
helm.sh/chart: {{ .root.Chart.Name }}-{{ .root.Chart.Version | replace "+" "_" }}
{{- end -}}

{{/* Metadata of an object of one component, named after it. */}}
{{- define "tollgate.metadata" -}}
name: {{ include "tollgate.fullname" .root }}-{{ .component }}{{ with .suffix }}-{{ . }}{{ end }}
namespace: {{ .root.Release.Namespace | quote }}
labels:
  {{- include "tollgate.labels" . | nindent 2 }}
{{- end -}}

{{/* The reference of one of our images. Argument: (dict "root" $ "repository" name) */}}
{{- define "tollgate.image" -}}
{{- with .root.Values.image.registry }}{{ . }}/{{ end }}{{ .repository }}:{{ .root.Values.image.tag | default .root.Chart.AppVersion }}
{{- end -}}

{{/* The address of a listener inside the cluster. Argument: (dict "root" $ "service" name "listener" "public" or "private") */}}
{{- define "tollgate.url" -}}
{{- $ports := include "tollgate.ports" . | fromYaml -}}
http://{{ include "tollgate.fullname" .root }}-{{ .service }}{{ if eq .listener "private" }}-private{{ end }}:{{ get $ports .listener }}
{{- end -}}

{{/* Ports as the images preset them. */}}
{{- define "tollgate.ports" -}}
{{- $ports := dict "gateway" (list 4000 4100) "auth" (list 4001 4101) "account" (list 4002 4102) -}}
{{- $own := get $ports .service -}}
public: {{ index $own 0 }}
private: {{ index $own 1 }}
{{- end -}}

{{/*
Name and spec of a Job. A Job's pods can't be changed, so each spec has a Job of its own, also for those who apply the
manifests without Helm. Argument: (dict "root" $ "component" name "spec" text "annotations" text)
*/}}
{{- define "tollgate.job" -}}
apiVersion: batch/v1
kind: Job
metadata:
  {{- include "tollgate.metadata" (merge (dict "suffix" (trunc 8 (sha256sum .spec))) .) | nindent 2 }}
  {{- with .annotations }}
  annotations:
    {{- . | nindent 4 }}
  {{- end }}
spec:
  {{- .spec | nindent 2 }}
{{- end -}}
