/** As much of Kubernetes' objects as the suites look at. */
export type Manifest = {
  kind: string;
  metadata: { name: string; labels?: Record<string, string>; annotations?: Record<string, string> };
  spec?: {
    replicas?: number;
    strategy?: { rollingUpdate?: { maxUnavailable?: number } };
    template?: { metadata: { labels: Record<string, string> }; spec: PodSpec };
    selector?: Record<string, unknown>;
    type?: string;
    ports?: { name: string; port: number; targetPort: string }[];
    podSelector?: { matchLabels: Record<string, string> };
    policyTypes?: string[];
    groups?: { name: string; rules: { annotations?: Record<string, string> }[] }[];
    podFailurePolicy?: { rules: { action: string; onExitCodes?: Record<string, unknown> }[] };
  };
  data?: Record<string, string>;
};

export type PodSpec = {
  automountServiceAccountToken?: boolean;
  terminationGracePeriodSeconds?: number;
  securityContext?: Record<string, unknown>;
  topologySpreadConstraints?: { topologyKey: string }[];
  initContainers?: Container[];
  containers: Container[];
  volumes?: { name: string; projected?: { sources: { secret: { name: string; items: Item[] } }[] } }[];
};

type Item = { key: string; path: string };

export type Container = {
  name: string;
  env?: { name: string; value?: string; valueFrom?: unknown }[];
  envFrom?: unknown;
  securityContext?: Record<string, unknown>;
  volumeMounts?: { name: string; mountPath: string }[];
  resources?: Record<'requests' | 'limits', Record<string, string>>;
  ports?: { name: string; containerPort: number }[];
} & Partial<
  Record<
    'startupProbe' | 'readinessProbe' | 'livenessProbe',
    {
      httpGet?: { path: string; port: string };
      exec?: unknown;
      periodSeconds?: number;
      failureThreshold?: number;
    }
  >
>;
