{{/*
One service, or a part of it. Argument: (dict "root" $ "component" name "values" its values), of a part also "service" name
*/}}
{{- define "tollgate.deployment" -}}
{{- $root := .root -}}
{{- $values := .values -}}
{{- $shutdown := $root.Values.shutdown -}}
{{- $service := .service | default .component -}}
{{- $ports := include "tollgate.ports" (dict "service" $service) | fromYaml -}}
{{- $secrets := dict "root" $root "component" $service "secretSettings" $values.secretSettings -}}
{{- $graphql := ternary (include "tollgate.graphqlConfigMap" $root) "" (eq $service "gateway") -}}
apiVersion: apps/v1
kind: Deployment
metadata:
  {{- include "tollgate.metadata" . | nindent 2 }}
spec:
  {{- if not $values.autoscaling.enabled }}
  replicas: {{ $values.replicas }}
  {{- end }}
  strategy:
    type: RollingUpdate
    rollingUpdate:
      maxUnavailable: 0
      maxSurge: {{ $values.maxSurge }}
  selector:
    matchLabels:
      {{- include "tollgate.selector" . | nindent 6 }}
  template:
    metadata:
      labels:
        {{- include "tollgate.labels" . | nindent 8 }}
        {{- with $values.podLabels }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
      {{- with $values.podAnnotations }}
      annotations:
        {{- toYaml . | nindent 8 }}
      {{- end }}
    spec:
      {{- include "tollgate.pod" . | nindent 6 }}
      {{- include "tollgate.placement" $values | nindent 6 }}
      serviceAccountName: {{ include "tollgate.fullname" $root }}-{{ $service }}
      # The service's own drain, and some time to start and end it.
      terminationGracePeriodSeconds: {{ add $shutdown.delaySeconds $shutdown.timeoutSeconds 5 }}
      topologySpreadConstraints:
        {{- range list "kubernetes.io/hostname" "topology.kubernetes.io/zone" }}
        - topologyKey: {{ . }}
          maxSkew: 1
          whenUnsatisfiable: ScheduleAnyway
          matchLabelKeys: [pod-template-hash]
          labelSelector:
            matchLabels:
              {{- include "tollgate.selector" $ | nindent 14 }}
        {{- end }}
      {{- if eq $service "account" }}
      initContainers:
        {{- include "tollgate.awaitMigrations" $root | nindent 8 }}
      {{- end }}
      containers:
        - name: {{ $service }}
          image: {{ include "tollgate.image" (dict "root" $root "repository" $values.image.repository) }}
          imagePullPolicy: {{ $root.Values.image.pullPolicy }}
          terminationMessagePolicy: FallbackToLogsOnError
          securityContext:
            {{- include "tollgate.containerSecurity" . | nindent 12 }}
          env:
            {{- include "tollgate.env" (dict "settings" (list (include "tollgate.settings" . | fromYaml) $root.Values.settings $values.settings)) | nindent 12 }}
            {{- include "tollgate.secretEnv" $secrets | nindent 12 }}
          ports:
            {{- if ne .component "account-workers" }}
            - name: public
              containerPort: {{ $ports.public }}
            {{- end }}
            - name: private
              containerPort: {{ $ports.private }}
          {{- include "tollgate.probes" . | nindent 10 }}
          resources:
            {{- toYaml $values.resources | nindent 12 }}
          volumeMounts:
            - name: secrets
              mountPath: /run/secrets/tollgate
              readOnly: true
            {{- if eq $service "account" }}
            - name: mail
              mountPath: /mail
            {{- end }}
            {{- if $graphql }}
            - name: graphql
              mountPath: /etc/tollgate/graphql
              readOnly: true
            {{- end }}
      volumes:
        - {{- include "tollgate.secretVolume" $secrets | nindent 10 }}
        {{- if eq $service "account" }}
        - name: mail
          emptyDir:
            medium: Memory
            sizeLimit: 16Mi
        {{- end }}
        {{- with $graphql }}
        # Gateways read changed files again: no pod is replaced for them.
        - name: graphql
          configMap:
            name: {{ . }}
        {{- end }}
{{- end -}}

{{/*
A pod gets traffic once all that it needs has answered, and keeps it when that fails later: then all replicas are in the
same situation, and their 503 tells callers when to come back. Deleted pods leave the Services at once.
*/}}
{{- define "tollgate.probes" -}}
startupProbe:
  httpGet: { path: /health/ready, port: private }
  periodSeconds: 1
  timeoutSeconds: 2
  failureThreshold: 1800
readinessProbe:
  httpGet: { path: /health/live, port: private }
  periodSeconds: 5
  timeoutSeconds: 3
livenessProbe:
  httpGet: { path: /health/live, port: private }
  periodSeconds: 10
  timeoutSeconds: 5
  failureThreshold: 6
{{- end -}}

{{/* Waits for the migration Job, wherever the manifests are applied by something else than Helm, or at once. */}}
{{- define "tollgate.awaitMigrations" -}}
- name: await-migrations
  image: {{ include "tollgate.image" (dict "root" . "repository" .Values.account.image.repository) }}
  imagePullPolicy: {{ .Values.image.pullPolicy }}
  terminationMessagePolicy: FallbackToLogsOnError
  command: [node, --enable-source-maps, /app/await-migrations.mjs]
  securityContext:
    {{- include "tollgate.containerSecurity" . | nindent 4 }}
  env:
    {{- include "tollgate.secretEnv" (dict "root" . "component" "migrate") | nindent 4 }}
  resources:
    {{- toYaml .Values.migrations.resources | nindent 4 }}
  volumeMounts:
    - name: secrets
      mountPath: /run/secrets/tollgate
      readOnly: true
{{- end -}}

{{/* Addresses of the GraphQL API, separated by spaces. */}}
{{- define "tollgate.upstreamUrl" -}}
{{ .Values.upstreamUrl | default (ternary (printf "http://%s-upstream:4003/graphql" (include "tollgate.fullname" .)) "" .Values.sampleUpstream.enabled) | required "Set upstreamUrl to the address of your GraphQL API, or sampleUpstream.enabled to true." }}
{{- end -}}

{{/* The texts among the values of graphql, each with its file and the gateway's setting that names it. */}}
{{- define "tollgate.graphqlFiles" -}}
{{- $files := dict
  "schema" (dict "file" "schema.graphql" "setting" "GRAPHQL_SCHEMA")
  "costs" (dict "file" "costs.json" "setting" "GRAPHQL_COSTS")
  "documents" (dict "file" "documents.json" "setting" "GRAPHQL_DOCUMENTS")
  "v1Schema" (dict "file" "v1-schema.graphql" "setting" "GRAPHQL_V1_SCHEMA")
  "v1Costs" (dict "file" "v1-costs.json" "setting" "GRAPHQL_V1_COSTS")
  "v1Documents" (dict "file" "v1-documents.json" "setting" "GRAPHQL_V1_DOCUMENTS") -}}
{{- $given := dict -}}
{{- range $value, $file := $files -}}
{{- if get $.Values.graphql $value -}}{{- $_ := set $given $value $file -}}{{- end -}}
{{- end -}}
{{- toYaml $given -}}
{{- end -}}

{{/* The name of the ConfigMap with these files, or nothing. */}}
{{- define "tollgate.graphqlConfigMap" -}}
{{- if .Values.graphql.existingConfigMap -}}
{{- .Values.graphql.existingConfigMap -}}
{{- else if include "tollgate.graphqlFiles" . | fromYaml -}}
{{- include "tollgate.fullname" . }}-gateway-graphql
{{- end -}}
{{- end -}}

{{/* Settings that follow from the chart. docs/configuration.md describes all; values.yaml can set any other. */}}
{{- define "tollgate.settings" -}}
{{- $values := .root.Values -}}
{{- $url := dict "root" .root -}}
{{- $service := .service | default .component -}}
SERVICE_CLIENT_ID: {{ $service }}
NODE_OPTIONS: --max-old-space-size-percentage={{ .values.heapPercent }}
SHUTDOWN_DELAY_MS: {{ mul $values.shutdown.delaySeconds 1000 }}
SHUTDOWN_TIMEOUT_MS: {{ mul $values.shutdown.timeoutSeconds 1000 }}
{{- if eq $service "gateway" }}
AUTH_PRIVATE_URL: {{ include "tollgate.url" (merge (dict "service" "auth" "listener" "private") $url) }}
AUTH_PUBLIC_URL: {{ include "tollgate.url" (merge (dict "service" "auth" "listener" "public") $url) }}
ACCOUNT_PRIVATE_URL: {{ include "tollgate.url" (merge (dict "service" "account" "listener" "private") $url) }}
ACCOUNT_PUBLIC_URL: {{ include "tollgate.url" (merge (dict "service" "account" "listener" "public") $url) }}
STREAMING_URL: {{ $values.publicUrl | quote }}
UPSTREAM_URL: {{ include "tollgate.upstreamUrl" .root | quote }}
{{- if not $values.upstreamUrl }}
GRAPHQL_SCHEMA: http://{{ include "tollgate.fullname" .root }}-upstream:4003/schema.graphql
{{- end }}
{{- range include "tollgate.graphqlFiles" .root | fromYaml }}
{{ .setting }}: /etc/tollgate/graphql/{{ .file }}
{{- end }}
{{- else }}
{{- with $values.podNetworks }}
TRUSTED_PROXIES: {{ join " " . | quote }}
{{- end }}
{{- end }}
{{- if eq $service "auth" }}
ACCOUNT_PRIVATE_URL: {{ include "tollgate.url" (merge (dict "service" "account" "listener" "private") $url) }}
ISSUER_URL: {{ $values.publicUrl | quote }}
{{- end }}
{{- if eq $service "account" }}
{{- if $values.accountWorkers.enabled }}
PROCESS_ROLE: {{ ternary "api" "workers" (eq .component "account") }}
{{- end }}
AUTH_PRIVATE_URL: {{ include "tollgate.url" (merge (dict "service" "auth" "listener" "private") $url) }}
PUBLIC_URL: {{ $values.publicUrl | quote }}
ISSUER_URL: {{ $values.publicUrl | quote }}
MAIL_DIR: /mail
{{- if $values.secrets.stripe.existingSecret }}
PAYMENTS: stripe
{{- end }}
{{- with $values.operators.ingress }}
{{- if .enabled }}
OPERATORS_URL: {{ printf "https://%s/operator" .host | quote }}
{{- end }}
{{- end }}
{{- with $values.operators.oidc }}
{{- if .issuer }}
OPERATORS_OIDC_ISSUER: {{ .issuer | quote }}
OPERATORS_OIDC_CLIENT_ID: {{ .clientId | quote }}
{{- $pairs := list }}
{{- range .groups }}
{{- $pairs = append $pairs (printf "%s=%s" (.group | replace "%" "%25" | replace "," "%2C") .role) }}
{{- end }}
OPERATORS_OIDC_GROUPS: {{ join ", " $pairs | quote }}
{{- end }}
{{- end }}
EXPLORER_SCHEMA_URL: {{ include "tollgate.upstreamUrl" .root | splitList " " | first | quote }}
{{- end }}
{{- end -}}

{{/* Values of account's workers, as JSON: account's, but for those of their own. */}}
{{- define "tollgate.workers" -}}
{{- mustMergeOverwrite (deepCopy .Values.account) .Values.accountWorkers | toJson -}}
{{- end -}}
