{{/*
What the API server would refuse, or a rollout would wait for in vain, and the schema can't express since it concerns two
values. Checked before the migrations, so that a refused upgrade changes nothing.
*/}}
{{- define "tollgate.checks" -}}
{{- if not (regexMatch "^[a-z]([-a-z0-9]*[a-z0-9])?$" (include "tollgate.fullname" .)) -}}
{{- fail (printf "Objects can't be named %s: set fullnameOverride to a name of letters, digits and dashes that begins with a letter." (include "tollgate.fullname" .)) -}}
{{- end -}}
{{- if not .Values.podNetworks -}}
{{- fail "Set podNetworks to the network of the cluster's pods: docs/kubernetes.md says how to find it." -}}
{{- end -}}
{{- if and (or .Values.ingress.enabled .Values.httpRoute.enabled) (not (hasKey (merge (dict) .Values.gateway.settings .Values.settings) "TRUSTED_PROXIES")) -}}
{{- fail "Set gateway.settings.TRUSTED_PROXIES to the addresses of the ingress controller: docs/kubernetes.md says how to find them." -}}
{{- end -}}
{{- $sells := eq (get (merge (dict) .Values.account.settings .Values.settings) "PAYMENTS" | toString) "stripe" -}}
{{- if and $sells (not .Values.secrets.stripe.existingSecret) (not (hasKey .Values.account.secretSettings "STRIPE_SECRET_KEY")) -}}
{{- fail "Set secrets.stripe.existingSecret to a Secret with the keys stripe_secret_key and stripe_webhook_secret; it also sets PAYMENTS." -}}
{{- end -}}
{{- $operators := .Values.operators -}}
{{- if and $operators.oidc.issuer (not .Values.secrets.operatorsOidc.existingSecret) -}}
{{- fail "Set secrets.operatorsOidc.existingSecret to a Secret with the key client_secret, of the operators' console at operators.oidc.issuer." -}}
{{- end -}}
{{- if and $operators.oidc.issuer (not $operators.ingress.enabled) (not (hasKey (merge (dict) .Values.account.settings .Values.settings) "OPERATORS_URL")) -}}
{{- fail "operators.oidc.issuer needs the console's address: set operators.ingress.enabled, or account.settings.OPERATORS_URL." -}}
{{- end -}}
{{- if and $operators.ingress.enabled .Values.networkPolicy.enabled (not $operators.ingress.from) (not .Values.networkPolicy.privateFrom) -}}
{{- fail "Set operators.ingress.from to the pods of the ingress controller, which networkPolicy keeps from account's private listener." -}}
{{- end -}}
{{- if and .Values.plans.existingConfigMap .Values.plans.file -}}
{{- fail "plans.existingConfigMap and plans.file are set: keep one of them." -}}
{{- end -}}
{{- if and .Values.graphql.existingConfigMap (include "tollgate.graphqlFiles" . | fromYaml) -}}
{{- fail "graphql.existingConfigMap and texts of files are in graphql: keep one of them." -}}
{{- end -}}
{{- range $name := list "gateway" "auth" "account" "accountWorkers" -}}
{{- $values := get $.Values $name -}}
{{- if and $values.autoscaling.enabled (lt (int $values.autoscaling.maxReplicas) (int $values.replicas)) -}}
{{- fail (printf "%s.autoscaling.maxReplicas (%v) is less than %s.replicas (%v)." $name $values.autoscaling.maxReplicas $name $values.replicas) -}}
{{- end -}}
{{- range $setting, $_ := $values.secretSettings -}}
{{- if or (hasKey $values.settings $setting) (hasKey $.Values.settings $setting) -}}
{{- fail (printf "%s is in %s.secretSettings and in settings: keep one of them." $setting $name) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- range $name := list "gateway" "auth" "account" "accountWorkers" "migrations" "plans" "postgres" "redis" "sampleUpstream" -}}
{{- $resources := (get $.Values $name).resources | default dict -}}
{{- $limits := $resources.limits | default dict -}}
{{- range $resource, $request := $resources.requests -}}
{{- if hasKey $limits $resource -}}
{{- $limit := get $limits $resource -}}
{{- if gt (include "tollgate.quantity" $request | float64) (include "tollgate.quantity" $limit | float64) -}}
{{- fail (printf "%s.resources.requests.%s (%v) is more than its limit (%v)." $name $resource $request $limit) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- range $name := list "postgres" "redis" -}}
{{- $store := get $.Values $name -}}
{{- if $store.enabled -}}
{{- $object := printf "%s-%s" (include "tollgate.fullname" $) $name -}}
{{- range ((lookup "apps/v1" "StatefulSet" $.Release.Namespace $object).spec).volumeClaimTemplates -}}
{{- $size := .spec.resources.requests.storage -}}
{{- if ne (include "tollgate.quantity" $size) (include "tollgate.quantity" $store.storage.size) -}}
{{- fail (printf "%s.storage.size (%v) can't be changed: the volume of %s has %v." $name $store.storage.size $object $size) -}}
{{- end -}}
{{- if ne (.spec.storageClassName | default "") ($store.storage.className | default "") -}}
{{- fail (printf "%s.storage.className (%q) can't be changed: the volume of %s has %q." $name ($store.storage.className | default "") $object (.spec.storageClassName | default "")) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* The number that a quantity stands for: 0.25 for 250m, 1048576 for 1Mi. */}}
{{- define "tollgate.quantity" -}}
{{- $text := toString . -}}
{{- $units := dict "" 1 "m" 0.001 "k" 1e3 "M" 1e6 "G" 1e9 "T" 1e12 "Ki" 1024 "Mi" 1048576 "Gi" 1073741824 "Ti" 1099511627776 -}}
{{- mulf (regexFind "^[0-9.]+" $text | float64) (get $units (regexFind "[A-Za-z]*$" $text) | float64) -}}
{{- end -}}
