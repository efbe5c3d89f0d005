import { generateKeyPairSync, randomBytes, sign } from 'node:crypto';

/** A private key and a certificate that vouches for itself, both in PEM. */
export interface TestCertificate {
  key: string;
  cert: string;
}

// DER, as little of it as a certificate needs (RFC 5280): Node reads certificates but makes none.
function tagged(tag: number, ...parts: Uint8Array[]): Buffer {
  const content = Buffer.concat(parts);
  const size = content.length;
  const length = size < 128 ? [size] : size < 256 ? [0x81, size] : [0x82, size >> 8, size & 255];
  return Buffer.concat([Buffer.from([tag, ...length]), content]);
}

const sequence = (...parts: Uint8Array[]) => tagged(0x30, ...parts);
const bitString = (bytes: Uint8Array) => tagged(0x03, Buffer.from([0]), bytes);
const utcTime = (at: Date) =>
  tagged(
    0x17,
    Buffer.from(
      at
        .toISOString()
        .replaceAll(/[-:T]|\.\d+/g, '')
        .slice(2),
    ),
  );

const ECDSA_WITH_SHA256 = sequence(tagged(0x06, Buffer.from('2a8648ce3d040302', 'hex')));
const COMMON_NAME = tagged(0x06, Buffer.from('550403', 'hex'));
const SUBJECT_ALTERNATIVE_NAME = tagged(0x06, Buffer.from('551d11', 'hex'));

/** A certificate for these DNS names, valid from yesterday until tomorrow. */
export function certificateFor(...names: string[]): TestCertificate {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const subject = sequence(tagged(0x31, sequence(COMMON_NAME, tagged(0x0c, Buffer.from('test')))));
  const alternatives = sequence(...names.map((name) => tagged(0x82, Buffer.from(name))));
  const day = 86_400_000;
  const body = sequence(
    tagged(0xa0, tagged(0x02, Buffer.from([2]))),
    tagged(0x02, Buffer.from([1]), randomBytes(8)),
    ECDSA_WITH_SHA256,
    subject,
    sequence(utcTime(new Date(Date.now() - day)), utcTime(new Date(Date.now() + day))),
    subject,
    publicKey.export({ type: 'spki', format: 'der' }),
    tagged(0xa3, sequence(sequence(SUBJECT_ALTERNATIVE_NAME, tagged(0x04, alternatives)))),
  );
  const der = sequence(body, ECDSA_WITH_SHA256, bitString(sign('sha256', body, privateKey)));
  return {
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }) as string,
    cert: `-----BEGIN CERTIFICATE-----\n${der.toString('base64')}\n-----END CERTIFICATE-----\n`,
  };
}
