import { generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';
import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

export interface Certificate {
  key: string;
  cert: string;
}

interface CertificateOptions {
  names: readonly string[];
  notBefore?: Date;
  notAfter?: Date;
}

const DAY_MS = 86_400_000;
const ECDSA_WITH_SHA256 = encode(0x30, Buffer.from('06082a8648ce3d040302', 'hex'));
const COMMON_NAME = Buffer.from('0603550403', 'hex');
const SUBJECT_ALT_NAME = Buffer.from('0603551d11', 'hex');

/** Makes a fresh self-signed certificate for host names and addresses (RFC 5280), so that no file has to be kept. */
export function buildCertificate(options: CertificateOptions): Certificate {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const notBefore = options.notBefore ?? new Date(Date.now() - DAY_MS);
  const notAfter = options.notAfter ?? new Date(Date.now() + DAY_MS);
  const subject = encode(0x30, encode(0x31, encode(0x30, COMMON_NAME, encode(0x0c, Buffer.from('Loopback test')))));
  const names = options.names.map((name) =>
    isIP(name) ? encode(0x87, Buffer.from(ipaddr.parse(name).toByteArray())) : encode(0x82, Buffer.from(name)),
  );
  const extension = encode(0x30, SUBJECT_ALT_NAME, encode(0x04, encode(0x30, ...names)));
  const body = encode(
    0x30,
    encode(0xa0, encode(0x02, Buffer.from([2]))),
    encode(0x02, Buffer.concat([Buffer.from([1]), randomBytes(15)])),
    ECDSA_WITH_SHA256,
    subject,
    encode(0x30, encodeTime(notBefore), encodeTime(notAfter)),
    subject,
    publicKey.export({ type: 'spki', format: 'der' }),
    encode(0xa3, encode(0x30, extension)),
  );
  const whole = encode(0x30, body, ECDSA_WITH_SHA256, encodeSignature(body, privateKey));
  const base64 = whole
    .toString('base64')
    .match(/.{1,64}/g)
    ?.join('\n');
  return {
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    cert: `-----BEGIN CERTIFICATE-----\n${base64}\n-----END CERTIFICATE-----\n`,
  };
}

function encodeSignature(body: Buffer, key: KeyObject): Buffer {
  return encode(0x03, Buffer.concat([Buffer.from([0]), sign('sha256', body, key)]));
}

function encodeTime(time: Date): Buffer {
  return encode(0x18, Buffer.from(`${time.toISOString().replace(/\D/g, '').slice(0, 14)}Z`));
}

/** Wraps contents in a DER tag and length. */
function encode(tag: number, ...contents: Buffer[]): Buffer {
  const content = Buffer.concat(contents);
  const length = content.length;
  const head = length < 128 ? [length] : length < 256 ? [0x81, length] : [0x82, length >> 8, length & 255];
  return Buffer.concat([Buffer.from([tag, ...head]), content]);
}
