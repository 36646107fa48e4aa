/** Outlines on a grid of 16 px; what they stand for is written beside them. */
const PATHS = {
  overview: 'M2.5 13.5v-6L8 2.5l5.5 5v6h-4v-4h-3v4z',
  applications: 'M2.5 2.5h4.5v4.5H2.5zM9 2.5h4.5v4.5H9zM2.5 9h4.5v4.5H2.5zM9 9h4.5v4.5H9z',
  tokens: 'M10.5 2.5a3 3 0 1 1-2.4 4.8L3 12.5v1h2v-2h2l1.6-1.7M11 5h.01',
  connections: 'M6.5 9.5l3-3M7 4.5l1.3-1.3a2.8 2.8 0 0 1 4 4L11 8.5M9 11.5l-1.3 1.3a2.8 2.8 0 0 1-4-4L5 7.5',
  explorer: 'M5.5 4.5 2 8l3.5 3.5M10.5 4.5 14 8l-3.5 3.5',
  usage: 'M2.5 2.5v11h11M5.5 11V8M8.5 11V5M11.5 11V7',
  operations: 'M2.5 3.5h11M2.5 8h8M2.5 12.5h5',
  requests: 'M8 2.5a5.5 5.5 0 1 1 0 11a5.5 5.5 0 0 1 0-11zM8 5v3.5M8 10.9v.1',
  alerts: 'M4 11.5v-4a4 4 0 0 1 8 0v4l1.5 1h-11zM6.8 14.2h2.4',
  webhooks: 'M2.5 8h8M7 4.5 10.5 8 7 11.5M13.5 3v10',
  plan: 'M2.5 4h11v8.5h-11zM2.5 7h11M5 10h2.5',
  team: 'M6 3a2.3 2.3 0 1 1 0 4.6A2.3 2.3 0 0 1 6 3zM1.8 13.2c0-2.4 1.9-3.7 4.2-3.7s4.2 1.3 4.2 3.7M10.4 3.3a2.2 2.2 0 0 1 0 4.1M12 9.8c1.4.5 2.2 1.7 2.2 3.4',
  account: 'M8 2.5a2.7 2.7 0 1 1 0 5.4a2.7 2.7 0 0 1 0-5.4zM2.8 13.5c0-2.6 2.3-4 5.2-4s5.2 1.4 5.2 4',
} as const;

export type IconName = keyof typeof PATHS;

export function Icon({ name }: { name: IconName }) {
  return (
    <svg
      width={16}
      height={16}
      viewBox="0 0 16 16"
      fill="none"
      stroke="currentColor"
      strokeWidth={1.25}
      strokeLinecap="round"
      strokeLinejoin="round"
      aria-hidden="true"
    >
      <path d={PATHS[name]} />
    </svg>
  );
}
