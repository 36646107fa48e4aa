{{/* The name of the Secret of a topic: an existing one, or the chart's. Argument: (dict "root" $ "topic" name) */}}
{{- define "tollgate.secretName" -}}
{{- (get .root.Values.secrets .topic).existingSecret | default (printf "%s-%s" (include "tollgate.fullname" .root) (kebabcase .topic)) -}}
{{- end -}}

{{/* Fails where a Secret can neither be generated nor found. */}}
{{- define "tollgate.checkSecrets" -}}
{{- range $topic, $key := dict "postgres" "database_url" "redis" "redis_url" -}}
{{- if not (or (get $.Values $topic).enabled (get $.Values.secrets $topic).existingSecret $.Values.secrets.externalSecrets.enabled) -}}
{{- fail (printf "Set secrets.%s.existingSecret to a Secret with the key %s, or %s.enabled to true." $topic $key $topic) -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* Secrets that a service reads, one line each: the setting, the topic whose Secret has it, and the key there. */}}
{{- define "tollgate.secretSettings" -}}
{{- if has .component (list "gateway" "auth" "account") }}
- [SERVICE_CLIENT_SECRET, serviceCredentials, {{ .component }}_secret]
- [SERVICE_CREDENTIALS, serviceCredentials, {{ .component }}_accepts]
- [REDIS_URL, redis, redis_url]
{{- include "tollgate.tlsSettings" (dict "root" .root "topic" "redisTls" "prefix" "REDIS") }}
{{- end }}
{{- if has .component (list "auth" "account" "seed") }}
- [CLIENT_SECRET_PEPPERS, clientSecretPeppers, client_secret_peppers]
{{- end }}
{{- if has .component (list "account" "seed") }}
- [TOKEN_SEALING_KEYS, tokenSealingKeys, token_sealing_keys]
{{- end }}
{{- if has .component (list "account" "migrate" "seed") }}
- [DATABASE_URL, postgres, database_url]
{{- include "tollgate.tlsSettings" (dict "root" .root "topic" "postgresTls" "prefix" "DATABASE") }}
{{- end }}
{{- if eq .component "plans" }}
- [TOLLGATE_CREDENTIAL, serviceCredentials, operator_credentials]
{{- end }}
{{- if eq .component "account" }}
- [OPERATOR_CREDENTIALS, serviceCredentials, operator_credentials]
- [USAGE_REPORTER_CREDENTIALS, serviceCredentials, usage_reporter_credentials]
# For kubectl exec … tollgate
- [TOLLGATE_CREDENTIAL, serviceCredentials, operator_credentials]
{{- if .root.Values.secrets.smtp.existingSecret }}
- [SMTP_URL, smtp, smtp_url]
{{- end }}
{{- if .root.Values.secrets.stripe.existingSecret }}
- [STRIPE_SECRET_KEY, stripe, stripe_secret_key]
- [STRIPE_WEBHOOK_SECRET, stripe, stripe_webhook_secret]
{{- end }}
{{- if .root.Values.operators.oidc.issuer }}
- [OPERATORS_OIDC_CLIENT_SECRET, operatorsOidc, client_secret]
{{- end }}
{{- end }}
{{- end -}}

{{/* The certificates for one store, in the same form. Argument: (dict "root" $ "topic" name "prefix" name) */}}
{{- define "tollgate.tlsSettings" -}}
{{- $topic := .topic }}
{{- $prefix := .prefix }}
{{- $tls := get .root.Values.secrets $topic }}
{{- if $tls.existingSecret }}
{{- range $setting, $key := dict "CA" $tls.ca "CERTIFICATE" $tls.certificate "KEY" $tls.key }}
{{- if $key }}
- [{{ $prefix }}_TLS_{{ $setting }}, {{ $topic }}, {{ $key }}]
{{- end }}
{{- end }}
{{- end }}
{{- end -}}

{{/* The same as environment variables: each setting has a form that names a file. */}}
{{- define "tollgate.secretEnv" -}}
{{- range include "tollgate.secretSettings" . | fromYamlArray }}
- name: {{ index . 0 }}_FILE
  value: /run/secrets/tollgate/{{ index . 1 }}/{{ index . 2 }}
{{- end }}
{{- $tls := .root.Values.secrets }}
{{- if and $tls.redisTls.serverName (has .component (list "gateway" "auth" "account")) }}
- name: REDIS_TLS_SERVER_NAME
  value: {{ $tls.redisTls.serverName | quote }}
{{- end }}
{{- if and $tls.postgresTls.serverName (has .component (list "account" "migrate" "seed")) }}
- name: DATABASE_TLS_SERVER_NAME
  value: {{ $tls.postgresTls.serverName | quote }}
{{- end }}
{{- range $name, $_ := .secretSettings }}
- name: {{ $name }}_FILE
  value: /run/secrets/tollgate/settings/{{ $name }}
{{- end }}
{{- end -}}

{{/* The volume with these files. No pod sees a key that it doesn't read. */}}
{{- define "tollgate.secretVolume" -}}
{{- $root := .root -}}
name: secrets
projected:
  defaultMode: 0440
  sources:
    {{- $seen := dict }}
    {{- range include "tollgate.secretSettings" . | fromYamlArray }}
    {{- $file := printf "%s/%s" (index . 1) (index . 2) }}
    {{- if not (hasKey $seen $file) }}
    {{- $_ := set $seen $file true }}
    - secret:
        name: {{ include "tollgate.secretName" (dict "root" $root "topic" (index . 1)) | quote }}
        items:
          - key: {{ index . 2 }}
            path: {{ $file }}
    {{- end }}
    {{- end }}
    {{- range $name, $ref := .secretSettings }}
    - secret:
        name: {{ $ref.secret | quote }}
        items:
          - key: {{ $ref.key | quote }}
            path: settings/{{ $name }}
    {{- end }}
{{- end -}}

{{/*
Whether Helm sees the cluster. Without it, a generated Secret would replace the one that exists.
*/}}
{{- define "tollgate.seesCluster" -}}
{{- if lookup "v1" "Secret" .Release.Namespace "" }}true{{ end -}}
{{- end -}}

{{/*
A generated Secret. What the cluster already has stays as it is, with changes made by hand; missing keys are added.
Argument: (dict "root" $ "topic" name "new" (dict key value))
*/}}
{{- define "tollgate.generatedSecret" -}}
{{- if and (include "tollgate.seesCluster" .root) (not (get .root.Values.secrets .topic).existingSecret) (not .root.Values.secrets.externalSecrets.enabled) }}
{{- $name := include "tollgate.secretName" . }}
{{- $kept := (lookup "v1" "Secret" .root.Release.Namespace $name).data | default dict }}
apiVersion: v1
kind: Secret
metadata:
  name: {{ $name }}
  namespace: {{ .root.Release.Namespace | quote }}
  labels:
    {{- include "tollgate.labels" (dict "root" .root "component" "secrets") | nindent 4 }}
  {{- if ne .topic "serviceCredentials" }}
  annotations:
    # The volumes outlive the release, and their data is worth nothing without these.
    helm.sh/resource-policy: keep
  {{- end }}
type: Opaque
data:
  {{- range $key, $value := .new }}
  {{ $key }}: {{ get $kept $key | default ($value | b64enc) }}
  {{- end }}
  {{- range $key, $value := $kept }}
  {{- if not (hasKey $.new $key) }}
  {{ $key }}: {{ $value }}
  {{- end }}
  {{- end }}
---
{{- end }}
{{- end -}}

{{/* A value of a Secret that exists, or a new random one. Argument: (dict "root" $ "topic" name "key" name) */}}
{{- define "tollgate.keptOrRandom" -}}
{{- $kept := (lookup "v1" "Secret" .root.Release.Namespace (include "tollgate.secretName" .)).data | default dict -}}
{{- get $kept .key | b64dec | default (randAlphaNum 43) -}}
{{- end -}}
