import encodeQR from 'qr';
import styles from './two-factor.module.css';

/** Modules of white around the code, without which some cameras don't find it. */
const BORDER = 2;

/** A QR code drawn as one path: nothing leaves the page. */
export function QrCode({ text }: { text: string }) {
  const modules = encodeQR(text, 'raw', { border: BORDER });
  const size = String(modules.length);
  const path = modules
    .flatMap((row, y) => row.map((isDark, x) => (isDark ? `M${String(x)} ${String(y)}h1v1h-1z` : '')))
    .join('');
  return (
    <svg
      role="img"
      aria-label="QR code with the secret"
      viewBox={`0 0 ${size} ${size}`}
      className={styles['qr']}
      shapeRendering="crispEdges"
    >
      <path d={path} fill="currentColor" />
    </svg>
  );
}
