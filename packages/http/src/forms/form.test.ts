import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { formDecode, parseForm } from './form.ts';

/** Text that UTF-8 can hold, without NUL. */
const text = fc.string({ unit: 'grapheme', maxLength: 30 }).filter((value) => !value.includes('\0'));

const invalid = expect.objectContaining({ code: 'invalid_request', status: 400 });

function parse(body: string | Uint8Array) {
  return Object.fromEntries(parseForm(Buffer.from(body)));
}

test('what URLSearchParams writes is read back, less the fields without a value', () => {
  fc.assert(
    fc.property(fc.dictionary(text, text), (fields) => {
      const written = new URLSearchParams(fields).toString();
      const kept = Object.entries(fields).filter(([, value]) => value !== '');
      expect(parseForm(Buffer.from(written))).toEqual(new Map(kept));
    }),
  );
});

test('plus is a space, a percent sign starts a byte, an equals sign in a value stays', () => {
  expect(parse('a=1+2%2B3%20&b=x=y=&c=%E2%82%AC')).toEqual({ a: '1 2+3 ', b: 'x=y=', c: '€' });
});

test('a byte order mark is a part of what it stands in', () => {
  expect(parse('\ufeffscope=\ufeffapi')).toEqual({ '\ufeffscope': '\ufeffapi' });
});

test('a field without a value counts as omitted', () => {
  expect(parse('&a=&b&=&&c=1&')).toEqual({ c: '1' });
});

test('any field given twice is refused, also with an empty value or in another encoding', () => {
  for (const body of ['a=1&a=1', 'a=1&b=2&a=2', 'a=&a=1', 'a&a', 'a=1&%61=2', '=1&=2']) {
    expect(() => parse(body)).toThrow(invalid);
  }
});

test('brackets are part of a name, never an array or an object', () => {
  expect(parse('scope[]=api&scope[0]=api&client_id[a]=b&__proto__=c')).toEqual(
    Object.fromEntries([
      ['scope[]', 'api'],
      ['scope[0]', 'api'],
      ['client_id[a]', 'b'],
      ['__proto__', 'c'],
    ]),
  );
});

test('bytes that are not UTF-8, plain or percent-encoded, a broken percent sign and NUL are refused', () => {
  const bodies = [
    Buffer.from([0x61, 0x3d, 0xff]),
    Buffer.from([0x61, 0x3d, 0xc3]),
    Buffer.from('ünicode', 'latin1'),
    'a=%FF',
    'a=%C0%80',
    'a=%ED%A0%80',
    'a=%',
    'a=%zz',
    'a=%4',
    'a=%00',
    'a%00=1',
    'a=\0',
  ];
  for (const body of bodies) expect(() => parse(body)).toThrow(invalid);
});

test('arbitrary bytes give a form or invalid_request, nothing else', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 60 }), (bytes) => {
      try {
        parse(bytes);
      } catch (error) {
        expect(error).toEqual(invalid);
      }
    }),
  );
});

test('a text is decoded or is null', () => {
  expect(formDecode('a%3Ab+c')).toBe('a:b c');
  for (const broken of ['%', '%f', '%zz', '%FF', '%00']) expect(formDecode(broken)).toBeNull();
});
