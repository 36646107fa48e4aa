import { readFileSync } from 'node:fs';
import { extname } from 'node:path';

/** packages/console/src/styles/mark.svg at 48 px: mail clients show no SVG. */
const MARK = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAADAAAAAwCAYAAABXAvmHAAAC2ElEQVR4nOyZz2sTQRTH35ttRfxBMaCNpdGCgjcFoeBFa2tTwaPF' +
    'o/gjf0Fbe8/BoyYqIj20odSLIngR9OC2VMSLh+rZi0hqa6pIo4LF7s7zbcyWEJLNzm6WTex+LjvMzu58vzPvzewkAtocAW1OZCBs' +
    '2t5AR6MGqbF8TBJctMoC4elMNvEdAuZqmnbCz5XTgugUEHyVtPvR7J1967XaouOLJtfiwvjznlt1lyoICkJ2npi+212AZoueWO0X' +
    '0jhHgElEGKq8RwD5X0THnmQTv6ufc5wBYW6Obom34LIhjFEuPQCf8MweZbHDBDRSEkxmF3Ch1ohyXWIPiBQX74OKAQC5v3qSBMoD' +
    '4E1wTKJI8ngO8pCeJ4S+f+LQ3QtI7qpV3TAHvGLFsSiungGkISJKsuCTaAWDhUvNNvz8utC0x7XuNdWAHcccCiPw4/OgLRQVBVfw' +
    'jj2/0OSOe9PZ2nnny8CVycIRzpNh1pfkYeLQMGN+1PJYf+Qg1fldOs+W7mbFUzbAidd/bXx5yopjNDf7tm54Ek5FIlggFi2R9LlM' +
    '4gMoomyAZV6wC16wBPOzOq/x8zzCb8EngSWxDQte4kTWCTk09va8nk3jBjSRDufOUVONDGvT4ctzvs5rPMq5gHduRwOIaIC99NWF' +
    'itySEw90A2FhLtOrHMd+aLSRYXWw8865wZvPG2ulAND0Q10Hl9JplBAS6klMOJbL9k5Bi6CexEhxaCGiA03Y/P8nsmp4Yzp7fTyf' +
    'hoAhCctuToDqqxDiAF8GIGBQlAbr5uUbX44/vBVfq9eutUOIT4Cd0rzk1CTwbyH/WKfC+mzHJKZX/IG3CAFgLRDlHHONhySGxVwm' +
    'kYYAKK9uSgaijSxsIgNhExkIm8hA2EQGwiYyEDaOBojENzd1zcJLf44GhMBnfDEqqoxyXSB46a/hT7epiZXD0jSTpQ407eXM7Z5P' +
    'ECCq/fn5O6UliFahsPkLAAD//98c/jYAAAAGSURBVAMAX17/gtO8aF4AAAAASUVORK5CYII=',
  'base64',
);

/** The PNG that mails show beside the product's name; null for a logo in SVG. */
export function mailLogo(path: string | undefined): Buffer | null {
  if (path === undefined) return MARK;
  return extname(path).toLowerCase() === '.png' ? readFileSync(path) : null;
}
