import { Factories } from '@cyclonedx/cyclonedx-library/Contrib/License';
import { ComponentType } from '@cyclonedx/cyclonedx-library/Enums';
import { Bom, Component, LicenseRepository } from '@cyclonedx/cyclonedx-library/Models';
import { JSON as CycloneDxJson, JsonSerializer } from '@cyclonedx/cyclonedx-library/Serialize';
import { Spec1dot6 } from '@cyclonedx/cyclonedx-library/Spec';
import { PackageURL } from 'packageurl-js';
import parseExpression from 'spdx-expression-parse';
import { buildPages, pageInputs } from '../build/account-pages.ts';
import { bundle } from '../build/bundle.ts';
import { IMAGES } from '../build/image-list.ts';
import type { ImageContents, ImageName } from '../build/image-list.ts';
import { ROOT } from '../build/root.ts';
import { packageAt, packagesOf } from './packages.ts';
import type { BundledPackage } from './packages.ts';

/** The packages of the npm registry that something of is in an image, as the bundlers tell. */
export async function packagesIn(image: ImageName): Promise<BundledPackage[]> {
  const { programs, pages }: ImageContents = IMAGES[image];
  const inputs: string[] = [];
  for (const { room, entries } of programs) inputs.push(...(await bundle(room, entries, '/app')).inputs);
  if (pages === true) {
    await buildPages();
    inputs.push(...pageInputs());
  }
  return packagesOf(inputs);
}

/** The image's software bill of materials: CycloneDX 1.6 as JSON, the same text for the same content. */
export function billOfImage(image: ImageName, packages: readonly BundledPackage[]): string {
  const { version } = packageAt(ROOT);
  const bom = new Bom();
  bom.metadata.component = new Component(ComponentType.Container, `tollgate-${image}`, {
    version,
    // Without it the library takes a random one.
    bomRef: `tollgate-${image}`,
  });
  bom.components.add(nodeItself());
  for (const found of packages) bom.components.add(componentOf(found));
  const serializer = new JsonSerializer(new CycloneDxJson.Normalize.Factory(Spec1dot6));
  return `${serializer.serialize(bom, { sortLists: true, space: 2 })}\n`;
}

const licences = new Factories.LicenseFactory(parseExpression);

function componentOf({ name, version, licence }: BundledPackage): Component {
  const { scope, bare } = /^(?:(?<scope>@[^/]+)\/)?(?<bare>.+)$/.exec(name)?.groups ?? {};
  return new Component(ComponentType.Library, bare ?? name, {
    ...(scope === undefined ? {} : { group: scope }),
    version,
    purl: new PackageURL('npm', scope, bare ?? name, version).toString(),
    bomRef: `${name}@${version}`,
    licenses: new LicenseRepository([licences.makeFromString(licence)]),
  });
}

/** The libraries of the system are in the image's records of dpkg. */
function nodeItself(): Component {
  const { node: version } = process.versions;
  return new Component(ComponentType.Platform, 'node', {
    version,
    purl: new PackageURL('generic', undefined, 'node', version).toString(),
    bomRef: `node@${version}`,
    licenses: new LicenseRepository([licences.makeFromString('MIT')]),
  });
}
